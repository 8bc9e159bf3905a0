"""Locks without a queue: each node is a lock of its own, and stands alone."""

from collections.abc import Sequence

from zktop.model.layouts.layout import How
from zktop.model.locks.lock import Member, Target


class Solo:
    """Nodes that hold as long as they are there, and those who stand by with nodes elsewhere."""

    __slots__ = ("_how", "holders", "waiters", "warnings")

    def __init__(
        self,
        holders: Sequence[Member],
        standbys: Sequence[Member] = (),
        *,
        how: How = "exists",
        warnings: tuple[str, ...] = (),
    ) -> None:
        self.holders = tuple(holders)
        self.waiters = tuple(standbys)
        self.warnings = warnings
        self._how = how

    @property
    def members(self) -> Sequence[Member]:
        """Holders first."""
        return self.holders + self.waiters

    def find(self, node: str) -> Member | None:
        """Give the member of this name."""
        return next((member for member in self.members if member.node == node), None)

    def holds(self, member: Member) -> bool:
        """Tell whether it is there and held."""
        return any(holder.node == member.node for holder in self.holders)

    def is_pending(self, member: Member) -> bool:
        """Tell nobody: there is nothing between held and free."""
        return False

    def is_exempt(self, member: Member) -> bool:
        """Tell nobody: there is no order to be exempt from."""
        return False

    def blocked_by(self, member: Member) -> tuple[Member, ...]:
        """Give the holders: after them anybody may win."""
        return () if self.holds(member) else self.holders

    def before(self, member: Member) -> Sequence[Member]:
        """Give the same: nobody else is in its way."""
        return self.blocked_by(member)

    def count_before(self, member: Member) -> int:
        """Count them."""
        return len(self.blocked_by(member))

    def expected(self, member: Member) -> tuple[Target, ...]:
        """Give the holder's node as what a standby watches."""
        if self.holds(member):
            return ()
        return tuple(Target(holder.node, self._how) for holder in self.holders)
