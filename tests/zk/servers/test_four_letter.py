"""Parsers of four-letter words: samples of 3.4 to 3.9, cut tables and garbage."""

import json
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zktop.model.facts import Connection
from zktop.model.text import Text
from zktop.zk.servers import admin as admin_tables
from zktop.zk.servers import table_formats as tables
from zktop.zk.servers.flavours import ServerKind, kind_of
from zktop.zk.servers.table_formats import (
    EnsembleMember,
    PathsBySession,
    UnreadableError,
    WantedPaths,
)

_REST = ",lzxid=0x23,lresp={},llat=0,minlat=0,avglat=1,maxlat=7)\n"
CONS = "".join(
    (
        " /127.0.0.1:57326[1](queued=2,recved=6,sent=7,sid=0x1000008ed7b0002,lop=PING,",
        "est=1795219104533,to=20000,lcxid=0x4" + _REST.format(1077422),
        " /127.0.0.1:44438[0](queued=0,recved=1,sent=0)\n",
        " /[0:0:0:0:0:0:0:1]:34886[1](queued=0,recved=1,sent=1,sid=0xc80000194ba0000,lop=SESS,",
        "est=1795219104533,to=4000,lcxid=0x0" + _REST.format(1077000),
        " worker-3/10.0.1.11:51022[1](queued=0,recved=1,sent=1,sid=0x3,lop=NA,",
        "est=1,to=4000,lcxid=0xffffffffffffffff" + _REST.format(1077422),
        "\n",
    )
)
WCHC = """0xc800001194ba0001
	/locks/rw/399bd80f0bb64fdf8f87a42c73aad471__rlock__0000000001
0x1000008ed7b0002
	/locks/orders/3f73ba0823334d80b724b205db8e67bc__lock__0000000000
	/locks/ä b

"""
WCHP = """/locks/a
	0x1
	0xc800001194ba0001
/locks/b
	0x1

"""
DUMP_LEADER = """SessionTracker dump:
Session Sets (5)/(17):
0 expire at Sat Nov 21 00:00:07 UTC 2026:
3 expire at Sat Nov 21 00:00:13 UTC 2026:
	0x100001194990001
	0xc800001194ba0000
1 expire at Sat Nov 21 00:00:15 UTC 2026:
	0x3
ephemeral nodes dump:
Sessions with Ephemerals (2):
0x100001194990001:
	/locks/rw/399bd80f0bb64fdf8f87a42c73aad471__rlock__0000000001
	/locks/single:
0x3:
	/x
Connections dump:
Connections Sets (3)/(8):
4 expire at Sat Nov 21 00:00:13 UTC 2026:
	ip: /127.0.0.1:53830 sessionId: 0x100001194990000
"""
DUMP_FOLLOWER = """SessionTracker dump:
Global Sessions(2):
0xc800001194ba0000	20000ms
0x100001194990000	4000ms
ephemeral nodes dump:
Sessions with Ephemerals (0):
Connections dump:
Connections Sets (1)/(1):
1 expire at Sat Nov 21 02:04:15 UTC 2026:
	ip: /127.0.0.1:45324 sessionId: 0x1000021805b0000
"""
DUMP_LOCAL = """SessionTracker dump:
Local Session Sets (1)/(1):
1 expire at Sat Nov 21 00:00:09 UTC 2026:
	0x7
Global Session Sets (1)/(1):
1 expire at Sat Nov 21 00:00:11 UTC 2026:
	0x8
ephemeral nodes dump:
Sessions with Ephemerals (0):
"""
DUMP_34_FOLLOWER = """SessionTracker dump:
org.apache.zookeeper.server.quorum.LearnerSessionTracker@5e91993f
ephemeral nodes dump:
Sessions with Ephemerals (1):
0x1:
	/x
"""
SRVR = """Zookeeper version: 3.8.0-${mvngit.commit.id}, built on 2024-12-29 17:54 UTC
Latency min/avg/max: 0/0.6629/7
Received: 11
Sent: 11
Connections: 2
Outstanding: 0
Zxid: 0x100000023
Mode: leader
Node count: 23
Proposal sizes last/min/max: 48/48/156
"""
CONFIG = """server.1=zk1:2888:3888:participant;0.0.0.0:2181
server.2=10.0.0.2:2888:3888:observer;10.0.9.2:2182
server.3=[fd00::3]:2888:3888:participant;[0:0:0:0:0:0:0:0]:2181
server.4=zk4:2888:3888
server.5=zk5:2888:3888|zk5b:2889:3889:participant;2185
version=100000000
"""


