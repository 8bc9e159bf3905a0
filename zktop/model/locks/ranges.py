"""Accumulo's table locks: readers and writers of row ranges, and only overlaps conflict.

To find the holders, the ranges so far are kept as a union of intervals, once for all and once for
writers. So twenty thousand disjoint locks cost a bisection each, not a look at every pair.
"""

import base64
import binascii
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Final

from zktop.model.layouts.infrastructure import ACCUMULO
from zktop.model.locks.lock import Member, Target
from zktop.model.locks.notes import Notes

Row = tuple[int, bytes]  # before all rows, a row, after all rows
Range = tuple[Row, Row]  # the first row is excluded, the last one included

_FIRST: Final[Row] = (-1, b"")
_LAST: Final[Row] = (1, b"")
_ROWS: Final = r".*~(N|P[A-Za-z0-9_=-]*)~(N|P[A-Za-z0-9_=-]*)#\d+"


class Ranges:
    """A queue in which only those conflict that want a row in common, and one of them to write."""

    __slots__ = ("_held", "_notes", "_ranges", "holders", "members")

    def __init__(self, members: Sequence[Member], notes: Notes) -> None:
        self.members = tuple(members)
        self._notes = notes
        self._ranges = {member.node: range_of(member.node) for member in members}
        self.holders = tuple(self._free())
        self._held = frozenset(member.node for member in self.holders)

    @property
    def waiters(self) -> Sequence[Member]:
        """Everybody but the holders, in queue order."""
        return tuple(member for member in self.members if member.node not in self._held)

    @property
    def warnings(self) -> Sequence[str]:
        """What is wrong; that holders exclude one another is for their ranges to say."""
        return self._notes.warnings(ACCUMULO[-1], "first-n", self.members, self.holders)

    def find(self, node: str) -> Member | None:
        """Give the member of this name."""
        return next((member for member in self.members if member.node == node), None)

    def holds(self, member: Member) -> bool:
        """Tell whether nobody before it wants the same rows."""
        return member.node in self._held

    def is_pending(self, member: Member) -> bool:
        """Tell nobody: there is nothing between held and waiting."""
        return False

    def is_exempt(self, member: Member) -> bool:
        """Tell nobody: there is no re-entrance."""
        return False

    def blocked_by(self, member: Member) -> tuple[Member, ...]:
        """Give everybody before it that it conflicts with."""
        if self.holds(member):
            return ()
        wanted = self._ranges[member.node]
        blockers = []
        for other in self.members:
            if other.node == member.node:
                break
            shares = other.mode == member.mode == "read"
            if not shares and _overlap(wanted, self._ranges[other.node]):
                blockers.append(other)
        return tuple(blockers)

    def before(self, member: Member) -> Sequence[Member]:
        """Give the same: nobody else is in its way."""
        return self.blocked_by(member)

    def count_before(self, member: Member) -> int:
        """Count them."""
        return len(self.blocked_by(member))

    def expected(self, member: Member) -> tuple[Target, ...]:
        """Give nothing: these clients poll."""
        return ()

    def _free(self) -> list[Member]:
        free: list[Member] = []
        everybody, writers = Union(), Union()
        for member in self.members:
            wanted = self._ranges[member.node]
            if not (writers if member.mode == "read" else everybody).meets(wanted):
                free.append(member)
            everybody.add(wanted)
            if member.mode != "read":
                writers.add(wanted)
        return free


class Union:
    """Rows covered so far, as disjoint ranges in order."""

    def __init__(self) -> None:
        self._starts: list[Row] = []
        self._ends: list[Row] = []

    def meets(self, wanted: Range) -> bool:
        """Tell whether any wanted row is covered."""
        start, end = wanted
        place = bisect_right(self._ends, start)
        return start < end and place < len(self._starts) and self._starts[place] < end

    def add(self, wanted: Range) -> None:
        """Cover these rows, too."""
        start, end = wanted
        if start >= end:
            return
        first, last = bisect_left(self._ends, start), bisect_right(self._starts, end)
        if first < last:
            start, end = min(start, self._starts[first]), max(end, self._ends[last - 1])
        self._starts[first:last] = [start]
        self._ends[first:last] = [end]


def range_of(node: str) -> Range:
    """Read the rows in a name; without any it is the whole table.

    >>> range_of("flock#WRITE~FATE:USER:6f9e2c1a-0001-4a4a-8a8a-000000000001~N~PbQ==#0000000007")
    ((-1, b''), (0, b'm'))
    """
    found = re.fullmatch(_ROWS, node)
    if found is None:
        return _FIRST, _LAST
    return _row(found[1], _FIRST), _row(found[2], _LAST)


def _row(text: str, unbounded: Row) -> Row:
    if text == "N":
        return unbounded
    try:
        return 0, base64.urlsafe_b64decode(text[1:] + "=" * (-len(text[1:]) % 4))
    except (binascii.Error, ValueError):
        return unbounded


def _overlap(one: Range, other: Range) -> bool:
    return max(one[0], other[0]) < min(one[1], other[1])
