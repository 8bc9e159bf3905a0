"""The locks in which each session has places: one index for rules, screens and scripts.

It is a persistent mapping, so each report keeps the index of its own moment at no cost. A session
that has several places in one lock has that lock as many times.
"""

from collections.abc import Iterable
from typing import TypeAlias

from zktop.model.facts import Session
from zktop.model.history.change import LockChange
from zktop.model.text import Text
from zktop.model.world.persistent_map import PersistentMap

LocksOfSessions: TypeAlias = PersistentMap[Session, tuple[Text, ...]]


def index_after(index: LocksOfSessions, changes: Iterable[LockChange]) -> LocksOfSessions:
    """Update the index with the places that came and went."""
    changed: dict[Session, tuple[Text, ...]] = {}
    known = index.finder
    for change in changes:
        alone = (change.path,)  # shared by all sessions that have no other place
        for member in change.deleted:
            locks = _locks(member.owner, changed, index)
            if change.path in locks:
                place = locks.index(change.path)
                changed[member.owner] = locks[:place] + locks[place + 1 :]
        for session in change.entered:
            if session:
                earlier = changed[session] if session in changed else known(session)
                changed[session] = earlier + alone if earlier else alone
    return index.with_changes({session: locks or None for session, locks in changed.items()})


def _locks(
    session: Session, changed: dict[Session, tuple[Text, ...]], index: LocksOfSessions
) -> tuple[Text, ...]:
    return changed[session] if session in changed else index.get(session, ())
