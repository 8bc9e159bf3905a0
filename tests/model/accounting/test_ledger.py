"""The time that clients wait is charged to those that hold the lock."""

import pytest
from model.accounting.accounts_of import accounts, charged, leaves
from model.findings.cases import facts as listing
from model.findings.cases import k, path_of
from model.make_facts import NOW, own, session
from model.semaphores import (
    ANN_AT_CURATOR_GATE,
    ANN_CURATOR_LEASE,
    BOB_CURATOR_LEASE,
    created,
    curator_pool,
    gone,
    reports,
)
from output.metrics.scrapes import INCIDENT, of_recording
from output.stories import facts, settings

from zktop.app.replay import Replay
from zktop.model.accounting.ledger import Ledger
from zktop.model.actors import BY_NAME
from zktop.model.examiner import Examiner
from zktop.model.facts import Gone
from zktop.model.history.events import Elapsed
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.world import World

LATER = (10, [])
QUEUE = "X x: A B C"


def test_each_waiter_adds_its_time_to_the_holders_charge() -> None:
    """Two wait for ten seconds."""
    found = accounts(QUEUE, LATER)

    assert charged(found) == {"A": (20, 20)}
    assert {actor.name: actor.waited_ms for actor in found.actors} == {
        "A": 0,
        "B": 10_000,
        "C": 10_000,
    }
    assert found.locks[0].blocked_ms == found.blocked_ms == 20_000


def test_the_next_holder_pays_from_the_change_on() -> None:
    """A leaves after four seconds; then C waits for B alone."""
    found = accounts(QUEUE, (4, leaves(QUEUE, "x", 0, 4)), LATER)

    assert charged(found) == {"A": (8, 8), "B": (6, 6)}
    (lock,) = found.locks
    assert lock.figures.waits.longest == Elapsed(40_000, "at-least")  # C waited before the start
    assert (lock.figures.waiting, lock.figures.holding) == (1, 1)


def test_a_client_that_may_have_held_the_lock_has_waited_until_the_previous_look() -> None:
    """A and B leave in one look: B may have held the lock, or given up."""
    left = [*leaves("X x: A B", "x", 0, 10), *leaves("X x: A B", "x", 1, 10)]
    found = accounts("X x: A B", (6, []), (10, left))
    (lock,) = found.locks
    waited = {actor.name: actor.figures.waits.longest for actor in found.actors}

    assert lock.figures.waits.longest == waited["B"] == Elapsed(36_000, "at-least")
    assert lock.figures.given_up == 0


def test_several_holders_are_charged_at_most() -> None:
    """Each of two may be the one that keeps D waiting."""
    assert charged(accounts("P sem(2): A C D", LATER)) == {"A": (0, 10), "C": (0, 10)}


def test_equal_charges_are_in_the_order_of_the_actors() -> None:
    """B is charged first, but the id of A's session is smaller: each has cost two seconds."""
    story = "X x: B A C"

    (lock,) = accounts(story, (1, leaves(story, "x", 0, 1)), (3, [])).locks

    assert [(charge.at_most_ms, actor) for actor, charge in lock.charged] == [
        (2_000, f"{session(name):#x}") for name in "AB"
    ]


def test_a_holder_that_waits_itself_is_marked() -> None:
    """B keeps C waiting, because A keeps B waiting, until A leaves."""
    story = "X x: A B ; Y x: B C"

    found = accounts(story, (4, leaves(story, "x", 0, 4)), LATER)

    by_name = {actor.name: actor.charge for actor in found.actors}
    assert (by_name["B"].alone_ms, by_name["B"].itself_ms) == (10_000, 4_000)
    assert (by_name["A"].alone_ms, by_name["A"].itself_ms) == (4_000, 0)


def test_only_the_period_counts() -> None:
    """From the seventh second on."""
    found = accounts(QUEUE, (4, []), LATER, since=7)

    assert charged(found) == {"A": (6, 6)}
    assert (found.since, found.until) == (NOW + 7_000, NOW + 10_000)


def test_nothing_is_charged_without_a_connection() -> None:
    """What happened in these three seconds is unknown, so sums are lower bounds."""
    lost = own(state="suspended", at=NOW + 2_000)
    back = own(at=NOW + 5_000)

    found = accounts(QUEUE, (2, [lost]), (5, [back]), LATER)

    assert charged(found) == {"A": (14, 14)}
    assert found.unseen_ms == 3_000
    assert found.is_lower_bound


