"""Deadlocks of real clients, and similar situations that resolve themselves."""

from clients.client_processes import ClientProcess, Stage, StartClients
from waiting import eventually

# Deadlocks; each function returns the clients in it.


def two_locks_in_opposite_orders(stage: Stage) -> list[ClientProcess]:
    """D1: of one library."""
    ann, bob = stage.kazoo("ann", "bob")
    ann.acquire("Lock", f"{stage.root}/orders")
    bob.acquire("Lock", f"{stage.root}/stock")
    ann.ask("Lock", f"{stage.root}/stock")
    bob.ask("Lock", f"{stage.root}/orders")
    return [ann, bob]


def opposite_orders_of_two_libraries(stage: Stage) -> list[ClientProcess]:
    """D1: kazoo and Curator, each configured to see the nodes of the other."""
    (ann,), (bob,) = stage.kazoo("ann"), stage.curator("bob")
    ann.acquire("TolerantLock", f"{stage.root}/orders")
    bob.acquire("TolerantMutex", f"{stage.root}/stock")
    ann.ask("TolerantLock", f"{stage.root}/stock")
    bob.ask("TolerantMutex", f"{stage.root}/orders")
    return [ann, bob]


def readers_behind_queued_writers(stage: Stage) -> list[ClientProcess]:
    """D2: two readers want each other's lock, and a writer waits in each."""
    ann, bob, cem, dee = stage.curator("ann", "bob", "cem", "dee")
    page, image = f"{stage.root}/page", f"{stage.root}/image"
    ann.acquire("ReadLock", page)
    bob.acquire("ReadLock", image)
    cem.ask("WriteLock", page)
    dee.ask("WriteLock", image)
    ann.ask("ReadLock", image)
    bob.ask("ReadLock", page)
    return [ann, bob, cem, dee]


def a_semaphore_that_no_holder_releases(stage: Stage) -> list[ClientProcess]:
    """D3: all lease holders wait for a lock, and its holder waits for a lease."""
    return _all_lease_holders_wait(stage.kazoo, stage.root, "Lock", "Semaphore")


def a_curator_semaphore_that_no_holder_releases(stage: Stage) -> list[ClientProcess]:
    """D3: Curator stores no number of leases; with a waiter the held leases are counted."""
    recipes = "InterProcessMutex", "InterProcessSemaphoreV2"
    return _all_lease_holders_wait(stage.curator, stage.root, *recipes)


def _all_lease_holders_wait(
    start_clients: StartClients, root: str, lock: str, pool: str
) -> list[ClientProcess]:
    ann, bob, cem = start_clients("ann", "bob", "cem")
    bob.acquire(lock, f"{root}/stock")
    ann.acquire(pool, f"{root}/pool", 2)
    cem.acquire(pool, f"{root}/pool", 2)
    bob.ask(pool, f"{root}/pool", 2)
    ann.ask(lock, f"{root}/stock")
    cem.ask(lock, f"{root}/stock")
    return [ann, bob, cem]


def a_reader_that_wants_to_write(stage: Stage) -> list[ClientProcess]:
    """D4: Curator documents that this never succeeds."""
    (ann,) = stage.curator("ann")
    ann.acquire("ReadLock", f"{stage.root}/page")
    ann.ask("WriteLock", f"{stage.root}/page")
    return [ann]


def two_readers_that_want_to_write(stage: Stage) -> list[ClientProcess]:
    """D5: each waits for the other's read lock."""
    ann, bob = stage.kazoo("ann", "bob")
    for one in (ann, bob):
        one.acquire("ReadLock", f"{stage.root}/page")
    for one in (ann, bob):
        one.ask("WriteLock", f"{stage.root}/page")
    return [ann, bob]


def a_reader_that_watches_behind_itself(stage: Stage) -> list[ClientProcess]:
    """D7: kazoo 2.8.0 wakes its reader, which then waits for a writer behind itself."""
    return _woken_between_writers(stage, "OldReadLock")


