"""L7 to L11: wake-ups for many, and watches left behind; with a near miss each."""

import pytest
from model.findings.cases import (
    PATH,
    SECOND,
    ZXID,
    At,
    connected,
    ctx,
    curator,
    facts,
    found,
    gone,
    history,
    k,
    lacks,
    only,
    path_of,
    sessions,
    shared_context,
    watching,
)
from model.make_facts import NOW, ZK1, ZK2, no_watches, session, watches, world
from model.semaphores import created, folder

from zktop.model.facts import Denied, Stat
from zktop.model.findings.apply import table_blind_spots
from zktop.model.findings.context import LockContext
from zktop.model.locks.lock import Lock
from zktop.model.locks.lock_at_path import lock_at
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text

CROWD = [k(f"w{number}", number) for number in range(12)]


def crowd(watched: dict[int, int], **more: object) -> LockContext:
    """Twelve exclusive contenders; each watches its predecessor unless `watching` differs."""
    rows = {f"w{n}": [CROWD[watched.get(n, n - 1)]] for n in range(1, 12)}
    return ctx(*CROWD, tables=[watching(rows)], **more)


HERD = dict.fromkeys(range(2, 12), 0)


def test_l7_fires_when_most_waiters_watch_the_holder() -> None:
    """Eleven wake, one can go on."""
    finding = only("L7", crowd(HERD))

    assert finding.sentence.startswith("11 sessions wake when")
    assert finding.severity == "warning"


def test_l7_fires_from_half_of_the_queue_on() -> None:
    """Six of eleven: the one behind the holder and five who should watch others."""
    assert only("L7", crowd(dict.fromkeys(range(2, 7), 0))).sentence.startswith("6 sessions")


def test_l7_is_quiet_for_a_few() -> None:
    """Less than half of the queue is no herd."""
    assert not found("L7", crowd(dict.fromkeys(range(2, 6), 0)))


def test_l7_is_quiet_for_readers_that_share_one_writer() -> None:
    """All of them can go on when it goes."""
    writer, readers = curator("w", 0, "WRIT"), [curator(f"r{n}", n, "READ") for n in range(1, 9)]
    tables = [watching({f"r{n}": [writer] for n in range(1, 9)})]

    assert not found("L7", ctx(writer, *readers, tables=tables))


def threads(number: int, **more: object) -> LockContext:
    """One client with so many waiting threads, and as many others, in turns.

    Each waiter watches its predecessor.
    """
    waiters = [
        k(f"t{n}", n, by="client" if n % 2 else f"other{n}") for n in range(1, 2 * number + 1)
    ]
    queue = [k("holder", 0), *waiters]
    rows: dict[str, list[At]] = {}
    for before, waiter in zip(queue, waiters, strict=False):
        rows.setdefault(waiter.owner, []).append(before)
    return ctx(*queue, tables=[watching(rows)], **more)


def test_threads_of_one_client_are_no_herd() -> None:
    """They share their session's watches, and each of these wakes the session once."""
    case = threads(6, past=history(releases_per_s=4.0))

    assert not found("L7", case)
    assert not found("L9", case)


ALONE = Settings(roots=(Root(path=PATH, layout="single-node"),))


def single(watchers: int) -> LockContext:
    """A lock that is one node, held by alice, and watched by so many."""
    stat = Stat(50, 50, NOW, owner=session("alice"))
    tables = [watching({f"w{number}": [PATH] for number in range(watchers)})]
    return ctx(stat=stat, tables=tables, settings=ALONE)


def test_l7_fires_for_the_watchers_of_a_single_node() -> None:
    """That is how such a lock works: information, no warning."""
    finding = only("L7", single(5))

    assert finding.sentence == f"5 sessions wake when {PATH} is freed, and one of them gets it."
    assert finding.severity == "info"


def test_l7_is_quiet_for_a_single_node_with_four_watchers() -> None:
    """The threshold is a setting."""
    assert not found("L7", single(4))


def notified(times: int, operation: str = "GETC") -> LockContext:
    """Five waiters without a visible watch; each was woken so often between two tables."""
    names = [f"w{number}" for number in range(1, 6)]
    fields = {"last_operation": Text(operation)}
    tables = (
        connected(*names, at=NOW - 10 * SECOND, received=5, sent=5, last_cxid=1, **fields),
        connected(*names, received=5 + times, sent=5 + 2 * times, last_cxid=1 + times, **fields),
        watching({}),
    )
    return ctx(*CROWD[:6], tables=tables, sessions=sessions(*tables[:2]))


def test_l8_fires_when_waiters_wake_though_no_table_shows_a_watch() -> None:
    """Child watches are in no table; the packets give them away."""
    finding = only("L8", notified(3))

    assert finding.sentence == f"5 waiters of {PATH} wake at every change in it and list it again."
    assert finding.confidence == "C2"


@pytest.mark.parametrize(
    ("times", "operation"),
    [
        pytest.param(0, "GETC", id="nothing woke them"),
        pytest.param(3, "SETD", id="they do other work"),
    ],
)
def test_l8_is_quiet_when(times: int, operation: str) -> None:
    """Waiters that sleep are no herd."""
    assert not found("L8", notified(times, operation))