def test_cons_lists_sessions_with_address_and_age() -> None:
    """Ages count from the newest answer; the connection of `cons` itself is no row."""
    rows = tables.connections(CONS)

    assert rows[0] == Connection(
        0x1000008ED7B0002, "127.0.0.1:57326", 20000, 6, 7, 2, "PING", 4, 1795219104533, 0
    )
    assert [row.client for row in rows] == ["127.0.0.1:57326", "[::1]:34886", "10.0.1.11:51022"]
    assert [row.quiet_ms for row in rows] == [0, 422, 0]
    assert tables.newest_answer(CONS) == 1077422


@pytest.mark.parametrize("answered", ["lresp=0", "lresp="])
def test_cons_without_an_answer_yet_has_no_silence(answered: str) -> None:
    """A session that moved here has had no answer; its age would be the host's uptime."""
    moved = CONS.replace("lresp=1077000", answered)
    assert moved != CONS

    assert [row.quiet_ms for row in tables.connections(moved)] == [0, None, 0]


def test_cons_without_any_answer_has_no_clock() -> None:
    """With only new clients, 0 is not a time of the server's clock."""
    line = " /127.0.0.1:57326[1](queued=0,recved=1,sent=1,sid=0x1,lop=SESS,to=4000,lresp=0)\n\n"

    assert tables.newest_answer(line) is None
    assert [row.quiet_ms for row in tables.connections(line)] == [None]


def test_watch_tables_read_the_same_from_both_sides() -> None:
    """Wchc and wchp give the same watches; names may hold spaces and any letters."""
    assert tables.watched(WCHC.split("\n")) == {
        0xC800001194BA0001: ("/locks/rw/399bd80f0bb64fdf8f87a42c73aad471__rlock__0000000001",),
        0x1000008ED7B0002: (
            "/locks/orders/3f73ba0823334d80b724b205db8e67bc__lock__0000000000",
            "/locks/ä b",
        ),
    }


def test_an_empty_watch_table_is_empty() -> None:
    """A server without watches prints a newline."""
    assert tables.watched(["", ""]) == {}


def test_a_watch_that_is_listed_twice_counts_once() -> None:
    """Servers that list watches of every kind print a path twice."""
    listed = ["0x1", "\t/a", "\t/a", "0x2", ""]

    assert tables.watched(listed, blank_end=False) == {1: ("/a",)}


def test_the_sum_of_watches_is_read() -> None:
    """The sum decides whether the table may be requested."""
    assert tables.total_watches("8 connections watching 8 paths\nTotal watches:80\n") == 80
    assert admin_tables.total_watches({"num_total_watches": 80}) == 80


def test_a_leader_dumps_expiry_buckets_and_ephemerals() -> None:
    """The connection buckets in the dump are not read as session expiry."""
    found = tables.dump(DUMP_LEADER.split("\n"))

    assert found.buckets == (
        ("Sat Nov 21 00:00:07 UTC 2026", ()),
        ("Sat Nov 21 00:00:13 UTC 2026", (0x100001194990001, 0xC800001194BA0000)),
        ("Sat Nov 21 00:00:15 UTC 2026", (3,)),
    )
    assert found.timeouts_ms is None
    assert found.ephemerals == {
        0x100001194990001: (
            "/locks/rw/399bd80f0bb64fdf8f87a42c73aad471__rlock__0000000001",
            "/locks/single:",
        ),
        3: ("/x",),
    }


def test_only_ephemerals_that_are_wanted_are_kept() -> None:
    """Wanted paths keep their string object; without wanted paths nothing is kept."""
    lines = DUMP_LEADER.split("\n")
    wanted = Text("/locks/single:")

    (paths,) = (tables.dump(lines, WantedPaths({wanted: wanted})).ephemerals or {}).values()
    assert paths[0] is wanted
    assert tables.dump(lines, WantedPaths()).ephemerals == {}
    assert tables.dump(lines, WantedPaths()).buckets == tables.dump(lines).buckets


