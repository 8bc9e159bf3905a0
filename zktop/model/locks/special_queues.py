"""Queues with other rules: leases behind a gate, row ranges, single nodes, re-entrant reads.

`LeasePool`: clients of a semaphore queue at a gate for the right to take a lease. The first member
of the gate takes one and lets the next client in. Some create the lease before they know that it
is theirs: it is pending, and stands for their client's place at the gate.

`RowRangeQueue`: Accumulo's table locks. Readers and writers of row ranges conflict where they
overlap. A union of the ranges so far, one for all and one for writers, finds the holders with a
bisection each instead of comparing every pair.

`SingleNodeQueue`: nodes that are held as long as they exist.

`reentry`: reads that the holder of a write lock makes besides. Since Curator 5.5 (and in
menagerie) such a read takes the number of its own write node. Before that it had a later number of
its own, and only its session shows what it is; after the write was released, the next writer got
in beside it.
"""

import base64
import binascii
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal

import msgspec

from zktop.model.facts import Session
from zktop.model.layouts.infrastructure import ACCUMULO
from zktop.model.layouts.layout import WatchKind
from zktop.model.locks.lock import FOREIGN, LockQueue, Member, QueueDefaults, Target
from zktop.model.locks.warnings import QueueOddities
from zktop.model.text import Text

# What the first member of the gate does: it waits for a lease, it is about to take one, or it has
# a lease already and its node in the gate is only a left-over.
GateHead = Literal["waiting", "taking", "hidden"]


class LeasePool(QueueDefaults):
    """Leases, the pending one, and the gate. `watched` is the node that shows a free lease.

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
        gate: LockQueue,
        *,
        leases: int | None,
        watched: Target | None,
        pending: Member | None = None,
        head: GateHead = "waiting",
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
        """The pending lease, then the members of the gate."""
        queued = self.gate.members[1:] if self.hidden else self.gate.members
        return (self.pending, *queued) if self.pending else queued

    def find(self, node: str) -> Member | None:
        leases = (*self.holders, self.pending) if self.pending else self.holders
        return next((m for m in leases if m.node == node), None) or self.gate.find(node)

    def is_pending(self, member: Member) -> bool:
        """Return whether it is the pending lease, or the place of its client at the gate."""
        waiting = (self.pending, self.hidden)
        return any(other is not None and other.node == member.node for other in waiting)

    def blocked_by(self, member: Member) -> tuple[Member, ...]:
        """Return all leases for the first of the gate, and the gate's order for the others."""
        if self.holds(member):
            return ()
        if self.is_pending(member) or self.gate.holds(member):
            return self._permits if self._is_full() else ()
        return self.gate.blocked_by(member)

    def before(self, member: Member) -> Sequence[Member]:
        """Return the leases while none is free, and the members before it at the gate."""
        if self.holds(member):
            return ()
        leases = self._permits if self._is_full() else ()
        return leases if self.is_pending(member) else (*leases, *self.gate.before(member))

    def count_before(self, member: Member) -> int:
        if self.holds(member):
            return 0
        leases = len(self._permits) if self._is_full() else 0
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
        return not self._takes_first and self.gate.holds(member)

    @property
    def is_short(self) -> bool:
        """Whether members wait because of foreign children."""
        return bool(self.taken) and bool(self.waiters) and self._is_full()

    @property
    def _permits(self) -> tuple[Member, ...]:
        """The nodes that take a permit, foreign ones included."""
        return (*self.taken, *self.holders)

    def _is_full(self) -> bool:
        """Return whether a lease must be returned first; assumed if the number is unknown."""
        if self._watched is None:
            return False
        return self.leases is None or len(self._permits) >= self.leases


TableRow = tuple[int, bytes]  # before all rows, a row, after all rows
RowRange = tuple[TableRow, TableRow]  # the first row is excluded, the last one included

_FIRST: Final[TableRow] = (-1, b"")
_LAST: Final[TableRow] = (1, b"")
_ROWS: Final = r".*~(N|P[A-Za-z0-9_=-]*)~(N|P[A-Za-z0-9_=-]*)#\d+"


