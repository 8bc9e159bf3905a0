"""Servers of other makers: how they are recognised, and what works on each."""

import re
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest
from kazoo.client import KazooClient
from kazoo.protocol.states import WatchedEvent
from sandbox.raw_client import RawClient
from servers import RunningServer, ask, sandbox_server
from waiting import eventually
from zk.bad_servers import listener, silent, speaks
from zk.observed import names, observing, picture
from zk.other_servers import (
    KEEPER_CONS,
    KEEPER_DUMP,
    KEEPER_MNTR,
    KEEPER_NOT_SERVING,
    KEEPER_SRVR,
    KEEPER_WCHC,
    KEEPER_WORDS,
    OLD_KEEPER_SRVR,
    RAFTKEEPER_CONS,
    RAFTKEEPER_CONS_NOW,
    RAFTKEEPER_MNTR,
    RAFTKEEPER_SRVR,
)
from zk.servers.test_unreadable import facts_from

from zktop.model.facts import Children, Link, Server, Stat
from zktop.model.session_ids import session_id
from zktop.model.world.tables_of_all_servers import Ensemble
from zktop.zk.connect import read_only_exchange as wire
from zktop.zk.connect.address import Address
from zktop.zk.connect.preflight import probe
from zktop.zk.servers import table_formats as tables
from zktop.zk.servers.flavours import TABLE, TITLES, ServerKind, common_traits, kind_of, trusted
from zktop.zk.servers.large_table_reader import TableReader
from zktop.zk.servers.table_formats import UnreadableError

OTHERS = ("keeper", "raftkeeper", "zetcd")
TELLING = OTHERS[:2]
DEFAULT_WORDS = "conf,cons,crst,envi,ruok,srst,srvr,stat,wchs,dirs,mntr,isro"
ADD_WATCH, MULTI_READ, RECURSIVE = 106, 22, 1
SESSION_MS = 1_000  # one of these servers closes the connection only when the session expires


@pytest.fixture(scope="module", params=OTHERS)
def other(request: pytest.FixtureRequest) -> Iterator[RunningServer]:
    """Each of them, as the sandbox imitates it."""
    with sandbox_server("--flavour", request.param) as server:
        server.process.args.append(request.param)  # type: ignore[attr-defined]  # a list it is
        yield server


def flavour_of(server: RunningServer) -> str:
    """The flavour that a server imitates."""
    return str(server.process.args[-1])  # type: ignore[index]  # a list it is


@pytest.fixture
def client(other: RunningServer) -> Iterator[KazooClient]:
    """A client that writes."""
    client = KazooClient(other.address, timeout=10)
    client.start()
    yield client
    client.stop()
    client.close()


# Recognition


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (OLD_KEEPER_SRVR, ServerKind("keeper", (21, 11, 1))),
        (KEEPER_SRVR, ServerKind("keeper", (26, 3, 9))),
        (KEEPER_MNTR, ServerKind("keeper", (26, 3, 9))),
        (KEEPER_NOT_SERVING, ServerKind("keeper")),
        (RAFTKEEPER_SRVR, ServerKind("raftkeeper", (2, 0, 4))),
        (RAFTKEEPER_MNTR, ServerKind("raftkeeper", (2, 0, 5))),
        ("Zookeeper version: 3.8.0-x, built on today\n", ServerKind("zookeeper", (3, 8, 0))),
        ("zk_version\t3.9.5-x, built on today\n", ServerKind("zookeeper", (3, 9, 5))),
        ("imok", None),
        ("HTTP/1.1 400 Bad Request", None),
    ],
)
def test_a_server_is_known_by_its_first_line(answer: str, kind: ServerKind | None) -> None:
    """The first line of any word's answer identifies the server and its version."""
    assert kind_of(answer) == kind


def test_each_is_recognised_before_connecting(other: RunningServer) -> None:
    """Each is identified by its answers to words, or by its silence."""
    found = probe(Address("127.0.0.1", other.port))

    assert found.usable
    assert found.kind is not None
    assert found.kind.flavour == flavour_of(other)
    assert TITLES[found.kind.flavour] in found.sentence


