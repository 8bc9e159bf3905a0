"""Make the queues of locks that are recognised by their shape.

To add one, add its layout to the catalogue, its test to `layouts.by_shape`, and its queues here.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, Literal

import msgspec

from zktop.model.facts import Millis, split
from zktop.model.layouts import timed_leases as terms
from zktop.model.layouts.by_shape import QUEUE_OF_SEMAPHORE, lease_slots, single_children
from zktop.model.layouts.layout import Layout
from zktop.model.layouts.libraries import CURATOR_MUTEX, KAZOO_LOCK
from zktop.model.layouts.owner_labels import label_of
from zktop.model.layouts.site import LockSite
from zktop.model.layouts.sorting import sort_by_layout
from zktop.model.layouts.timed_leases import LeaseTerm
from zktop.model.locks import queue as order
from zktop.model.locks.by_name import queue_in
from zktop.model.locks.folder import foreign
from zktop.model.locks.folder_queue import FolderQueue, LayoutMembers
from zktop.model.locks.lock import LockQueue, Member, Target
from zktop.model.locks.members import KnownMembers, Leases, members_of, number_in
from zktop.model.locks.open_folder import FolderOpener
from zktop.model.locks.queue import RankedQueue
from zktop.model.locks.special_queues import LeasePool, SingleNodeQueue
from zktop.model.text import Text
from zktop.model.world.family import Family, Znode


class ShapedQueues(msgspec.Struct, frozen=True):
    """The queues of a lock, and what else its shape shows."""

    queues: tuple[LockQueue, ...] = ()
    leases: Leases = Leases()
    foreign: tuple[Text, ...] = ()
    until: Millis | None = None
    warnings: tuple[str, ...] = ()
    asks: bool = False


class ShapeContext(msgspec.Struct, frozen=True):
    """The input of the functions below."""

    site: LockSite
    layout: Layout
    now: Millis
    leases: int | None  # as configured
    known: KnownMembers
    opening: FolderOpener

    def single(self, node: str, znode: Znode) -> Member:
        """Make a member of a node with a fixed name."""
        label = label_of(znode.data, self.layout.name) if znode.data else None
        lasts = znode.stat is not None and znode.stat.owner == 0
        member = Member(
            Text(node), "exclusive", None, self.layout.name, label, None, znode, not lasts
        )
        before = self.known.get(member.node)
        return before if before is not None and before.znode is znode else member


def _kazoo_semaphore(context: ShapeContext) -> ShapedQueues:
    site, family = context.site, context.site.family
    by_layout = sort_by_layout(family, (context.layout,))
    listed = members_of(
        context.layout, by_layout.families.get(context.layout.name, ()), context.known
    )
    leases = order.in_order(context.layout, listed)
    beside = site.beside(QUEUE_OF_SEMAPHORE) or Family()
    below = f"../{split(site.path)[1]}{QUEUE_OF_SEMAPHORE}/"
    gate, rest = _gate(KAZOO_LOCK, beside, context, below)
    root = site.itself()
    number = number_in(root.data if root else None)
    number = context.leases if number is None else number
    taken = [foreign(znode, ()) for znode in by_layout.rest]
    watched = Target(Text("."), "children")
    pool = LeasePool((*leases, *taken), gate, leases=number, watched=watched)
    strangers = tuple(z.name for z in by_layout.rest) + rest
    known = Leases(number, "known" if number is not None else None)
    return ShapedQueues((pool,), known, strangers, asks=isinstance(gate, FolderQueue))


def _curator_semaphore(context: ShapeContext) -> ShapedQueues:
    family = context.site.family
    by_layout = sort_by_layout(context.site.below("leases"), (context.layout,))
    places = by_layout.families.get(context.layout.name, ())
    listed = members_of(context.layout, places, context.known, "leases/")
    leases = list(order.in_order(context.layout, listed))
    taken = [foreign(znode, (), "leases/") for znode in by_layout.rest]
    gate, rest = _gate(CURATOR_MUTEX, context.site.below("locks"), context, "locks/")
    newest = _taken_by_head(leases, gate)
    out = len(leases) + len(taken)
    is_pending = newest is not None and (context.leases is None or out > context.leases)
    if newest is not None and is_pending:
        leases.remove(newest)
    number = context.leases or (out - 1 if is_pending else None)
    are: Literal["known", "inferred"] = "known" if context.leases else "inferred"
    pool = LeasePool(
        (*leases, *taken),
        gate,
        leases=number,
        watched=Target(Text("leases"), "children"),
        pending=newest if is_pending else None,
        head="taking" if newest is None else "hidden",
    )
    strangers = [z.name for z in family if z.name not in ("leases", "locks")]
    found = (*strangers, *(one.node for one in taken), *rest)
    known = Leases(number, are if number else None)
    return ShapedQueues((pool,), known, found, asks=isinstance(gate, FolderQueue))


def _taken_by_head(leases: list[Member], gate: LockQueue) -> Member | None:
    """Find the lease that the first member of the gate created since it is first."""
    head = next(iter(gate.members), None)
    if head is None or not head.owner:
        return None
    own = [m for m in leases if m.owner == head.owner and m.czxid > head.czxid]
    return max(own, key=lambda member: member.czxid, default=None)


def _gate(
    layout: Layout, family: Family, context: ShapeContext, below: str
) -> tuple[RankedQueue | FolderQueue, tuple[Text, ...]]:
    """Make the queue before the leases; its members wait for a lease, not for a lock."""
    by_layout = sort_by_layout(family, (layout,))
    found = members_of(layout, by_layout.families.get(layout.name, ()), context.known, below)
    wanting = [m if m.mode == "lease" else msgspec.structs.replace(m, mode="lease") for m in found]
    members = order.in_order(layout, wanting)
    opened = context.opening.of(family, (layout,), below)
    folder = opened(members) if by_layout.rest else None
    queue = queue_in(folder, LayoutMembers(layout, "first", members))
    return queue, tuple(Text(below + znode.name) for znode in by_layout.rest)


def _kazoo_lease(context: ShapeContext) -> ShapedQueues:
    family = context.site.family
    if "lease_holder" in family.members:
        sites = {"": family}
    else:
        sites = {f"{slot}/": context.site.below(slot) for slot in lease_slots(context.site)}
    pools, ends = [], []
    for below, slot in sites.items():
        queue, _ = _gate(KAZOO_LOCK, slot, context, below)
        queue = _exclusive(queue)
        holders = []
        node = slot.members.get(Text("lease_holder"))
        if node is not None:
            term = terms.kazoo_lease(node.data)
            ends.append(term)
            if term.holds(context.now):
                holders.append(context.single(f"{below}lease_holder", node))
        pools.append(LeasePool(holders, queue, leases=1, watched=None, head="hidden"))
    until = _next_end(ends, context.now)
    return ShapedQueues(tuple(pools), Leases(len(pools), "known"), until=until)


def _exclusive(queue: RankedQueue | FolderQueue) -> RankedQueue:
    """Return the queue with the mode of the short lock beside a lease."""
    members = tuple(msgspec.structs.replace(m, mode="exclusive") for m in queue.members)
    return RankedQueue(queue.layout, "first", members, queue.oddities)


def _locking_queue(context: ShapeContext) -> ShapedQueues:
    taken = context.site.below("taken")
    by_layout = sort_by_layout(taken, (context.layout,))
    places = by_layout.families.get(context.layout.name, ())
    members = members_of(context.layout, places, context.known, "taken/")
    return ShapedQueues((SingleNodeQueue(members, how="children"),))


def _ruby_election(context: ShapeContext) -> ShapedQueues:
    by_layout = sort_by_layout(context.site.family, (context.layout,))
    places = by_layout.families.get(context.layout.name, ())
    members = order.in_order(context.layout, members_of(context.layout, places, context.known))
    folder = context.opening.of(context.site.family, (context.layout,))(members)
    queue = queue_in(folder, LayoutMembers(context.layout, "first", members))
    strangers = tuple(znode.name for znode in by_layout.rest if znode.name != "leader_ack")
    return ShapedQueues((queue,), foreign=strangers, asks=isinstance(queue, FolderQueue))


def _hadoop(context: ShapeContext) -> ShapedQueues:
    shape = _fixed(context, "ActiveStandbyElectorLock")
    names = context.site.family.members
    stale = "ActiveBreadCrumb" in names and "ActiveStandbyElectorLock" not in names
    return msgspec.structs.replace(shape, warnings=("stale-breadcrumb",) if stale else ())


def _hbase(context: ShapeContext) -> ShapedQueues:
    backups = context.site.below("backup-masters")
    return _fixed(context, "master", backups, "backup-masters/")


def _patroni(context: ShapeContext) -> ShapedQueues:
    return _fixed(context, "leader")


def _fixed(
    context: ShapeContext, node: str, standbys: Iterable[Znode] = (), below: str = ""
) -> ShapedQueues:
    """Make the queue of one holder; standbys may have nodes of their own."""
    found = context.site.family.members.get(Text(node))
    holders = [context.single(node, found)] if found else []
    waiting = [context.single(below + znode.name, znode) for znode in standbys]
    return ShapedQueues((SingleNodeQueue(holders, waiting, how=context.layout.how),))


def _shedlock(context: ShapeContext) -> ShapedQueues:
    holders, ends = [], []
    for znode in context.site.family:
        term = terms.shedlock(znode.data)
        ends.append(term)
        if term.holds(context.now):
            holders.append(context.single(znode.name, znode))
    return ShapedQueues((SingleNodeQueue(holders),), until=_next_end(ends, context.now))


def _single_node(context: ShapeContext) -> ShapedQueues:
    """Make the queue of the root's own node, or of the only one below it."""
    site, family = context.site, context.site.family
    root = site.itself()
    term = terms.expiring(root.data) if root else None
    if root is not None and term is not None and not (root.stat and root.stat.owner):
        held = [context.single(".", root)] if term.holds(context.now) else []
        return ShapedQueues((SingleNodeQueue(held),), until=_next_end([term], context.now))
    children = single_children(family, site.path)
    if children or family.members:
        found = children or tuple(z for z in family if z.stat and z.stat.owner)
        return ShapedQueues(
            (SingleNodeQueue([context.single(znode.name, znode) for znode in found]),)
        )
    stat = site.stat
    if stat is None or not stat.owner:
        return ShapedQueues((SingleNodeQueue(()),))
    node = root or Znode(split(site.path)[1], stat)
    return ShapedQueues((SingleNodeQueue([context.single(".", node)]),))


def _next_end(ends: Iterable[LeaseTerm], now: Millis) -> Millis | None:
    ahead: Iterator[int] = (term.until for term in ends if now < term.until < terms.ALWAYS)
    return min(ahead, default=None)


# Layout name -> the function that makes the queues of its locks.
SHAPE_MAKERS: Final[dict[str, Callable[[ShapeContext], ShapedQueues]]] = {
    "curator-semaphore-v2": _curator_semaphore,
    "kazoo-semaphore": _kazoo_semaphore,
    "kazoo-lease": _kazoo_lease,
    "kazoo-locking-queue": _locking_queue,
    "zkruby-election": _ruby_election,
    "hadoop-elector": _hadoop,
    "hbase-master": _hbase,
    "patroni": _patroni,
    "shedlock": _shedlock,
    "single-node": _single_node,
}
