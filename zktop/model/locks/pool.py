"""Leases behind a gate: semaphores whose clients queue for the right to take a lease.

Whoever is first at the gate takes a lease, and lets the next one in. Some create the lease node
before they know that it is theirs: that one is pending, and stands for its client's place at the
gate.
"""

from collections.abc import Sequence
from typing import Literal

from zktop.model.locks.lock import FOREIGN, Line, Member, Target

# What the first one at the gate does: it waits for a lease, or it is about to take one and see,
# or it has gone through and its node stands for something else.
Head = Literal["waiting", "taking", "hidden"]


class Pool:
    """Leases, the one that is pending, and the gate. `watched` is where a lease comes free.

    Foreign children among the leases are no holders, but each takes a permit.
    """

    __slots__ = (
        "_takes_first",
        "_watched",
        "gate",
        "hidden",
        "holders",
        "leases",
        "pending",
        "taken",
        "warnings",
    )

    def __init__(
        self,
        holders: Sequence[Member],
        gate: Line,
        *,
        leases: int | None,
        watched: Target | None,
        pending: Member | None = None,
        head: Head = "waiting",
    ) -> None:
        self.holders = tuple(one for one in holders if one.layout != FOREIGN)
        self.taken = tuple(one for one in holders if one.layout == FOREIGN)
        self.pending, self.gate, self.leases = pending, gate, leases
        self.hidden = gate.members[0] if head == "hidden" and gate.members else None
        self.warnings = tuple(gate.warnings)
        self._watched = watched
        self._takes_first = head == "taking"

    @property
    def members(self) -> Sequence[Member]:
        """Leases first, then the gate."""
        pending = (self.pending,) if self.pending else ()
        return (*self.holders, *pending, *self.gate.members)

    @property
    def waiters(self) -> Sequence[Member]:
        """The pending lease, then whoever stands at the gate."""
        queued = self.gate.members[1:] if self.hidden else self.gate.members
        return (self.pending, *queued) if self.pending else queued

    def find(self, node: str) -> Member | None:
        """Give the member of this name."""
        leases = (*self.holders, self.pending) if self.pending else self.holders
        return next((m for m in leases if m.node == node), None) or self.gate.find(node)

    def holds(self, member: Member) -> bool:
        """Tell whether it is a lease, and taken."""
        return any(holder.node == member.node for holder in self.holders)

    def is_pending(self, member: Member) -> bool:
        """Tell whether it is the lease that may not be one, or its client's place at the gate."""
        waiting = (self.pending, self.hidden)
        return any(other is not None and other.node == member.node for other in waiting)

    def is_exempt(self, member: Member) -> bool:
        """Tell nobody: leases have no order."""
        return False

    def blocked_by(self, member: Member) -> tuple[Member, ...]:
        """Give all leases for whoever wants the next one, and the gate's order for the others."""
        if self.holds(member):
            return ()
        if self.is_pending(member) or self.gate.holds(member):
            return self._permits if self._is_full() else ()
        return self.gate.blocked_by(member)

    def before(self, member: Member) -> Sequence[Member]:
        """Give the leases while none is free, and who is ahead at the gate."""
        if self.holds(member):
            return ()
        leases = self._permits if self._is_full() else ()
        return leases if self.is_pending(member) else (*leases, *self.gate.before(member))

    def count_before(self, member: Member) -> int:
        """Count them."""
        if self.holds(member):
            return 0
        leases = len(self._permits) if self._is_full() else 0
        return leases if self.is_pending(member) else leases + self.gate.count_before(member)

    def expected(self, member: Member) -> tuple[Target, ...]:
        """Give the watches that this member's recipe keeps."""
        if self.holds(member):
            return ()
        if self._is_next(member):
            return (self._watched,) if self._watched else ()
        return self.gate.expected(member)

    def _is_next(self, member: Member) -> bool:
        """Tell whether it is this member's turn to wait for a lease."""
        if self.pending is not None:
            return member.node == self.pending.node
        return not self._takes_first and self.gate.holds(member)

    @property
    def is_short(self) -> bool:
        """Tell whether somebody waits because of foreign children."""
        return bool(self.taken) and bool(self.waiters) and self._is_full()

    @property
    def _permits(self) -> tuple[Member, ...]:
        """Whatever takes a permit."""
        return (*self.taken, *self.holders)

    def _is_full(self) -> bool:
        """Tell whether a lease must come back first; nobody knows better without the number."""
        if self._watched is None:
            return False
        return self.leases is None or len(self._permits) >= self.leases
