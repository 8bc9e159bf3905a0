"""Deadlocks over a run: numbers, the last verdict, how they ended, and what they leave behind."""

from typing import Any

import pytest
from model.make_facts import NOW, ZK1, connections, kazoo_name, lock, own, row, session, world
from msgspec.structs import replace
from output.stories import facts, settings

from zktop.model.deadlock_log import DeadlockLog
from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Children, Denied, Gone, join
from zktop.model.history.all_locks import LockHistories
from zktop.model.report import Report
from zktop.model.session_ids import session_text
from zktop.model.text import Text
from zktop.output.event_stream import EventStream

BEGIN = NOW + 60_000
ANN_X, BOB_X, CID_X = (kazoo_name(name, n) for n, name in enumerate(("ann", "bob", "cid")))
BOB_Y, ANN_Y = kazoo_name("bob", 0), kazoo_name("ann", 1)
RING = (*lock("/x", "ann", "bob", "cid"), *lock("/y", "bob", "ann"))


def gone(path: str, node: str, zxid: int, **more: Any) -> Gone:
    """A place that was left."""
    return Gone(path=join(path, node), zxid=zxid, at=BEGIN + 10_000, **more)


def looked(*steps: tuple[AnyFact, ...], every_ms: int = 10_000) -> list[Report]:
    """Look after each of these steps."""
    examiner, now, seen = Examiner(), world(), []
    for number, found in enumerate(steps):
        now = now.after(*found)
        seen.append(examiner.look(now, BEGIN + number * every_ms))
    return seen


def table(*names: str, quiet_ms: int = 0, late_ms: int = 0) -> AnyFact:
    """Connected sessions, and how long they have been silent."""
    rows = [row(name, quiet_ms=quiet_ms) for name in names]
    return connections(ZK1, *rows, at=BEGIN + late_ms)


ALL = (table("ann", "bob", "cid", late_ms=5_000),)
ENDS = {
    "bob gave up waiting for /x": (gone("/x", BOB_X, 900),),
    "bob gave up or closed its session": (gone("/x", BOB_X, 900), gone("/y", BOB_Y, 900)),
    "bob released /y while it waited, or another client deleted its node": (
        gone("/y", BOB_Y, 900),
    ),
    "unknown, as its rules changed (actors, leases or kind of a lock), "
    "or a node became unreadable": (
        Denied(path=join("/x", ANN_X), what="read", zxid=900, at=BEGIN + 9_000),
    ),
    "its nodes left with many others, or with their locks": (
        *(gone("/x", node, 900) for node in (ANN_X, BOB_X, CID_X)),
        *(gone("/y", node, 901) for node in (BOB_Y, ANN_Y)),
        *(Gone(path=Text(path), zxid=902, at=BEGIN + 10_000) for path in ("/x", "/y")),
    ),
}


@pytest.mark.parametrize("how", ENDS)
def test_an_ended_deadlock_says_which_client_left_and_how(how: str) -> None:
    """By how the places of its members were left."""
    live, after = looked((*RING, *ALL), ENDS[how])
    (over,) = after.over

    assert not live.over
    assert not after.deadlocks
    assert (over.at, over.how) == (after.now, how)


def test_without_tables_a_session_that_leaves_may_have_expired() -> None:
    """No server shows whether it was connected."""
    *_, after = looked(RING, ENDS["bob gave up or closed its session"])

    assert after.over[0].how == "bob gave up, or its session ended"


def test_a_session_without_a_connection_that_leaves_has_expired() -> None:
    """No server had a connection of it before its nodes went."""
    alone = (table("ann", "cid", late_ms=9_000),)
    left = ENDS["bob gave up or closed its session"]
    *_, after = looked((*RING, *ALL), alone, left)

    assert after.over[0].how == "the session of bob expired: it was killed, paused or cut off"


