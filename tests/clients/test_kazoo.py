"""kazoo's own recipes: a snapshot agrees with what the clients report."""

import pytest
from clients.client_processes import Stage
from clients.snapshots import (
    LockState,
    held,
    snapshot_when,
    take_snapshot,
    waiting,
    watched_by_server,
)

pytestmark = pytest.mark.zookeeper


@pytest.mark.parametrize("recipe", ["Lock", "Election"])
def test_a_queue(stage: Stage, recipe: str) -> None:
    """One client holds, and each other one watches its predecessor; an election is a lock here."""
    path = f"{stage.root}/orders"
    ann, bob, cem = stage.kazoo("ann", "bob", "cem")
    a, b, c = ann.acquire(recipe, path), bob.ask(recipe, path), cem.ask(recipe, path)

    seen = take_snapshot(stage, path)

    assert seen.lock(path) == LockState(
        "kazoo-lock", "mutex", [held(a)], [waiting(b, a), waiting(c, a, b)]
    )
    assert c.watches == watched_by_server(stage, c) == [f"{path}/{b.node}"]


def test_readers_and_writers(stage: Stage) -> None:
    """A writer waits for the readers since the last writer, a reader for the nearest writer."""
    path = f"{stage.root}/page"
    ann, bob, cem, dee, eve = stage.kazoo("ann", "bob", "cem", "dee", "eve")
    a, b = ann.acquire("ReadLock", path), bob.acquire("ReadLock", path)
    c, d = cem.ask("WriteLock", path), dee.ask("ReadLock", path)
    e = eve.ask("WriteLock", path)

    seen = take_snapshot(stage, path)

    assert seen.lock(path) == LockState(
        "kazoo-lock",
        "read-write",
        [held(a, "read"), held(b, "read")],
        [
            waiting(c, a, b, mode="write"),
            waiting(d, a, b, c, mode="read"),
            waiting(e, a, b, c, d, mode="write"),
        ],
    )
    assert [one.watches for one in (c, d, e)] == [[f"{path}/{ahead.node}"] for ahead in (b, c, d)]


def test_a_plain_lock_beside_readers(stage: Stage) -> None:
    """It does not see them, and has the lock; by name it is a writer that waits."""
    path = f"{stage.root}/page"
    ann, bob = stage.kazoo("ann", "bob")
    a, b = ann.acquire("ReadLock", path), bob.acquire("Lock", path)

    seen = snapshot_when(lambda seen: seen.found("S2"), stage, path)

    assert seen.found("S2") == [({a.node, b.node}, {a.session, b.session})]
    assert seen.lock(path).waiters == [waiting(b, a, mode="write", watch="missing")]
    assert not seen.found("L1")


def test_a_semaphore(stage: Stage) -> None:
    """Two hold leases, one waits for a lease, and one waits behind it."""
    path = f"{stage.root}/pool"
    ann, bob, cem, dee = stage.kazoo("ann", "bob", "cem", "dee")
    a, b = ann.acquire("Semaphore", path, 2), bob.acquire("Semaphore", path, 2)
    c, d = cem.ask("Semaphore", path, 2), dee.ask("Semaphore", path, 2)

    seen = take_snapshot(stage, path)

    assert seen.lock(path) == LockState(
        "kazoo-semaphore",
        "semaphore",
        [held(a, "lease"), held(b, "lease")],
        [waiting(c, a, b, watch="invisible", mode="lease"), waiting(d, a, b, c, mode="lease")],
        leases=2,
    )
    assert c.listens == [path]
    assert d.watches == [f"{path}-__lock__/{c.node.rpartition('/')[2]}"]


def test_leases_are_in_the_order_of_creation(stage: Stage) -> None:
    """Reused lease objects keep their names, which say nothing about the order."""
    path = f"{stage.root}/pool"
    ann, bob = stage.kazoo("ann", "bob")
    a, b = ann.acquire("Semaphore", path, 2), bob.acquire("Semaphore", path, 2)
    before = take_snapshot(stage, path)
    ann.release("Semaphore", path)
    again = ann.acquire("Semaphore", path, 2)
    after = take_snapshot(stage, path)

    assert again == a
    assert before.lock(path).holders == [held(a, "lease"), held(b, "lease")]
    assert after.lock(path).holders == [held(b, "lease"), held(a, "lease")]


def test_a_lease_without_a_session(stage: Stage) -> None:
    """It is held although its node belongs to no session."""
    path = f"{stage.root}/nightly"
    (ann,) = stage.kazoo("ann")
    a = ann.acquire("NonBlockingLease", path)

    snapshot = take_snapshot(stage, path).lock(path)

    assert (snapshot.layout, snapshot.kind, snapshot.waiters) == ("kazoo-lease", "lease", [])
    assert snapshot.holders == [held(a, session=None, actual=None)]