@pytest.mark.parametrize(
    ("word", "answer", "kind"),
    [
        ("mntr", KEEPER_MNTR, ServerKind("keeper", (26, 3, 9))),
        ("stat", RAFTKEEPER_SRVR, ServerKind("raftkeeper", (2, 0, 4))),
        ("ruok", "imok", ServerKind()),
    ],
)
def test_a_refused_word_is_followed_by_others(word: str, answer: str, kind: ServerKind) -> None:
    """These servers close the connection for words that are not permitted."""
    with listener(speaks({word: answer})) as address:
        found = probe(address)

    assert (found.outcome, found.kind) == ("ok", kind)


def test_silence_alone_is_not_zetcd() -> None:
    """Zetcd is silent for the first word and answers `imok` to `ruok`."""
    with listener(silent) as address:
        found = probe(address, seconds=0.4)

    assert (found.outcome, found.kind) == ("silent", None)


def test_a_slow_server_is_identified_by_its_late_answer() -> None:
    """A slow server that answers `ruok` is not taken for zetcd."""

    def behave(line: socket.socket) -> None:
        if line.recv(10).strip() == b"ruok":
            line.sendall(b"imok")
        else:
            time.sleep(0.85)
            line.sendall(b"Zookeeper version: 3.8.0-x\nMode: leader\n")
        line.close()

    with listener(_each_apart(behave)) as address:
        found = probe(address, seconds=1.0)

    assert found.kind == ServerKind("zookeeper", (3, 8, 0))


@pytest.mark.parametrize(
    ("known", "ruok_s", "srvr_s"),
    [(None, 0.95, 1.1), (ServerKind("zookeeper", (3, 8, 0)), 0.0, 1.1)],
    ids=["unknown", "known"],
)
def test_a_server_that_was_paused_is_not_zetcd(
    known: ServerKind | None, ruok_s: float, srvr_s: float
) -> None:
    """When it goes on, its `imok` may come in time and the answer to `srvr` too late."""
    begun = time.monotonic()

    def behave(line: socket.socket) -> None:
        is_last = line.recv(10).strip() == b"ruok"
        time.sleep(max(0.0, begun + (ruok_s if is_last else srvr_s) - time.monotonic()))
        with suppress(OSError):  # too late
            line.sendall(b"imok" if is_last else b"Zookeeper version: 3.8.0-x\nMode: leader\n")
        line.close()

    with listener(_each_apart(behave)) as address:
        found = probe(address, seconds=1.0, known_kind=known)

    assert (found.outcome, found.kind) == ("silent", None)


def _each_apart(behave):  # type: ignore[no-untyped-def]  # of behaviours
    import threading  # noqa: PLC0415

    return lambda line: threading.Thread(target=behave, args=(line,), daemon=True).start()


# Supported requests


def test_only_a_recent_zookeeper_gets_recursive_watches() -> None:
    """Keeper reports another path in events; the others close the connection or fall silent."""
    knowing = [(flavour, since) for flavour, since, traits in TABLE if traits.recursive]

    assert knowing == [("zookeeper", (3, 6, 0))]


@pytest.mark.parametrize(
    ("kind", "multi_read"),
    [
        (ServerKind("zookeeper", (3, 5, 9)), False),
        (ServerKind("zookeeper", (3, 6, 0)), True),
        (ServerKind("zookeeper"), True),
        (ServerKind("keeper", (22, 3, 10)), False),
        (ServerKind("keeper", (26, 3, 9)), True),
        (ServerKind("keeper"), False),
        (ServerKind("raftkeeper", (2, 0, 4)), False),
        (ServerKind("raftkeeper", (2, 3, 0)), True),
        (ServerKind("zetcd"), False),
        (ServerKind(), False),
    ],
)
def test_supported_requests_depend_on_the_version(kind: ServerKind, *, multi_read: bool) -> None:
    """Without a version a server counts as the oldest, except for ZooKeeper."""
    assert kind.traits.multi_read == multi_read


def test_an_ensemble_supports_what_all_members_support() -> None:
    """All servers of an ensemble are watched in one way."""
    assert common_traits([]).recursive
    assert not common_traits(
        [ServerKind("zookeeper", (3, 8, 0)), ServerKind("zookeeper", (3, 5, 9))]
    ).recursive
    assert not common_traits(
        [ServerKind("zookeeper", (3, 8, 0)), ServerKind("keeper")]
    ).counts_creations