@pytest.mark.parametrize(
    ("removal", "how"),
    [
        ("deleted", "bob gave up waiting for /x"),
        ("closed", "bob closed its session"),
        ("ended", "an administrator ended the session of bob"),
        ("expired", "the session of bob expired: it was killed, paused or cut off"),
    ],
)
def test_a_transaction_log_says_how_a_session_ended(removal: str, how: str) -> None:
    """Bob left both locks."""
    places = (("/x", BOB_X, 900), ("/y", BOB_Y, 901))
    left = tuple(gone(*place, how=removal, by=session("bob")) for place in places)
    *_, after = looked((*RING, *ALL), left)

    assert after.over[0].how == how


def test_a_transaction_log_says_that_a_client_deleted_its_own_node() -> None:
    """Then it was not blocked."""
    left = gone("/y", BOB_Y, 900, how="deleted", by=session("bob"))
    *_, after = looked((*RING, *ALL), (left,))

    assert after.over[0].how == "bob released /y while it waited, so it was not blocked"


def test_a_deadlock_that_another_client_joins_becomes_part_of_a_larger_one() -> None:
    """Ann waits for her own read lock; then bob wants to write, too, and none of them has left."""
    one, both = "L rw: A.R B.R A.W", "L rw: A.R B.R A.W B.W"
    examiner, now = Examiner(settings(both)), world()
    for number, story in enumerate((one, both)):
        now = now.after(*facts(story, at=BEGIN))
        report = examiner.look(now, BEGIN + number * 10_000)
    (larger,) = report.deadlocks
    (over,) = report.over

    assert (over.deadlock.rule, larger.rule) == ("D4", "D5")
    assert over.how == f"more clients joined: it is part of deadlock #{larger.number}"


def test_a_ring_that_leaves_with_a_crowd_has_left() -> None:
    """A lock remembers only the last of many members that left together."""
    crowd = [f"w{n}" for n in range(40)]
    queues = {"/x": ("ann", "bob", *crowd), "/y": ("bob", "ann", *crowd)}
    places = [(path, kazoo_name(name, n)) for path, those in queues.items()
              for n, name in enumerate(those)]  # fmt: skip
    left = tuple(gone(*place, 900) for place in places)
    facts = [fact for path, those in queues.items() for fact in lock(path, *those)]
    *_, after = looked((*facts, table("ann", "bob", *crowd)), left)

    assert after.over[0].how == "its nodes left with many others, or with their locks"


def test_a_node_deleted_by_another_session_was_not_given_up() -> None:
    """A transaction log says by whom."""
    cid = session("cid")
    *_, after = looked((*RING, *ALL), (gone("/x", BOB_X, 900, how="deleted", by=cid),))

    assert after.over[0].how == f"session {session_text(cid)} deleted the node of bob in /x"


def test_its_last_live_verdict_stays() -> None:
    """Its confidence, its sentence and the actors behind it stay as they were."""
    *_, live, after = looked((*RING, *ALL), (), ENDS["bob gave up waiting for /x"])

    assert after.over[0].deadlock == live.deadlocks[0]
    assert after.over[0].deadlock.behind == 1


def test_the_nodes_of_a_session_may_go_one_by_one() -> None:
    """The first of them alone looks as if it had given up."""
    first, second = ENDS["bob gave up or closed its session"]
    _, halfway, after = looked((*RING, *ALL), (first,), (second,), every_ms=50)

    assert halfway.over[0].how == "bob gave up waiting for /x"
    assert after.over[0].how == "bob gave up or closed its session"


@pytest.mark.parametrize("first", [("/x", BOB_X), ("/y", ANN_Y)])
def test_the_client_that_left_first_broke_it(first: tuple[str, str]) -> None:
    """The other one may go a moment later."""
    both = [("/x", BOB_X), ("/y", ANN_Y)]
    second = next(place for place in both if place != first)
    looks = ((*RING, *ALL), (gone(*first, 900),), (gone(*second, 901),))
    _, halfway, after = looked(*looks, every_ms=50)

    assert " gave up waiting for " in halfway.over[0].how
    assert after.over[0].how == halfway.over[0].how


def test_the_node_that_a_client_deleted_first_broke_it() -> None:
    """It released a lock; it no longer waits a moment later."""
    left = [
        (gone(path, node, zxid, how="deleted", by=session("bob")),)
        for path, node, zxid in (("/y", BOB_Y, 900), ("/x", BOB_X, 901))
    ]
    *_, after = looked((*RING, *ALL), *left, every_ms=50)

    assert after.over[0].how == "bob released /y while it waited, so it was not blocked"


