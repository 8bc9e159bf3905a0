"""Makes the queues of a lock whose contenders are recognised by their names.

`shapes` makes the queues of all other locks.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import msgspec

from zktop.model.facts import Millis
from zktop.model.layouts.children_by_layout import ParsedChild
from zktop.model.layouts.client_view import INTEROP, views_of
from zktop.model.layouts.layout import Layout
from zktop.model.locks.accumulo_row_ranges import RowRangeQueue
from zktop.model.locks.client_order import in_order
from zktop.model.locks.folder import Folder
from zktop.model.locks.lease_count import Leases, leases_of
from zktop.model.locks.lock import LockQueue, Member, WatchLookup
from zktop.model.locks.members import KnownMembers, members_of
from zktop.model.locks.mixed_queue import MixedQueue
from zktop.model.locks.queue import LayoutMembers, RankedQueue, rule_of
from zktop.model.locks.queue_oddities import count_oddities, has_client
from zktop.model.locks.reentrant_reads import NO_REENTRY, reentrant_reads
from zktop.model.text import Text

OpenFolder = Callable[[Iterable[Member]], Folder]  # makes the folder from its contenders


class Queues(msgspec.Struct, frozen=True):
    """The queues of a lock, and what else its children show."""

    queues: tuple[LockQueue, ...]
    leases: Leases = Leases()
    foreign: tuple[Text, ...] = ()  # children that are not contenders
    until: Millis | None = None  # when the next lease ends
    warnings: tuple[str, ...] = ()
    asks_watches: bool = False  # watch tables can change the answer


def one_queue(
    layout: Layout,
    children: Sequence[ParsedChild],
    watching: WatchLookup,
    *,
    open_folder: OpenFolder | None,
    leases: int | None,
    known: KnownMembers,
) -> Queues:
    """Make the queue of a lock whose contenders all follow one layout.

    Without `open_folder`, they are the only children, and all clients sort them alike.
    """
    members = in_order(layout, members_of(layout, children, known))
    if layout.name == "accumulo-fate-lock":
        return Queues((RowRangeQueue(members, count_oddities(layout, members)),))
    lease_count = leases_of(layout, members, leases, watching)
    layout = lease_count.layout or layout
    rule = rule_of(layout, lease_count.number)
    if rule == "first-n" and layout.mode != "lease":
        members = tuple(msgspec.structs.replace(member, mode="lease") for member in members)
    reentry = reentrant_reads(members, watching) if layout.reentrant else NO_REENTRY
    group = LayoutMembers(
        layout,
        rule,
        members,
        leases=lease_count.number,
        exempt=reentry.exempt,
        marked=lease_count.holders,
        remarks=reentry.warnings + lease_count.warnings,
    )
    is_marked = lease_count.holders is not None and lease_count.are != "known"
    folder = open_folder(members) if open_folder is not None and not is_marked else None
    queue = queue_in(folder, group)
    asks_watches = (
        reentry.asks_watches or lease_count.asks_watches or isinstance(queue, MixedQueue)
    )
    return Queues(
        (queue,), msgspec.structs.replace(lease_count, layout=layout), asks_watches=asks_watches
    )


def queue_in(folder: Folder | None, group: LayoutMembers) -> RankedQueue | MixedQueue:
    """Make the queue of one layout, with a folder only if other children affect it."""
    oddities = count_oddities(group.layout, group.members)
    if folder is None or not folder.matters(group.layout, group.members, group.name):
        return RankedQueue(group, oddities)
    return MixedQueue(group, oddities, folder)


def grouped_queues(
    layout: Layout, children: Sequence[ParsedChild], known: KnownMembers, open_folder: OpenFolder
) -> Queues:
    """Make one queue for each of the locks that share the parent."""
    groups: defaultdict[str, list[ParsedChild]] = defaultdict(list)
    for child in children:
        groups[child.name.group].append(child)
    groups_of_members = [
        LayoutMembers(
            layout,
            rule_of(layout, None),
            in_order(layout, members_of(layout, group, known)),
            name=name,
        )
        for name, group in groups.items()
    ]
    return _queues(groups_of_members, open_folder)


def mixed_queues(
    layouts: Sequence[Layout],
    matches: dict[str, list[ParsedChild]],
    known: KnownMembers,
    open_folder: OpenFolder,
    *,
    interop: bool,
) -> Queues:
    """Make one queue for each layout. With `interop`, all compare the numbers of all children."""
    by_layout = {
        layout.name: members_of(layout, matches.get(layout.name, ()), known) for layout in layouts
    }
    reads = any(member.mode == "read" for members in by_layout.values() for member in members)
    groups_of_members = [
        LayoutMembers(
            msgspec.structs.replace(layout, sights=(INTEROP, views_of(layout)[0]))
            if interop
            else layout,
            "read-write" if reads and interop else rule_of(layout, None),
            in_order(layout, by_layout[layout.name]),
        )
        for layout in layouts
    ]
    queues = _queues(groups_of_members, open_folder)
    all_holders = (holder for queue in queues.queues for holder in queue.holders)
    holders = list(filter(has_client, all_holders))
    owners = {holder.owner or holder.node for holder in holders}
    warnings = ["mixed-families"]
    if len(owners) > 1 and any(holder.mode != "read" for holder in holders):
        warnings.append("mutual-exclusion-broken")
    return msgspec.structs.replace(queues, warnings=tuple(warnings))


def _queues(groups_of_members: Sequence[LayoutMembers], open_folder: OpenFolder) -> Queues:
    folder = open_folder([member for group in groups_of_members for member in group.members])
    queues = tuple(queue_in(folder, group) for group in groups_of_members)
    return Queues(queues, asks_watches=any(isinstance(queue, MixedQueue) for queue in queues))
