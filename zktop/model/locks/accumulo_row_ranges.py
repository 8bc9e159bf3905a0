"""The queue of Accumulo's table locks: readers and writers of row ranges that may overlap.

Two members conflict if their rows overlap and one of them writes. Comparing every pair would be
slow. So a writer holds if its range does not meet the union of all earlier ranges, and a reader if
its range does not meet the union of the earlier writers' ranges. Bisection answers both. The
search for blockers ends at a writer of all the wanted rows.
"""

import base64
import binascii
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

from zktop.model.layouts.numbered_nodes_of_servers import ACCUMULO
from zktop.model.locks.lock import Member, QueueDefaults, Target
from zktop.model.locks.queue_oddities import QueueOddities

TableRow = tuple[int, bytes]  # before all rows, a row, after all rows
RowRange = tuple[TableRow, TableRow]  # the first row is excluded, the last one included

_FIRST: Final[TableRow] = (-1, b"")
_LAST: Final[TableRow] = (1, b"")
_RANGE_IN_NAME: Final = r".*~(N|P[A-Za-z0-9_=-]*)~(N|P[A-Za-z0-9_=-]*)#\d+"


class RowRangeQueue(QueueDefaults):
    """A queue in which two members conflict if their rows overlap and one of them writes."""

    __slots__ = ("_held", "_oddities", "_places", "_ranges", "holders", "members")

    def __init__(self, members: Sequence[Member], oddities: QueueOddities) -> None:
        self.members = tuple(members)
        self._oddities = oddities
        self._places = {member.node: place for place, member in enumerate(self.members)}
        self._ranges = {member.node: range_of(member.node) for member in members}
        self.holders = tuple(self._find_holders())
        self._held = frozenset(member.node for member in self.holders)

    @property
    def waiters(self) -> Sequence[Member]:
        return tuple(member for member in self.members if member.node not in self._held)

    @property
    def warnings(self) -> Sequence[str]:
        """The ids of warnings. Several holders are normal here."""
        return self._oddities.warnings(ACCUMULO[-1], "first-n", self.members, self.holders)

    def holds(self, member: Member) -> bool:
        """Return whether no member before it conflicts with it."""
        return member.node in self._held

    def blocked_by(self, member: Member) -> tuple[Member, ...]:
        """Return the nearest members before it that it conflicts with.

        A search can end at a writer of all its rows: earlier conflicts block that writer, too.
        """
        nearest = []
        for other in self._conflicts(member):
            nearest.append(other)
            if other.mode != "read" and self._covers(other, member):
                break
        return tuple(reversed(nearest))

    def members_before(self, member: Member) -> Sequence[Member]:
        """Return all members before it that it conflicts with."""
        return tuple(self._conflicts(member))[::-1]

    def expected(self, member: Member) -> tuple[Target, ...]:
        """Return no watches: these clients poll."""
        return ()

    def _conflicts(self, member: Member) -> Iterator[Member]:
        """Yield the members before it that it conflicts with, the nearest first."""
        if self.holds(member):
            return
        wanted = self._ranges[member.node]
        for other in reversed(self.members[: self._places[member.node]]):
            both_read = other.mode == member.mode == "read"
            if not both_read and _overlap(wanted, self._ranges[other.node]):
                yield other

    def _covers(self, other: Member, member: Member) -> bool:
        (start, end), (first, last) = self._ranges[other.node], self._ranges[member.node]
        return start <= first and last <= end

    def _find_holders(self) -> list[Member]:
        holders: list[Member] = []
        all_rows, writers = RowUnion(), RowUnion()
        for member in self.members:
            wanted = self._ranges[member.node]
            if not (writers if member.mode == "read" else all_rows).meets(wanted):
                holders.append(member)
            all_rows.add(wanted)
            if member.mode != "read":
                writers.add(wanted)
        return holders


class RowUnion:
    """Rows covered so far, as disjoint ranges in order."""

    def __init__(self) -> None:
        self._starts: list[TableRow] = []
        self._ends: list[TableRow] = []

    def meets(self, wanted: RowRange) -> bool:
        """Return whether any wanted row is covered."""
        start, end = wanted
        place = bisect_right(self._ends, start)
        return start < end and place < len(self._starts) and self._starts[place] < end

    def add(self, wanted: RowRange) -> None:
        start, end = wanted
        if start >= end:
            return
        first, last = bisect_left(self._ends, start), bisect_right(self._starts, end)
        if first < last:
            start, end = min(start, self._starts[first]), max(end, self._ends[last - 1])
        self._starts[first:last] = [start]
        self._ends[first:last] = [end]


def range_of(node: str) -> RowRange:
    """Read the range of rows in a name. A name without rows stands for the whole table.

    >>> range_of("flock#WRITE~FATE:USER:6f9e2c1a-0001-4a4a-8a8a-000000000001~N~PbQ==#0000000007")
    ((-1, b''), (0, b'm'))
    """
    match = re.fullmatch(_RANGE_IN_NAME, node)
    if match is None:
        return _FIRST, _LAST
    return _row(match[1], _FIRST), _row(match[2], _LAST)


def _row(text: str, unbounded: TableRow) -> TableRow:
    if text == "N":
        return unbounded
    try:
        return 0, base64.urlsafe_b64decode(text[1:] + "=" * (-len(text[1:]) % 4))
    except (binascii.Error, ValueError):
        return unbounded


def _overlap(first: RowRange, second: RowRange) -> bool:
    return max(first[0], second[0]) < min(first[1], second[1])