def test_a_wait_that_ended_without_a_connection_is_not_a_failed_one() -> None:
    """The client may have got the lock and released it."""
    lost, back = own(state="suspended", at=NOW + 2_000), own(at=NOW + 5_000)
    gone = leaves(QUEUE, "x", 1, 5)

    found = accounts(QUEUE, (0, [own()]), (2, [lost]), (5, [back, *gone]), LATER)

    assert [lock.figures.given_up for lock in found.locks] == [0]
    assert [lock.figures.given_up for lock in accounts(QUEUE, (5, gone), LATER).locks] == [1]


def test_nothing_is_charged_until_now_while_the_connection_is_lost() -> None:
    """Asking twice counts no time twice."""
    begin, lost = facts(QUEUE), own(state="suspended", at=NOW + 2_000)
    examiner, ledger = Examiner(settings(QUEUE)), Ledger()
    known = World().after(*begin)
    ledger.look(examiner.look(known, NOW))
    known = known.after(lost)
    ledger.look(examiner.look(known, NOW + 2_000))
    early = ledger.accounts(NOW + 5_000)
    ledger.look(examiner.look(known.after(own(at=NOW + 6_000)), NOW + 6_000))
    late = ledger.accounts(NOW + 7_000)

    assert (early.blocked_ms, early.unseen_ms) == (4_000, 3_000)
    assert (late.blocked_ms, late.unseen_ms) == (6_000, 4_000)


def test_a_deadlock_counts_for_its_clients_locks_and_class() -> None:
    """Once, however long it lasts."""
    found = accounts("X x: A B ; Y x: B A", LATER, (20, []))

    assert found.deadlocks == 1
    assert {actor.name: actor.figures.deadlocks for actor in found.actors} == {"A": 1, "B": 1}
    assert {lock.path: lock.figures.deadlocks for lock in found.locks} == {
        "/locks/x": 1,
        "/locks/y": 1,
    }


def test_a_client_waits_once_for_a_semaphore() -> None:
    """Ann has a node at the gate and a lease that is not granted: ten seconds, not twenty."""
    ledger = Ledger()
    for report in reports(
        curator_pool(),
        [created(ANN_AT_CURATOR_GATE, "ann", 100)],
        [created(ANN_CURATOR_LEASE, "ann", 110)],
        [gone(BOB_CURATOR_LEASE, 10_100)],
        [gone(ANN_AT_CURATOR_GATE, 10_100)],
    ):
        ledger.look(report)
    found = ledger.accounts()

    assert {actor.name: actor.waited_ms for actor in found.actors} == {"ann": 10_000, "bob": 0}
    assert found.blocked_ms == 10_000


def test_locks_that_differ_in_ids_are_one_class() -> None:
    """/locks/u1 and /locks/u2."""
    found = accounts("U1 x: A B ; U2 x: C D", LATER)

    (one,) = found.classes
    assert (one.path, one.locks, one.blocked_ms) == ("/locks/u*", 2, 20_000)


@pytest.fixture(scope="module")
def incident() -> Ledger:
    """The ledger of the shipped incident."""
    ledger = Ledger()
    for report in Replay(INCIDENT).reports():
        ledger.look(report)
    return ledger


def test_every_second_of_waiting_is_charged_and_waited_by_a_client(incident: Ledger) -> None:
    """The three sums of a run with readers, a deadlock and clients that give up are equal."""
    found = incident.accounts()
    exclusive = [one for one in found.locks if one.path != "/locks/traffic/catalogue"]

    assert sum(actor.waited_ms for actor in found.actors) == found.blocked_ms
    for lock in exclusive:
        assert sum(charge.alone_ms for _, charge in lock.charged) == lock.blocked_ms


def test_the_sum_is_that_of_the_metrics(incident: Ledger) -> None:
    """Both count the same waiters."""
    blocked = sum(
        value for name, value in of_recording("+1h").items() if "blocked_seconds_total" in name
    )

    assert incident.accounts().blocked_ms == pytest.approx(blocked * 1000)


def test_clients_have_names_after_they_have_left(incident: Ledger) -> None:
    """All have left by the end of the incident; none is called by its session or its node."""
    names = {actor.name for actor in incident.accounts().actors}

    assert names == {"ann", "bob", "cid", "w", "r1", "r2", "r3", *(f"job{n}" for n in range(1, 5))}


def test_a_holder_without_a_session_keeps_its_name() -> None:
    """Nobody ever waited for its lock."""
    ann = k("ann", 0, by="")
    known, examiner, ledger = World().after(*listing(ann)), Examiner(Settings()), Ledger()
    ledger.look(examiner.look(known, NOW))
    known = known.after(Gone(path=Text(path_of(ann)), zxid=2_000_000, at=NOW + 4_000))
    ledger.look(examiner.look(known, NOW + 4_000))

    (actor,) = ledger.accounts().actors
    assert actor.actor == f"{BY_NAME}ann"
