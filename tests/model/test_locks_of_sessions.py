"""The index of the locks in which each session has nodes."""

from model.make_facts import session
from model.plain_locks import lock_of, member

from zktop.model.history.lock_change import LockChange
from zktop.model.locks.lock import Lock, Member
from zktop.model.locks_of_sessions import LocksOfSessions, index_after
from zktop.model.world.persistent_map import PersistentMap

FIRST, SECOND = member("alice", 1, 11), member("alice", 2, 12)
BOB = member("bob", 3, 13)


def a_lock(path: str, *members: Member) -> Lock:
    """One version of a lock."""
    return lock_of(path, members)


def index_of(*steps: tuple[Lock | None, Lock | None]) -> LocksOfSessions:
    """The index after these changes, each in a look of its own."""
    index: LocksOfSessions = PersistentMap()
    for before, after in steps:
        path = (after or before).path
        index = index_after(index, [LockChange.between(path, before, after)])
    return index


def test_a_lock_is_listed_once_for_each_node():
    """A session may ask twice."""
    index = index_of((None, a_lock("/a", FIRST, BOB, SECOND)))

    assert index[session("alice")] == ("/a", "/a")
    assert index[session("bob")] == ("/a",)


def test_the_locks_of_one_look_are_listed_together():
    """However many there are, and behind those of earlier looks."""
    index = index_of((None, a_lock("/a", FIRST)))
    new = [a_lock(f"/b{number}", FIRST) for number in range(3)]

    index = index_after(index, [LockChange.between(lock.path, None, lock) for lock in new])

    assert index[session("alice")] == ("/a", "/b0", "/b1", "/b2")


def test_a_deleted_node_takes_one_entry_with_it():
    """The other node in the same lock is still there."""
    both = a_lock("/a", FIRST, SECOND)

    index = index_of((None, both), (both, a_lock("/a", SECOND)))

    assert index[session("alice")] == ("/a",)


def test_a_node_may_be_replaced_between_two_looks():
    """The session went to the end of the queue."""
    before = a_lock("/a", FIRST, BOB)

    index = index_of((None, before), (before, a_lock("/a", BOB, SECOND)))

    assert index[session("alice")] == ("/a",)


def test_a_session_without_nodes_is_not_in_the_index():
    """Its last node is gone, with the lock."""
    before = a_lock("/a", FIRST)

    assert session("alice") not in index_of((None, before), (before, None))


def test_a_foreign_child_that_becomes_a_member_is_listed():
    """Its layout was recognised late."""
    before = lock_of("/a", [BOB], foreign=(FIRST.node,))

    index = index_of((None, before), (before, a_lock("/a", FIRST, BOB)))

    assert index[session("alice")] == ("/a",)


def test_a_member_that_becomes_foreign_is_not_listed():
    """Another child showed that the layout is another one."""
    before = a_lock("/a", FIRST, BOB)
    after = lock_of("/a", [BOB], foreign=(FIRST.node,))

    assert session("alice") not in index_of((None, before), (before, after))
