"""All the members that must go before a waiter."""

import pytest
from model.locks.lock_worlds import ROOT, lock_in, nodes, world_of
from model.locks.slow_queue import closure
from model.make_facts import NOW, kazoo_name, lock, world

from zktop.model.examiner import Examiner
from zktop.model.lock_view import MAX_BLOCKERS, LockView


def members(modes: str) -> list[str]:
    """Names that kazoo gives to readers and writers in this order."""
    words = {"R": "rlock", "W": "lock"}
    return [kazoo_name(f"w{at}", at, words[mode]) for at, mode in enumerate(modes)]


def view_of(count: int) -> LockView:
    """A mutex with so many contenders."""
    owners = [f"w{number}" for number in range(count)]
    view = Examiner().look(world(*lock(ROOT, *owners)), NOW).view(ROOT)
    assert view is not None
    return view


@pytest.mark.parametrize(
    ("modes", "before"),
    [
        ("WWWW", ["", "0", "01", "012"]),
        ("WRWW", ["", "0", "01", "012"]),
        ("RRWR", ["", "", "01", "012"]),
        ("RWRRW", ["", "0", "01", "01", "0123"]),
    ],
)
def test_every_holder_and_every_blocker_ahead_is_named(modes: str, before: list[str]) -> None:
    """A reader waits for the last writer before it, and so for all that one waits for."""
    names = members(modes)
    made = lock_in(world_of(names))
    found = [nodes(made.members_before(member)) for member in made.members]

    assert found == [[names[int(at)] for at in places] for places in before]
    assert [set(nodes(made.members_before(m))) for m in made.members] == [
        closure(made, m) for m in made.members
    ]


def test_a_contender_names_all_that_must_go_first() -> None:
    """Ordinary queues are listed in full."""
    *_, last = view_of(MAX_BLOCKERS + 1).waiters

    assert len(last.blocked_by) == last.ahead == MAX_BLOCKERS


def test_a_long_queue_names_holders_and_the_nearest() -> None:
    """Else ten thousand waiters would be fifty million names."""
    *_, before, last = view_of(MAX_BLOCKERS + 3).waiters

    assert last.blocked_by == (kazoo_name("w0", 0), before.node)
    assert last.ahead == MAX_BLOCKERS + 2


def test_the_first_waiter_of_a_semaphore_without_a_lease_waits_for_nobody() -> None:
    """It writes into its node when it has one; until then another one may be marked before it."""
    names = [f"semaphore-{number:010d}" for number in range(3)]
    made = lock_in(world_of(names, data=(b"", b"ACQUIRED", b"")))

    assert [nodes(made.blocked_by(member)) for member in made.members] == [[], [], [names[1]]]
