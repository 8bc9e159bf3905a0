"""The queue of a lock that is a single node: the client that created the node holds the lock."""

from collections.abc import Sequence

from zktop.model.layouts.layout import WatchKind
from zktop.model.locks.lock import Member, QueueDefaults, Target


class SingleNodeQueue(QueueDefaults):
    """Nodes that are held as long as they exist, and standbys with nodes elsewhere."""

    __slots__ = ("_how", "holders", "waiters", "warnings")

    def __init__(
        self,
        holders: Sequence[Member],
        standbys: Sequence[Member] = (),
        *,
        how: WatchKind = "exists",
        warnings: tuple[str, ...] = (),
    ) -> None:
        self.holders = tuple(holders)
        self.waiters = tuple(standbys)
        self.warnings = warnings
        self._how = how

    @property
    def members(self) -> Sequence[Member]:
        return self.holders + self.waiters

    def blocked_by(self, member: Member) -> tuple[Member, ...]:
        """Return the holders: any standby may win after them."""
        return () if self.holds(member) else self.holders

    def expected(self, member: Member) -> tuple[Target, ...]:
        """Return the nodes of the holders, which a standby watches."""
        if self.holds(member):
            return ()
        return tuple(Target(holder.node, self._how) for holder in self.holders)