ACTING = "csnp rqld clrs ydld rclc rcvr crst srst stmk kill jmfp jmep jmdp ftfl pfev lgrq".split()  # noqa: SIM905


@pytest.mark.parametrize("word", [*ACTING, "srvr\r\n", "", "POST /commands/restore"])
def test_a_word_that_acts_is_never_sent(word: str) -> None:
    """Only words that are known to read are written to a socket."""
    sent: list[bytes] = []
    with listener(lambda line: sent.append(line.recv(10))) as address:
        with pytest.raises(ValueError, match="read-only"):
            wire.exchange(address, word.encode())
        eventually(lambda: sent)

    assert sent == [b""]


def test_nothing_else_sends_bytes_to_such_ports() -> None:
    """The process that reads tables sends only the words of the reader, from the same list."""
    from pathlib import Path  # noqa: PLC0415

    import zktop.zk  # noqa: PLC0415

    folder = Path(zktop.zk.__file__).parent
    sending = {
        path.name for path in folder.rglob("*.py") if re.search(r"\.sendall\(", path.read_text())
    }

    assert sending == {"read_only_exchange.py", "large_table_process.py"}
    with pytest.raises(ValueError, match="read-only"):
        TableReader().ask(Address("127.0.0.1", 1), "csnp", 1.0)


# Tables


def test_cons_without_brackets_is_read() -> None:
    """Addresses have no slash, and the connection of `cons` itself has no session."""
    rows = tables.connections(KEEPER_CONS)

    assert [(row.session, row.client) for row in rows] == [
        (5, "127.0.0.1:57326"),
        (6, "[::1]:34886"),
    ]
    assert [(row.timeout_ms, row.received, row.sent, row.last_cxid) for row in rows] == [
        (30000, 6, 7, 4),
        (10000, 0, 0, None),
    ]


@pytest.mark.parametrize("cons", [RAFTKEEPER_CONS, RAFTKEEPER_CONS_NOW])
def test_the_connection_of_raftkeepers_cons_is_no_session(cons: str) -> None:
    """Its session id is empty or -1, depending on the version."""
    assert [row.session for row in tables.connections(cons)] == [0x33B]


def test_keeper_lists_all_kinds_of_watches_and_all_sessions() -> None:
    """A path that is watched in two ways counts once."""
    facts = facts_from(KEEPER_WORDS)

    assert facts.watches == {5: ("/locks/a",), 6: ("/locks/a/x-0000000001",)}
    assert facts.sessions == (5, 6, 7)
    assert facts.ephemerals == {5: ("/locks/a/x-0000000001",)}  # only those that are watched
    assert facts.zxid == 0x22
    assert facts.figures["server_state"] == "follower"


def test_the_zxid_of_a_server_without_a_transaction_is_known() -> None:
    """Zero is a number."""
    srvr = re.sub("Zxid: .*", "Zxid: 0x0", KEEPER_WORDS["srvr"])

    assert facts_from(KEEPER_WORDS | {"srvr": srvr}).zxid == 0


def test_its_last_answer_does_not_count_pings() -> None:
    """A session that only pings would seem silent, so no silence is derived."""
    rows = facts_from(KEEPER_WORDS).connections or ()

    assert [row.quiet_ms for row in rows] == [None, None]
    assert [row.last_operation for row in rows] == ["GETC", "NA"]


def test_an_empty_watch_table_of_keeper_is_known_by_the_sum() -> None:
    """Its answer is empty like a refusal; the sum of watches tells them apart."""
    none = "0 connections watching 0 paths\nTotal watches:0\n"

    assert facts_from(KEEPER_WORDS | {"wchs": none, "wchc": ""}).watches == {}


def test_a_word_that_is_not_allowed_is_named_with_the_setting() -> None:
    """The blind spot names the word and the setting that permits it."""
    facts = facts_from({"srvr": KEEPER_SRVR, "cons": KEEPER_CONS})

    assert facts.why["watches"].startswith("wchs is not in the four_letter_word_white_list")
    assert "ClickHouse Keeper" in facts.why["watches"]


