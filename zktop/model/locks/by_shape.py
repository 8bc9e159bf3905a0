"""Make the lines of locks that are told by their shape: sub-nodes, siblings, fixed names."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, Literal

import msgspec

from zktop.model.facts import Millis, split
from zktop.model.layouts import timed_leases as terms
from zktop.model.layouts.by_shape import QUEUE_OF_SEMAPHORE, lease_slots, single_children
from zktop.model.layouts.layout import Layout
from zktop.model.layouts.libraries import CURATOR_MUTEX, KAZOO_LOCK
from zktop.model.layouts.owner_labels import label_of
from zktop.model.layouts.site import Ground
from zktop.model.layouts.sorting import sort_out
from zktop.model.layouts.timed_leases import Term
from zktop.model.locks import queue as order
from zktop.model.locks.by_name import line_in
from zktop.model.locks.folder import foreign
from zktop.model.locks.folder_queue import Family as Contending
from zktop.model.locks.folder_queue import FolderQueue
from zktop.model.locks.lock import Line, Member, Target
from zktop.model.locks.members import Known, Leases, members_of, number_in
from zktop.model.locks.open_folder import Opening
from zktop.model.locks.queue import Queue
from zktop.model.locks.special_queues import Pool, Solo
from zktop.model.text import Text
from zktop.model.world.family import Family, Znode


class Shape(msgspec.Struct, frozen=True):
    """The lines of a lock that its shape told."""

    lines: tuple[Line, ...] = ()
    leases: Leases = Leases()
    foreign: tuple[Text, ...] = ()
    until: Millis | None = None
    warnings: tuple[str, ...] = ()
    asks: bool = False


class Site(msgspec.Struct, frozen=True):
    """What a shape is made from."""

    ground: Ground
    layout: Layout
    now: Millis
    leases: int | None  # as the user says
    known: Known
    opening: Opening

    def single(self, node: str, znode: Znode) -> Member:
        """Make a member of a node with a fixed name."""
        label = label_of(znode.data, self.layout.name) if znode.data else None
        lasts = znode.stat is not None and znode.stat.owner == 0
        member = Member(
            Text(node), "exclusive", None, self.layout.name, label, None, znode, not lasts
        )
        before = self.known.get(member.node)
        return before if before is not None and before.znode is znode else member


def shape_of(site: Site) -> Shape:
    """Make the lines of a lock by its layout's name."""
    return _SHAPES[site.layout.name](site)


def _kazoo_semaphore(site: Site) -> Shape:
    ground, family = site.ground, site.ground.family
    by_layout = sort_out(family, (site.layout,))
    listed = members_of(site.layout, by_layout.families.get(site.layout.name, ()), site.known)
    leases = order.in_order(site.layout, listed)
    beside = ground.beside(QUEUE_OF_SEMAPHORE) or Family()
    below = f"../{split(ground.path)[1]}{QUEUE_OF_SEMAPHORE}/"
    gate, rest = _gate(KAZOO_LOCK, beside, site, below)
    root = ground.itself()
    number = number_in(root.data if root else None)
    number = site.leases if number is None else number
    taken = [foreign(znode, ()) for znode in by_layout.rest]
    watched = Target(Text("."), "children")
    pool = Pool((*leases, *taken), gate, leases=number, watched=watched)
    strangers = tuple(z.name for z in by_layout.rest) + rest
    known = Leases(number, "known" if number is not None else None)
    return Shape((pool,), known, strangers, asks=isinstance(gate, FolderQueue))


