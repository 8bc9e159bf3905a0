"""Creations and deletions in one lock that no look has shown, from the counters of its root."""

from typing import Final

from zktop.model.facts import Stat
from zktop.model.history.lock_change import count_direct
from zktop.model.locks.lock import Lock

_WRAP: Final = 1 << 31  # the counter that a Stat shows has 31 bits
_PLAUSIBLE: Final = 1 << 30


class RootCounters:
    """Counts creations and deletions that were missed, from the counters of a lock's root.

    The root's Stat counts its creations and its children, so both numbers between two readings are
    exact. The counters are read with a listing, while members may be known earlier. Members newer
    than the counters are counted as soon as the counters catch up.
    """

    __slots__ = (
        "_seen_creates", "_seen_deletes", "_stat",
        "creates", "deletes", "missed_creates", "missed_deletes",
    )  # fmt: skip

    def __init__(self, stat: Stat | None, ahead: int = 0) -> None:
        """Start with a reading and the number of creations seen after it."""
        self._stat = stat
        self.creates = self.deletes = 0  # by the root's counters
        self._seen_creates, self._seen_deletes = ahead, 0
        self.missed_creates = self.missed_deletes = 0

    @classmethod
    def of_new(cls, lock: Lock) -> "RootCounters":
        """Count from the creation of a root, unless the lock does not show all its children."""
        shown = count_direct((*(member.node for member in lock.members), *lock.foreign))
        is_complete = lock.stat is not None and lock.stat.num_children <= shown
        return cls(Stat(0, 0, 0)) if is_complete else cls(None)

    def after(self, stat: Stat | None, created: int, deleted: int) -> tuple[int, int]:
        """Add a look; return how many more creations and deletions were missed."""
        self._seen_creates += created
        self._seen_deletes += deleted
        if stat is not None and stat != self._stat:
            self._read(stat)
        creates = max(0, self.creates - self._seen_creates - self.missed_creates)
        deletes = max(0, self.deletes - self._seen_deletes - self.missed_deletes)
        self.missed_creates += creates
        self.missed_deletes += deletes
        return creates, deletes

    @property
    def coverage(self) -> float | None:
        """The share of all creations that was seen; None while the counters show none."""
        if self.creates <= 0:
            return None
        return max(0.0, 1 - self.missed_creates / self.creates)

    def _read(self, stat: Stat) -> None:
        before, self._stat = self._stat, stat
        following, earlier = stat.next_sequence, before.next_sequence if before else None
        if before is None or following is None or earlier is None:
            return
        if 0 < before.czxid < stat.czxid:  # another node at this path: its counters start over
            return
        creates = (following - earlier) % _WRAP
        if creates >= _PLAUSIBLE:  # the counter decreased: an older reading, or another node
            self._stat = before
            return
        self.creates += creates
        self.deletes += creates - (stat.num_children - before.num_children)
