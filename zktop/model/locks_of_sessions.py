"""The locks in which each session has nodes: one index for rules, screens and scripts.

It is a persistent map, so that each report can keep its own version. A lock in which a session has
several nodes is listed once per node.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from zktop.model.facts import Session
from zktop.model.history.lock_change import LockChange
from zktop.model.text import Text
from zktop.model.world.persistent_map import PersistentMap

LocksOfSessions: TypeAlias = PersistentMap[Session, tuple[Text, ...]]


def index_after(index: LocksOfSessions, changes: Iterable[LockChange]) -> LocksOfSessions:
    """Update the index with the members that came and went.

    The list of a session is built once, however many of its nodes changed.
    """
    left: defaultdict[Session, Counter[Text]] = defaultdict(Counter)
    entered: dict[Session, tuple[Text, ...] | list[Text]] = {}
    for change in changes:
        for member in (*change.deleted, *change.dismissed):
            left[member.owner][change.path] += 1
        alone = (change.path,)  # shared by the sessions that enter no other lock, as most do
        for session in filter(None, change.entered):
            known = entered.get(session)
            if isinstance(known, list):
                known.append(change.path)
            else:
                entered[session] = alone if known is None else [*known, change.path]
    changed = {
        session: tuple(_without(index.get(session, ()), nodes)) or None
        for session, nodes in left.items()
    }
    for session, paths in entered.items():
        earlier = changed[session] if session in changed else index.get(session)
        changed[session] = (*earlier, *paths) if earlier else tuple(paths)
    return index.with_changes(changed)


def _without(locks: Iterable[Text], left: Counter[Text]) -> Iterator[Text]:
    """The locks, each listed one time fewer for each node that left it."""
    for lock in locks:
        if left.get(lock):
            left[lock] -= 1
        else:
            yield lock
