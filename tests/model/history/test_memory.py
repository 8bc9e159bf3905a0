"""Memory: quiet locks cost next to nothing, busy ones no more than a bound."""

import tracemalloc

from model.make_facts import NOW
from model.plain_locks import Root, note

from zktop.model.history.all_locks import (
    MAX_VANISHED_QUEUES,
    MAX_VANISHED_ROOTS,
    LockHistories,
)
from zktop.model.history.attempts import MAX_IDENTITIES
from zktop.model.history.duration_samples import MAX_SAMPLES
from zktop.model.history.events import Since
from zktop.model.history.former_members import MAX_FORMER_MEMBERS
from zktop.model.history.lock_change import LockChange
from zktop.model.world.tables_of_all_servers import NO_ENSEMBLE

LOCKS = 2_000


def test_a_quiet_lock_costs_a_few_hundred_bytes() -> None:
    """Each look leaves two numbers."""
    locks = [Root(f"/locks/{number}", czxid=5) for number in range(LOCKS)]
    for root in locks:
        root.create("alice")
    changes = [LockChange.between(root.path, None, root.look()) for root in locks]
    histories = LockHistories()
    tracemalloc.start()
    histories.after(changes, NO_ENSEMBLE, NOW)
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert used / LOCKS < 300


def test_a_busy_lock_has_a_bound() -> None:
    """After a thousand members it remembers only the newest."""
    root, histories = Root(), LockHistories()
    holder = root.create("first")
    known = root.look(NOW)
    note(histories, root.path, None, known, NO_ENSEMBLE, NOW)
    for number in range(1_000):
        now = NOW + 20 * number
        waiter = root.create(f"worker-{number}")
        timed = root.create(f"timed-{number}")
        before, known = known, root.look(now)
        note(histories, root.path, before, known, NO_ENSEMBLE, now)
        root.delete(timed)
        root.delete(holder)
        holder = waiter
        before, known = known, root.look(now + 10)
        note(histories, root.path, before, known, NO_ENSEMBLE, now + 10)
    history = histories.of(root.path)

    assert (len(history.holds.samples), history.holds.count) == (MAX_SAMPLES, 999)
    assert len(history.waits.samples) == MAX_SAMPLES
    assert len(history.former_members) == MAX_FORMER_MEMBERS
    assert len(history.attempts) == MAX_IDENTITIES
    assert len(history.stays) == 1


def test_locks_of_one_job_each_are_forgotten() -> None:
    """Roots with ever new names leave a bounded trace."""
    histories = LockHistories()
    histories.after([], NO_ENSEMBLE, NOW)
    for number in range(MAX_VANISHED_ROOTS + 50):
        root = Root(f"/jobs/{number}", czxid=10 + number)
        root.create("alice")
        root.create("bob")
        lock = root.look()
        note(histories, root.path, None, lock, NO_ENSEMBLE, NOW)
        note(histories, root.path, lock, None, NO_ENSEMBLE, NOW)

    kept = (histories._first, histories._logs, histories._vanished_roots)
    assert [len(part) for part in kept] == [0, 0, MAX_VANISHED_ROOTS]
    assert len(histories.vanished_queues) == MAX_VANISHED_QUEUES


def test_a_returned_history_does_not_change() -> None:
    """It stays as it was when more happens to the lock."""
    root, histories = Root(), LockHistories()
    alice = root.create("alice")
    first = root.look()
    note(histories, root.path, None, first, NO_ENSEMBLE, NOW)
    bob = root.create("bob")
    second = root.look()
    note(histories, root.path, first, second, NO_ENSEMBLE, NOW + 1)
    history = histories.of(root.path)
    before = (
        history.minute.queue,
        tuple(history.stays),
        history.former_members,
        history.waits.count,
    )
    root.delete(alice)
    note(histories, root.path, second, root.look(), NO_ENSEMBLE, NOW + 2)

    after = (
        history.minute.queue,
        tuple(history.stays),
        history.former_members,
        history.waits.count,
    )
    assert before == after
    assert history.granted(bob).bound == "unknown"
    assert histories.of(root.path).granted(bob) == Since(NOW + 2, "seen")
