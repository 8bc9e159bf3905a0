"""The difference between two looks at one lock, and counts for statistics."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, islice, takewhile
from operator import attrgetter

import msgspec

from zktop.model.facts import Gone, Millis, Session
from zktop.model.locks.lock import Lock, Member
from zktop.model.locks.queue import HERE
from zktop.model.locks.shapes import SHAPE_OF_LAYOUT
from zktop.model.text import Text
from zktop.model.world.sequence_diff import ChangedRun, changed_runs
from zktop.model.world.tables_of_all_servers import NO_ENSEMBLE, Ensemble

# Session -> number of locks that lost its nodes in one transaction.
JointDeletions = dict[Session, int]


class LockChange(msgspec.Struct, frozen=True, eq=False):
    """How a lock differs from the previous look: members that came, went, got it or lost it."""

    path: Text
    before: Lock | None
    after: Lock | None
    created: tuple[Member, ...] = ()
    deleted: tuple[Member, ...] = ()
    granted: tuple[Member, ...] = ()  # hold now and did not before, including created ones
    lost: tuple[Member, ...] = ()  # held before and do not hold now, including deleted ones
    read: tuple[Member, ...] = ()  # members whose owner was unknown before and is known now
    admitted: tuple[Member, ...] = ()  # members now, foreign children before
    dismissed: tuple[Member, ...] = ()  # foreign children now, members before
    changed_runs: tuple[ChangedRun, ...] = ()  # where the lists of all members differ

    @classmethod
    def between(cls, path: str, before: Lock | None, after: Lock | None) -> "LockChange":
        """Compare two versions of a lock; None stands for no lock."""
        if before is None and after is not None:
            created = tuple(sorted(all_members(after), key=arrival))
            return cls(
                Text(path),
                None,
                after,
                created=created,
                granted=tuple(after.holders),
                changed_runs=(ChangedRun(0, 0, 0, len(created)),),
            )
        came, went, read, runs = _diff(all_members(before), all_members(after))
        granted, lost, *_ = _diff(_holders(before), _holders(after))
        created, admitted = _split(came, before.foreign if before else ())
        deleted, dismissed = _split(went, after.foreign if after else ())
        return cls(
            Text(path),
            before,
            after,
            created=created,
            deleted=deleted,
            granted=tuple(granted),
            lost=tuple(lost),
            read=tuple(read),
            admitted=admitted,
            dismissed=dismissed,
            changed_runs=runs,
        )

    @property
    def entered(self) -> Sequence[Session]:
        """The sessions of new members, and of members whose owner has only now become known."""
        members = (*self.created, *self.admitted, *self.read)
        return [stat.owner if (stat := member.znode.stat) else 0 for member in members]

    @property
    def sessions(self) -> Iterator[Session]:
        """The sessions of members that came, went, or changed between waiting and holding."""
        moved: Iterable[Member] = ()
        if self.before is not None:
            moved = chain(self.deleted, self.dismissed, self.granted, self.lost)
        owners = chain(self.entered, (member.owner for member in moved))
        return filter(None, owners)

    @property
    def demoted(self) -> tuple[Member, ...]:
        """Members that held before, are still there, and do not hold now."""
        gone = {member.node for member in self.deleted}
        return tuple(member for member in self.lost if member.node not in gone)

    @property
    def is_rebuilt(self) -> bool:
        """Whether the lock's znode was replaced by another."""
        before = self.before.stat if self.before else None
        after = self.after.stat if self.after else None
        return before is not None and after is not None and before.czxid != after.czxid


class ChangeContext(msgspec.Struct, frozen=True, gc=False):
    """The time of a change, the server tables, and when the connection was lost, if it was."""

    now_ms: Millis
    ensemble: Ensemble
    joint_deletions: JointDeletions
    blind_since: Millis | None = None
    removal_of: Callable[[str], Gone | None] = lambda _path: None
    earlier: Ensemble = NO_ENSEMBLE  # the server tables of the previous look


# Members that came, members that went, members read since, and the runs that differ.
_Diff = tuple[list[Member], list[Member], list[Member], tuple[ChangedRun, ...]]


def all_members(lock: Lock | None) -> Sequence[Member]:
    if lock is not None and len(lock.queues) == 1:
        return lock.queues[0].members
    return _joined([queue.members for queue in lock.queues]) if lock else ()


def joint_deletions(changes: Iterable[LockChange]) -> JointDeletions:
    """Count for each session the locks that lost nodes of it in one transaction."""
    locks: Counter[tuple[Session, int]] = Counter()
    for change in filter(attrgetter("deleted"), changes):
        zxid = deletion_zxid(change)
        if zxid:
            locks.update({(member.owner, zxid) for member in change.deleted if member.owner})
    most: JointDeletions = {}
    for (owner, _), number in locks.items():
        most[owner] = max(number, most.get(owner, 0))
    return most


def deletion_zxid(change: LockChange) -> int | None:
    """The transaction of a deletion, if it was the last change of the children."""
    before, after = change.before, change.after
    changed = after.stat.pzxid if after and after.stat else None
    if changed is None or not change.deleted:
        return None
    earlier = before.stat.pzxid if before and before.stat else None
    is_new = earlier is None or earlier < changed
    is_last = all(0 < member.czxid < changed for member in change.created)
    are_direct = all("/" not in member.node for member in change.deleted)
    return changed if is_new and is_last and are_direct else None


def _holders(lock: Lock | None) -> Sequence[Member]:
    return _joined([queue.holders for queue in lock.queues]) if lock else ()


