"""B: blocked for good without a cycle; each rule with a case that fires and a near miss."""

from collections.abc import Sequence

import pytest
from model.findings.cases import (
    MINUTE,
    PATH,
    SECOND,
    At,
    all_rules,
    answers,
    connected,
    ctx,
    facts,
    found,
    gone,
    held,
    history,
    k,
    lacks,
    only,
    path_of,
    plain,
    sessions,
    usual,
    watching,
)
from model.make_facts import NOW, ZK1, expiry, session

from zktop.model.facts import Children, Denied, Stat, join
from zktop.model.findings.apply import table_blind_spots
from zktop.model.findings.context import LockContext
from zktop.model.findings.dead_holders import MAX_WATCHES, TOO_MANY_WATCHES
from zktop.model.findings.finding import LookAgainAt
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text

ORPHAN = k("import", 7, by="", age_ms=2 * MINUTE)
B, C = k("bob", 8), k("carol", 9)
W, READER = k("alice", 6), k("import", 7, "rlock", by="", age_ms=9 * MINUTE)


def test_b1_fires_for_an_ownerless_node_that_blocks_others() -> None:
    """The sentence names the node, how many wait, and that it will never go away (T13)."""
    finding = only("B1", ctx(ORPHAN, B, C))

    assert finding.sentence == (
        f"{ORPHAN.name[:4]}…__lock__0000000007 in {PATH} has no owner; 2 clients wait for it; "
        "no client will ever delete it."
    )
    assert (finding.severity, finding.confidence) == ("critical", "C3")
    assert finding.since == NOW - 2 * MINUTE


@pytest.mark.parametrize(
    "case",
    [
        pytest.param([ORPHAN], id="no waiters"),
        pytest.param([k("import", 7, age_ms=2 * MINUTE), B], id="it has an owner"),
        pytest.param([k("alice", 6), k("import", 7, by="", age_ms=9 * MINUTE)], id="it is last"),
        pytest.param([W, READER, k("bob", 8, "rlock")], id="readers do not wait for readers"),
    ],
)
def test_b1_is_quiet_when(case: list[At]) -> None:
    """An orphan is only trouble for those behind it."""
    assert not found("B1", ctx(*case))


def test_b1_counts_the_readers_behind_a_writer() -> None:
    """Bob waits for alice alone, carol for the orphan, and dan for carol."""
    queue = W, READER, k("bob", 8, "rlock"), k("carol", 9), k("dan", 10, "rlock")

    assert "; 2 clients wait for it;" in only("B1", ctx(*queue)).sentence


def test_b1_is_quiet_until_the_creator_had_time_to_come_back() -> None:
    """It asks to look again exactly when the time is over."""
    young = k("import", 7, by="", age_ms=50 * SECOND)

    assert answers("B1", ctx(young, B)) == [LookAgainAt(NOW + 10 * SECOND + 1)]


def test_b5_fires_for_a_node_whose_session_no_list_has() -> None:
    """It must last longer than any session timeout before it is worth a line."""
    tables = (connected("bob", "zktop"), expiry(ZK1, {"bob": 5 * SECOND, "zktop": 5 * SECOND}))
    finding = only("B5", ctx(k("alice", 0), k("bob", 1), tables=tables))

    assert finding.sessions == (session("alice"),)
    assert (finding.confidence, finding.patience_ms) == ("C4", 40 * SECOND)


def test_b5_is_quiet_for_a_session_that_is_still_listed() -> None:
    """Gone from the connections, but not expired: that is a countdown, not a stale node."""
    listed = dict.fromkeys(("alice", "bob", "zktop"), 5 * SECOND)
    tables = (connected("bob", "zktop"), expiry(ZK1, listed))

    assert not found("B5", ctx(k("alice", 0), k("bob", 1), tables=tables))


POOL = "/pool/sem"
LEASES = [At(f"{number:032x}", f"user-{number}", czxid=200 + number) for number in range(3)]


def pool(*leases: At, size: int = 2, **more: object) -> LockContext:
    """A kazoo semaphore: its leases, and a waiter for them."""
    queue = facts(k("waiter", 0), path=f"{POOL}-__lock__")
    names = (Text("sem"), Text("sem-__lock__"))
    parent = Children(path=Text("/pool"), names=names, stat=Stat(1, 1, 0), zxid=1, at=NOW)
    return ctx(*leases, path=POOL, data=str(size).encode(), more_facts=(parent, *queue), **more)


