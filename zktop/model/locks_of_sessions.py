"""The locks in which each session has nodes: one index for rules, screens and scripts.

It is a persistent map, so that each report can keep the index of its own time. A lock in which a
session has several nodes is listed once per node.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from zktop.model.facts import Session
from zktop.model.history.change import LockChange
from zktop.model.text import Text
from zktop.model.world.persistent_map import PersistentMap

LocksOfSessions: TypeAlias = PersistentMap[Session, tuple[Text, ...]]


def index_after(index: LocksOfSessions, changes: Iterable[LockChange]) -> LocksOfSessions:
    """Update the index with the members that came and went.

    The list of a session is built once, however many of its nodes changed.
    """
    left: dict[Session, Counter[Text]] = {}
    entered: dict[Session, list[Text]] = {}
    for change in changes:
        for member in (*change.deleted, *change.dismissed):
            left.setdefault(member.owner, Counter())[change.path] += 1
        for session in filter(None, change.entered):
            entered.setdefault(session, []).append(change.path)
    changed = {}
    for session in left.keys() | entered.keys():
        earlier: Iterable[Text] = index.get(session, ())
        if session in left:
            earlier = _without(earlier, left[session])
        changed[session] = (*earlier, *entered.get(session, ())) or None
    return index.with_changes(changed)


def _without(locks: Iterable[Text], left: Counter[Text]) -> Iterator[Text]:
    """The locks, each listed as many times less as nodes in it were deleted."""
    for lock in locks:
        if left[lock] > 0:
            left[lock] -= 1
        else:
            yield lock
