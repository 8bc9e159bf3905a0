"""L1 to L6: waiters that nothing will wake; each rule with a case that fires and a near miss."""

import pytest
from model.findings.cases import (
    PATH,
    SECOND,
    At,
    all_rules,
    connected,
    ctx,
    curator,
    found,
    held,
    history,
    k,
    lacks,
    only,
    sessions,
    shared_context,
    watching,
)
from model.make_facts import NOW, ZK1, kazoo_name, no_connections, no_watches, world
from model.semaphores import ANN_LEASE, GATE, POOL, created, kazoo_pool

from zktop.model.findings.apply import NO_RESULTS, examine_lock, table_blind_spots
from zktop.model.findings.context import LockContext
from zktop.model.locks.lock import Lock
from zktop.model.locks.lock_at_path import lock_at
from zktop.model.settings import Settings
from zktop.model.text import Text

A, B, C, D = k("alice", 0), k("bob", 1), k("carol", 2), k("dave", 3)
ALL = {"bob": [A], "carol": [B], "dave": [C]}


def queue(watched: dict[str, list[At | str]], **more: object) -> LockContext:
    """Four contenders who watch this instead of what their recipe says."""
    return ctx(A, B, C, D, tables=[watching({**ALL, **watched})], **more)


def test_a_queue_in_which_all_watch_their_predecessor_is_healthy() -> None:
    """No wake-up rule says anything."""
    assert not {rule for rule in all_rules(queue({})) if rule[0] in "LD"}


def test_l1_fires_for_a_waiter_that_watches_nothing_here() -> None:
    """Two tables must show it before it is reported."""
    finding = only("L1", queue({"carol": []}))

    assert finding.sentence == (
        f"carol waits in {PATH} and watches nothing there: nothing will wake it when "
        f"{B.name[:4]}…__lock__0000000001 goes."
    )
    assert (finding.severity, finding.confidence, finding.patience_ms) == ("critical", "C3", 2000)


def test_l1_is_quiet_for_a_waiter_that_came_after_the_table() -> None:
    """A table cannot show what was not there when it was read."""
    late = k("carol", 2, czxid=2_000_000)

    assert not found("L1", ctx(A, B, late, tables=[watching({"bob": [A]})]))


def test_l1_is_quiet_for_a_session_that_no_table_shows() -> None:
    """Unknown is not missing."""
    assert not found("L1", ctx(A, B, tables=[no_watches(ZK1)]))


def test_l1_is_quiet_for_a_poller() -> None:
    """It needs no watch; that it polls is another rule's business."""
    assert not found("L1", polling(20))


BEFORE = NOW - 60 * SECOND


def silent(
    held_ms: int, *, cxid: int = 1, table_at: int = NOW, waited: bool = True
) -> LockContext:
    """Alice became first so long ago; her request counter was 1 a minute ago."""
    tables = (
        connected("alice", at=BEFORE, last_cxid=1),
        connected("alice", at=table_at, last_cxid=cxid),
    )
    past = history(stays=held(A, held_ms, waited=waited))
    return ctx(A, B, tables=tables, past=past)


def test_l2_fires_for_a_head_that_has_sent_nothing_since_it_became_first() -> None:
    """The template: who, where, for how long (T25)."""
    finding = only("L2", silent(31 * SECOND))

    assert finding.sentence == (
        f"alice has been first in {PATH} for 31s but has sent no request since it became first."
    )
    assert finding.confidence == "C4"


@pytest.mark.parametrize(
    "case",
    [
        pytest.param({"cxid": 2}, id="it has listed the queue"),
        pytest.param({"waited": False}, id="its wait was not seen"),
        pytest.param({"table_at": NOW - 30 * SECOND}, id="the table is too old to tell"),
    ],
)
def test_l2_is_quiet_when(case: dict[str, object]) -> None:
    """Only a request that should have been made and was not is a lost wake-up."""
    assert not found("L2", silent(31 * SECOND, **case))


def test_l2_fires_without_waiters_behind() -> None:
    """The last waiter may be one that was never woken."""
    tables = (connected("alice", at=BEFORE, last_cxid=1), connected("alice", last_cxid=1))
    past = history(stays=held(A, 31 * SECOND))

    assert "L2" in all_rules(ctx(A, tables=tables, past=past))


GONE = f"{PATH}/{k('zoe', 0).name}"


