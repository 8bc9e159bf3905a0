"""What the root's own counters prove about children that nobody saw.

The root counts every creation and its children, so both numbers of what happened between two
readings are exact. They are read with a listing, while members may be heard of one by one before
it; whatever was seen ahead of the counters is therefore kept in the balance until they catch up.
"""

from typing import Final

from zktop.model.facts import Stat

_WRAP: Final = 1 << 32
_PLAUSIBLE: Final = 1 << 31


class Counters:
    """A running balance: told by the root, seen by us, missed."""

    __slots__ = ("_stat", "creates", "deletes", "missed_creates", "missed_deletes", "seen")

    def __init__(self, stat: Stat | None, ahead: int = 0) -> None:
        """Begin with a reading, and how many creations after it were seen already."""
        self._stat = stat
        self.creates = self.deletes = 0  # told by the root
        self.seen = [ahead, 0]
        self.missed_creates = self.missed_deletes = 0

    def after(self, stat: Stat | None, created: int, deleted: int) -> tuple[int, int]:
        """Take note of a look; give how many more creations and deletions were missed."""
        self.seen[0] += created
        self.seen[1] += deleted
        if stat is not None and stat != self._stat:
            self._read(stat)
        creates = max(0, self.creates - self.seen[0] - self.missed_creates)
        deletes = max(0, self.deletes - self.seen[1] - self.missed_deletes)
        self.missed_creates += creates
        self.missed_deletes += deletes
        return creates, deletes

    @property
    def coverage(self) -> float | None:
        """Which part of all creations was seen; None while the root told of none."""
        known = self.creates
        return None if known <= 0 else max(0.0, 1 - self.missed_creates / known)

    def _read(self, stat: Stat) -> None:
        before, self._stat = self._stat, stat
        following, earlier = stat.next_sequence, before.next_sequence if before else None
        if before is None or following is None or earlier is None:
            return
        creates = (following - earlier) % _WRAP
        if creates >= _PLAUSIBLE:  # the counter went down: an older reading, or another node
            self._stat = before
            return
        self.creates += creates
        self.deletes += creates - (stat.num_children - before.num_children)
