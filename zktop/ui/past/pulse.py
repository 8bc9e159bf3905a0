"""The pulse of an ensemble, second by second: acquisitions, waiters, waits, sessions, own load."""

from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Sequence
from typing import Final, NamedTuple

from zktop.model.facts import SECOND_MS, Millis
from zktop.model.history.events import Event
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.interfaces import Frame

KEPT_S: Final = 4 * 3600
WAITS_S: Final = 60  # a percentile covers the waits that ended in the last minute
MAX_WAITS: Final = 5_000
MAX_WAITING_CHANGES: Final = 40_000
DROPPED_PARTS: Final = 4  # the oldest quarter of a full list is dropped


class PulseSecond(NamedTuple):
    """The figures of one second; an unknown figure is None."""

    second: int
    acquired: int = 0
    waiting: int | None = None  # at the end of the second
    wait_p99_ms: int | None = None
    sessions: int | None = None
    requests_per_s: float | None = None  # zktop's own
    is_lost: bool = False  # the connection was lost: nothing is known until the next second


class WaitingChange(NamedTuple):
    """How many clients wait from one moment on; None if that is unknown."""

    at: Millis
    waiting: int | None


class Pulse:
    """The figures of one run, second by second."""

    def __init__(self) -> None:
        self._seconds: list[PulseSecond] = []
        self._changes: list[WaitingChange] = []
        self._newest: Millis = 0
        self._waits: deque[tuple[Millis, int]] = deque()  # when each wait ended, and its length
        self._lengths: list[int] = []  # of these waits, in order
        self._report: Report | None = None
        self._waiting = 0

    def add(self, frame: Frame) -> None:
        """Count what happened up to this frame."""
        previous, report = self._report, frame.report
        self._report = report
        self._waiting += _more_waiters(previous, report)
        self._newest = max(self._newest, frame.at)
        was_lost = previous is not None and previous.is_lost
        if not (was_lost and report.is_lost):
            self._note_waiting(is_lost=report.is_lost)
        acquired = self._note_waits(frame.events)
        second = frame.at // SECOND_MS
        if self._seconds and self._seconds[-1].second >= second:
            same = self._seconds.pop()  # a second with several frames has one entry
            acquired, second = acquired + same.acquired, same.second
        self._seconds.append(
            PulseSecond(
                second,
                acquired,
                self._waiting,
                self._p99(frame.at),
                report.ensemble.session_count,
                report.cost.requests_per_s if report.cost is not None else None,
                report.is_lost,
            )
        )
        if len(self._seconds) > KEPT_S:
            del self._seconds[: KEPT_S // DROPPED_PARTS]
        if len(self._changes) > MAX_WAITING_CHANGES:
            del self._changes[: MAX_WAITING_CHANGES // DROPPED_PARTS]

    def until(self, moment: Millis, seconds: int) -> list[PulseSecond]:
        """Return the seconds up to a moment. One without a frame continues the previous one."""
        end = moment // SECOND_MS
        first = end - seconds + 1
        at = bisect_right(self._seconds, first - 1, key=lambda stored: stored.second)
        previous = self._seconds[at - 1] if at else None
        shown = []
        for second in range(first, end + 1):
            if at < len(self._seconds) and self._seconds[at].second == second:
                previous = self._seconds[at]
                at += 1
                shown.append(previous)
            else:
                shown.append(_quiet(previous, second))
        return shown

    def waiting(self, begin: Millis, step_ms: float, number: int) -> list[int | None]:
        """Return the largest number of waiters in each of `number` steps; None where unknown."""
        return most_waiting(self._changes, begin, step_ms, number, self._newest)

    def _note_waiting(self, *, is_lost: bool) -> None:
        if not self._changes or self._changes[-1].waiting != self._waiting:
            self._changes.append(WaitingChange(self._newest, self._waiting))
        if is_lost:
            self._changes.append(WaitingChange(self._newest + 1, None))

    def _note_waits(self, events: tuple[Event, ...]) -> int:
        acquired = [event for event in events if event.event == "acquired"]
        waits = [(event.at, event.waited.ms) for event in acquired if event.waited is not None]
        for at, ms in waits[-MAX_WAITS:]:
            self._waits.append((at, ms))
            insort(self._lengths, ms)
        return len(acquired)

    def _p99(self, now: Millis) -> int | None:
        waits, lengths, begin = self._waits, self._lengths, now - WAITS_S * SECOND_MS
        while waits and (len(waits) > MAX_WAITS or waits[0][0] < begin):
            del lengths[bisect_left(lengths, waits.popleft()[1])]
        return lengths[(len(lengths) * 99 - 1) // 100] if lengths else None


def most_waiting(
    all_changes: Sequence[WaitingChange],
    begin: Millis,
    step_ms: float,
    number: int,
    newest: Millis,
) -> list[int | None]:
    """Return the largest number of waiters in each of `number` steps; None where unknown."""
    at = bisect_right(all_changes, begin, key=lambda change: change.at)
    current = all_changes[at - 1].waiting if at else None
    largest: list[int | None] = []
    for step in range(number):
        first, end = begin + step * step_ms, begin + (step + 1) * step_ms
        if first > newest:
            return largest + [None] * (number - step)
        stop = bisect_left(all_changes, end, at, key=lambda change: change.at)
        changes = all_changes[at:stop]
        numbers = [change.waiting for change in changes]
        if not changes or changes[0].at > first:
            numbers.append(current)  # until the first change
        largest.append(max((size for size in numbers if size is not None), default=None))
        if changes:
            at, current = stop, changes[-1].waiting
    return largest


def _more_waiters(previous: Report | None, report: Report) -> int:
    """Return how many more clients wait than before. Only changed locks are recounted."""
    return sum(
        _waiters(report, path) - (_waiters(previous, path) if previous is not None else 0)
        for path in report.changed_since(previous)
    )


def _quiet(last: PulseSecond | None, second: int) -> PulseSecond:
    """Return a second without a frame: clients still wait, and old waits leave the percentile."""
    if last is None or last.is_lost:
        return PulseSecond(second)
    is_recent = second - last.second < WAITS_S
    p99 = last.wait_p99_ms if is_recent else None
    return last._replace(second=second, acquired=0, wait_p99_ms=p99)


def _waiters(report: Report, path: Text) -> int:
    """Return how many clients wait for a lock; the candidates of an election do not wait."""
    view = report.view(path)
    return 0 if view is None or view.lock.has_standbys else view.waiting