def test_l3_fires_for_a_waiter_whose_only_watch_is_on_a_node_that_is_gone() -> None:
    """A lost wake-up: numbers do not come back."""
    finding = only("L3", queue({"carol": [GONE]}))

    assert "its only watch will never fire" in finding.sentence
    assert (finding.severity, finding.confidence) == ("critical", "C4")


def test_l3_is_only_information_beside_a_good_watch() -> None:
    """It is left over from an earlier wait."""
    assert only("L3", queue({"carol": [GONE, B]})).severity == "info"


@pytest.mark.parametrize("watched", [f"{PATH}/config", f"/elsewhere/{A.name}"])
def test_l3_is_quiet_for(watched: str) -> None:
    """A name without a number may well be created; another path is not this lock's business."""
    assert not found("L3", queue({"carol": [watched, B]}))


def test_l3_is_quiet_for_a_foreign_child_of_the_gate_of_a_semaphore() -> None:
    """It is in another folder than the semaphore's own, but it is there."""
    first, second = kazoo_name("ann", 0), kazoo_name("bob", 2)
    gate = {first: "ann", "foo-0000000001": "foo", second: "bob"}
    queued = [
        created(f"{GATE}/{name}", who, 100 + n) for n, (name, who) in enumerate(gate.items())
    ]
    table = watching({"bob": [f"{GATE}/{first}", f"{GATE}/foo-0000000001"]})
    pool = [*kazoo_pool(leases=1), created(ANN_LEASE, "dan", 90)]
    lock = lock_at(Text(POOL), world(*pool, *queued, table), Settings(), NOW)

    assert isinstance(lock, Lock)
    assert lock.foreign
    assert not found("L3", LockContext(lock=lock, shared=shared_context(table)))


def test_l4_fires_for_a_waiter_that_watches_another_one_before_it() -> None:
    """It need not wait for that one first."""
    finding = only("L4", queue({"dave": [A]}))

    assert "dave waits in /locks/orders and watches" in finding.sentence


R, V, W = k("r", 0, "rlock"), k("v", 1), k("w", 2)


@pytest.mark.parametrize(
    ("children", "who", "watched", "described"),
    [
        ((A, B, C, D), "dave", A, "the first of the queue"),
        ((R, V, W, k("x", 3), k("s", 4, "rlock")), "s", V, "the first writer"),
        ((A, k("r", 1, "rlock"), k("s", 2, "rlock")), "s", k("r", 1, "rlock"), "right before it"),
        ((A, B, C, D, k("eve", 4)), "eve", B, "3 places before it"),
    ],
)
def test_l4_says_for_which_order_the_watch_would_be_right(
    children: tuple[At, ...], who: str, watched: At, described: str
) -> None:
    """That names the library, or its version."""
    finding = only("L4", ctx(*children, tables=[watching({who: [watched]})]))

    assert any(described in one.text for one in finding.evidence)


def test_l4_is_quiet_for_a_watch_in_the_queue_of_another_library() -> None:
    """The place of a node is that in its own queue; no order compares the two."""
    others = curator("alice", 0), curator("eve", 4)
    watched = watching({"dan": [others[1]], "carol": [others[0]]})
    case = ctx(others[0], k("bob", 1), k("carol", 2), k("dan", 3), others[1], tables=[watched])

    assert not found("L4", case)


def test_l4_is_quiet_for_a_session_with_two_places() -> None:
    """Which of its watches belongs to which place is a guess."""
    second = k("dave's other thread", 4, by="dave")
    tables = [watching({**ALL, "dave": [A]})]

    assert not found("L4", ctx(A, B, C, D, second, tables=tables))


def test_l4_is_quiet_for_a_curator_reader_that_watches_the_first_writer() -> None:
    """Every library is measured by its own rule."""
    writers = curator("w1", 0, "WRIT"), curator("w2", 1, "WRIT")
    reader = curator("r1", 2, "READ")
    tables = [watching({"w2": [writers[0]], "r1": [writers[0]]})]

    assert not found("L4", ctx(*writers, reader, tables=tables))


def test_l5_fires_for_a_waiter_that_watches_only_itself() -> None:
    """It wakes when it gives up."""
    assert "watches only its own node" in only("L5", queue({"carol": [C]})).sentence


def test_l5_is_quiet_for_a_waiter_that_also_watches_its_predecessor() -> None:
    """Revocable locks watch their own node on purpose."""
    assert not found("L5", queue({"carol": [C, B]}))