def test_l9_fires_when_releases_times_waiters_is_a_storm() -> None:
    """Sixty releases a second wake ten waiters each."""
    finding = only("L9", crowd(HERD, past=history(releases_per_s=60.0)))

    assert "about 660 requests a second" in finding.sentence


def test_l9_fires_for_three_bursts_a_second() -> None:
    """Whatever their size."""
    assert (
        "3.0 times a second" in only("L9", crowd(HERD, past=history(releases_per_s=3.0))).sentence
    )


def test_l9_is_quiet_for_a_herd_that_seldom_wakes() -> None:
    """One release in ten seconds is bearable."""
    assert not found("L9", crowd(HERD, past=history(releases_per_s=0.1)))


def test_l9_is_blind_before_a_rate_is_known() -> None:
    """A lock that was just found has none."""
    assert lacks("L9", crowd(HERD)) == ["history"]


def cancelled(*, at: int, watched: list[At], cxid: int = 2, czxid: int = 1) -> LockContext:
    """A contender gave up before bob, who was active afterwards."""
    tables = (
        connected("bob", at=NOW - 60 * SECOND, last_cxid=1),
        connected("bob", at=NOW, last_cxid=cxid),
        watching({"bob": watched}),
    )
    past = history(former_members=(gone("zoe", czxid, "abandoned", ago=at),))
    return ctx(CROWD[0], k("bob", 1), tables=tables, past=past, sessions=sessions(*tables[:2]))


def test_l10_fires_for_a_waiter_that_stopped_watching_when_one_before_it_gave_up() -> None:
    """It may take any deletion for the grant: a hint, no more."""
    finding = only("L10", cancelled(at=30 * SECOND, watched=[]))

    assert (finding.confidence, finding.severity) == ("C1", "info")


@pytest.mark.parametrize(
    "case",
    [
        pytest.param({"watched": [CROWD[0]]}, id="it watches again"),
        pytest.param({"watched": [], "cxid": 1}, id="it has done nothing since"),
        pytest.param({"watched": [], "czxid": 900}, id="who gave up was behind it"),
    ],
)
def test_l10_is_quiet_when(case: dict[str, object]) -> None:
    """Only a client that was woken and did not go on watching is suspicious."""
    assert not found("L10", cancelled(at=30 * SECOND, **case))


def test_l11_fires_for_a_watcher_without_a_place() -> None:
    """Harmless, and only after a minute."""
    finding = only("L11", ctx(*CROWD[:2], tables=[watching({"zoe": [CROWD[0]]})]))

    assert finding.sentence.startswith("0x1000")
    assert (finding.severity, finding.patience_ms) == ("info", 60 * SECOND)


@pytest.mark.parametrize("who", ["w1", "zktop"])
def test_l11_is_quiet_for(who: str) -> None:
    """Contenders may watch each other, and zktop's own watches are no problem."""
    assert not found("L11", ctx(*CROWD[:2], tables=[watching({who: [CROWD[0]]})]))


def test_l11_is_quiet_for_the_owner_of_a_foreign_child() -> None:
    """It has a place, only of another kind."""
    table = watching({"cron": [CROWD[0]]})

    assert not found("L11", ctx(*CROWD[:2], At("config", "cron"), tables=[table]))


def test_l11_is_blind_while_a_member_is_hidden() -> None:
    """The session that watches may be its owner."""
    *members, last = facts(*CROWD[:3])
    hidden = Denied(path=last.path, what="read", zxid=ZXID, at=NOW)
    table = watching({"w2": [CROWD[1]]})
    made = lock_at(Text(PATH), world(*members, hidden, table), Settings(), NOW)
    assert isinstance(made, Lock)
    case = LockContext(lock=made, shared=shared_context(table))

    assert not found("L11", case)
    assert lacks("L11", case) == ["names"]


def test_l11_names_a_node_once_that_two_servers_list() -> None:
    """The session moved, and the table of its old server is older."""
    first = (path_of(CROWD[0]),)
    tables = [watches(server, {"zoe": first}, zxid=1_000_000) for server in (ZK1, ZK2)]
    finding = only("L11", ctx(*CROWD[:2], tables=tables))

    assert len(finding.nodes) == 1
    assert " and " not in finding.sentence


def test_l11_is_quiet_for_all_who_watch_the_master_of_hbase() -> None:
    """Region servers watch it for good, and never wait for it."""
    masters = folder("/hbase", "master", "backup-masters"), folder("/hbase/backup-masters", "m2")
    nodes = created("/hbase/master", "m1", 90), created("/hbase/backup-masters/m2", "m2", 91)
    table = watching({who: ["/hbase/master"] for who in ("m2", "rs1", "rs2")})
    known = world(*masters[0], *masters[1], *nodes, table)
    made = lock_at(Text("/hbase"), known, Settings(), NOW)

    assert isinstance(made, Lock)
    assert made.waiters
    assert not found("L11", LockContext(lock=made, shared=shared_context(table)))


@pytest.mark.parametrize("rule", ["L7", "L8", "L9", "L10", "L11"])
def test_a_missing_watch_table_is_reported(rule: str) -> None:
    """Silence would look like health."""
    case = ctx(*CROWD[:2], tables=[no_watches(ZK1)])

    assert rule in {one.rule for one in table_blind_spots(case.shared) if one.need == "watches"}
