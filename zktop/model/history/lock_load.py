"""The last minute of one lock, second by second: queue length, arrivals, releases, time held."""

from array import array
from typing import Final

from zktop.model.facts import MINUTE_MS, SECOND_MS, Millis

WINDOW_S: Final = MINUTE_MS // SECOND_MS  # of the history of queue lengths
_ROWS: Final = 4
MAX_CELL: Final = 0xFFFF  # the largest value of a cell
_QUEUE, _ARRIVALS, _RELEASES, _BUSY = (row * WINDOW_S for row in range(_ROWS))


class MinuteStats:
    """The last minute of a lock, computed on demand: most versions of a lock are never shown."""

    __slots__ = ("_at", "_cells", "_first", "_window")

    def __init__(self, cells: "array[int]", since: Millis, at: Millis) -> None:
        """Take the cells of a ring that has counted from `since` until `at`."""
        self._cells, self._at = cells, at // SECOND_MS
        self._first = max(since // SECOND_MS, self._at - WINDOW_S + 1)
        self._window = min(at - since, at - self._first * SECOND_MS)

    @property
    def queue(self) -> tuple[int | None, ...]:
        """The longest queue of each second, oldest first; None before the first look."""
        begin, end = _QUEUE + (self._at + 1) % WINDOW_S, _QUEUE + WINDOW_S
        lengths = self._cells[begin:end] + self._cells[_QUEUE:begin]
        return (*(None,) * self._unknown, *lengths[self._unknown :])

    @property
    def requests_per_s(self) -> float | None:
        return self._rate(_ARRIVALS)

    @property
    def releases_per_s(self) -> float | None:
        return self._rate(_RELEASES)

    @property
    def busy(self) -> float | None:
        """The share of the time in which the lock was held; None before the end of a minute."""
        return None if self._unknown else self._rate(_BUSY, per=1)

    @property
    def _unknown(self) -> int:
        """The number of seconds before the first look."""
        return WINDOW_S - (self._at - self._first + 1)

    def _rate(self, row: int, per: int = SECOND_MS) -> float | None:
        """The rate of a row; its cells are 0 for the seconds before the first look."""
        if self._window < SECOND_MS:
            return None
        return per * sum(self._cells[row : row + WINDOW_S]) / self._window


NO_MINUTE: Final = MinuteStats(array("H", bytes(2 * _ROWS * WINDOW_S)), since=SECOND_MS, at=0)


class MinuteRing:
    """A ring of sixty columns, one per second."""

    __slots__ = ("_at", "_cells", "_from", "_held", "_waiting")

    def __init__(self, since: Millis, *, waiting: int, held: bool) -> None:
        """Start with this number of waiters."""
        self._cells = array("H", bytes(2 * _ROWS * WINDOW_S))
        self._at = self._from = since
        self._held, self._waiting = held, waiting
        self._open(since // SECOND_MS, since // SECOND_MS)

    def advance(self, now_ms: Millis) -> None:
        """Advance to this time; nothing has changed since the last call."""
        if now_ms <= self._at:
            return
        start = max(self._at, now_ms - MINUTE_MS)
        first, last = start // SECOND_MS, now_ms // SECOND_MS
        if self._held:
            self._add(_BUSY, first % WINDOW_S, min(now_ms, (first + 1) * SECOND_MS) - start)
        if first < last:
            self._open(first + 1, last)
            if self._held:
                self._fill(_BUSY, first + 1, last, SECOND_MS)
                self._cells[_BUSY + last % WINDOW_S] = now_ms - last * SECOND_MS
        self._at = now_ms

    def change(self, *, waiting: int, held: bool, arrivals: int = 0, releases: int = 0) -> None:
        """Set the present state, and count arrivals and releases."""
        column = self._at // SECOND_MS % WINDOW_S
        self._waiting, self._held = waiting, held
        longest = max(waiting, self._cells[_QUEUE + column])
        self._cells[_QUEUE + column] = min(MAX_CELL, longest)
        self._add(_ARRIVALS, column, arrivals)
        self._add(_RELEASES, column, releases)

    def stats(self, now_ms: Millis) -> MinuteStats:
        """The minute up to this time."""
        self.advance(now_ms)
        return MinuteStats(self._cells[:], self._from, self._at)

    def _add(self, row: int, column: int, amount: int) -> None:
        self._cells[row + column] = min(MAX_CELL, self._cells[row + column] + amount)

    def _open(self, first: int, last: int) -> None:
        """Begin the columns from one second to another, inclusive."""
        for row in (_ARRIVALS, _RELEASES, _BUSY):
            self._fill(row, first, last, 0)
        self._fill(_QUEUE, first, last, min(MAX_CELL, self._waiting))

    def _fill(self, row: int, first: int, last: int, value: int) -> None:
        """Set the cells of one row from one second to another, inclusive."""
        for second in range(first, last + 1):
            self._cells[row + second % WINDOW_S] = value
