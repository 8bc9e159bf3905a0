"""The past of one run: the newest frames in memory, older ones packed, and deadlocks.

Neighbouring reports share almost everything, so the weight of a stored frame is its new data only.
When the frames take too much memory, the oldest are packed: the archive keeps their facts, one
moment per second, and their reports are rebuilt on demand. Without changes, a frame is stored
every ten seconds, so a quiet hour takes little memory.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, takewhile
from operator import itemgetter
from typing import Final

import msgspec
from msgspec.structs import replace

from zktop.model.deadlock_log import EndedDeadlock
from zktop.model.facts import Millis
from zktop.model.history.events import Event
from zktop.model.report import LockRecord, Report
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock
from zktop.model.world.world import World
from zktop.ui.interfaces import Frame
from zktop.ui.past.archive import (
    STEP_MS,
    Archive,
    Block,
    PackedStep,
    Packer,
    StoredFrame,
    UnpackedReport,
)
from zktop.ui.past.memory_limits import TapeLimits, new_bytes
from zktop.ui.past.tracks import Tracks

QUIET_MS: Final = 10_000  # a frame without changes is stored after this time
READ_LATE_MS: Final = 10_000  # an event may become known this long after it happened
ENDED_DEADLOCKS: Final = 50
MAX_LAST_REPORTS: Final = 10  # for ended deadlocks; each may take 10 MB if nothing else keeps it
SHARE_AFTER_PACKING: Final = 0.75  # how much of the limit is still in use then


class DeadlockRecord(msgspec.Struct, frozen=True):
    """A deadlock as it was when it appeared or was proven, and as it is now."""

    deadlock: Deadlock
    recorded_at: Millis
    verdict: Deadlock  # as it was last judged
    last: Report | None  # the last one with it; None: MAX_LAST_REPORTS others ended since
    over_at: Millis | None = None
    ending: EndedDeadlock | None = None  # None if zktop did not see it end

    def is_over_at(self, moment: Millis) -> bool:
        return self.over_at is not None and self.over_at <= moment


class Tape:
    """Frames of one run, oldest first, with its events and deadlocks."""

    def __init__(self, limits: TapeLimits | None = None) -> None:
        self._limits = limits or TapeLimits()
        self.deadlocks: dict[str, DeadlockRecord] = {}  # keys: their ids; latest recorded last
        self.last: Frame | None = None  # the newest frame, stored or not
        self.changed_at: Millis = 0  # the time of the newest frame with anything new
        self.first_alarm: Millis | None = None  # when the first alarm of this run began
        self.archive = Archive(self._limits.packed_bytes)
        self.packer = Packer()
        self.tracks = Tracks()
        self._stored: list[StoredFrame] = []
        self._weight_bytes = 0
        self._unpacked: UnpackedReport | None = None  # the last report rebuilt from the archive

    def __len__(self) -> int:
        return len(self._stored)

    def __getitem__(self, index: int) -> Frame:
        return self._stored[index].frame

    @property
    def begin(self) -> Millis | None:
        """The moment of the oldest frame, packed or not."""
        return self.in_memory_from if self.archive.begin is None else self.archive.begin

    @property
    def end(self) -> Millis | None:
        """The moment of the newest frame."""
        return self.last.at if self.last else None

    @property
    def in_memory_from(self) -> Millis | None:
        """The moment of the oldest frame that is not packed."""
        return self._stored[0].at if self._stored else None

    # Looking back

    def frames(self, begin: Millis = 0) -> Iterator[Frame]:
        """Yield the frame shown at this moment and all later ones that are not packed."""
        shown = None
        for stored in self.stored(max(0, self.index_at(begin))):
            shown = stored.frame
            yield shown
        if self.last is not None and self.last is not shown:
            yield self.last

    def stored(self, first: int = 0) -> Iterator[StoredFrame]:
        """Yield the stored frames, starting at this index."""
        return islice(self._stored, first, None)

    def index_at(self, moment: Millis) -> int:
        """Return the index of the newest stored frame not after this moment; -1 if none is."""
        return bisect_right(self._stored, moment, key=lambda stored: stored.at) - 1

    def is_packed(self, moment: Millis) -> bool:
        """True if the report of this moment must be rebuilt from the archive."""
        return self._is_older(moment) and not (self._unpacked and self._unpacked.shows(moment))

    def _is_older(self, moment: Millis) -> bool:
        """True if a moment is older than the frames, and there is an archive."""
        first = self.in_memory_from
        return self.archive.begin is not None and first is not None and moment < first

    def put_unpacked(self, report: UnpackedReport, limit: Millis | None) -> None:
        """Keep a report that was rebuilt from the archive.

        `limit` is `in_memory_from` as it was when the rebuilding began.
        """
        self._unpacked = report._replace(until=limit if report.until is None else report.until)

    def frame_at(self, moment: Millis) -> Frame | None:
        """Return the frame shown at this moment. Before the first frame, that is the first.

        None if that frame is packed.
        """
        if self.last is not None and moment >= self.last.at:
            return self.last
        if self.is_packed(moment):
            return None
        if self._unpacked and self._unpacked.shows(moment):
            return self._unpacked.frame
        return self._stored[max(0, self.index_at(moment))].frame if self._stored else None

    def frame_before(self, frame: Frame) -> Frame | None:
        """Return the frame that precedes the one on display."""
        if self._unpacked and frame is self._unpacked.frame:
            return self._unpacked.before
        index = self.index_at(frame.at) - 1
        return self._stored[index].frame if index >= 0 else None

    def events_until(self, moment: Millis) -> Iterator[Event]:
        """Yield the events up to a moment, newest first, including those read shortly after it."""
        end = moment + READ_LATE_MS
        indexes = range(self.index_at(end + STEP_MS), -1, -1)
        stored = (reversed(self._stored[index].frame.events) for index in indexes)
        both = chain(chain.from_iterable(stored), self.archive.events_until(end))
        return (event for event in both if event.at <= moment)

    def change_after(self, moment: Millis) -> Millis | None:
        """Return the time of the first change after this moment."""
        return next((later.at for later in self._after(moment) if later.has_change), None)

    def change_before(self, moment: Millis) -> Millis | None:
        """Return the time of the last change before this moment, or else of the first frame."""
        before = (earlier.at for earlier in self._before(moment) if earlier.has_change)
        first = self.begin if self.begin is not None and self.begin < moment else None
        return next(before, first)

    def alarm_after(self, moment: Millis) -> Millis | None:
        """Return when the first deadlock or critical finding after this moment began."""
        return next((later.at for later in self._after(moment) if later.alarms), None)

    def _after(self, moment: Millis) -> Iterator[StoredFrame | PackedStep]:
        yield from self.archive.after(moment)
        yield from self.stored(self.index_at(moment) + 1)

    def _before(self, moment: Millis) -> Iterator[StoredFrame | PackedStep]:
        for index in range(self.index_at(moment - 1), -1, -1):
            yield self._stored[index]
        yield from self.archive.before(moment)

    # Frames may be packed before the iterator is read, so those in memory are collected first.

    def worlds(self, begin: Millis, end: Millis) -> Iterator[tuple[World, Millis]]:
        """Return the worlds of a span of time; another thread may read the iterator."""
        in_memory = [(frame.report.world, frame.at) for frame in self.frames(begin)]
        stored = takewhile(lambda world_and_time: world_and_time[1] <= end, in_memory)
        if not self._is_older(begin):
            return stored
        return chain(self.archive.worlds(begin, min(end, in_memory[0][1] - 1)), stored)

    def reports(self, begin: Millis, end: Millis) -> Iterator[Report]:
        """Return the reports of a span of time; another thread may read the iterator."""
        in_memory = [frame.report for frame in self.frames(begin)]
        stored = takewhile(lambda report: report.now <= end, in_memory)
        if not self._is_older(begin):
            return stored
        packed_to = min(end, in_memory[0].now - 1)
        return chain(self.archive.reports(begin, packed_to, in_memory[0].settings), stored)

    # Recording

    def add(self, frame: Frame) -> None:
        before, now = self.last.report if self.last else None, frame.report
        self.last = frame
        changed = frozenset(now.records.changed_since(before.records)) if before else frozenset()
        self.tracks.add(before, frame, changed)
        self._record_deadlocks(now)
        alarms = _new_alarms(before, now)
        if alarms and self.first_alarm is None:
            self.first_alarm = frame.at
        is_new = bool(changed or frame.events) or _has_news(before, now)
        if is_new:
            self.changed_at = frame.at
        if is_new or frame.at - self._stored[-1].at >= QUIET_MS:
            last_stored = self._stored[-1].frame.report if self._stored else None
            weight = new_bytes(frame, changed, last_stored)
            has_change = bool(frame.events or alarms or _other_access(before, now, changed))
            self._stored.append(StoredFrame(frame, has_change, alarms, weight))
            self._weight_bytes += weight

    # Packing

    def surplus(self) -> list[StoredFrame]:
        """Return the oldest frames, in whole seconds, if all frames take too much memory."""
        over = self._weight_bytes - SHARE_AFTER_PACKING * self._limits.frames_bytes
        if self._weight_bytes <= self._limits.frames_bytes:
            return []
        count = 0
        while count < len(self._stored) - 1 and over > 0:
            over -= self._stored[count].weight_bytes
            count += 1
        while count and self._stored[count].second == self._stored[count - 1].second:
            count -= 1
        return self._stored[:count]

    def replace(self, surplus: list[StoredFrame], blocks: Sequence[Block]) -> None:
        """Replace the frames that were packed with these blocks."""
        self._stored = self._stored[len(surplus) :]
        self._weight_bytes -= sum(frame.weight_bytes for frame in surplus)
        if blocks:
            self.archive.add(blocks)
        if self.first_alarm is not None:
            self.first_alarm = self.alarm_after(0)  # packed, it has the time of its step
        self.tracks.forget_before(self.begin or 0)

    # Deadlocks

    def _record_deadlocks(self, report: Report) -> None:
        """Record each deadlock when it appears, returns or is proven, and which ones are over."""
        alive = {deadlock.id: deadlock for deadlock in report.deadlocks}
        for name, deadlock in alive.items():
            record = self.deadlocks.get(name)
            if (
                record is None
                or record.over_at is not None
                or deadlock.coexistence_proven > record.deadlock.coexistence_proven
            ):
                self.deadlocks.pop(name, None)  # now it is the newest one
                self.deadlocks[name] = DeadlockRecord(deadlock, report.now, deadlock, report)
            else:
                self.deadlocks[name] = replace(record, verdict=deadlock, last=report)
        for name, record in self.deadlocks.items():
            if name not in alive and record.over_at is None:
                self.deadlocks[name] = replace(record, over_at=report.now)
        for ending in report.over:
            known = self.deadlocks.get(ending.deadlock.id)
            if known is not None and known.over_at and ending.at >= known.recorded_at:
                self.deadlocks[known.deadlock.id] = replace(known, ending=ending)
        self._forget_oldest_endings()

    def _forget_oldest_endings(self) -> None:
        over = [
            (record.over_at, name)
            for name, record in self.deadlocks.items()
            if record.over_at is not None
        ]
        ended = [name for _, name in sorted(over, key=itemgetter(0))]
        for name in ended[:-MAX_LAST_REPORTS]:
            if self.deadlocks[name].last is not None:
                self.deadlocks[name] = replace(self.deadlocks[name], last=None)
        for name in ended[:-ENDED_DEADLOCKS]:
            del self.deadlocks[name]


def _new_alarms(before: Report | None, now: Report) -> tuple[str, ...]:
    """Return the ids of the alarms that the previous report does not have."""
    if before and before.findings is now.findings and before.deadlocks is now.deadlocks:
        return ()
    earlier = {alert.id for alert in before.critical} if before else ()
    return tuple(alert.id for alert in now.critical if alert.id not in earlier)


def _other_access(before: Report | None, now: Report, changed: Iterable[Text]) -> set[Text]:
    """Return the locks that can no longer be read, or can be read now. That is no event."""
    if before is None:
        return set()
    both = ((path, before.records.get(path), now.records.get(path)) for path in changed)
    return {path for path, old, new in both if _is_denied(old) != _is_denied(new)}


def _has_news(before: Report | None, now: Report) -> bool:
    """True if the deadlocks, the findings or the connection changed."""
    if before is None:
        return True
    return _verdicts(before) != _verdicts(now) or before.world.link is not now.world.link


def _is_denied(record: LockRecord | None) -> bool:
    return record is not None and record.lock.family.denied


def _verdicts(report: Report) -> list[str]:
    """Return the ids of all deadlocks and findings."""
    return [
        *(deadlock.id for deadlock in report.deadlocks),
        *(finding.id for finding in report.findings),
    ]