def _joined(parts: list[Sequence[Member]]) -> Sequence[Member]:
    return parts[0] if len(parts) == 1 else tuple(chain.from_iterable(parts))


def _diff(before: Sequence[Member], after: Sequence[Member]) -> _Diff:
    """Compare two lists of members that mostly keep their order.

    Members at positions that differ are compared by name, to find those that only moved.
    """
    if before == after:
        return [], [], [], ()
    came: dict[Text, Member] = {}
    went: dict[Text, Member] = {}
    runs = tuple(changed_runs(before, after))
    for run in runs:
        went.update((member.node, member) for member in before[run.old_start : run.old_end])
        came.update((member.node, member) for member in after[run.new_start : run.new_end])
    read: list[Member] = []
    for node in came.keys() & went.keys():
        if _is_same(went[node], came[node]):
            if came[node].czxid and not went[node].czxid:
                read.append(came[node])
            del came[node], went[node]
    return sorted(came.values(), key=arrival), sorted(went.values(), key=arrival), read, runs


def _is_same(before: Member, after: Member) -> bool:
    """Whether two members with the same name may be the same znode.

    A member that was read becomes unread if its znode was deleted, or if an ACL hides it.
    """
    if before.czxid and not after.czxid:
        return after.znode.hidden
    return before.czxid in (0, after.czxid)


def _split(
    members: list[Member], foreign: tuple[Text, ...]
) -> tuple[tuple[Member, ...], tuple[Member, ...]]:
    """Separate members that came or went from those that only changed their role."""
    if not foreign or not members:
        return tuple(members), ()
    names = frozenset(foreign)
    moved = tuple(member for member in members if member.node not in names)
    return moved, tuple(member for member in members if member.node in names)


def arrival(member: Member) -> tuple[int, int, Text]:
    """Return a key that sorts members by their arrival."""
    return member.czxid, member.sequence or 0, member.node


def is_unclear(change: LockChange, member: Member, deleted: set[Text]) -> bool:
    """Whether a waiter that left may have held the lock between the two looks."""
    lock = change.before
    if lock is None or not lock.count_before(member):
        return False
    if len(deleted) == lock.size and not lock.obstacles:
        return True
    others = lock.members_before(member)
    if member.mode == "read":
        others = [other for other in others if other.mode != "read"]
    room = (lock.leases or 1) if lock.kind == "semaphore" else 1
    gone = deleted | changed_foreign(change)[1] if lock.obstacles else deleted
    stayed = (other for other in others if other.node not in gone)
    return len(list(islice(stayed, room))) < room


def count_waiting(lock: Lock | None) -> int:
    return sum(len(queue.waiters) for queue in lock.queues) if lock else 0


def count_blocked(lock: Lock | None) -> int:
    """The number of waiters that the lock stops. Candidates of elections usually keep working."""
    is_blocked = lock is not None and not lock.has_standbys
    return count_waiting(lock) if is_blocked else 0


def is_held(lock: Lock | None) -> bool:
    return lock is not None and any(queue.holders for queue in lock.queues)


def newer_than_counters(lock: Lock) -> int:
    """The number of members created after the root's counters were read."""
    read_at = lock.stat.pzxid if lock.stat else None
    if read_at is None:
        return 0
    newer = (
        takewhile(lambda member: member.czxid > read_at, reversed(queue.members))
        for queue in lock.queues
    )
    return count_direct(member.node for members in newer for member in members)


def count_direct(nodes: Iterable[str]) -> int:
    """The number of nodes that the root's counters count: its own children."""
    return sum(node != HERE and "/" not in node for node in nodes)


def has_late_obstacle(change: LockChange) -> bool:
    """Whether an obstacle that existed at the previous look had not been read by then.

    A foreign child is no obstacle until it is read: the member behind it counted as the holder.
    """
    before, after = change.before, change.after
    if before is None or after is None:
        return False
    known = {obstacle.node for obstacle in before.obstacles}
    return any(
        0 < obstacle.czxid <= before.seen_zxid and obstacle.node not in known
        for obstacle in after.obstacles
    )


def changed_children(change: LockChange) -> tuple[int, int]:
    """How many children of the root came and went, as far as the two looks show.

    Parts of a lock, such as the folder of a semaphore's leases, are neither members nor foreign.
    A server removes them while they are empty.
    """
    shape = SHAPE_OF_LAYOUT.get(change.after.layout) if change.after else None
    if shape is not None and (shape.parts or shape.has_numbered_parts):
        if change.before is None or change.after is None:
            return 0, 0  # the counters begin with this look
        before, after = (lock.family.members.keys() for lock in (change.before, change.after))
        return len(after - before), len(before - after)
    foreign_came, foreign_went = changed_foreign(change)
    return (
        count_direct([*foreign_came, *(member.node for member in change.created)]),
        count_direct([*foreign_went, *(member.node for member in change.deleted)]),
    )


def changed_foreign(change: LockChange) -> tuple[AbstractSet[Text], AbstractSet[Text]]:
    """The foreign children that came, and those that went."""
    before = change.before.foreign if change.before else ()
    after = change.after.foreign if change.after else ()
    if before == after:
        return frozenset(), frozenset()
    came = set(after) - set(before) - _nodes(change.before)
    went = set(before) - set(after) - _nodes(change.after)
    return came, went


def _nodes(lock: Lock | None) -> set[Text]:
    """The names of all members: a child that is foreign now may have been a member."""
    return {member.node for queue in lock.queues for member in queue.members} if lock else set()