def test_all_ephemerals_of_hidden_folders_are_kept() -> None:
    """The folder's own name is no part of it, nor is another one that begins alike."""
    lines = DUMP_LEADER.split("\n")

    assert tables.dump(lines, WantedPaths(below=("/locks/rw/", "/lock/"))).ephemerals == {
        0x100001194990001: ("/locks/rw/399bd80f0bb64fdf8f87a42c73aad471__rlock__0000000001",)
    }


def test_a_follower_dumps_the_timeout_of_every_session() -> None:
    """A follower lists all sessions of the ensemble, without expiry."""
    found = tables.dump(DUMP_FOLLOWER.split("\n"))

    assert found.buckets == ()
    assert found.timeouts_ms == {0xC800001194BA0000: 20000, 0x100001194990000: 4000}
    assert found.ephemerals == {}


def test_local_sessions_are_sessions_too() -> None:
    """Local sessions have a section of their own."""
    assert [sessions for _, sessions in tables.dump(DUMP_LOCAL.split("\n")).buckets] == [
        (7,),
        (8,),
    ]


def test_an_old_follower_dumps_the_name_of_an_object() -> None:
    """3.4 prints an object's name there, and the ephemerals all the same."""
    found = tables.dump(DUMP_34_FOLLOWER.split("\n"))

    assert (found.buckets, found.timeouts_ms, found.ephemerals) == ((), None, {1: ("/x",)})


def test_srvr_has_version_mode_and_figures() -> None:
    """Debian's build has a placeholder in place of the commit hash."""
    assert kind_of(SRVR) == ServerKind("zookeeper", (3, 8, 0))
    assert tables.mode_of(SRVR) == "leader"
    assert tables.figures(SRVR)["Zxid"] == "0x100000023"


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("Mode: standalone\n", "standalone"),
        ("Mode: read-only\n", "read-only"),
        ("READ-ONLY mode; serving only read-only clients\n", "read-only"),
        ("This ZooKeeper instance is not currently serving requests\n", None),
    ],
)
def test_the_mode_is_what_the_server_says(text: str, mode: str | None) -> None:
    """The mode is read, and is None while the server does not serve."""
    assert tables.mode_of(text) == mode


def test_mntr_is_pairs() -> None:
    """A tab separates name and value."""
    assert tables.monitored("zk_watch_count\t12\nzk_version\t3.8\n")["watch_count"] == "12"


def test_members_are_found_in_the_configuration() -> None:
    """The client port may be missing; 0.0.0.0 means the host itself."""
    assert tables.members(CONFIG) == (
        EnsembleMember("zk1", 2181, 1),
        EnsembleMember("10.0.9.2", 2182, 2),
        EnsembleMember("fd00::3", 2181, 3),
        EnsembleMember("zk4", None, 4),
        EnsembleMember("zk5", 2185, 5),
    )


def test_the_admin_server_has_the_same_in_json() -> None:
    """JSON has numbers instead of text, and session ids as signed decimals."""
    entry = {
        "remote_socket_address": "127.0.0.1:40782",
        "outstanding_requests": 0,
        "packets_received": 18,
        "packets_sent": 19,
        "session_id": -4035225190614302720,
        "last_operation": "PING",
        "established": 1795219159400,
        "session_timeout": 20000,
        "last_cxid": 16,
        "last_response_time": 1132384,
    }
    secure = entry | {"session_id": 5, "last_response_time": 1132000}
    document = {"connections": [entry], "secure_connections": [secure]}

    rows = admin_tables.connections(document)

    assert rows[0] == Connection(
        0xC800001194BA0000, "127.0.0.1:40782", 20000, 18, 19, 0, "PING", 16, 1795219159400, 0
    )
    assert (rows[1].session, rows[1].quiet_ms) == (5, 384)
    assert admin_tables.newest_answer(document) == 1132384


def test_the_admin_server_has_no_silence_before_the_first_answer() -> None:
    """A session that moved here has `last_response_time` 0 until its first request."""
    counts = {"packets_received": 1, "packets_sent": 1, "last_response_time": 0}
    entry = {"session_id": 5, "remote_socket_address": "127.0.0.1:1"} | counts
    other = entry | {"session_id": 6, "last_response_time": 1132000}

    rows = admin_tables.connections({"connections": [entry, other]})

    assert [row.quiet_ms for row in rows] == [None, 0]
    assert admin_tables.newest_answer({"connections": [entry]}) is None


