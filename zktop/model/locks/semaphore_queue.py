"""The queue of a semaphore whose leases are separate nodes behind a gate.

Clients queue at the gate for the right to take a lease. The first client at the gate takes one
and lets the next client through. Some clients create the lease before they know that it is theirs:
such a lease is pending, and represents its client at the gate. `shapes/semaphores` decides which
leases are held.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from zktop.model.locks.lock import FOREIGN, LockQueue, Member, QueueDefaults, Target

# The first member of the gate waits for a lease, is about to take one, or already has one. In the
# last case its node at the gate is only a leftover.
GateHead = Literal["waiting", "taking", "hidden"]


class Gate(NamedTuple):
    """The queue for a lease. `left_at` is a zxid by which the members before its head had left."""

    queue: LockQueue
    head: GateHead = "waiting"
    left_at: int = 0
    read_at: int = 0  # the zxid of its listing


class LeasePool(QueueDefaults):
    """The leases, the pending lease, and the gate. `watched` is the node that shows a free lease.

    Foreign children among the leases are not holders, but each takes a lease.
    """

    def __init__(
        self,
        holders: Sequence[Member],
        gate: Gate,
        *,
        leases: int | None,
        watched: Target | None,
        pending: Member | None = None,
    ) -> None:
        self.holders = tuple(holder for holder in holders if holder.layout != FOREIGN)
        self.foreign = tuple(holder for holder in holders if holder.layout == FOREIGN)
        self.pending, self.gate, self.leases = pending, gate.queue, leases
        first = next(iter(self.gate.members), None)
        self.hidden = first if gate.head == "hidden" else None
        self.left_at, self.gate_read_at = gate.left_at, gate.read_at
        self.warnings = tuple(self.gate.warnings)
        self._watched = watched
        self._head_is_taking = gate.head == "taking"

    @property
    def members(self) -> Sequence[Member]:
        """Leases first, then the gate."""
        pending = (self.pending,) if self.pending else ()
        return (*self.holders, *pending, *self.gate.members)

    @property
    def waiters(self) -> Sequence[Member]:
        """The pending lease, then the members of the gate."""
        queued = self.gate.members[1:] if self.hidden else self.gate.members
        return (self.pending, *queued) if self.pending else queued

    def find(self, node: str) -> Member | None:
        leases = (*self.holders, self.pending) if self.pending else self.holders
        lease = next((lease for lease in leases if lease.node == node), None)
        return lease or self.gate.find(node)

    def is_pending(self, member: Member) -> bool:
        """Return whether it is the pending lease, or its client's node at the gate."""
        waiting = (self.pending, self.hidden)
        return any(other is not None and other.node == member.node for other in waiting)

    def blocked_by(self, member: Member) -> tuple[Member, ...]:
        """Return all leases for the first at the gate, the nearest before it for the others."""
        if self.holds(member):
            return ()
        if self.is_pending(member) or self.gate.holds(member):
            return self._lease_nodes if self._is_full() else ()
        return self.gate.blocked_by(member)

    def members_before(self, member: Member) -> Sequence[Member]:
        """Return the leases if none is free, and the members before it at the gate."""
        if self.holds(member):
            return ()
        leases = self._lease_nodes if self._is_full() else ()
        return leases if self.is_pending(member) else (*leases, *self.gate.members_before(member))

    def count_before(self, member: Member) -> int:
        if self.holds(member):
            return 0
        leases = len(self._lease_nodes) if self._is_full() else 0
        return leases if self.is_pending(member) else leases + self.gate.count_before(member)

    def expected(self, member: Member) -> tuple[Target, ...]:
        if self.holds(member):
            return ()
        if self._is_next(member):
            return (self._watched,) if self._watched else ()
        return self.gate.expected(member)

    def _is_next(self, member: Member) -> bool:
        """Return whether it is this member's turn to wait for a lease."""
        if self.pending is not None:
            return member.node == self.pending.node
        return not self._head_is_taking and self.gate.holds(member)

    @property
    def is_short(self) -> bool:
        """Whether members wait because of foreign children; False if the number is unknown."""
        if self.leases is None or self._head_is_taking:
            return False
        return bool(self.foreign) and bool(self.waiters) and self._is_full()

    @property
    def _lease_nodes(self) -> tuple[Member, ...]:
        """The nodes that take a lease, foreign ones included."""
        return (*self.foreign, *self.holders)

    def _is_full(self) -> bool:
        """Return whether a lease must be returned first. If the number is unknown, assume so."""
        if self._watched is None:
            return False
        return self.leases is None or len(self._lease_nodes) >= self.leases