def a_leader_that_waits_for_a_candidate(stage: Stage) -> list[ClientProcess]:
    """D8: the candidate is parked until it leads."""
    ann, bob = stage.curator("ann", "bob")
    ann.acquire("LeaderLatch", f"{stage.root}/leader")
    bob.acquire("InterProcessMutex", f"{stage.root}/stock")
    bob.ask("LeaderLatch", f"{stage.root}/leader")
    ann.ask("InterProcessMutex", f"{stage.root}/stock")
    return [ann, bob]


# Near misses, which resolve themselves.


def two_locks_in_one_order(stage: Stage) -> None:
    """Both take the lock of orders first."""
    ann, bob = stage.kazoo("ann", "bob")
    ann.acquire("Lock", f"{stage.root}/orders")
    ann.acquire("Lock", f"{stage.root}/stock")
    bob.ask("Lock", f"{stage.root}/orders")


def a_chain(stage: Stage) -> None:
    """The holder of the last lock waits for nothing."""
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


def a_semaphore_with_a_lease_to_be_released(stage: Stage) -> None:
    """One of two lease holders waits for nothing."""
    ann, bob, cem = stage.kazoo("ann", "bob", "cem")
    bob.acquire("Lock", f"{stage.root}/stock")
    ann.acquire("Semaphore", f"{stage.root}/pool", 2)
    cem.acquire("Semaphore", f"{stage.root}/pool", 2)
    bob.ask("Semaphore", f"{stage.root}/pool", 2)
    ann.ask("Lock", f"{stage.root}/stock")


def a_semaphore_with_a_spare_lease(stage: Stage) -> None:
    """A third lease is free, so no client waits for one."""
    ann, bob, cem = stage.kazoo("ann", "bob", "cem")
    bob.acquire("Lock", f"{stage.root}/stock")
    for one in (ann, cem, bob):
        one.acquire("Semaphore", f"{stage.root}/pool", 3)
    ann.ask("Lock", f"{stage.root}/stock")
    cem.ask("Lock", f"{stage.root}/stock")


def a_reader_and_another_that_wants_to_write(stage: Stage) -> None:
    """The writer holds no read lock."""
    ann, bob, cem = stage.kazoo("ann", "bob", "cem")
    ann.acquire("ReadLock", f"{stage.root}/page")
    bob.acquire("ReadLock", f"{stage.root}/page")
    cem.ask("WriteLock", f"{stage.root}/page")


def a_writer_that_also_reads(stage: Stage) -> None:
    """Curator permits it."""
    ann, bob = stage.curator("ann", "bob")
    ann.acquire("WriteLock", f"{stage.root}/page")
    ann.acquire("ReadLock", f"{stage.root}/page")
    bob.ask("ReadLock", f"{stage.root}/page")


def a_reader_that_watches_as_it_should(stage: Stage) -> None:
    """Since kazoo 2.9.0."""
    _woken_between_writers(stage, "ReadLock")


def a_leader_that_holds_what_a_candidate_wants(stage: Stage) -> None:
    """The candidate waits for the leader twice, and the leader for nothing."""
    ann, bob = stage.curator("ann", "bob")
    ann.acquire("LeaderLatch", f"{stage.root}/leader")
    ann.acquire("InterProcessMutex", f"{stage.root}/stock")
    bob.ask("LeaderLatch", f"{stage.root}/leader")


def _woken_between_writers(stage: Stage, recipe: str) -> list[ClientProcess]:
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
    ("D3", a_semaphore_that_no_holder_releases),
    ("D3", a_curator_semaphore_that_no_holder_releases),
    ("D4", a_reader_that_wants_to_write),
    ("D5", two_readers_that_want_to_write),
    ("D7", a_reader_that_watches_behind_itself),
    ("D8", a_leader_that_waits_for_a_candidate),
]
NEAR_MISSES = [
    two_locks_in_one_order,
    a_chain,
    readers_in_opposite_orders,
    a_semaphore_with_a_lease_to_be_released,
    a_semaphore_with_a_spare_lease,
    a_reader_and_another_that_wants_to_write,
    a_writer_that_also_reads,
    a_reader_that_watches_as_it_should,
    a_leader_that_holds_what_a_candidate_wants,
]
