"""The history of one lock, as it is handed out: frozen, and complete in itself.

What one look alone says of a lock: since when its holders hold it, at the least.

The last sixty seconds of one lock, a column a second.
"""

from array import array
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from zktop.model.facts import Millis, Stat
from zktop.model.history.change import everybody
from zktop.model.history.events import UNKNOWN_SINCE, Departure, Since
from zktop.model.history.statistics import NO_DURATIONS, Durations
from zktop.model.locks.lock import Lock, Member
from zktop.model.text import Text
from zktop.model.world.persistent_map import PersistentMap

if TYPE_CHECKING:
    from zktop.model.history.statistics import Attempts, Identity

SECONDS: Final = 60  # of which the longest queue of each is told


class Stay(msgspec.Struct, frozen=True, gc=False):
    """One place whose beginning, or whose grant, was seen."""

    queued: Since
    granted: Since | None = None


class FirstLook(msgspec.Struct, frozen=True, gc=False):
    """When a lock was first looked at, and since when whoever held it then has held it."""

    at: Millis
    held_since: Millis


class RootHistory(msgspec.Struct, frozen=True, gc=False):
    """What is known of the root's earlier lives."""

    generation: int = 0
    recreated_at: Millis | None = None
    reaped_at: Millis | None = None
    fell_at: tuple[Millis, int] | None = None


