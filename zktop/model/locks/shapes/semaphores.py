"""Semaphores and leases recognised by sub-nodes or siblings: those of Curator and kazoo."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal

import msgspec

from zktop.model.facts import last_name
from zktop.model.layouts.layout import MACROS, ClientView, Layout, parse_name
from zktop.model.layouts.lock_site import LockSite
from zktop.model.layouts.main_libraries import CURATOR_MUTEX, KAZOO_LOCK
from zktop.model.layouts.timed_leases import kazoo_lease_end
from zktop.model.locks.client_order import in_order
from zktop.model.locks.folder import foreign_member
from zktop.model.locks.lease_count import Leases, number_in
from zktop.model.locks.lock import LockQueue, Member, Target
from zktop.model.locks.mixed_queue import MixedQueue
from zktop.model.locks.queue import LayoutMembers, RankedQueue
from zktop.model.locks.queues_by_name import Queues, queue_in
from zktop.model.locks.semaphore_queue import Gate, GateHead, LeasePool
from zktop.model.locks.shapes.shape import LockShape, ShapeContext, next_end
from zktop.model.locks.shapes.single_node import SingleNodeQueue
from zktop.model.text import Text
from zktop.model.world.children_of_znode import Family

QUEUE_OF_SEMAPHORE: Final = "-__lock__"  # suffix of the sibling in which kazoo's clients queue
_LEASE_NAME: Final = re.compile(MACROS["{H32}"])  # of kazoo


def _gate(
    layout: Layout, family: Family, context: ShapeContext, below: str
) -> tuple[RankedQueue | MixedQueue, tuple[Text, ...]]:
    """Make the gate of a semaphore. Its members wait for a lease, not for a lock."""
    queued, rest = context.sorted_children(layout, family, below)
    wanting = [
        member if member.mode == "lease" else msgspec.structs.replace(member, mode="lease")
        for member in queued
    ]
    members = in_order(layout, wanting)
    open_folder = context.folders.of(family, (layout,), below)
    folder = open_folder(members) if rest else None
    queue = queue_in(folder, LayoutMembers(layout, "first", members))
    return queue, tuple(Text(below + znode.name) for znode in rest)


_SEMAPHORE_V2: Final = Layout(
    name="curator-semaphore-v2",
    pattern="^_c_(?P<id>{U36})-lease-{SEQ}$",
    mode="lease",
    kind="semaphore",
    order="arrival",
    sights=(ClientView(counts="all", pool=True),),
    watch="children",
    id_is="token",
    about="Curator: InterProcessSemaphoreV2, InterProcessSemaphoreMutex; "
    "below the sub-nodes `leases` and `locks` (Java)",
)


def _is_curator_semaphore(site: LockSite) -> bool:
    """Return whether clients of Curator use the sub-nodes, or no client does.

    Applications, too, have folders called `locks` and `leases`.
    """
    names = site.family.members
    if "leases" not in names:
        return False
    if any(parse_name(_SEMAPHORE_V2, name) for name in site.below("leases").members):
        return True
    if "locks" not in names:
        return False
    gate = site.below("locks").members
    if any(parse_name(CURATOR_MUTEX, name) for name in gate):
        return True
    return site.is_empty("leases") and site.is_empty("locks")


def _curator_semaphore(context: ShapeContext) -> Queues:
    family = context.site.family
    listed, others = context.sorted_children(
        context.layout, context.site.below("leases"), "leases/"
    )
    leases = list(in_order(context.layout, listed))
    taken = [foreign_member(znode, (), "leases/") for znode in others]
    queued = context.site.below("locks")
    gate, rest = _gate(CURATOR_MUTEX, queued, context, "locks/")
    left_at = _left_at(gate, context)
    lease_of_head = _taken_by_head(leases, gate, left_at)
    number_out = len(leases) + len(taken)
    pending = lease_of_head if number_out > (context.leases or 1) else None
    if pending is not None:
        leases.remove(pending)
    number = context.leases or (number_out - 1 if pending is not None else None)
    origin: Literal["known", "inferred"] = "known" if context.leases else "inferred"
    pool = LeasePool(
        (*leases, *taken),
        Gate(gate, "taking" if lease_of_head is None else "hidden", left_at, queued.listed_at),
        leases=number,
        watched=Target(Text("leases"), "children"),
        pending=pending,
    )
    other_folders = [znode.name for znode in family if znode.name not in ("leases", "locks")]
    foreign = (*other_folders, *(member.node for member in taken), *rest)
    known = Leases(number, origin if number else None)
    return Queues((pool,), known, foreign, asks_watches=isinstance(gate, MixedQueue))


def _taken_by_head(leases: Sequence[Member], gate: LockQueue, left_at: int) -> Member | None:
    """Find the lease that the head of the gate created. An unread lease counts as such.

    Only the head creates leases, so a lease that existed before it became the head is not its own.
    """
    head = next(iter(gate.members), None)
    if head is None:
        return None
    unread = [lease for lease in leases if not (lease.czxid or lease.znode.hidden)]
    own = [
        lease
        for lease in leases
        if head.owner and lease.owner == head.owner and lease.czxid > head.czxid
    ]
    newest = max(unread or own, key=lambda lease: lease.czxid, default=None)
    return None if newest is not None and 0 < newest.czxid < left_at else newest


CURATOR_SEMAPHORE: Final = LockShape(
    layout=_SEMAPHORE_V2,
    fits=_is_curator_semaphore,
    make=_curator_semaphore,
    parts=("leases", "locks"),
)


def _is_kazoo_semaphore(site: LockSite) -> bool:
    names = site.family.members
    has_leases = not names or any(map(_LEASE_NAME.fullmatch, names))
    if not has_leases and _begins_with_a_request(site.family):
        return False
    gate = site.children_of_sibling(QUEUE_OF_SEMAPHORE)
    if gate is None:
        return False
    # Foreign children may have taken all leases. In that case, only the gate shows clients.
    return has_leases or any(parse_name(KAZOO_LOCK, name) for name in gate.members)


def _begins_with_a_request(family: Family) -> bool:
    """Return whether the first child is ephemeral and numbered, as in the queue of a lock."""
    first = next(iter(family))
    is_ephemeral = first.stat is not None and first.stat.owner != 0
    return is_ephemeral and family.may_have_numbered(first.name)


def _kazoo_semaphore(context: ShapeContext) -> Queues:
    site, family = context.site, context.site.family
    listed, others = context.sorted_children(context.layout, family)
    leases = in_order(context.layout, listed)
    siblings = site.children_of_sibling(QUEUE_OF_SEMAPHORE) or Family()
    below = f"../{last_name(site.path)}{QUEUE_OF_SEMAPHORE}/"
    gate, rest = _gate(KAZOO_LOCK, siblings, context, below)
    root = site.itself()
    number = number_in(root.data if root else None)
    number = context.leases if number is None else number
    taken = [foreign_member(znode, ()) for znode in others]
    watched = Target(Text("."), "children")
    left_at = _left_at(gate, context, _last_departure(siblings))
    head: GateHead = "hidden" if _taken_by_head(leases, gate, left_at) else "waiting"
    current = Gate(gate, head, left_at, siblings.listed_at)
    pool = LeasePool((*leases, *taken), current, leases=number, watched=watched)
    foreign = tuple(znode.name for znode in others) + rest
    known = Leases(number, "known" if number is not None else None)
    return Queues((pool,), known, foreign, asks_watches=isinstance(gate, MixedQueue))


def _left_at(gate: LockQueue, context: ShapeContext, departed: int = 0) -> int:
    """Return a zxid by which all members before the head had left the gate, or 0 if unknown.

    `departed` is the zxid of the last departure, for kazoo, where it is nearly always the head's.
    In Curator the head stays while its lease is pending, so a client behind it may leave first.
    """
    previous = next(
        (pool for pool in context.previous_queues if isinstance(pool, LeasePool)), None
    )
    if previous is None:
        return departed
    head = next(iter(previous.gate.members), None)
    if head is None:
        return max(previous.left_at, departed)
    if gate.find(head.node) is not None:
        return previous.left_at
    # A lease that the previous head took, or that existed while it was first, is not the new
    # head's. Leases are listed separately from the gate, so some may be newer than both.
    leases = (*previous.holders, previous.pending) if previous.pending else previous.holders
    taken = [
        lease.czxid + 1
        for lease in leases
        if lease.owner == head.owner or lease.czxid <= previous.gate_read_at
    ]
    return max(previous.left_at, departed, *taken)


def _last_departure(family: Family) -> int:
    """Return the newest zxid at which a child is known to have left, or 0 if none has."""
    departures = [zxid for name, zxid in family.absent.items() if name not in family.members]
    created = [znode.stat.czxid if znode.stat else 0 for znode in family]
    last = family.stat.pzxid if family.stat else None
    if last is not None and all(created) and last > max(created, default=0):
        departures.append(last)
    return max(departures, default=0)


KAZOO_SEMAPHORE: Final = LockShape(
    layout=Layout(
        name="kazoo-semaphore",
        pattern="^(?P<id>{H32})$",
        order="arrival",
        sights=(ClientView(counts="all", pool=True),),
        mode="lease",
        kind="semaphore",
        watch="children",
        id_is="token",
        guessed=True,
        about="kazoo: Semaphore; its queue is the sibling named <path>-__lock__ (Python)",
    ),
    fits=_is_kazoo_semaphore,
    make=_kazoo_semaphore,
)


def _is_kazoo_lease(site: LockSite) -> bool:
    if "lease_holder" in site.family.members:
        return True
    return any("lease_holder" in site.below(name).members for name in _lease_slots(site))


def _lease_slots(site: LockSite) -> Iterator[str]:
    """Yield the children that may be slots of a lease: 0, 1, 2, ..."""
    names = site.family.members
    for number in range(len(names)):
        if str(number) not in names:
            return
        yield str(number)


def _kazoo_lease(context: ShapeContext) -> Queues:
    family = context.site.family
    if "lease_holder" in family.members:
        slots = {"": family}
    else:
        slots = {f"{slot}/": context.site.below(slot) for slot in _lease_slots(context.site)}
    pools, ends = [], []
    for below, slot in slots.items():
        queue, _ = _gate(KAZOO_LOCK, slot, context, below)
        holders = []
        node = slot.members.get(Text("lease_holder"))
        if node is not None:
            end = kazoo_lease_end(node.data)
            ends.append(end)
            if context.now < end:
                holders.append(context.single(f"{below}lease_holder", node))
        gate = Gate(_exclusive(queue), "hidden")
        pools.append(LeasePool(holders, gate, leases=1, watched=None))
    until = next_end(ends, context.now)
    number = 1 if "lease_holder" in family.members else None  # slots are created on demand
    return Queues(tuple(pools), Leases(number, "known" if number else None), until=until)


def _exclusive(queue: RankedQueue | MixedQueue) -> RankedQueue:
    """Return the queue with the mode of the short lock that comes with a lease."""
    members = tuple(msgspec.structs.replace(member, mode="exclusive") for member in queue.members)
    return RankedQueue(LayoutMembers(queue.layout, "first", members), queue.oddities)


KAZOO_LEASE: Final = LockShape(
    layout=Layout(
        name="kazoo-lease",
        pattern="^lease_holder$",
        order="arrival",
        watch="none",
        kind="lease",
        persistent=True,
        about="kazoo: NonBlockingLease, MultiNonBlockingLease; held until a date (Python)",
    ),
    fits=_is_kazoo_lease,
    make=_kazoo_lease,
    has_numbered_parts=True,
)


_ENTRY: Final = re.compile(r"entry-\d{3}-\d{10}")


def _is_locking_queue(site: LockSite) -> bool:
    """Return whether a root has the folders of a locking queue. `taken` may have been deleted."""
    names = site.family.members
    if "entries" not in names:
        return False
    return "taken" in names or any(map(_ENTRY.fullmatch, site.below("entries").members))


def _locking_queue(context: ShapeContext) -> Queues:
    members, _ = context.sorted_children(context.layout, context.site.below("taken"), "taken/")
    return Queues((SingleNodeQueue(members, how="children"),))


KAZOO_LOCKING_QUEUE: Final = LockShape(
    layout=Layout(
        name="kazoo-locking-queue",
        pattern=r"^entry-\d{3}-{SEQ}$",
        watch="none",
        kind="other",
        persistent=True,
        about="kazoo: LockingQueue; each child of `taken` is one item held (Python)",
    ),
    fits=_is_locking_queue,
    make=_locking_queue,
    parts=("entries", "taken"),
)
