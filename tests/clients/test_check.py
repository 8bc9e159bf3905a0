"""`zktop check` on deadlocks that real clients got themselves into, and on what looks alike."""

from collections.abc import Callable

import pytest
from clients.commands import Check
from clients.glance import eventually, glance_when
from clients.people import Person, Stage

from zktop.model.settings import Root

pytestmark = pytest.mark.zookeeper


# The deadlocks. Each gives those who are in it.


def two_locks_in_opposite_orders(stage: Stage) -> list[Person]:
    """D1: of one library."""
    ann, bob = stage.kazoo("ann", "bob")
    ann.acquire("Lock", f"{stage.root}/orders")
    bob.acquire("Lock", f"{stage.root}/stock")
    ann.ask("Lock", f"{stage.root}/stock")
    bob.ask("Lock", f"{stage.root}/orders")
    return [ann, bob]


def opposite_orders_of_two_libraries(stage: Stage) -> list[Person]:
    """D1: kazoo and Curator, each told how to see the nodes of the other."""
    (ann,), (bob,) = stage.kazoo("ann"), stage.curator("bob")
    ann.acquire("TolerantLock", f"{stage.root}/orders")
    bob.acquire("TolerantMutex", f"{stage.root}/stock")
    ann.ask("TolerantLock", f"{stage.root}/stock")
    bob.ask("TolerantMutex", f"{stage.root}/orders")
    return [ann, bob]


def readers_behind_queued_writers(stage: Stage) -> list[Person]:
    """D2: two readers want to read what the other reads, and a writer waits for each."""
    ann, bob, cem, dee = stage.curator("ann", "bob", "cem", "dee")
    page, image = f"{stage.root}/page", f"{stage.root}/image"
    ann.acquire("ReadLock", page)
    bob.acquire("ReadLock", image)
    cem.ask("WriteLock", page)
    dee.ask("WriteLock", image)
    ann.ask("ReadLock", image)
    bob.ask("ReadLock", page)
    return [ann, bob, cem, dee]


def a_pool_that_nobody_leaves(stage: Stage) -> list[Person]:
    """D3: all who have a lease wait for a lock, and its holder waits for a lease."""
    ann, bob, cem = stage.kazoo("ann", "bob", "cem")
    bob.acquire("Lock", f"{stage.root}/stock")
    ann.acquire("Semaphore", f"{stage.root}/pool", 2)
    cem.acquire("Semaphore", f"{stage.root}/pool", 2)
    bob.ask("Semaphore", f"{stage.root}/pool", 2)
    ann.ask("Lock", f"{stage.root}/stock")
    cem.ask("Lock", f"{stage.root}/stock")
    return [ann, bob, cem]


def a_pool_of_curators_that_nobody_leaves(stage: Stage) -> list[Person]:
    """D3: Curator does not store how many leases there are; while one waits they are counted."""
    ann, bob, cem = stage.curator("ann", "bob", "cem")
    bob.acquire("InterProcessMutex", f"{stage.root}/stock")
    ann.acquire("InterProcessSemaphoreV2", f"{stage.root}/pool", 2)
    cem.acquire("InterProcessSemaphoreV2", f"{stage.root}/pool", 2)
    bob.ask("InterProcessSemaphoreV2", f"{stage.root}/pool", 2)
    ann.ask("InterProcessMutex", f"{stage.root}/stock")
    cem.ask("InterProcessMutex", f"{stage.root}/stock")
    return [ann, bob, cem]


def a_reader_that_wants_to_write(stage: Stage) -> list[Person]:
    """D4: Curator says that this never succeeds."""
    (ann,) = stage.curator("ann")
    ann.acquire("ReadLock", f"{stage.root}/page")
    ann.ask("WriteLock", f"{stage.root}/page")
    return [ann]


def two_readers_that_want_to_write(stage: Stage) -> list[Person]:
    """D5: each waits for the other's read."""
    ann, bob = stage.kazoo("ann", "bob")
    for one in (ann, bob):
        one.acquire("ReadLock", f"{stage.root}/page")
    for one in (ann, bob):
        one.ask("WriteLock", f"{stage.root}/page")
    return [ann, bob]


def a_reader_that_watches_behind_itself(stage: Stage) -> list[Person]:
    """D7: kazoo 2.8.0 wakes its reader, and that waits for a writer that waits for the reader."""
    return _woken_between_writers(stage, "OldReadLock")


