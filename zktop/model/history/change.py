"""The difference between two looks at one lock."""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import msgspec

from zktop.model.locks.lock import Lock, Member
from zktop.model.locks.roll import Roll
from zktop.model.strides import Split, splits
from zktop.model.text import Text


class Change(msgspec.Struct, frozen=True, eq=False):
    """Who came, who went, who got the lock and who lost it without leaving.

    Whoever already knows the difference makes one directly and spares `between` its walk.
    """

    path: Text
    before: Lock | None
    after: Lock | None
    created: tuple[Member, ...] = ()
    deleted: tuple[Member, ...] = ()
    granted: tuple[Member, ...] = ()  # hold now and did not, the created ones included
    lost: tuple[Member, ...] = ()  # held and do not hold now, the deleted ones included
    roll: Roll | None = None  # of the created ones, where the lock was made together with it
    read: tuple[Member, ...] = ()  # were known by name alone, and are known with their owners now
    apart: tuple[Split, ...] | None = None  # where everybody before and everybody after differ

    @classmethod
    def between(cls, path: str, before: Lock | None, after: Lock | None) -> "Change":
        """Compare two locks of one path, or of which one is not there."""
        came, went, read, apart = _apart(everybody(before), everybody(after))
        granted, lost, *_ = _apart(_holders(before), _holders(after))
        return cls(
            Text(path),
            before,
            after,
            created=_without(came, before.foreign if before else ()),
            deleted=_without(went, after.foreign if after else ()),
            granted=tuple(granted),
            lost=tuple(lost),
            read=tuple(read),
            apart=apart,
        )

    @property
    def demoted(self) -> tuple[Member, ...]:
        """Give those who held, are still there, and do not hold now."""
        gone = {member.node for member in self.deleted}
        return tuple(member for member in self.lost if member.node not in gone)

    @property
    def is_rebuilt(self) -> bool:
        """Tell whether the root is another znode than before."""
        before, after = self.before and self.before.stat, self.after and self.after.stat
        return bool(before and after and before.czxid != after.czxid)


class _Apart(NamedTuple):
    came: list[Member]
    went: list[Member]
    read: list[Member]
    where: tuple[Split, ...]


def everybody(lock: Lock | None) -> Sequence[Member]:
    """Give all members of a lock, line by line."""
    if lock is not None and len(lock.lines) == 1:
        return lock.lines[0].members
    return _joined([line.members for line in lock.lines]) if lock else ()


def _holders(lock: Lock | None) -> Sequence[Member]:
    return _joined([line.holders for line in lock.lines]) if lock else ()


def _joined(parts: list[Sequence[Member]]) -> Sequence[Member]:
    return parts[0] if len(parts) == 1 else tuple(chain.from_iterable(parts))


def _apart(before: Sequence[Member], after: Sequence[Member]) -> _Apart:
    """Give those who came, those who went, and those of whom more is known.

    What is out of step in a queue that mostly keeps its order is compared by name in the end.
    """
    if before == after:
        return _Apart([], [], [], ())
    came: dict[Text, Member] = {}
    went: dict[Text, Member] = {}
    where = tuple(splits(before, after))
    for here, left, there, joined in where:
        went.update((member.node, member) for member in before[here : here + left])
        came.update((member.node, member) for member in after[there : there + joined])
    read: list[Member] = []
    for node in came.keys() & went.keys() if came and went else ():
        if _is_same(went[node], came[node]):
            if came[node].czxid and not went[node].czxid:
                read.append(came[node])
            del came[node], went[node]
    return _Apart(_in_order(came), _in_order(went), read, where)


def _in_order(members: dict[Text, Member]) -> list[Member]:
    found = [*members.values()]
    return sorted(found, key=_arrival) if len(found) > 1 else found


def _is_same(one: Member, other: Member) -> bool:
    """Tell whether two members of one name are one znode; an unread one may be any."""
    return one.czxid == other.czxid or not (one.czxid and other.czxid)


def _without(members: list[Member], names: tuple[Text, ...]) -> tuple[Member, ...]:
    """Leave out those that were there all the time and only changed their meaning."""
    if not names:
        return tuple(members)
    known = frozenset(names)
    return tuple(member for member in members if member.node not in known)


def _arrival(member: Member) -> tuple[int, int, Text]:
    return member.czxid, member.sequence or 0, member.node