def test_the_admin_server_s_tables_have_sessions_for_keys() -> None:
    """JSON keys are strings, so session ids are too."""
    watches = {"session_id_to_watched_paths": b'{"-4035225190614302720": ["/a", "/b"]}'}
    dump = {
        "expiry_time_to_session_ids": {"2206000": [], "2208000": [-4035225190614302720, 5]},
        "session_id_to_ephemeral_paths": b'{"5": ["/x", "/y"]}',
    }
    wanted = WantedPaths({Text("/x"): Text("/x")})

    assert admin_tables.watched(watches) == {0xC800001194BA0000: ("/a", "/b")}
    assert admin_tables.expiry(dump) == {2206000: (), 2208000: (0xC800001194BA0000, 5)}
    assert admin_tables.ephemerals(dump, wanted) == {5: ("/x",)}


WCHS = "8 connections watching 8 paths\nTotal watches:80\n"
MNTR = "zk_version\t3.8.0, built on today\nzk_server_state\tleader\nzk_watch_count\t40\n"
CONF = "clientPort=2181\ntickTime=2000\nmembership: \nserver.1=a:1:2:participant\nversion=0"
TABLES = [
    (tables.connections, CONS),
    (tables.total_watches, WCHS),
    (tables.monitored, MNTR),
]
LINE_TABLES = [
    (tables.watched, WCHC),
    (tables.dump, DUMP_LEADER.partition("Connections dump:")[0]),
    (tables.dump, DUMP_FOLLOWER.partition("Connections dump:")[0]),
    (tables.dump, DUMP_34_FOLLOWER),
]
Parse = Callable[[str], object]


def by_lines(parse: Callable[[list[str]], object]) -> Parse:
    """The same parser, fed with the lines of a text."""
    return lambda text: parse(text.split("\n"))


EVERY_TABLE = [*TABLES, *((by_lines(parse), sample) for parse, sample in LINE_TABLES)]
NAMES = ["cons", "wchs", "mntr", "wchc", "leader", "follower", "old-follower"]
every_table = pytest.mark.parametrize(("parse", "sample"), EVERY_TABLE, ids=NAMES)
every_parser = pytest.mark.parametrize("parse", [parse for parse, _ in EVERY_TABLE], ids=NAMES)


@every_table
def test_a_whole_table_is_read(parse: Parse, sample: str) -> None:
    """Each sample parses before the tests below cut and garble it."""
    assert parse(sample)


@every_table
def test_a_table_that_is_cut_off_is_unknown(parse: Parse, sample: str) -> None:
    """A table cut within or between lines is unknown, not shorter."""
    for end in range(len(sample) - 1):
        if sample[:end].endswith("\n") and sample not in (CONS, WCHC, WCHP):
            continue  # between two lines only the missing blank line at the end shows it
        with pytest.raises(UnreadableError, match="cannot be read"):
            parse(sample[:end])


def test_a_tick_that_is_cut_off_is_unknown() -> None:
    """The beginning of its number is no tick."""
    cuts = (CONF[:end] for end in range(len(CONF)))

    assert tables.tick_ms(CONF) == 2000
    assert {tables.tick_ms(cut) for cut in cuts} == {None, 2000}


@every_table
@given(line=st.text(st.characters(exclude_characters="\n"), min_size=1), data=st.data())
def test_a_line_that_does_not_fit_makes_a_table_unknown(
    parse: Parse, sample: str, line: str, data: st.DataObject
) -> None:
    """One unexpected line makes the table unknown; the reason quotes it."""
    lines = sample.split("\n")
    place = data.draw(st.integers(0, sample.rstrip("\n").count("\n")))
    odd = f"?{line}"  # no table has a line that begins like this

    with pytest.raises(UnreadableError, match="cannot be read"):
        parse("\n".join([*lines[:place], odd, *lines[place:]]))


@every_parser
@given(text=st.text())
def test_other_text_is_unknown(parse: Parse, text: str) -> None:
    """Any text raises UnreadableError and nothing else."""
    with pytest.raises(UnreadableError, match="cannot be read"):
        parse(f"HTTP/1.1 400 {text}")


SAMPLES = (CONS, WCHC, WCHP, WCHS, MNTR, CONF, DUMP_LEADER, DUMP_FOLLOWER, SRVR, CONFIG)
LIKELY = st.sampled_from([line for sample in SAMPLES for line in sample.splitlines()])
GARBAGE = st.text() | st.lists(LIKELY | st.text(max_size=20), max_size=8).map("\n".join)