class LockHistory(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """What happened at one lock, up to one moment."""

    at: Millis = 0
    first_look: FirstLook | None = None
    changed_at: Millis | None = None  # when something last happened; None: not since we look
    stays: PersistentMap[Text, Stay] = PersistentMap()
    holds: Durations = NO_DURATIONS
    waits: Durations = NO_DURATIONS
    departures: tuple[Departure, ...] = ()  # the newest, oldest first
    attempts: "Mapping[Identity, Attempts]" = {}
    queue: tuple[int | None, ...] = (None,) * SECONDS  # the longest queue of each second
    requests_per_s: float | None = None
    releases_per_s: float | None = None
    busy: float | None = None  # which part of the last minute it was held
    blocked_ms: int = 0  # waiters x time, since the first look
    missed_creates: int = 0
    missed_deletes: int = 0
    coverage: float | None = None  # which part of the creations was seen
    generation: int = 0  # how often the root was found to be another node
    recreated_at: Millis | None = None
    reaped_at: Millis | None = None  # when the root vanished while it was empty
    fell_at: tuple[Millis, int] | None = None  # ... together with its members: when, how many

    def granted(self, node: Text) -> Since:
        """Tell since when a holder holds."""
        stay = self.stays.get(node)
        if stay is not None:
            return stay.granted or UNKNOWN_SINCE
        first = self.first_look
        return Since(first.held_since, "at-least") if first else UNKNOWN_SINCE

    def queued(self, member: Member) -> Since:
        """Tell since when somebody stands in the queue."""
        stay = self.stays.get(member.node)
        if stay is not None and stay.queued.at is not None:
            return stay.queued
        if self.first_look is None:
            return UNKNOWN_SINCE
        created = self.first_look.at if member.ctime is None else member.ctime
        return Since(min(created, self.first_look.at), "at-least")

    def since(self, member: Member, *, holds: bool) -> Since:
        """Tell since when a contender is in its state."""
        return self.granted(member.node) if holds else self.queued(member)

    @property
    def usual_hold(self) -> tuple[int, int] | None:
        """Median and 99th percentile of finished holds; None while too few were seen."""
        h50, h99 = self.holds.h50, self.holds.h99
        return None if h50 is None or h99 is None else (h50, h99)

    @property
    def queue_before(self) -> int | None:
        """How many waited a minute ago; None while that is not known."""
        return self.queue[0]


NO_HISTORY: Final = LockHistory()


def first_look(lock: Lock | None, now_ms: Millis) -> FirstLook:
    """Bound since when the present holders hold, from one look alone."""
    if lock is None or lock.stat is None:
        return FirstLook(now_ms, now_ms)
    members = everybody(lock)
    return first_bounds(lock.stat, members, arrivals(members), now_ms)


def arrivals(members: Sequence[Member]) -> list[int]:
    """Give the transactions that created them; 0 for who is not read."""
    return [stat.czxid if (stat := one.znode.stat) else 0 for one in members]


def first_bounds(
    root: Stat,
    members: Sequence[Member],
    born: list[int],
    now_ms: Millis,
) -> FirstLook:
    """Bound the same by all members and their arrivals.

    When nothing was deleted since the newest member came, the same ones have held since then.
    """
    latest = max(born) if born else 0
    newest = members[born.index(latest)].znode.stat if latest else None
    is_proof = latest == root.pzxid and are_direct(members)
    if newest is None or not is_proof or newest.ctime > now_ms:
        return FirstLook(now_ms, now_ms)
    return FirstLook(now_ms, newest.ctime)


def are_direct(members: Sequence[Member]) -> bool:
    """Tell whether the root's counters count all of these members, at the speed of C."""
    nodes = [member.node for member in members]
    return "." not in nodes and "/" not in "".join(nodes)


SECOND_MS: Final = 1000
MINUTE_MS: Final = SECONDS * SECOND_MS
ROWS: Final = 4
MOST: Final = 0xFFFF  # what a cell can hold
_QUEUE, _ARRIVALS, _RELEASES, _BUSY = (row * SECONDS for row in range(ROWS))


class MinuteStats(msgspec.Struct, frozen=True, gc=False):
    """What the last minute looked like; None where the lock was not looked at yet."""

    queue: tuple[int | None, ...]  # the longest queue of each second, oldest first
    requests_per_s: float | None
    releases_per_s: float | None
    busy: float | None  # which part of the minute the lock was held


class MinuteRing:
    """A ring of columns that moves on with the time it is told."""

    __slots__ = ("_at", "_cells", "_from", "_held", "_waiting")

    def __init__(self, since: Millis, *, waiting: int, held: bool) -> None:
        """Begin at a moment when this many waited."""
        self._cells = array("H", bytes(2 * ROWS * SECONDS))
        self._at = self._from = since
        self._held, self._waiting = held, waiting
        self._open(since // SECOND_MS)

    def advance(self, now_ms: Millis) -> None:
        """Let the time pass in which nothing changed."""
        if now_ms <= self._at:
            return
        start = max(self._at, now_ms - MINUTE_MS)
        first, last = start // SECOND_MS, now_ms // SECOND_MS
        if self._held:
            self._add(_BUSY, first % SECONDS, min(now_ms, (first + 1) * SECOND_MS) - start)
        for second in range(first + 1, last + 1):
            self._open(second)
            if self._held:
                self._cells[_BUSY + second % SECONDS] = min(SECOND_MS, now_ms - second * SECOND_MS)
        self._at = now_ms

    def change(self, *, waiting: int, held: bool, arrivals: int = 0, releases: int = 0) -> None:
        """Take note of what is different from now on."""
        column = self._at // SECOND_MS % SECONDS
        self._waiting, self._held = waiting, held
        longest = max(waiting, self._cells[_QUEUE + column])
        self._cells[_QUEUE + column] = min(MOST, longest)
        self._add(_ARRIVALS, column, arrivals)
        self._add(_RELEASES, column, releases)

    def picture(self, now_ms: Millis) -> MinuteStats:
        """Show the minute up to now; nothing here changes but the time."""
        self.advance(now_ms)
        last = self._at // SECOND_MS
        first = max(self._from // SECOND_MS, last - SECONDS + 1)
        unknown: tuple[None, ...] = (None,) * (SECONDS - (last - first + 1))
        window = min(self._at - self._from, self._at - first * SECOND_MS)
        return MinuteStats(
            (*unknown, *self._row(_QUEUE, first, last)),
            self._rate(_ARRIVALS, first, last, window),
            self._rate(_RELEASES, first, last, window),
            self._rate(_BUSY, first, last, window, per=1) if not unknown else None,
        )

    def _rate(
        self, row: int, first: int, last: int, window: int, per: int = SECOND_MS
    ) -> float | None:
        return per * sum(self._row(row, first, last)) / window if window >= SECOND_MS else None

    def _row(self, row: int, first: int, last: int) -> "array[int]":
        """Give the cells of one row from one second to another, that included."""
        begin, end = row + first % SECONDS, row + last % SECONDS + 1
        if begin < end:
            return self._cells[begin:end]
        return self._cells[begin : row + SECONDS] + self._cells[row:end]

    def _add(self, row: int, column: int, amount: int) -> None:
        self._cells[row + column] = min(MOST, self._cells[row + column] + amount)

    def _open(self, second: int) -> None:
        column = second % SECONDS
        for row in (_ARRIVALS, _RELEASES, _BUSY):
            self._cells[row + column] = 0
        self._cells[_QUEUE + column] = min(MOST, self._waiting)