def a_leader_that_waits_for_a_candidate(stage: Stage) -> list[Person]:
    """D8: the candidate is parked until it leads."""
    ann, bob = stage.curator("ann", "bob")
    ann.acquire("LeaderLatch", f"{stage.root}/leader")
    bob.acquire("InterProcessMutex", f"{stage.root}/stock")
    bob.ask("LeaderLatch", f"{stage.root}/leader")
    ann.ask("InterProcessMutex", f"{stage.root}/stock")
    return [ann, bob]


# What looks alike, and goes on by itself.


def two_locks_in_one_order(stage: Stage) -> None:
    """Both take orders first."""
    ann, bob = stage.kazoo("ann", "bob")
    ann.acquire("Lock", f"{stage.root}/orders")
    ann.acquire("Lock", f"{stage.root}/stock")
    bob.ask("Lock", f"{stage.root}/orders")


def a_chain(stage: Stage) -> None:
    """Who holds the last lock waits for nobody."""
    ann, bob, cem = stage.kazoo("ann", "bob", "cem")
    ann.acquire("Lock", f"{stage.root}/orders")
    bob.acquire("Lock", f"{stage.root}/stock")
    ann.ask("Lock", f"{stage.root}/stock")
    cem.ask("Lock", f"{stage.root}/orders")


def readers_in_opposite_orders(stage: Stage) -> None:
    """Readers do not wait for readers."""
    ann, bob = stage.curator("ann", "bob")
    for one, paths in ((ann, "xy"), (bob, "yx")):
        for path in paths:
            one.acquire("ReadLock", f"{stage.root}/{path}")


def a_pool_with_a_lease_to_come_back(stage: Stage) -> None:
    """One of the two who have a lease waits for nobody."""
    ann, bob, cem = stage.kazoo("ann", "bob", "cem")
    bob.acquire("Lock", f"{stage.root}/stock")
    ann.acquire("Semaphore", f"{stage.root}/pool", 2)
    cem.acquire("Semaphore", f"{stage.root}/pool", 2)
    bob.ask("Semaphore", f"{stage.root}/pool", 2)
    ann.ask("Lock", f"{stage.root}/stock")


def a_pool_with_a_lease_to_spare(stage: Stage) -> None:
    """There is a third lease, and so nobody waits for one."""
    ann, bob, cem = stage.kazoo("ann", "bob", "cem")
    bob.acquire("Lock", f"{stage.root}/stock")
    for one in (ann, cem, bob):
        one.acquire("Semaphore", f"{stage.root}/pool", 3)
    ann.ask("Lock", f"{stage.root}/stock")
    cem.ask("Lock", f"{stage.root}/stock")


def a_reader_and_another_that_wants_to_write(stage: Stage) -> None:
    """The writer reads nothing."""
    ann, bob, cem = stage.kazoo("ann", "bob", "cem")
    ann.acquire("ReadLock", f"{stage.root}/page")
    bob.acquire("ReadLock", f"{stage.root}/page")
    cem.ask("WriteLock", f"{stage.root}/page")


def a_writer_that_also_reads(stage: Stage) -> None:
    """Curator lets it."""
    ann, bob = stage.curator("ann", "bob")
    ann.acquire("WriteLock", f"{stage.root}/page")
    ann.acquire("ReadLock", f"{stage.root}/page")
    bob.ask("ReadLock", f"{stage.root}/page")


def a_reader_that_watches_as_it_should(stage: Stage) -> None:
    """Since kazoo 2.9.0."""
    _woken_between_writers(stage, "ReadLock")


def a_leader_that_holds_what_a_candidate_wants(stage: Stage) -> None:
    """The candidate waits for the leader twice, and the leader for nobody."""
    ann, bob = stage.curator("ann", "bob")
    ann.acquire("LeaderLatch", f"{stage.root}/leader")
    ann.acquire("InterProcessMutex", f"{stage.root}/stock")
    bob.ask("LeaderLatch", f"{stage.root}/leader")


def _woken_between_writers(stage: Stage, recipe: str) -> list[Person]:
    path = f"{stage.root}/page"
    ann, bob, cem = stage.kazoo("ann", "bob", "cem")
    ann.acquire("WriteLock", path)
    b = bob.ask(recipe, path)
    cem.ask("WriteLock", path)
    ann.release("WriteLock", path)
    eventually(lambda: (now := bob.now(recipe, path)).holds or now.watches not in ([], b.watches))
    return [bob, cem]