def test_a_crowd_that_leaves_a_moment_later_hides_nothing() -> None:
    """A lock remembers only the last of many, but how the deadlock ended was known before."""
    crowd = [f"w{n}" for n in range(40)]
    x, y = ("ann", "bob", *crowd), ("bob", "ann", *crowd)
    first, *others = (gone("/x", kazoo_name(name, n), 900) for n, name in enumerate(x) if n)
    looks = (*lock("/x", *x), *lock("/y", *y), table(*x)), (first,), tuple(others)
    late = tuple(gone("/y", kazoo_name(name, n), 901) for n, name in enumerate(y))
    *_, after = looked(*looks, late, every_ms=50)

    assert after.over[0].how == "bob gave up waiting for /x"


def test_how_a_deadlock_ended_in_a_lock_that_became_unreadable_is_unknown() -> None:
    """What its last listing does not have may have left alone."""
    denied = Denied(path=Text("/x"), what="list", zxid=890, at=BEGIN + 9_000)
    *_, after = looked((*RING, *ALL), (denied, gone("/x", BOB_X, 900)))

    assert after.over[0].how.startswith("unknown, ")


def test_a_client_that_works_while_it_waits_was_not_deadlocked() -> None:
    """Ann created and deleted a node in a third lock: she has another thread."""
    ring = (*lock("/x", "ann", "bob", at=BEGIN), *lock("/y", "bob", "ann", at=BEGIN))
    came = lock("/z", "ann", czxid=2_000, at=BEGIN)
    went = (replace(came[0], names=(), zxid=2_100),)
    again = tuple(replace(one, zxid=2_200) for one in ring if isinstance(one, Children))
    *_, live, after = looked((*ring, *ALL), came, went, again, every_ms=1)

    assert live.deadlocks
    assert after.over[0].how == "no longer proven, as ann took or released a lock while waiting"
    assert [one.deadlocked_at for one in after.inversions] == [None]


@pytest.mark.parametrize(
    ("number", "how"),
    [(2, "as one of ann, bob has several threads"), (1, "as ann has several threads")],
)
def test_a_deadlock_that_has_become_a_hint_names_its_clients(number: int, how: str) -> None:
    """A reader that also requests to write is a ring of one."""
    (live,) = looked(RING)
    (deadlock,) = live.deadlocks
    steps = sorted(deadlock.steps, key=lambda step: step.name)[:number]
    ring = replace(deadlock, steps=tuple(steps))
    log = DeadlockLog(LockHistories(), {}, lambda _: False)
    log.look([ring], [], BEGIN, frozenset())
    log.look([], [ring], BEGIN + 1, frozenset())

    assert log.over[0].how == f"no longer proven, {how}"


def test_deadlocks_have_numbers_of_their_own() -> None:
    """The same while it lives; the next one has the next number, though its ring is the same."""
    again = lock("/x", "ann", "bob", czxid=2_000), lock("/y", "bob", "ann", czxid=2_000)
    other = (*lock("/v", "dan", "eve"), *lock("/w", "eve", "dan"))
    seen = looked(
        RING,
        (),
        (gone("/x", BOB_X, 900), gone("/y", BOB_Y, 900)),
        (gone("/x", ANN_X, 950), gone("/y", ANN_Y, 950)),
        (*again[0], *again[1]),
        other,
    )
    found = [
        sorted((deadlock.number, deadlock.locks[0]) for deadlock in made.deadlocks)
        for made in seen
    ]

    assert found == [[(1, "/x")]] * 2 + [[]] * 2 + [[(2, "/x")], [(2, "/x"), (3, "/v")]]


def test_a_pair_that_has_deadlocked_is_no_longer_potential() -> None:
    """While it is deadlocked that is enough; afterwards it says when it happened."""
    live, after, later = looked(RING, ENDS["bob gave up waiting for /x"], ())
    found = [
        [finding for finding in made.findings if finding.rule == "D9"]
        for made in (live, after, later)
    ]

    assert not found[0]
    assert [some[0].sentence.partition(":")[0] for some in found[1:]] == ["Deadlocked at 00"] * 2
    assert not any("Potential" in one.sentence for some in found for one in some)


