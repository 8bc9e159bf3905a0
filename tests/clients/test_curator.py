"""Curator's own recipes: a snapshot agrees with what the clients report."""

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
from waiting import eventually

pytestmark = pytest.mark.zookeeper


@pytest.mark.parametrize(
    ("recipe", "layout"),
    [("InterProcessMutex", "curator-mutex"), ("LeaderSelector", "curator-mutex")],
)
def test_a_queue(stage: Stage, recipe: str, layout: str) -> None:
    """One client holds, and each other one watches its predecessor; a selector is a mutex."""
    path = f"{stage.root}/orders"
    ann, bob, cem = stage.curator("ann", "bob", "cem")
    a, b, c = ann.acquire(recipe, path), bob.ask(recipe, path), cem.ask(recipe, path)

    seen = take_snapshot(stage, path)

    assert seen.lock(path) == LockState(
        layout, "mutex", [held(a)], [waiting(b, a), waiting(c, a, b)]
    )
    assert c.watches == watched_by_server(stage, c) == [f"{path}/{b.node}"]


def test_a_latch(stage: Stage) -> None:
    """One client leads, and each other one stands by behind its predecessor."""
    path = f"{stage.root}/leader"
    ann, bob, cem = stage.curator("ann", "bob", "cem")
    a, b, c = (
        ann.acquire("LeaderLatch", path),
        bob.ask("LeaderLatch", path),
        cem.ask("LeaderLatch", path),
    )

    seen = take_snapshot(stage, path)

    assert seen.lock(path) == LockState(
        "curator-latch",
        "election",
        [held(a)],
        [waiting(b, a, state="standby"), waiting(c, a, b, state="standby")],
    )


def test_readers_and_writers(stage: Stage) -> None:
    """A reader waits for the nearest writer and watches the first; a writer, its predecessor."""
    path = f"{stage.root}/page"
    ann, bob, cem, dee, eve, fay = stage.curator("ann", "bob", "cem", "dee", "eve", "fay")
    a, b = ann.acquire("ReadLock", path), bob.acquire("ReadLock", path)
    c, d = cem.ask("WriteLock", path), dee.ask("ReadLock", path)
    e, f = eve.ask("WriteLock", path), fay.ask("ReadLock", path)

    seen = take_snapshot(stage, path)

    assert seen.lock(path) == LockState(
        "curator-rw",
        "read-write",
        [held(a, "read"), held(b, "read")],
        [
            waiting(c, a, b, mode="write"),
            waiting(d, a, b, c, mode="read"),
            waiting(e, a, b, c, d, mode="write"),
            waiting(f, a, b, c, d, e, mode="read"),
        ],
    )
    assert f.watches == [f"{path}/{c.node}"]


def test_a_writer_may_read(stage: Stage) -> None:
    """Curator grants a read to the writing thread, although it stands behind the write."""
    path = f"{stage.root}/page"
    ann, bob = stage.curator("ann", "bob")
    ann.acquire("WriteLock", path)
    a = ann.acquire("ReadLock", path)
    b = bob.ask("WriteLock", path)

    snapshot = take_snapshot(stage, path).lock(path)

    assert [(holder["node"], holder["mode"]) for holder in snapshot.holders] == [
        (node, "read" if "READ" in node else "write") for node in a.nodes
    ]
    assert [waiter["node"] for waiter in snapshot.waiters] == b.nodes
    assert snapshot.waiters[0]["watch"] == "confirmed"


def test_a_semaphore(stage: Stage) -> None:
    """Two have leases, the third has made its lease too early, the fourth waits at the lock."""
    path = f"{stage.root}/pool"
    ann, bob, cem, dee = stage.curator("ann", "bob", "cem", "dee")
    recipe = "InterProcessSemaphoreV2"
    a, b = ann.acquire(recipe, path, 2), bob.acquire(recipe, path, 2)
    c, d = cem.ask(recipe, path, 2), dee.ask(recipe, path, 2)

    snapshot = take_snapshot(stage, path).lock(path)

    assert snapshot == LockState(
        "curator-semaphore-v2",
        "semaphore",
        [held(a, "lease"), held(b, "lease")],
        [
            waiting(c.below("leases"), a, b, mode="lease", state="pending", watch="invisible"),
            waiting(d, a, b, c.below("locks"), mode="lease"),
        ],
        leases=2,
    )
    assert c.listens == [f"{path}/leases"]


def test_a_downgrade_that_lets_the_next_writer_in(stage: Stage) -> None:
    """Curator before 5.5 grants a write beside a read that its owner took while it wrote."""
    path = f"{stage.root}/page"
    ann, bob = stage.curator("ann", "bob")
    ann.acquire("WriteLock", path)
    b = bob.ask("WriteLock", path)
    a = ann.acquire("ReadLock", path)

    foretold = snapshot_when(lambda seen: seen.found("S4"), stage, path)
    ann.release("WriteLock", path)
    eventually(lambda: bob.now("WriteLock", path).holds)
    seen = snapshot_when(lambda seen: seen.found("S4"), stage, path)

    read = ann.now("ReadLock", path)
    assert read.holds
    assert foretold.found("S4") == [({*a.nodes, b.node}, {a.session, b.session})]
    assert seen.found("S4") == [({read.node, b.node}, {a.session, b.session})]
    assert seen.warnings(path) == ["possible-lost-downgrade"]
    assert not seen.found("L1")
