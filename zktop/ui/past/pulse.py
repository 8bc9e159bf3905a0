"""The pulse of an ensemble, second by second: acquisitions, waiters, waits, sessions, own load."""

from collections import deque
from typing import Final, NamedTuple

from zktop.model.facts import Millis
from zktop.model.history.events import Event
from zktop.model.history.last_minute import SECOND_MS
from zktop.model.locks.lock import Lock
from zktop.model.report import LockRecord, Report
from zktop.model.text import Text
from zktop.model.world.persistent_map import PersistentMap
from zktop.ui.interfaces import Frame

KEPT_S: Final = 4 * 3600
WAITS_S: Final = 60  # a percentile covers the waits that ended in this time
MAX_WAITS: Final = 5_000


class PulseSecond(NamedTuple):
    """One second; None where something is unknown."""

    second: int
    acquired: int = 0
    waiting: int | None = None  # at its end
    wait_p99_ms: int | None = None
    sessions: int | None = None
    requests_per_s: float | None = None  # zktop's own


class Pulse:
    """The seconds of one run, oldest first."""

    def __init__(self) -> None:
        self._seconds: deque[PulseSecond] = deque(maxlen=KEPT_S)
        self._waits: deque[tuple[Millis, int]] = deque(
            maxlen=MAX_WAITS
        )  # when it ended, its length
        self._locks: PersistentMap[Text, LockRecord] = PersistentMap()
        self._waiting = 0

    def add(self, frame: Frame) -> None:
        """Count what happened up to this frame."""
        report = frame.report
        self._waiting += self._more_waiters(report)
        acquired = self._note_waits(frame.events)
        second = frame.at // SECOND_MS
        last = self._seconds[-1] if self._seconds else None
        if last is not None and last.second >= second:
            before = self._seconds.pop()
            acquired, second, p99 = acquired + before.acquired, before.second, before.wait_p99_ms
        else:
            p99 = self._p99(frame.at)
        self._seconds.append(
            PulseSecond(
                second,
                acquired,
                self._waiting,
                p99,
                session_count(report),
                report.cost.requests_per_s if report.cost is not None else None,
            )
        )

    def until(self, moment: Millis, seconds: int) -> list[PulseSecond]:
        """The last seconds before a moment; a second without a frame repeats the one before."""
        end = moment // SECOND_MS
        first = end - seconds + 1
        known: dict[int, PulseSecond] = {}
        last: PulseSecond | None = None
        for one in reversed(self._seconds):
            if one.second < first:
                last = one
                break
            known[one.second] = one
        shown = []
        for second in range(first, end + 1):
            quiet = last._replace(second=second, acquired=0) if last else PulseSecond(second)
            last = known.get(second) or (quiet if last else None)
            shown.append(last or quiet)
        return shown

    def _more_waiters(self, report: Report) -> int:
        """How many more clients wait than before; only changed locks are counted again."""
        before, self._locks = self._locks, report.parts
        return sum(
            _waiters(report.parts.get(path)) - _waiters(before.get(path))
            for path in report.parts.changed_since(before)
        )

    def _note_waits(self, events: tuple[Event, ...]) -> int:
        acquired = [one for one in events if one.event == "acquired"]
        self._waits.extend((one.at, one.waited.ms) for one in acquired if one.waited is not None)
        return len(acquired)

    def _p99(self, now: Millis) -> int | None:
        while self._waits and self._waits[0][0] < now - WAITS_S * SECOND_MS:
            self._waits.popleft()
        waits = sorted(ms for _, ms in self._waits)
        return waits[(len(waits) * 99 - 1) // 100] if waits else None


def _waiters(record: LockRecord | None) -> int:
    """How many clients wait for a lock; the candidates of an election do not wait."""
    lock: Lock | None = record.lock if record is not None else None
    if lock is None or lock.kind == "election":
        return 0
    return sum(len(queue.waiters) for queue in lock.queues)


def session_count(report: Report) -> int | None:
    """How many sessions the servers list, without zktop's own; None if no server lists any."""
    ensemble = report.ensemble
    if ensemble.visibility.sessions == "none":
        return None
    there = sum(len(one.connections or ()) for one in ensemble.tables)
    return there - any(ensemble.own in (one.connections or ()) for one in ensemble.tables)
