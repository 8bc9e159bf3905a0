"""Matches each new lease of a semaphore with its client's node at the gate.

A client queues at the gate, takes a lease, and then leaves the gate: that is one request. Clients
take leases in the order of the gate, so a lease belongs to the first node of its session there
that has no lease yet.
"""

from collections.abc import Iterable

from zktop.model.history.lock_change import LockChange
from zktop.model.locks.lock import Lock, LockQueue, Member
from zktop.model.locks.semaphore_queue import LeasePool
from zktop.model.text import Text


class SemaphoreGates:
    """A fold over the changes of one lock.

    An unread lease is assumed to belong to the first node at the gate, until it is read.
    """

    __slots__ = ("_served", "_unsure")

    def __init__(self) -> None:
        self._served: set[Text] = set()  # nodes at the gate whose clients have a lease
        self._unsure: dict[Text, Member] = {}  # unread lease -> node at the gate

    def after(self, change: LockChange) -> dict[Text, Member]:
        """Return the node at the gate of each new lease."""
        self._check(change)
        after = _gates(change.after) if change.created else ()
        if not after:
            return {}
        before = _gates(change.before)
        heads = (member for gate in after for member in gate.members[:1])
        places = (*(gone for gone in change.deleted if _has(before, gone)), *heads)
        place_of_lease: dict[Text, Member] = {}
        for lease in change.created:
            place = None if _has(after, lease) else self._place_of(lease, places)
            if place is not None:
                self._served.add(place.node)
                place_of_lease[lease.node] = place
                if not lease.czxid:
                    self._unsure[lease.node] = place
        return place_of_lease

    def pop_served(self, node: Text) -> bool:
        """Return whether the client of a node that leaves has a lease; forget the node."""
        is_served = node in self._served
        self._served.discard(node)
        return is_served

    def _place_of(self, lease: Member, places: Iterable[Member]) -> Member | None:
        free = (place for place in places if place.node not in self._served)
        return next((place for place in free if _may_belong(lease, place)), None)

    def _check(self, change: LockChange) -> None:
        """Correct the assumptions about leases that have now been read."""
        for lease in change.read:
            place = self._unsure.pop(lease.node, None)
            if place is not None and not _may_belong(lease, place):
                self._served.discard(place.node)
        for gone in change.deleted:
            self._unsure.pop(gone.node, None)


def _may_belong(lease: Member, place: Member) -> bool:
    """Return whether one client may have made both nodes; an unread node may be any client's."""
    if not (lease.czxid and place.czxid):
        return True
    return lease.owner == place.owner and place.czxid < lease.czxid


def _gates(lock: Lock | None) -> tuple[LockQueue, ...]:
    queues = lock.queues if lock else ()
    return tuple(queue.gate for queue in queues if isinstance(queue, LeasePool))


def _has(gates: Iterable[LockQueue], member: Member) -> bool:
    return any(gate.find(member.node) is not None for gate in gates)
