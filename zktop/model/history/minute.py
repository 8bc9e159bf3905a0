"""The last sixty seconds of one lock, a column a second."""

from array import array
from typing import Final

import msgspec

from zktop.model.facts import Millis
from zktop.model.history.past import SECONDS

SECOND_MS: Final = 1000
MINUTE_MS: Final = SECONDS * SECOND_MS
ROWS: Final = 4
MOST: Final = 0xFFFF  # what a cell can hold
_QUEUE, _ARRIVALS, _RELEASES, _BUSY = (row * SECONDS for row in range(ROWS))


class Picture(msgspec.Struct, frozen=True, gc=False):
    """What the last minute looked like; None where the lock was not looked at yet."""

    queue: tuple[int | None, ...]  # the longest queue of each second, oldest first
    requests_per_s: float | None
    releases_per_s: float | None
    busy: float | None  # which part of the minute the lock was held


class Minute:
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

    def picture(self, now_ms: Millis) -> Picture:
        """Show the minute up to now; nothing here changes but the time."""
        self.advance(now_ms)
        last = self._at // SECOND_MS
        first = max(self._from // SECOND_MS, last - SECONDS + 1)
        unknown: tuple[None, ...] = (None,) * (SECONDS - (last - first + 1))
        window = min(self._at - self._from, self._at - first * SECOND_MS)
        return Picture(
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