@every_parser
@given(text=GARBAGE)
def test_garbage_is_unreadable_or_a_table(parse: Parse, text: str) -> None:
    """Damaged samples parse or raise UnreadableError."""
    with suppress(UnreadableError):
        parse(text)


PARSERS = [
    tables.newest_answer,
    kind_of,
    tables.mode_of,
    tables.figures,
    tables.members,
    tables.hexadecimal,
    tables.number,
    tables.decimal,
]


@pytest.mark.parametrize("parse", PARSERS, ids=lambda parse: parse.__name__)
@given(text=GARBAGE)
def test_garbage_never_raises(parse: Parse, text: str) -> None:
    """Parsers of a single value return None for garbage."""
    parse(text)


def test_a_closing_connection_is_no_row() -> None:
    """A closing connection has no address; the table is still whole."""
    closed = " null[0](queued=0,recved=1,sent=1,sid=0x7,to=4000,lresp=7)\n"

    assert len(tables.connections(closed + CONS)) == 3


def test_a_closing_connection_is_no_row_of_the_admin_server() -> None:
    """The AdminServer gives null as its address; the table is still whole."""
    counts = {"packets_received": 1, "packets_sent": 1, "last_response_time": 7}
    row = {"session_id": 5, "remote_socket_address": "127.0.0.1:1"} | counts
    closed = {"session_id": 6, "remote_socket_address": None} | counts

    rows = admin_tables.connections({"connections": [closed, row]})

    assert [row.session for row in rows] == [5]


_KEYS = """1 -1 connections secure_connections session_id session_id_to_watched_paths watches
    expiry_time_to_session_ids session_id_to_ephemeral_paths truncated path watch_kind
    last_response_time remote_socket_address"""
KEYS = st.sampled_from(_KEYS.split())
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


def _all_ephemerals(answer: dict[str, object]) -> PathsBySession:
    return admin_tables.ephemerals(answer, WantedPaths(below=("/",)))


def _as_answered(document: dict[str, object]) -> dict[str, object]:
    """The document with its large tables as text."""
    return {
        key: json.dumps(value).encode() if key in admin_tables.LARGE_TABLES else value
        for key, value in document.items()
    }


ADMIN_PARSERS = [
    admin_tables.connections,
    admin_tables.watched,
    admin_tables.total_watches,
    _all_ephemerals,
    admin_tables.expiry,
]
admin_parsers = pytest.mark.parametrize("parse", ADMIN_PARSERS, ids=lambda parse: parse.__name__)


@admin_parsers
@given(document=st.dictionaries(KEYS, JSON, max_size=5))
def test_json_garbage_is_unreadable_or_a_table(parse: object, document: dict[str, object]) -> None:
    """Any JSON object parses or raises UnreadableError."""
    admin_tables.newest_answer(document)
    with suppress(UnreadableError):
        parse(_as_answered(document))  # type: ignore[operator]  # a parser it is


def test_a_table_that_is_not_json_is_unknown() -> None:
    """It is decoded later than the rest of the answer."""
    with pytest.raises(UnreadableError, match="AdminServer watches: this answer cannot be read"):
        admin_tables.watched({admin_tables.WATCHES: b'{"5": ["\xff"]}'})


@pytest.mark.parametrize(
    ("parse", "document"),
    [
        (admin_tables.connections, {}),
        (admin_tables.connections, {"connections": {}}),
        (admin_tables.connections, {"connections": [{"session_id": 5}]}),
        (admin_tables.watched, {"command": "watches"}),
        (admin_tables.watched, {"session_id_to_watched_paths": {"5": ["a"]}}),
        (admin_tables.watched, {"session_id_to_watched_paths": {"five": ["/a"]}}),
        (admin_tables.total_watches, {"num_paths": 8}),
        (_all_ephemerals, {}),
        (admin_tables.expiry, {"expiry_time_to_session_ids": [5]}),
        (admin_tables.expiry, {"expiry_time_to_session_ids": {"soon": [5]}}),
    ],
)
def test_json_without_the_table_is_unknown(parse: object, document: dict[str, object]) -> None:
    """An object without the table, or with another type in its place, is unknown."""
    with pytest.raises(UnreadableError, match=r"AdminServer .*cannot be read"):
        parse(_as_answered(document))  # type: ignore[operator]  # a parser it is