def polling(packets: int, operation: str = "GETC", requests: int | None = None) -> LockContext:
    """Bob waits without a watch, and has sent this many packets in ten seconds.

    `requests` of the packets are requests; None: the tables do not show it.
    """
    fields = {"last_operation": Text(operation)}
    first_cxid = None if requests is None else 0
    tables = (
        connected("bob", at=NOW - 10 * SECOND, received=0, sent=0, last_cxid=first_cxid, **fields),
        connected("bob", received=packets, sent=packets, last_cxid=requests, **fields),
        watching({}),
    )
    return ctx(A, B, tables=tables, sessions=sessions(*tables[:2]))


def test_l6_fires_for_a_waiter_that_asks_again_and_again() -> None:
    """Two requests a second, without a watch, for ten seconds."""
    finding = only("L6", polling(20))

    assert finding.sentence == f"bob polls {PATH}: 2.0 requests a second while it waits."
    assert finding.patience_ms == 10 * SECOND


def test_l6_does_not_count_pings_as_requests() -> None:
    """A session with a short timeout pings often; here ten of the packets are pings."""
    finding = only("L6", polling(30, requests=20))

    assert finding.sentence == f"bob polls {PATH}: 2.0 requests a second while it waits."


def test_l6_is_quiet_if_most_packets_are_pings() -> None:
    """Two packets a second, but only a request every two seconds."""
    assert not found("L6", polling(20, requests=5))


@pytest.mark.parametrize(
    ("packets", "operation"),
    [
        pytest.param(5, "GETC", id="now and then"),
        pytest.param(20, "SETD", id="busy with other work"),
    ],
)
def test_l6_is_quiet_when(packets: int, operation: str) -> None:
    """Pings and other work are not polling."""
    assert not found("L6", polling(packets, operation))


def test_l6_is_blind_after_one_table() -> None:
    """A rate needs two."""
    assert lacks("L6", ctx(A, B, tables=(connected("bob"), watching({})))) == ["history"]


@pytest.mark.parametrize(
    ("rule", "need"),
    [
        *((f"L{number}", "watches") for number in (1, 3, 4, 5, 6)),
        ("L2", "connections"),
        ("L6", "connections"),
        ("D7", "watches"),
    ],
)
def test_a_missing_table_is_reported_for_each_rule_that_needs_it(rule: str, need: str) -> None:
    """The reason names the server and what it said."""
    case = ctx(A, B, tables=(no_watches(ZK1), no_connections(ZK1)))
    why = [
        one.why for one in table_blind_spots(case.shared) if (one.rule, one.need) == (rule, need)
    ]

    assert len(why) == 1
    assert why[0].startswith("zk1:2181 gives no")


def test_d7_fires_for_two_sessions_that_sleep_on_each_other() -> None:
    """The order says that the reader holds; the watches say that both sleep (T24)."""
    reader, writer = k("alice", 0, "rlock"), k("bob", 1)
    tables = [watching({"alice": [writer], "bob": [reader]})]
    finding = only("D7", ctx(reader, writer, tables=tables))

    assert (finding.severity, finding.confidence) == ("critical", "C4")
    assert "alice and bob watch each other's nodes" in finding.sentence


def test_d7_fires_for_a_waiter_that_watches_one_behind_it() -> None:
    """No release before it will wake it."""
    assert "bob waits in" in only("D7", queue({"bob": [D], "carol": []})).sentence


def test_d7_is_quiet_for_a_session_with_several_places() -> None:
    """Its second node may wait for a session that waits for its first."""
    again = k("alice's other thread", 2, by="alice")
    tables = [watching({"alice": [B], "bob": [A]})]

    assert not found("D7", ctx(A, B, again, tables=tables))


def test_a_lock_younger_than_the_tables_is_looked_at_again() -> None:
    """The next tables may show what these cannot."""
    past = history(stays=held(A, SECOND))
    examined = examine_lock(ctx(A, B, tables=[watching({"bob": [A]}, at=NOW - SECOND)], past=past))

    assert examined.due_ms == NOW + 5 * SECOND


@pytest.mark.parametrize(
    ("age", "table_age"),
    [
        pytest.param(10 * SECOND, 0, id="newer tables"),
        pytest.param(90 * SECOND, 95 * SECOND, id="long ago"),
    ],
)
def test_a_calm_lock_is_not_looked_at_again(age: int, table_age: int) -> None:
    """The tables are newer, or never come; only the clock may change something."""
    old = k("alice", 0, age_ms=600 * SECOND)
    case = ctx(old, tables=[watching({"alice": []}, at=NOW - table_age)], lock={"at": NOW - age})

    assert examine_lock(case) == NO_RESULTS
