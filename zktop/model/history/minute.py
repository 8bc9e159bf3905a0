"""The last sixty seconds of one lock, a column a second."""

from array import array
from typing import Final, NamedTuple

from zktop.model.facts import Millis

SECONDS: Final = 60
SECOND_MS: Final = 1000
MINUTE_MS: Final = SECONDS * SECOND_MS
ROWS: Final = 4
MOST: Final = 0xFFFF  # what a cell can hold
_QUEUE, _ARRIVALS, _RELEASES, _BUSY = (row * SECONDS for row in range(ROWS))


class Picture(NamedTuple):
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
        start = max(self._at, now_ms - MINUTE_MS)
        while start < now_ms:
            second = start // SECOND_MS
            end = min(now_ms, (second + 1) * SECOND_MS)
            if self._held:
                self._add(_BUSY, second % SECONDS, end - start)
            if end % SECOND_MS == 0:
                self._open(end // SECOND_MS)
            start = end
        self._at = max(self._at, now_ms)

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
        known = [second % SECONDS for second in range(first, last + 1)]
        unknown: tuple[None, ...] = (None,) * (SECONDS - len(known))
        queue = tuple(self._cells[_QUEUE + column] for column in known)
        window = min(self._at - self._from, self._at - first * SECOND_MS)
        return Picture(
            unknown + queue,
            self._rate(_ARRIVALS, known, window),
            self._rate(_RELEASES, known, window),
            self._rate(_BUSY, known, window, per=1) if not unknown else None,
        )

    def _rate(self, row: int, known: list[int], window: int, per: int = SECOND_MS) -> float | None:
        if window < SECOND_MS:
            return None
        return per * sum(self._cells[row + column] for column in known) / window

    def _add(self, row: int, column: int, amount: int) -> None:
        self._cells[row + column] = min(MOST, self._cells[row + column] + amount)

    def _open(self, second: int) -> None:
        column = second % SECONDS
        for row in (_ARRIVALS, _RELEASES, _BUSY):
            self._cells[row + column] = 0
        self._cells[_QUEUE + column] = min(MOST, self._waiting)
