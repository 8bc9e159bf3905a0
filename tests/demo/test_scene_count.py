"""What is counted in a scene: which clients a departure wakes, and double holders."""

from itertools import count

import pytest

from zktop.demo.scene_count import scene_count
from zktop.demo_types.contender_state import ContenderStep, StepKind
from zktop.demo_types.lesson import DemoDeparture

JOBS = "/zktop-demo/x/jobs"


def steps(*steps: str) -> list[ContenderStep]:
    """Steps of contenders in one lock, one a millisecond: 'ann releasing' and so on."""
    times = count(100)
    return [step(*one.split(), f"2026-01-31T12:00:00.{next(times)}Z") for one in steps]


def step(who: str, what: StepKind, at: str) -> ContenderStep:
    """One step; nodes are in the lock, except for what wakes a herd."""
    node = f"{JOBS}/lock-0000000000" if what == "created" else JOBS
    return ContenderStep(who, what, "", at, lock=JOBS, node=node)


def departures(*lines: str) -> tuple[DemoDeparture, ...]:
    """The departures in these steps."""
    return scene_count(steps(*lines)).departures


def test_a_release_and_the_clients_it_wakes():
    """Two are notified; one of them acquires the lock."""
    (one,) = departures(
        "ann acquired", "ann releasing", "bob notified", "cid notified", "bob acquired"
    )

    assert (one.how, one.woken, one.went_on) == ("released", ("bob", "cid"), ("bob",))


def test_a_client_that_is_notified_twice_counts_once():
    """A herd lists the queue again and may be notified again."""
    (one,) = departures("ann acquired", "ann releasing", "bob notified", "bob notified")

    assert one.woken == ("bob",)


def test_a_client_does_not_wake_itself():
    """A holder in a herd still has a watch on the children when it deletes its own node."""
    (one,) = departures("ann acquired", "ann releasing", "ann notified", "ann released")

    assert one.woken == ()


def test_steps_that_arrive_late_are_put_in_order():
    """The pipes of two processes are read in any order."""
    reported = steps("ann acquired", "ann releasing", "bob notified")

    assert scene_count(reversed(reported)).departures[0].woken == ("bob",)


def test_a_new_client_ends_the_count():
    """What is notified after it may be so because of the new node."""
    (one,) = departures("ann acquired", "ann releasing", "dan created", "bob notified")

    assert (one.woken, one.is_latest) == ((), False)


def test_a_waiter_that_gives_up_has_left():
    """It held nothing, so it released nothing."""
    (one,) = departures("ann acquired", "bob gave-up", "cid notified")

    assert (one.contender, one.how, one.woken) == ("bob", "left", ("cid",))


def test_a_waiter_that_is_stopped_has_left():
    """It reports a release of what it never held."""
    (one,) = departures("ann acquired", "bob created", "bob released", "cid notified")

    assert (one.contender, one.how, one.woken) == ("bob", "left", ("cid",))


@pytest.mark.parametrize("first", ["ann releasing", "ann released"])
def test_a_holder_whose_first_steps_were_dropped_has_not_left(first: str):
    """Only the newest steps of a long scene are counted; the older ones are unknown."""
    assert departures(first, "ann released", "bob notified", "bob acquired") == ()


def test_a_holder_that_ends_without_a_release_has_died():
    """Its lock is freed when its session expires."""
    (one,) = departures("ann acquired", "ann ended", "bob notified", "bob acquired")

    assert (one.how, one.went_on) == ("died", ("bob",))


def test_a_holder_whose_session_is_gone_releases_nothing():
    """Its node went with the session, long before it says so."""
    assert departures("ann acquired", "ann lost", "ann releasing", "ann released") == ()


def test_two_that_believe_they_hold_a_lock_are_counted():
    """The most at one time, also when one of them has found out since."""
    reported = steps("ann acquired", "bob acquired", "ann lost", "bob releasing", "cid acquired")

    assert scene_count(reported).believers == {JOBS: ("ann", "bob")}


def test_a_lock_that_changes_hands_has_one_believer():
    """A contender that begins to release no longer relies on the lock."""
    reported = steps("ann acquired", "ann releasing", "bob acquired")

    assert scene_count(reported).believers == {JOBS: ("ann",)}