def _curator_semaphore(site: Site) -> Shape:
    family = site.ground.family
    by_layout = sort_out(site.ground.below("leases"), (site.layout,))
    places = by_layout.families.get(site.layout.name, ())
    listed = members_of(site.layout, places, site.known, "leases/")
    leases = list(order.in_order(site.layout, listed))
    taken = [foreign(znode, (), "leases/") for znode in by_layout.rest]
    gate, rest = _gate(CURATOR_MUTEX, site.ground.below("locks"), site, "locks/")
    newest = _taken_by_head(leases, gate)
    out = len(leases) + len(taken)
    is_pending = newest is not None and (site.leases is None or out > site.leases)
    if newest is not None and is_pending:
        leases.remove(newest)
    number = site.leases or (out - 1 if is_pending else None)
    are: Literal["known", "inferred"] = "known" if site.leases else "inferred"
    pool = Pool(
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
    return Shape((pool,), known, found, asks=isinstance(gate, FolderQueue))


def _taken_by_head(leases: list[Member], gate: Line) -> Member | None:
    """Find the lease that the first one at the gate made since it got there."""
    head = next(iter(gate.members), None)
    if head is None or not head.owner:
        return None
    own = [m for m in leases if m.owner == head.owner and m.czxid > head.czxid]
    return max(own, key=lambda member: member.czxid, default=None)


def _gate(
    layout: Layout, family: Family, site: Site, below: str
) -> tuple[Queue | FolderQueue, tuple[Text, ...]]:
    """Make the queue in front of the leases; its members want a lease, not a lock."""
    by_layout = sort_out(family, (layout,))
    found = members_of(layout, by_layout.families.get(layout.name, ()), site.known, below)
    wanting = [m if m.mode == "lease" else msgspec.structs.replace(m, mode="lease") for m in found]
    members = order.in_order(layout, wanting)
    opened = site.opening.of(family, (layout,), below)
    folder = opened(members) if by_layout.rest else None
    queue = line_in(folder, Contending(layout, "first", members))
    return queue, tuple(Text(below + znode.name) for znode in by_layout.rest)


def _kazoo_lease(site: Site) -> Shape:
    family = site.ground.family
    if "lease_holder" in family.members:
        grounds = {"": family}
    else:
        grounds = {f"{slot}/": site.ground.below(slot) for slot in lease_slots(site.ground)}
    pools, ends = [], []
    for below, slot in grounds.items():
        queue, _ = _gate(KAZOO_LOCK, slot, site, below)
        queue = _exclusive(queue)
        holders = []
        node = slot.members.get(Text("lease_holder"))
        if node is not None:
            term = terms.kazoo_lease(node.data)
            ends.append(term)
            if term.holds(site.now):
                holders.append(site.single(f"{below}lease_holder", node))
        pools.append(Pool(holders, queue, leases=1, watched=None, head="hidden"))
    until = _next_end(ends, site.now)
    return Shape(tuple(pools), Leases(len(pools), "known"), until=until)


def _exclusive(queue: Queue | FolderQueue) -> Queue:
    """Put back the mode of the short lock beside a lease."""
    members = tuple(msgspec.structs.replace(m, mode="exclusive") for m in queue.members)
    return Queue(queue.layout, "first", members, queue.notes)


def _locking_queue(site: Site) -> Shape:
    taken = site.ground.below("taken")
    by_layout = sort_out(taken, (site.layout,))
    places = by_layout.families.get(site.layout.name, ())
    members = members_of(site.layout, places, site.known, "taken/")
    return Shape((Solo(members, how="children"),))


def _ruby_election(site: Site) -> Shape:
    by_layout = sort_out(site.ground.family, (site.layout,))
    places = by_layout.families.get(site.layout.name, ())
    members = order.in_order(site.layout, members_of(site.layout, places, site.known))
    folder = site.opening.of(site.ground.family, (site.layout,))(members)
    queue = line_in(folder, Contending(site.layout, "first", members))
    strangers = tuple(znode.name for znode in by_layout.rest if znode.name != "leader_ack")
    return Shape((queue,), foreign=strangers, asks=isinstance(queue, FolderQueue))


def _hadoop(site: Site) -> Shape:
    shape = _fixed(site, "ActiveStandbyElectorLock")
    names = site.ground.family.members
    stale = "ActiveBreadCrumb" in names and "ActiveStandbyElectorLock" not in names
    return msgspec.structs.replace(shape, warnings=("stale-breadcrumb",) if stale else ())


def _hbase(site: Site) -> Shape:
    backups = site.ground.below("backup-masters")
    return _fixed(site, "master", backups, "backup-masters/")


def _patroni(site: Site) -> Shape:
    return _fixed(site, "leader")


def _fixed(site: Site, node: str, standbys: Iterable[Znode] = (), below: str = "") -> Shape:
    """One node holds; others may stand by with nodes of their own."""
    found = site.ground.family.members.get(Text(node))
    holders = [site.single(node, found)] if found else []
    waiting = [site.single(below + znode.name, znode) for znode in standbys]
    return Shape((Solo(holders, waiting, how=site.layout.how),))


def _shedlock(site: Site) -> Shape:
    holders, ends = [], []
    for znode in site.ground.family:
        term = terms.shedlock(znode.data)
        ends.append(term)
        if term.holds(site.now):
            holders.append(site.single(znode.name, znode))
    return Shape((Solo(holders),), until=_next_end(ends, site.now))


def _single_node(site: Site) -> Shape:
    """Take the root's own node, or the only one below it."""
    ground, family = site.ground, site.ground.family
    root = ground.itself()
    term = terms.expiring(root.data) if root else None
    if root is not None and term is not None and not (root.stat and root.stat.owner):
        held = [site.single(".", root)] if term.holds(site.now) else []
        return Shape((Solo(held),), until=_next_end([term], site.now))
    children = single_children(family, ground.path)
    if children or family.members:
        found = children or tuple(z for z in family if z.stat and z.stat.owner)
        return Shape((Solo([site.single(znode.name, znode) for znode in found]),))
    stat = ground.stat
    if stat is None or not stat.owner:
        return Shape((Solo(()),))
    node = root or Znode(split(ground.path)[1], stat)
    return Shape((Solo([site.single(".", node)]),))


def _next_end(ends: Iterable[Term], now: Millis) -> Millis | None:
    ahead: Iterator[int] = (term.until for term in ends if now < term.until < terms.ALWAYS)
    return min(ahead, default=None)


_SHAPES: Final[dict[str, Callable[[Site], Shape]]] = {
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
