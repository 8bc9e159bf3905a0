"""Leases behind a gate: semaphores whose clients queue for the right to take a lease.

Whoever is first at the gate takes a lease, and lets the next one in. Some create the lease node
before they know that it is theirs: that one is pending, and stands for its client's place at the
gate.

Accumulo's table locks: readers and writers of row ranges, and only overlaps conflict.

To find the holders, the ranges so far are kept as a union of intervals, once for all and once for
writers. So twenty thousand disjoint locks cost a bisection each, not a look at every pair.

Locks without a queue: each node is a lock of its own, and stands alone.

A write holder that reads, too: which reads are held although writers are before them.

Since Curator 5.5 (and in menagerie) such a read takes the number of its own write node. Before
that it had a later number of its own, and only its session gives it away; after the write was
released, the next writer got in beside the read.
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
from zktop.model.locks.lock import FOREIGN, LockQueue, Member, Target
from zktop.model.locks.warnings import QueueOddities
from zktop.model.text import Text

# What the first one at the gate does: it waits for a lease, or it is about to take one and see,
# or it has gone through and its node stands for something else.
GateHead = Literal["waiting", "taking", "hidden"]


class LeasePool:
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
        """The pending lease, then whoever stands at the gate."""
        queued = self.gate.members[1:] if self.hidden else self.gate.members
        return (self.pending, *queued) if self.pending else queued

    def find(self, node: str) -> Member | None:
        """Return the member of this name."""
        leases = (*self.holders, self.pending) if self.pending else self.holders
        return next((m for m in leases if m.node == node), None) or self.gate.find(node)

    def holds(self, member: Member) -> bool:
        """Return whether it is a lease, and taken."""
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
        """Return the leases while none is free, and who is ahead at the gate."""
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
        """Return the watches that this member's recipe keeps."""
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
        """Whether somebody waits because of foreign children."""
        return bool(self.taken) and bool(self.waiters) and self._is_full()

    @property
    def _permits(self) -> tuple[Member, ...]:
        """Whatever takes a permit."""
        return (*self.taken, *self.holders)

    def _is_full(self) -> bool:
        """Return whether a lease must come back first; nobody knows better without the number."""
        if self._watched is None:
            return False
        return self.leases is None or len(self._permits) >= self.leases


TableRow = tuple[int, bytes]  # before all rows, a row, after all rows
RowRange = tuple[TableRow, TableRow]  # the first row is excluded, the last one included

_FIRST: Final[TableRow] = (-1, b"")
_LAST: Final[TableRow] = (1, b"")
_ROWS: Final = r".*~(N|P[A-Za-z0-9_=-]*)~(N|P[A-Za-z0-9_=-]*)#\d+"


class RowRangeQueue:
    """A queue in which only those conflict that want a row in common, and one of them to write."""

    __slots__ = ("_held", "_oddities", "_ranges", "holders", "members")

    def __init__(self, members: Sequence[Member], oddities: QueueOddities) -> None:
        self.members = tuple(members)
        self._oddities = oddities
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
        return self._oddities.warnings(ACCUMULO[-1], "first-n", self.members, self.holders)

    def find(self, node: str) -> Member | None:
        """Return the member of this name."""
        return next((member for member in self.members if member.node == node), None)

    def holds(self, member: Member) -> bool:
        """Return whether nobody before it wants the same rows."""
        return member.node in self._held

    def is_pending(self, member: Member) -> bool:
        """Tell nobody: there is nothing between held and waiting."""
        return False

    def is_exempt(self, member: Member) -> bool:
        """Tell nobody: there is no re-entrance."""
        return False

    def blocked_by(self, member: Member) -> tuple[Member, ...]:
        """Return everybody before it that it conflicts with."""
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
        """Return the same: nobody else is in its way."""
        return self.blocked_by(member)

    def count_before(self, member: Member) -> int:
        """Count them."""
        return len(self.blocked_by(member))

    def expected(self, member: Member) -> tuple[Target, ...]:
        """Return nothing: these clients poll."""
        return ()

    def _free(self) -> list[Member]:
        free: list[Member] = []
        everybody, writers = RowUnion(), RowUnion()
        for member in self.members:
            wanted = self._ranges[member.node]
            if not (writers if member.mode == "read" else everybody).meets(wanted):
                free.append(member)
            everybody.add(wanted)
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
        """Cover these rows, too."""
        start, end = wanted
        if start >= end:
            return
        first, last = bisect_left(self._ends, start), bisect_right(self._starts, end)
        if first < last:
            start, end = min(start, self._starts[first]), max(end, self._ends[last - 1])
        self._starts[first:last] = [start]
        self._ends[first:last] = [end]


def range_of(node: str) -> RowRange:
    """Read the rows in a name; without any it is the whole table.

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


class SingleNodeQueue:
    """Nodes that hold as long as they are there, and those who stand by with nodes elsewhere."""

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
        """Holders first."""
        return self.holders + self.waiters

    def find(self, node: str) -> Member | None:
        """Return the member of this name."""
        return next((member for member in self.members if member.node == node), None)

    def holds(self, member: Member) -> bool:
        """Return whether it is there and held."""
        return any(holder.node == member.node for holder in self.holders)

    def is_pending(self, member: Member) -> bool:
        """Tell nobody: there is nothing between held and free."""
        return False

    def is_exempt(self, member: Member) -> bool:
        """Tell nobody: there is no order to be exempt from."""
        return False

    def blocked_by(self, member: Member) -> tuple[Member, ...]:
        """Return the holders: after them anybody may win."""
        return () if self.holds(member) else self.holders

    def before(self, member: Member) -> Sequence[Member]:
        """Return the same: nobody else is in its way."""
        return self.blocked_by(member)

    def count_before(self, member: Member) -> int:
        """Count them."""
        return len(self.blocked_by(member))

    def expected(self, member: Member) -> tuple[Target, ...]:
        """Return the holder's node as what a standby watches."""
        if self.holds(member):
            return ()
        return tuple(Target(holder.node, self._how) for holder in self.holders)


WatchLookup = Callable[[Session, Text], bool | None]


class Reentry(msgspec.Struct, frozen=True, gc=False):
    """Who holds out of order, what to say of it, and whether a watch table could say more."""

    exempt: frozenset[Text] = frozenset()
    warnings: tuple[str, ...] = ()
    asks: bool = False


NONE = Reentry()


def reentry(members: Sequence[Member], watching: WatchLookup) -> Reentry:
    """Look for reads that their own writer's lock covers."""
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
