"""A service with one session and very many places costs what its places cost, and no more."""

import sys
from collections.abc import Callable
from itertools import count, product
from string import ascii_lowercase

import pytest
from model.make_facts import NOW, kazoo_name, lock, session
from model.waits.notation import learn

from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Gone
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.waits.lock_order import MAX_PLACES, LockOrderGraph
from zktop.model.world.world import World

FEW, MANY = 200, 2_000
TIMES_AT_MOST = 15  # for ten times as many places; what looks at all pairs takes a hundred

Facts = Callable[[int], list[AnyFact]]


def held(number: int) -> list[AnyFact]:
    """The service owns this many locks, with a waiter in each."""
    return [f for n in range(number) for f in _lock(n, "service", f"client-{n}")]


def waited_for(number: int) -> list[AnyFact]:
    """The service waits for this many locks, each owned by another client."""
    return [f for n in range(number) for f in _lock(n, f"client-{n}", "service")]


def in_one_lock(number: int) -> list[AnyFact]:
    """All places of the service are in one lock."""
    return _lock(0, *["service"] * number)


def _lock(number: int, *owners: str) -> list[AnyFact]:
    return [*lock(f"/locks/{number:05d}", *owners, czxid=100 + 5 * number)]


def steps(work: Callable[[], object]) -> int:
    """The number of lines that Python executes.

    A clock would also count the garbage collector and the load of the machine.
    """
    gone_through = 0

    def trace(_frame: object, event: str, _arg: object) -> object:
        nonlocal gone_through
        gone_through += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)  # type: ignore[arg-type]  # it is its own local trace
    try:
        work()
    finally:
        sys.settrace(before)
    return gone_through


def first_look(facts: list[AnyFact]) -> Callable[[], Report]:
    """The first report on these facts, to be made."""
    world = World().after(*facts)
    return lambda: Examiner().look(world, NOW + 1_000)


def giving_up(number: int) -> Callable[[], Report]:
    """The look at a service that gave up half of so many locks at once, to be made."""
    examiner, world = Examiner(), World().after(*held(number))
    examiner.look(world, NOW + 1_000)
    paths = (f"/locks/{each:05d}/{kazoo_name('service', 0)}" for each in range(number // 2))
    zxids = count(world.zxid + 1)
    world = world.after(*(Gone(path=Text(p), zxid=next(zxids), at=NOW) for p in paths))
    return lambda: examiner.look(world, NOW + 2_000)


@pytest.mark.parametrize("facts", [held, waited_for, in_one_lock])
def test_ten_times_as_many_places_take_about_ten_times_the_work(facts: Facts) -> None:
    """Not a hundred times: nothing compares all places of a session with each other."""
    few, many = (steps(first_look(facts(number))) for number in (FEW, MANY))

    assert many < TIMES_AT_MOST * few


def test_giving_up_ten_times_as_many_places_at_once_takes_about_ten_times_the_work() -> None:
    """An actor that left is examined once, not once for each place."""
    few, many = (steps(giving_up(number)) for number in (FEW, MANY))

    assert many < TIMES_AT_MOST * few


def test_all_locks_of_the_service_are_in_the_report() -> None:
    """Only the order of its locks is not learned."""
    report = first_look(held(FEW))()

    assert len(report.sessions[session("service")].holds) == FEW


@pytest.mark.parametrize(("places", "orders"), [(32, 32 * 31 // 2), (33, 0)])
def test_the_order_of_an_actor_with_very_many_places_is_not_learned(
    places: int, orders: int
) -> None:
    """It is many threads behind one session, so its order is unknown."""
    known = LockOrderGraph()
    names = ("".join(pair) for pair in product(ascii_lowercase, repeat=2))
    learn(known, " ; ".join(f"{next(names)} x: A@{n + 1}" for n in range(places)))

    assert len(known) == orders


def test_many_places_in_a_second_lock_count_as_well() -> None:
    """Two locks only, but too many places."""
    known = LockOrderGraph()
    crowd = " ".join(f"A@{n + 2}" for n in range(MAX_PLACES))
    learn(known, f"K x: A@1 ; L x: {crowd}")

    assert not len(known)
