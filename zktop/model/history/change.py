"""The difference between two looks at one lock.

What one look at a lock, or the difference of two, amounts to in numbers.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, takewhile
from operator import attrgetter

import msgspec

from zktop.model.facts import Millis, Session
from zktop.model.locks.lock import Lock, LockQueue, Member
from zktop.model.text import Text
from zktop.model.world.ensemble import Ensemble
from zktop.model.world.sequence_diff import Split, splits

JointDeletions = dict[Session, int]  # session -> locks that lost its nodes in one transaction


class LockChange(msgspec.Struct, frozen=True, eq=False):
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
    read: tuple[Member, ...] = ()  # were known by name alone, and are known with their owners now
    apart: tuple[Split, ...] | None = None  # where everybody before and everybody after differ

    @classmethod
    def between(cls, path: str, before: Lock | None, after: Lock | None) -> "LockChange":
        """Compare two locks of one path, or of which one is not there."""
        if before is None and after is not None:
            came = sorted(everybody(after), key=_arrival)
            return cls(Text(path), None, after, created=tuple(came), granted=tuple(after.holders))
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
    def entered(self) -> Sequence[Session]:
        """The sessions of new members, and of members whose owner is known only now."""
        return [member.owner for member in (*self.created, *self.read)]

    @property
    def sessions(self) -> Iterator[Session]:
        """The sessions whose places came, went, or changed between waiting and holding."""
        moved = chain(self.deleted, self.granted, self.lost) if self.before is not None else ()
        owners = chain(self.entered, (member.owner for member in moved))
        return filter(None, owners)

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


class ChangeContext(msgspec.Struct, frozen=True, gc=False):
    """What surrounds a change: the time, the tables, and since when we had looked away."""

    now_ms: Millis
    ensemble: Ensemble
    joint_deletions: JointDeletions
    blind_since: Millis | None = None


# Who came, who went, of whom more is known, and where the two differ.
_Apart = tuple[list[Member], list[Member], list[Member], tuple[Split, ...]]


def everybody(lock: Lock | None) -> Sequence[Member]:
    """Give all members of a lock, line by line."""
    if lock is not None and len(lock.queues) == 1:
        return lock.queues[0].members
    return _joined([line.members for line in lock.queues]) if lock else ()


def joint_deletions(changes: Iterable[LockChange]) -> JointDeletions:
    """Count the locks that lost nodes of one session in one and the same transaction."""
    locks: dict[tuple[Session, int], int] = {}
    for change in filter(attrgetter("deleted"), changes):
        zxid = deletion_zxid(change)
        for owner in {member.owner for member in change.deleted if zxid and member.owner}:
            locks[owner, zxid or 0] = locks.get((owner, zxid or 0), 0) + 1
    most: JointDeletions = {}
    for (owner, _), number in locks.items():
        most[owner] = max(number, most.get(owner, 0))
    return most


def deletion_zxid(change: LockChange) -> int | None:
    """Give the transaction of a deletion, where it was the last thing that befell the children."""
    before, after = change.before, change.after
    changed = after.stat.pzxid if after and after.stat else None
    if changed is None or not change.deleted:
        return None
    earlier = before.stat.pzxid if before and before.stat else None
    is_last = all(member.czxid < changed for member in change.created)
    is_direct = all("/" not in member.node for member in change.deleted)
    return changed if (earlier is None or earlier < changed) and is_last and is_direct else None


def _holders(lock: Lock | None) -> Sequence[Member]:
    return _joined([line.holders for line in lock.queues]) if lock else ()


def _joined(parts: list[Sequence[Member]]) -> Sequence[Member]:
    return parts[0] if len(parts) == 1 else tuple(chain.from_iterable(parts))


def _apart(before: Sequence[Member], after: Sequence[Member]) -> _Apart:
    """Give those who came, those who went, and those of whom more is known.

    What is out of step in a queue that mostly keeps its order is compared by name in the end.
    """
    if before == after:
        return [], [], [], ()
    came: dict[Text, Member] = {}
    went: dict[Text, Member] = {}
    where = tuple(splits(before, after))
    for part in where:
        gone = before[part.here : part.here + part.left]
        new = after[part.there : part.there + part.joined]
        went.update((member.node, member) for member in gone)
        came.update((member.node, member) for member in new)
    read: list[Member] = []
    for node in came.keys() & went.keys() if came and went else ():
        if _is_same(went[node], came[node]):
            if came[node].czxid and not went[node].czxid:
                read.append(came[node])
            del came[node], went[node]
    return _in_order(came), _in_order(went), read, where


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


def is_unclear(change: LockChange, member: Member, deleted: set[Text]) -> bool:
    """Tell whether a waiter that left may have held the lock between the two looks."""
    line = _line_of(change.before, member)
    before = line.blocked_by(member) if line else ()
    return bool(before) and all(one.node in deleted for one in before)


def _line_of(lock: Lock | None, member: Member) -> LockQueue | None:
    lines = lock.queues if lock else ()
    if len(lines) == 1:
        return lines[0]
    return next((line for line in lines if any(one is member for one in line.members)), None)


def waiting(lock: Lock | None) -> int:
    """Count who does not hold."""
    return sum(len(line.waiters) for line in lock.queues) if lock else 0


def blocked(lock: Lock | None) -> int:
    """Count who is stopped by the lock: candidates of an election go on with other things."""
    return 0 if lock is None or lock.kind == "election" else waiting(lock)


def is_held(lock: Lock | None) -> bool:
    """Tell whether anybody holds."""
    return lock is not None and any(line.holders for line in lock.queues)


def ahead(lock: Lock) -> int:
    """Count the members that are newer than the reading of the root's counters."""
    read_at = lock.stat.pzxid if lock.stat else None
    if read_at is None:
        return 0
    newer = (
        takewhile(lambda member: member.czxid > read_at, reversed(line.members))
        for line in lock.queues
    )
    return sum(is_direct(member) for members in newer for member in members)


def is_direct(member: Member) -> bool:
    """Tell whether the root's counters count this member."""
    return member.node != "." and "/" not in member.node


def foreign(change: LockChange) -> tuple[int, int]:
    """Count the other children that came and went: the root's counters know them too."""
    before = change.before.foreign if change.before else ()
    after = change.after.foreign if change.after else ()
    if before == after:
        return 0, 0
    came = set(after) - set(before) - _nodes(change.before)
    went = set(before) - set(after) - _nodes(change.after)
    return len(came), len(went)


def _nodes(lock: Lock | None) -> set[Text]:
    """Name the members: a child that is called foreign now may have been one, and vice versa."""
    return {member.node for line in lock.queues for member in line.members} if lock else set()