def leak(ms: int, *former_members: object) -> object:
    """A pool whose first lease has been held so long."""
    past = history(
        holds=usual(10, SECOND), stays=held(LEASES[0], ms), former_members=tuple(former_members)
    )
    tables = (connected("user-0", "zktop"),)
    return pool(*LEASES[:2], past=past, tables=tables)


NEWER = (
    gone("user-0", 300, "released", mode="lease"),
    gone("user-0", 301, "released", mode="lease"),
)


def test_b6_fires_for_a_lease_kept_while_newer_ones_came_back() -> None:
    """Twenty times the usual, by a session that takes and returns other leases."""
    finding = only("B6", leak(30 * SECOND, *NEWER))

    assert "user-0 has kept a lease of /pool/sem for 30s" in finding.sentence


@pytest.mark.parametrize(
    ("ms", "former_members"),
    [
        pytest.param(10 * SECOND, NEWER, id="not yet long"),
        pytest.param(30 * SECOND, NEWER[:1], id="it returned one only"),
    ],
)
def test_b6_is_quiet_when(ms: int, former_members: tuple[object, ...]) -> None:
    """A long job is no leak."""
    assert not found("B6", leak(ms, *former_members))


def test_b6_is_blind_without_a_history_of_holds() -> None:
    """What is usual is not known before twenty holds have ended."""
    assert lacks("B6", pool(*LEASES[:2])) == ["history"]


def test_b7_fires_for_more_leases_than_there_are() -> None:
    """Kazoo keeps the number in the data of the root."""
    finding = only("B7", pool(*LEASES, size=2))

    assert finding.sentence == "3 leases of /pool/sem are out, but it has only 2."


def test_b7_is_quiet_for_a_full_pool() -> None:
    """Full is not too full."""
    assert not found("B7", pool(*LEASES, size=3))


def test_b7_is_blind_when_the_number_is_not_known() -> None:
    """A number that was only inferred proves nothing (T28)."""
    case = pool(*LEASES, lock={"leases": 2, "leases_are": "inferred"})

    assert lacks("B7", case) == ["leases"]


def zombie(
    ms: int, *, cxid: int = 1, operation: str = "PING", watched: Sequence[str] = (), **more: object
) -> object:
    """A holder whose request counter was 1 a minute ago, and a waiter."""
    holder = k("alice", 0)
    fields = {"last_operation": Text(operation)}
    before = connected("alice", at=NOW - MINUTE, last_cxid=1, **fields)
    now = connected("alice", last_cxid=cxid, **fields)
    past = history(holds=usual(10, SECOND), stays=held(holder, ms))
    tables = (before, now)
    shown = (*tables, watching({"alice": watched})) if watched else tables
    return ctx(holder, B, past=past, tables=shown, sessions=sessions(*tables), **more)


def test_b8_fires_for_a_holder_that_does_nothing_but_ping() -> None:
    """Alive and idle, far beyond the usual hold."""
    finding = only("B8", zombie(2 * MINUTE))

    assert "alice holds /locks/orders, keeps pinging and has made no request" in finding.sentence


@pytest.mark.parametrize(
    "case",
    [
        pytest.param({"cxid": 2}, id="it works"),
        pytest.param({"operation": "GETD"}, id="it reads"),
        pytest.param(
            {"tangled": {(Text(PATH), Text(k("alice", 0).name)): "D1-x"}}, id="it is deadlocked"
        ),
    ],
)
def test_b8_is_quiet_when(case: dict[str, object]) -> None:
    """A client that works, or waits in a deadlock, is no zombie."""
    assert not found("B8", zombie(2 * MINUTE, **case))


def test_b8_has_no_data_for_a_session_that_watches_thousands_of_nodes() -> None:
    """It may wait for any of them."""
    watched = [f"/config/{number}" for number in range(MAX_WATCHES + 1)]

    assert answers("B8", zombie(2 * MINUTE, watched=watched)) == [TOO_MANY_WATCHES]
    assert found("B8", zombie(2 * MINUTE, watched=watched[:MAX_WATCHES]))


