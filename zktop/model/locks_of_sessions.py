"""The locks in which each session has nodes: one index for rules, screens and scripts.

It is a persistent map, so that each report can keep the index of its own time. A lock in which a
session has several nodes is listed once per node.
"""

from collections.abc import Iterable
from typing import TypeAlias

from zktop.model.facts import Session
from zktop.model.history.change import LockChange
from zktop.model.text import Text
from zktop.model.world.persistent_map import PersistentMap

LocksOfSessions: TypeAlias = PersistentMap[Session, tuple[Text, ...]]


def index_after(index: LocksOfSessions, changes: Iterable[LockChange]) -> LocksOfSessions:
    """Update the index with the nodes that were created and deleted."""
    changed: dict[Session, tuple[Text, ...]] = {}
    known = index.finder
    for change in changes:
        this_lock = (change.path,)  # shared by all sessions that have no other place
        for member in change.deleted:
            locks = _locks(member.owner, changed, index)
            if change.path in locks:
                position = locks.index(change.path)
                changed[member.owner] = locks[:position] + locks[position + 1 :]
        for session in change.entered:
            if session:
                earlier = changed[session] if session in changed else known(session)
                changed[session] = earlier + this_lock if earlier else this_lock
    return index.with_changes({session: locks or None for session, locks in changed.items()})


def _locks(
    session: Session, changed: dict[Session, tuple[Text, ...]], index: LocksOfSessions
) -> tuple[Text, ...]:
    return changed[session] if session in changed else index.get(session, ())