@pytest.mark.parametrize("sample", [KEEPER_CONS, KEEPER_WCHC, KEEPER_DUMP])
def test_their_tables_are_whole_or_unknown_too(sample: str) -> None:
    """A table that ends within a line is unknown; `dump` also has counts to compare."""
    parse = {
        KEEPER_CONS: tables.connections,
        KEEPER_WCHC: lambda text: tables.watched(text.split("\n"), blank_end=False),
        KEEPER_DUMP: lambda text: tables.dump(text.split("\n")),
    }[sample]
    parse(sample)
    for end in range(1, len(sample)):
        if not sample[:end].endswith("\n"):
            with pytest.raises(UnreadableError):
                parse(sample[:end])

    with pytest.raises(UnreadableError):
        tables.dump(KEEPER_DUMP.replace("dump (3)", "dump (4)").split("\n"))
    with pytest.raises(UnreadableError):
        tables.dump(KEEPER_DUMP.replace("Ephemerals (2)", "Ephemerals (3)").split("\n"))


# Stats


STAT = Stat(7, 8, 1_795_219_104_533, cversion=9, num_children=3, pzxid=9)


@pytest.mark.parametrize(
    ("flavour", "next_sequence", "pzxid"),
    [("zookeeper", 6, 9), ("keeper", None, None), ("raftkeeper", 6, None), ("zetcd", None, None)],
)
def test_a_value_that_a_stat_does_not_prove_is_unknown(
    flavour: str, next_sequence: int | None, pzxid: int | None
) -> None:
    """The next sequence and the last change of children are unknown on some servers."""
    fact = Children(zxid=9, at=9, path="/a", names=("b",), stat=STAT)  # type: ignore[arg-type]
    (known,) = trusted([fact], ServerKind(flavour).traits)  # type: ignore[arg-type]  # a flavour it is

    assert isinstance(known, Children)
    assert (known.stat.next_sequence, known.stat.pzxid) == (next_sequence, pzxid)
    assert known.stat.czxid == 7


def test_a_write_to_a_child_is_no_arrival(other: RunningServer, client: KazooClient) -> None:
    """A write to a child's data yields no event, and times stay times."""
    client.ensure_path("/stat/a")
    client.create("/stat/a/x-", sequence=True, ephemeral=True)
    with observing(other.address, "/stat") as live:
        begun = live.until(lambda world: names(world, "/stat/a"))
        client.set(f"/stat/a/{client.get_children('/stat/a')[0]}", b"new")
        client.create("/stat/a/x-", sequence=True, ephemeral=True)
        world = live.until(lambda world: len(names(world, "/stat/a")) == 2)
        before, after = begun.family("/stat/a").stat, world.family("/stat/a").stat
        ages = [one.stat.ctime / 1000 - time.time() for one in world.family("/stat/a") if one.stat]

    assert before
    assert after
    known = flavour_of(other) == "raftkeeper"
    assert after.next_sequence == (2 if known else None)
    assert after.pzxid is None
    assert ages
    assert all(abs(age) < 100 for age in ages)


# From the server to the world


def test_changes_are_followed_without_one_reconnect(
    other: RunningServer, client: KazooClient
) -> None:
    """One-shot watches follow all changes, and no unsupported request is sent."""
    client.ensure_path("/follow/a")
    with observing(other.address, "/follow", introspect=True, sample_every=0.2) as live:
        for number in range(20):
            client.create(f"/follow/a/x-{number:010d}", b"w", ephemeral=True)
            if number % 2:
                client.delete(f"/follow/a/x-{number - 1:010d}")
        here = {f"x-{number:010d}" for number in range(1, 20, 2)}
        live.until(lambda world: names(world, "/follow/a") == here)
        live.until(lambda world: None not in picture(world, "/follow/a")["/follow/a"].values())
        client.delete("/follow/a", recursive=True)
        live.until(lambda world: not names(world, "/follow"))
        states = [fact.state for fact in live.facts if isinstance(fact, Link)]

    assert states == ["connecting", "connected"]
    assert not live.source.degraded()