DEADLOCKS = [
    ("D1", two_locks_in_opposite_orders),
    ("D1", opposite_orders_of_two_libraries),
    ("D2", readers_behind_queued_writers),
    ("D3", a_pool_that_nobody_leaves),
    ("D3", a_pool_of_curators_that_nobody_leaves),
    ("D4", a_reader_that_wants_to_write),
    ("D5", two_readers_that_want_to_write),
    ("D7", a_reader_that_watches_behind_itself),
    ("D8", a_leader_that_waits_for_a_candidate),
]
NEAR_MISSES = [
    two_locks_in_one_order,
    a_chain,
    readers_in_opposite_orders,
    a_pool_with_a_lease_to_come_back,
    a_pool_with_a_lease_to_spare,
    a_reader_and_another_that_wants_to_write,
    a_writer_that_also_reads,
    a_reader_that_watches_as_it_should,
    a_leader_that_holds_what_a_candidate_wants,
]


@pytest.mark.parametrize(
    ("rule", "made"), DEADLOCKS, ids=lambda one: getattr(one, "__name__", one)
)
def test_a_deadlock_fails(
    stage: Stage, check: Check, rule: str, made: Callable[[Stage], list[Person]]
) -> None:
    """With exit code 1 and a sentence; a snapshot names who is in it."""
    actors = {person.session for person in made(stage)}
    patterns = {"path": f"{stage.root}/*", "interop": True, "blocking": True}

    answer = check(roots=[patterns])
    seen = glance_when(lambda seen: seen.deadlocks, stage, Root(**patterns))

    assert (answer.code, answer.err) == (1, "")
    assert [line.split()[0] for line in answer.lines if line[0] == "D"] == [rule]
    assert seen.deadlocks == [(rule, actors)]


@pytest.mark.parametrize("made", NEAR_MISSES, ids=lambda one: one.__name__)
def test_a_near_miss_is_fine(stage: Stage, check: Check, made: Callable[[Stage], None]) -> None:
    """With exit code 0."""
    made(stage)

    answer = check(roots=[{"path": f"{stage.root}/*", "blocking": True}])

    assert (answer.code, answer.err) == (0, "")
    assert answer.lines[0].startswith("OK: ")
    assert answer.lines[0].endswith(" 0 deadlocks")


# What is for the user to decide.


def test_a_candidate_may_go_on(stage: Stage, check: Check) -> None:
    """Nobody said that the candidates of this election are parked: it is a hint, no deadlock."""
    a_leader_that_waits_for_a_candidate(stage)

    answer, strict = check(), check("--fail-on", "D8", "--min-confidence", "C1")

    assert (answer.code, answer.lines[0]) == (0, "OK: 2 locks, 0 deadlocks")
    assert strict.code == 1
    assert strict.lines[0].startswith("D8 election-entangled (C1): ")


def test_a_second_request_of_one_session_may_be_a_threads(stage: Stage, check: Check) -> None:
    """Only the user knows: it is a hint, no deadlock."""
    (ann,) = stage.kazoo("ann")
    ann.acquire("Lock", f"{stage.root}/orders")
    ann.ask("TolerantLock", f"{stage.root}/orders")

    answer, strict = check(), check("--fail-on", "D6", "--min-confidence", "C1")

    assert (answer.code, answer.lines[0]) == (0, "OK: 1 lock, 0 deadlocks")
    assert strict.code == 1
    assert strict.lines[0].startswith("D6 double-request (C1): ")


@pytest.mark.parametrize(("identity", "code"), [("session", 0), ("owner", 1)])
def test_programs_with_a_session_of_each_library(
    stage: Stage, check: Check, identity: str, code: int
) -> None:
    """Opposite orders across kazoo and Curator: a deadlock only of those who have two sessions."""
    kazoo, curator = stage.kazoo("ann", "bob"), stage.curator("ann", "bob")
    kazoo[0].acquire("Lock", f"{stage.root}/orders")
    curator[1].acquire("InterProcessMutex", f"{stage.root}/stock")
    curator[0].ask("InterProcessMutex", f"{stage.root}/stock")
    kazoo[1].ask("Lock", f"{stage.root}/orders")

    answer = check(actors={"identity": identity})

    assert answer.code == code
    assert [line for line in answer.lines if line.startswith("D1 ")] == (
        [line for line in answer.lines if "ann" in line and "bob" in line] if code else []
    )


def test_two_libraries_that_are_blind_to_each_other(stage: Stage, check: Check) -> None:
    """Opposite orders again, but both get everything at once: no deadlock, and worse."""
    (ann,), (bob,) = stage.kazoo("ann"), stage.curator("bob")
    for one, recipe, paths in ((ann, "Lock", "xy"), (bob, "InterProcessMutex", "yx")):
        for path in paths:
            one.acquire(recipe, f"{stage.root}/{path}")

    answer = check()

    rules = [line.split()[0] for line in answer.lines]
    assert (answer.code, rules[:2]) == (1, ["S2", "S2"])
    assert not any(rule.startswith("D") for rule in rules)