def test_a_deadlock_of_another_day_has_a_date() -> None:
    """The finding stays for as long as zktop runs."""
    *_, last = looked(RING, ENDS["bob gave up waiting for /x"], every_ms=24 * 3_600_000)
    (found,) = (finding for finding in last.findings if finding.rule == "D9")

    assert found.sentence.startswith("Deadlocked at 1970-01-01 00:")


def test_how_a_deadlock_ended_while_zktop_was_cut_off_is_unknown() -> None:
    """Bob's session may have expired, or he has released his locks."""
    lost, back = (
        own(state=state, at=BEGIN + 10_000 * number)
        for number, state in enumerate(("suspended", "connected"), start=1)
    )
    left = (gone("/x", BOB_X, 900), gone("/y", BOB_Y, 900))
    *_, after = looked((own(), *RING, *ALL), (lost,), (back, *left))

    assert after.over[0].how == "bob left unseen: the deadlock may have ended earlier"


@pytest.mark.parametrize("first", [("/x", BOB_X), ("/y", BOB_Y)])
def test_a_node_that_left_unseen_does_not_hide_how_the_first_one_left(
    first: tuple[str, str],
) -> None:
    """Bob's session expired before zktop was cut off; his other node left meanwhile."""
    (other,) = {("/x", BOB_X), ("/y", BOB_Y)} - {first}
    lost, back = (
        own(state=state, at=BEGIN + 500 * number)
        for number, state in enumerate(("suspended", "connected"), start=2)
    )
    seen, unseen = gone(*first, 900, how="expired"), gone(*other, 901)
    *_, after = looked((own(), *RING, *ALL), (seen,), (lost,), (back, unseen), every_ms=500)

    assert [one.is_unseen for one in after.view(other[0]).history.former_members] == [True]
    assert after.over[0].how == "the session of bob expired: it was killed, paused or cut off"


def test_a_node_that_is_seen_to_leave_does_not_show_how_the_first_one_left() -> None:
    """Bob left one lock while zktop was cut off, and the other after it was listed again."""
    lost, back = (
        own(state=state, at=BEGIN + 500 * number)
        for number, state in enumerate(("suspended", "connected"), start=1)
    )
    unseen, seen = gone("/x", BOB_X, 900), gone("/y", BOB_Y, 901)
    listed, *_ = lock("/y", "bob", "ann", at=BEGIN + 1_000)
    looks = (own(), *RING, *ALL), (lost,), (back, unseen, listed), (seen,)
    *_, after = looked(*looks, every_ms=500)

    assert [one.is_unseen for one in after.view("/y").history.former_members] == [False]
    assert after.over[0].how == "bob left unseen: the deadlock may have ended earlier"


def test_a_session_whose_last_node_shows_that_it_expired_has_expired() -> None:
    """Of its first node alone it was not known."""
    first, last = gone("/x", BOB_X, 900), gone("/y", BOB_Y, 901, how="expired")
    *_, after = looked((*RING, *ALL), (first,), (last,), every_ms=50)

    assert after.over[0].how == "the session of bob expired: it was killed, paused or cut off"


def test_the_event_of_its_end_says_how() -> None:
    """With the number that its beginning had."""
    teller = EventStream()
    events = [one for made in looked((*RING, *ALL), ENDS["bob gave up or closed its session"])
              for one in teller.events(made)]  # fmt: skip
    begin, end = (event for event in events if event.event.startswith("deadlock"))

    assert (begin.number, begin.how) == (1, None)
    assert (end.number, end.how) == (1, "bob gave up or closed its session")


def test_an_unchanged_deadlock_stays_the_same_object() -> None:
    """Many reports are kept; each of them would have its own deadlock and potential deadlock."""
    release = ENDS["bob gave up waiting for /x"]
    first, second, third, fourth = looked((*RING, *ALL), (), release, ())

    assert second.deadlocks[0] is first.deadlocks[0]
    assert third.inversions[0].deadlocked_at is not None
    assert fourth.inversions[0] is third.inversions[0]