def test_many_znodes_are_read_though_some_are_gone(
    other: RunningServer, client: KazooClient
) -> None:
    """Batches are read where supported, whatever the form of their errors."""
    client.ensure_path("/many")
    for number in range(40):
        client.create(f"/many/x-{number:010d}", b"%d" % number, ephemeral=True)
    with observing(other.address, "/many") as live:
        world = live.until(lambda world: len(names(world, "/many")) == 40)
        live.until(lambda world: None not in picture(world, "/many")["/many"].values())

    owner = session_id(client.client_id[0])
    assert {one.stat.owner for one in world.family("/many") if one.stat} <= {owner}


@pytest.mark.parametrize("flavour", OTHERS)
def test_an_unknown_request_is_answered_as_they_do(flavour: str) -> None:
    """The sandbox answers unsupported requests as these servers do."""
    with (
        sandbox_server("--flavour", flavour, "--tick-ms", "200") as server,
        RawClient(server.port, timeout_ms=SESSION_MS) as raw,
    ):
        raw.send(ADD_WATCH, struct.pack(">i", 1) + b"/" + struct.pack(">i", RECURSIVE), xid=1)
        with suppress(BrokenPipeError, ConnectionResetError):  # it may have closed by now
            raw.send(103, struct.pack(">i", 0), xid=2)  # the ephemerals of a session
            raw.send(11, b"", xid=-2)
        replies = [raw.read(), raw.read()]

    found = [None if one is None else one.xid for one in replies]
    assert found == {"keeper": [1, None], "raftkeeper": [-2, None], "zetcd": [None, None]}[flavour]


@pytest.mark.parametrize("flavour", TELLING)
def test_their_tables_show_a_herd(flavour: str) -> None:
    """Watches on the children of a lock are in the table, so no watch is hidden."""
    with sandbox_server("--flavour", flavour) as server:
        client = KazooClient(server.address, timeout=10)
        client.start()
        client.ensure_path("/herd/a")
        client.get_children("/herd/a", watch=_heard)
        with observing(server.address, "/herd", introspect=True, sample_every=0.2) as live:
            world = live.until(
                lambda world: any(
                    tables.watches and tables.watches.rows for tables in world.tables.values()
                )
            )
        client.stop()
        client.close()

    ensemble = Ensemble.of(world, world.at)
    session = session_id(client.client_id[0]) if client.client_id else 1
    (server,) = ensemble.tables
    assert ensemble.watched(session or 1) == {"/herd/a"}
    assert server.hidden_watches(ensemble.own) == 0


def _heard(_event: WatchedEvent) -> None:
    """Ignore the event."""


def test_the_words_that_keeper_allows_by_default_leave_watches_unknown() -> None:
    """Sessions are known; the blind spots name the words and the setting."""
    with (
        sandbox_server("--flavour", "keeper", "--words", DEFAULT_WORDS) as server,
        observing(server.address, "/locks", introspect=True, sample_every=0.2) as live,
    ):
        live.until_sampled()
        world = live.until(lambda world: any(tables.watches for tables in world.tables.values()))

    ensemble = Ensemble.of(world, world.at)
    assert (ensemble.visibility.sessions, ensemble.visibility.watches) == ("all", "none")
    said = [str(spot) for spot in ensemble.blind_spots]
    assert any("wchc is not in the four_letter_word_white_list" in one for one in said)


@pytest.mark.parametrize("flavour", OTHERS)
def test_only_words_that_read_are_sent(flavour: str, tmp_path) -> None:  # type: ignore[no-untyped-def]  # a path
    """The server would log every other word."""
    complaints = tmp_path / "complaints"
    with (
        complaints.open("w") as errors,
        sandbox_server("--flavour", flavour, errors=errors) as one,
    ):
        with observing(one.address, "/", introspect=True, sample_every=0.1) as live:
            live.until_sampled()
            found = live.until_fact(lambda fact: isinstance(fact, Server))
            first = len(live.facts)
            live.until(lambda _world: len(live.facts) >= first + 12)  # some more rounds
        assert complaints.read_text() == ""
        if flavour != "zetcd":
            assert ask(one.port, "csnp") == "ok"
            eventually(lambda: "csnp was sent" in complaints.read_text())

    assert isinstance(found, Server)
    assert found.flavour == flavour