def test_b8_is_quiet_for_a_holder_without_waiters_of_its_own() -> None:
    """Others wait for another lock below the same parent."""
    children = plain("alice", 0, "a-"), plain("bob", 1, "b-"), plain("carol", 2, "b-")
    fields = {"last_operation": Text("PING"), "last_cxid": 1}
    tables = (connected("alice", at=NOW - MINUTE, **fields), connected("alice", **fields))
    past = history(holds=usual(10, SECOND), stays=held(children[0], 2 * MINUTE))
    case = ctx(*children, past=past, tables=tables, sessions=sessions(*tables))

    assert case.waiters
    assert not found("B8", case)


def test_b8_is_blind_without_a_history_of_holds() -> None:
    """What is usual is not known."""
    assert lacks("B8", ctx(k("alice", 0), B)) == ["history"]


OUTSIDE = "/secret/lock-0000000004"


def test_b9_fires_for_a_holder_that_watches_a_numbered_node_elsewhere() -> None:
    """A wait that no watched lock shows."""
    case = ctx(k("alice", 0), B, tables=[watching({"alice": [OUTSIDE]})])
    finding = only("B9", case)

    assert finding.confidence == "C1"
    assert "probably waits for lock-0000000004 in /secret" in finding.sentence


def test_b9_says_that_an_acl_hides_the_other_lock() -> None:
    """To name it as a root would not help."""
    tables = [watching({"alice": [OUTSIDE]})]
    denied = Denied(path=Text("/secret"), what="list", zxid=1, at=NOW)
    finding = only("B9", ctx(k("alice", 0), B, tables=tables, more_facts=[denied]))

    assert "in /secret, whose ACL does not let zktop list its children." in finding.sentence
    assert "--auth" in finding.advice
    assert "--root" not in finding.advice


def test_b9_is_quiet_for_the_queue_of_a_semaphore_that_is_watched() -> None:
    """It is no lock of its own: zktop reads it as a part of the semaphore."""
    tables = [watching({"alice": ["/app/disk-__lock__/lock-0000000004"]})]
    part = Children(path=Text("/app/disk-__lock__"), names=(), stat=Stat(1, 1, 0), zxid=1, at=NOW)
    case = ctx(k("alice", 0), B, tables=tables, more_facts=[part])

    assert not found("B9", case)


def test_b9_has_no_data_for_a_session_that_watches_thousands_of_nodes() -> None:
    """Which of them it waits for is unknown, and each look would compare them all."""
    watched = [f"/secret/lock-{number:010}" for number in range(MAX_WATCHES + 1)]
    case = ctx(k("alice", 0), B, tables=[watching({"alice": watched})])

    assert answers("B9", case) == [TOO_MANY_WATCHES]


@pytest.mark.parametrize(
    "watched",
    [
        pytest.param("/config/report", id="it has no number"),
        pytest.param(join(PATH, "leases/lock-0000000004"), id="that lock is watched"),
        pytest.param(path_of(B), id="it is in this lock"),
    ],
)
def test_b9_is_quiet_when(watched: str) -> None:
    """Only what looks like a queue outside of the watched roots."""
    tables = [watching({"alice": [watched]})]
    locks = {Text(PATH): ctx(k("alice", 0), B).lock}

    assert not found("B9", ctx(k("alice", 0), B, tables=tables, locks=locks))


@pytest.mark.parametrize(
    ("rule", "need"),
    [("B3", "watches"), ("B4", "connections"), ("B5", "expiry"), ("B9", "watches")],
)
def test_a_missing_table_is_reported_for_each_rule_that_needs_it(rule: str, need: str) -> None:
    """Silence would look like health."""
    blind = {(one.rule, one.need) for one in table_blind_spots(ctx(k("alice", 0), B).shared)}

    assert (rule, need) in blind


def test_a_pool_with_free_leases_is_healthy() -> None:
    """Nothing at all is said of it."""
    tables = (connected("user-0", "user-1", "waiter", "zktop"), watching({}))
    past = history(stays=held(LEASES[0], SECOND))

    assert not all_rules(pool(LEASES[0], tables=tables, past=past))


def test_a_named_number_of_leases_counts_as_known() -> None:
    """The user's word is as good as the root's data."""
    settings = Settings(roots=(Root(path=POOL, leases=2),))

    assert found("B7", pool(*LEASES, size=0, settings=settings))