class RowRangeQueue(QueueDefaults):
    """A queue in which two members conflict if their rows overlap and one of them writes."""

    __slots__ = ("_held", "_oddities", "_ranges", "holders", "members")

    def __init__(self, members: Sequence[Member], oddities: QueueOddities) -> None:
        self.members = tuple(members)
        self._oddities = oddities
        self._ranges = {member.node: range_of(member.node) for member in members}
        self.holders = tuple(self._free())
        self._held = frozenset(member.node for member in self.holders)

    @property
    def waiters(self) -> Sequence[Member]:
        return tuple(member for member in self.members if member.node not in self._held)

    @property
    def warnings(self) -> Sequence[str]:
        """The ids of warnings; several holders are fine here."""
        return self._oddities.warnings(ACCUMULO[-1], "first-n", self.members, self.holders)

    def holds(self, member: Member) -> bool:
        """Return whether no member before it wants the same rows."""
        return member.node in self._held

    def blocked_by(self, member: Member) -> tuple[Member, ...]:
        """Return all members before it that it conflicts with."""
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

    def expected(self, member: Member) -> tuple[Target, ...]:
        """Return no watches: these clients poll."""
        return ()

    def _free(self) -> list[Member]:
        free: list[Member] = []
        all_rows, writers = RowUnion(), RowUnion()
        for member in self.members:
            wanted = self._ranges[member.node]
            if not (writers if member.mode == "read" else all_rows).meets(wanted):
                free.append(member)
            all_rows.add(wanted)
            if member.mode != "read":
                writers.add(wanted)
        return free


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
        """Cover these rows."""
        start, end = wanted
        if start >= end:
            return
        first, last = bisect_left(self._ends, start), bisect_right(self._starts, end)
        if first < last:
            start, end = min(start, self._starts[first]), max(end, self._ends[last - 1])
        self._starts[first:last] = [start]
        self._ends[first:last] = [end]


def range_of(node: str) -> RowRange:
    """Read the rows in a name; without any, the range is the whole table.

    >>> range_of("flock#WRITE~FATE:USER:6f9e2c1a-0001-4a4a-8a8a-000000000001~N~PbQ==#0000000007")
    ((-1, b''), (0, b'm'))
    """
    found = re.fullmatch(_ROWS, node)
    if found is None:
        return _FIRST, _LAST
    return _row(found[1], _FIRST), _row(found[2], _LAST)


def _row(text: str, unbounded: TableRow) -> TableRow:
    if text == "N":
        return unbounded
    try:
        return 0, base64.urlsafe_b64decode(text[1:] + "=" * (-len(text[1:]) % 4))
    except (binascii.Error, ValueError):
        return unbounded


def _overlap(one: RowRange, other: RowRange) -> bool:
    return max(one[0], other[0]) < min(one[1], other[1])


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


WatchLookup = Callable[[Session, Text], bool | None]


class Reentry(msgspec.Struct, frozen=True, gc=False):
    """Members that hold out of order, warnings, and whether a watch table could change that."""

    exempt: frozenset[Text] = frozenset()
    warnings: tuple[str, ...] = ()
    asks_watches: bool = False


NONE = Reentry()


def reentry(members: Sequence[Member], watching: WatchLookup) -> Reentry:
    """Find reads that the write lock of their own session covers."""
    writer = _holding_writer(members)
    if writer is None:
        return NONE
    twins = [m for m in _neighbours(members) if m.sequence == writer.sequence]
    inherited = {m.node for m in twins} | {writer.node} if len(twins) > 1 else set()
    later = [m for m in members if m.mode == "read" and m.sequence != writer.sequence]
    own = [m for m in later if m.owner and m.owner == writer.owner]
    reentrant = [m for m in own if not watching(m.owner, writer.node)]
    warnings = ["probable-reentrant-read"] if reentrant else []
    if _is_downgrade(members, writer, watching):
        warnings.append("possible-lost-downgrade")
    exempt = inherited | {member.node for member in reentrant}
    return Reentry(frozenset(exempt), tuple(warnings), bool(later))


def _holding_writer(members: Sequence[Member]) -> Member | None:
    """Find the writer at the front; a read that shares its number may come first."""
    front = next(iter(members), None)
    if front is None:
        return None
    same = (m for m in _neighbours(members) if m.sequence == front.sequence)
    return next((m for m in same if m.mode != "read"), None)


def _neighbours(members: Sequence[Member]) -> Iterator[Member]:
    front = members[0].sequence
    for member in members:
        if member.sequence != front:
            return
        yield member


def _is_downgrade(members: Sequence[Member], writer: Member, watching: WatchLookup) -> bool:
    """Return whether a read right behind the writer may be held since before the writer got in.

    Its client would watch the writer if it were waiting. Without watch tables it is possible.
    """
    after = next((m for m in members if m.sequence != writer.sequence), None)
    if after is None or after.mode != "read" or not after.owner or after.owner == writer.owner:
        return False
    return not watching(after.owner, writer.node)
