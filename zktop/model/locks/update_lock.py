"""Makes the next version of a lock from the previous one after a few children changed.

This works for locks with one queue and numbers that all clients sort alike. Any other lock (with a
foreign child that clients count, a second layout, a repeated or negative number, several locks in
one folder, or leases that depend on data) is made from scratch, as is one whose kind or layout the
first read of a child may change. Two versions of a listing are in nearly the same order, so
walking both in parallel finds the few differences.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final

import msgspec

from zktop.model.layouts.children_by_layout import ParsedChild, sort_by_layout
from zktop.model.layouts.layout import Layout, parse_name
from zktop.model.layouts.lock_site import LockSite
from zktop.model.layouts.precedence import BY_NAME
from zktop.model.locks.client_order import has_two_orders, sequence
from zktop.model.locks.lock import Lock, Member
from zktop.model.locks.members import is_promoting, members_of
from zktop.model.locks.queue import LayoutMembers, RankedQueue
from zktop.model.locks.queue_oddities import (
    QueueOddities,
    is_nearly_exhausted,
    is_repeated,
    is_unseen,
)
from zktop.model.locks.recognise import is_left_over
from zktop.model.text import Text
from zktop.model.world.children_of_znode import Family, Znode
from zktop.model.world.sequence_diff import changed_runs
from zktop.model.world.world import World


class ChildrenDiff(msgspec.Struct, frozen=True, gc=False):
    """Children that are in only one of two versions. A changed child is in both lists."""

    removed: list[Znode]
    added: list[Znode]

    @property
    def names(self) -> list[Text]:
        """The names of the added, removed and changed children. Changed ones appear twice."""
        return [znode.name for znode in chain(self.removed, self.added)]


def children_diff(before: Mapping[Text, Znode], after: Mapping[Text, Znode]) -> ChildrenDiff:
    """Compare two versions of the children of a znode.

    >>> a, b, c = Znode("a"), Znode("b"), Znode("c")
    >>> diff = children_diff({"a": a, "b": b}, {"b": b, "c": c})
    >>> [znode.name for znode in diff.removed], [znode.name for znode in diff.added]
    (['a'], ['c'])
    """
    was, now = list(before.values()), list(after.values())
    diff = ChildrenDiff([], [])
    for run in changed_runs(was, now):
        diff.removed.extend(was[run.old_start : run.old_end])
        diff.added.extend(now[run.new_start : run.new_end])
    return _without_moved(diff) if len(diff.removed) > 1 and len(diff.added) > 1 else diff


def _without_moved(diff: ChildrenDiff) -> ChildrenDiff:
    """Leave out unchanged children that only moved within the listing."""
    moved = set(map(id, diff.removed)).intersection(map(id, diff.added))
    if not moved:
        return diff
    return ChildrenDiff(
        [znode for znode in diff.removed if id(znode) not in moved],
        [znode for znode in diff.added if id(znode) not in moved],
    )


_MAX_CHANGES = 64  # beyond that, making the lock from scratch is as fast
_FROM_SCRATCH: Final = frozenset(
    ("medallion-semaphore", "permit-semaphore", "member-group", "clickhouse-leader-election")
)


def update_lock(lock: Lock, site: LockSite) -> Lock | None:
    """Return the next version of a lock, or None if it must be made from scratch.

    A child that came and went between two looks makes no new version.
    """
    queue = lock.queues[0] if len(lock.queues) == 1 else None
    if not isinstance(queue, RankedQueue) or not _is_ordinary(lock, queue, site):
        return None
    changes = children_diff(lock.family.members, site.family.members)
    if len(changes.removed) + len(changes.added) > _MAX_CHANGES:
        return None
    if _is_decided_by_reads(lock) and any(znode.stat is None for znode in changes.removed):
        return None
    if changes.removed or changes.added or queue.oddities.repeated:
        following = _next_queue(queue, changes, site)
    elif (lock.seen_zxid, lock.family.at) == (site.family.listed_at, site.family.at):
        return lock
    else:
        following = queue  # listed again without a change
    return None if following is None else _next_version(lock, following, site.family)


def _is_ordinary(lock: Lock, queue: RankedQueue, site: LockSite) -> bool:
    return (
        queue.regular
        and len(queue.members) > 1
        and not (lock.asks_watches and _shows_watches(site.world))
        and not lock.error
        and not site.family.denied
        and queue.rule != "first-n"
        and queue.layout.name not in _FROM_SCRATCH
        and not queue.layout.reentrant
        and not queue.layout.grouped
        and lock.layout == queue.layout.name
        and site.still_hold(lock.dependencies)
    )


def _is_decided_by_reads(lock: Lock) -> bool:
    """Whether its kind or layout depends on labels or owners, which listings do not have."""
    is_candidate = lock.layout == "curator-mutex" and lock.kind == "election"
    return is_candidate or lock.layout in _UNRIVALLED


def _shows_watches(world: World) -> bool:
    watches = (tables.watches for tables in world.tables.values())
    return any(table is not None and table.rows is not None for table in watches)


def _next_queue(queue: RankedQueue, changes: ChildrenDiff, site: LockSite) -> RankedQueue | None:
    members = list(queue.members)
    oddities = queue.oddities
    for znode in changes.removed:
        place = _place(members, queue.layout, znode)
        if place is None:
            return None  # a foreign child was removed
        oddities = oddities.with_change(members[place], _neighbours(members, place, place + 1), -1)
        del members[place]
    for znode in changes.added:
        member = _new_member(queue, znode, site)
        if member is None:
            return None
        place = bisect_left(members, member.sequence, key=sequence)
        if place < len(members) and members[place].sequence == member.sequence:
            return None
        oddities = oddities.with_change(member, _neighbours(members, place, place), 1)
        members.insert(place, member)
        if is_repeated(member, site.family.members):
            return None
    if not members or _is_unsure(queue, oddities, members):
        return None
    oddities = msgspec.structs.replace(oddities, largest=members[-1].sequence)
    return RankedQueue(LayoutMembers(queue.layout, queue.rule, tuple(members)), oddities)


def _is_unsure(queue: RankedQueue, oddities: QueueOddities, members: Sequence[Member]) -> bool:
    """Return whether a mode, a warning or the order depends on more than the changes."""
    had_readers, has_readers = bool(queue.oddities.readers), bool(oddities.readers)
    changes_modes = is_promoting(queue.layout) and had_readers != has_readers
    if changes_modes or queue.oddities.repeated or not oddities.is_sane:
        return True
    return has_two_orders(queue.layout, members)


def _place(members: list[Member], layout: Layout, znode: Znode) -> int | None:
    name = parse_name(layout, znode.name)
    if name is None or name.sequence is None:
        return None
    place = bisect_left(members, name.sequence, key=sequence)
    if place < len(members) and members[place].node == znode.name:
        return place
    return None


def _new_member(queue: RankedQueue, znode: Znode, site: LockSite) -> Member | None:
    """Make the member, in the mode that `queue` gives it, or None if its layout is unsure."""
    layout, own = queue.layout, site.settings.layouts
    name = parse_name(layout, znode.name)
    if name is None or name.sequence is None or name.sequence < 0:
        return None
    # A strict pattern has no rivals among the built-in layouts.
    rivals = (*own, *(BY_NAME if ".+" in layout.pattern else (layout,)))
    if rivals != (layout,) and layout.name not in _UNRIVALLED:
        by_layout = sort_by_layout([znode], rivals)
        if layout.name not in by_layout.matches:
            return None
    member = members_of(layout, [ParsedChild(znode, name)])[0]
    if is_left_over(layout, member.znode) or is_unseen(layout, member):
        return None
    if is_promoting(layout) and queue.oddities.readers and member.mode == "exclusive":
        return msgspec.structs.replace(member, mode="write")
    return member


def _neighbours(
    members: list[Member], before: int, after: int
) -> tuple[Member | None, Member | None]:
    return (
        members[before - 1] if before else None,
        members[after] if after < len(members) else None,
    )


def _next_version(lock: Lock, queue: RankedQueue, family: Family) -> Lock:
    stat = family.stat or lock.stat
    warnings = list(queue.warnings)
    if is_nearly_exhausted(stat):
        warnings.append("sequence-exhausted")
    if lock.foreign:
        warnings.append("foreign-children")
    return Lock(
        path=lock.path,
        layout=lock.layout,
        kind=lock.kind,
        queues=(queue,),
        stat=stat,
        seen_zxid=family.listed_at,
        at=family.arrived_at,
        leases=lock.leases,
        leases_are=lock.leases_are,
        foreign=lock.foreign,
        warnings=tuple(dict.fromkeys(warnings)),
        blocking=lock.blocking,
        asks_watches=lock.asks_watches,
        family=family,
        dependencies=lock.dependencies,
    )


_UNRIVALLED: Final = frozenset(("zk-writelock-java", "zk-writelock-c"))
