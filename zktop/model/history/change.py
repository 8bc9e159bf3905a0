"""The difference between two looks at one lock."""

from collections.abc import Sequence
from itertools import chain, takewhile
from typing import Final

import msgspec

from zktop.model.locks.lock import Lock, Member
from zktop.model.text import Text

RUN: Final = 64  # members that are compared at once


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

    @classmethod
    def between(cls, path: str, before: Lock | None, after: Lock | None) -> "Change":
        """Compare two locks of one path, or of which one is not there."""
        came, went = _apart(_members(before), _members(after))
        granted, lost = _apart(_holders(before), _holders(after))
        return cls(
            Text(path),
            before,
            after,
            created=_without(came, before.foreign if before else ()),
            deleted=_without(went, after.foreign if after else ()),
            granted=tuple(granted),
            lost=tuple(lost),
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


def _members(lock: Lock | None) -> Sequence[Member]:
    return _joined([line.members for line in lock.lines]) if lock else ()


def _holders(lock: Lock | None) -> Sequence[Member]:
    return _joined([line.holders for line in lock.lines]) if lock else ()


def _joined(parts: list[Sequence[Member]]) -> Sequence[Member]:
    return parts[0] if len(parts) == 1 else tuple(chain.from_iterable(parts))


def _apart(before: Sequence[Member], after: Sequence[Member]) -> tuple[list[Member], list[Member]]:
    """Give those who came and those who went.

    A queue keeps its order, so two looks at it mostly agree in long runs, and a run of the same
    objects compares at C speed. Whatever is out of step is compared by name in the end.
    """
    if not before or not after:
        return sorted(after, key=_arrival), sorted(before, key=_arrival)
    came: dict[Text, Member] = {}
    went: dict[Text, Member] = {}
    here = there = 0
    while here < len(before) or there < len(after):
        old, new = before[here : here + RUN], after[there : there + RUN]
        if old == new:
            stepped = len(old), len(new)
        else:
            same = sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], zip(old, new)))  # noqa: B905  the shorter one ends it
            left, joined = _out_of_step(old[same:], new[same:])
            went.update((member.node, member) for member in old[same : same + left])
            came.update((member.node, member) for member in new[same : same + joined])
            stepped = same + left, same + joined
        here, there = here + stepped[0], there + stepped[1]
    for node in came.keys() & went.keys():
        if _is_same(went[node], came[node]):
            del came[node], went[node]
    return sorted(came.values(), key=_arrival), sorted(went.values(), key=_arrival)


def _out_of_step(old: Sequence[Member], new: Sequence[Member]) -> tuple[int, int]:
    """Count how many to leave out of each run until both go on with the same member."""
    places = {id(member): place for place, member in enumerate(old)}
    for place, member in enumerate(new):
        if id(member) in places:
            return places[id(member)], place
    return len(old), len(new)


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
