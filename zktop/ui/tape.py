"""The frames that came, as far back as memory is allowed to reach.

Frames share almost everything with their neighbours, so a frame costs what changed in it. The tape
therefore counts changed locks besides frames. When there are too many, a tape of a live run
forgets its oldest frames; a tape of a recording keeps its whole length, and forgets every other
frame in which nothing began to be wrong. What happened to nothing is not kept: a quiet hour is a
few frames long.
"""

from collections import deque
from collections.abc import Iterator, Sized
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from zktop.model.facts import Millis
from zktop.model.text import Text
from zktop.ui.ports import Frame

if TYPE_CHECKING:  # the first frame has no report
    from zktop.model.history.event import Event
    from zktop.model.report import Report
    from zktop.model.waits.deadlock import Deadlock
    from zktop.model.world import Tables

CHANGES_KEPT = 20_000
FRAMES_KEPT = 3_000
REPLAY_CHANGES, REPLAY_FRAMES = 100_000, 12_000
QUIET_MS = 10_000  # a frame like the one before it is kept after so long
EVENTS_KEPT = 5_000
CASES_KEPT = 50
ROWS = 25  # of a server's tables take as much room as one changed lock


class Case(msgspec.Struct, frozen=True):
    """A deadlock from its confirmation on: the picture of then, and when it was over."""

    deadlock: "Deadlock"  # as it was confirmed
    frame: Frame
    over_at: Millis | None = None


class Kept(NamedTuple):
    """A frame, and what is different in it from the one before it."""

    frame: Frame
    changed: frozenset[Text]  # the paths of locks
    alarms: tuple[str, ...] = ()  # what is newly wrong and bad, by id
    weight: int = 1
    tables: int = 0  # the room that new tables of the servers take


class Limits(NamedTuple):
    """How much is kept, and what happens when that is too much."""

    changes: int = CHANGES_KEPT
    frames: int = FRAMES_KEPT
    thins: bool = False  # keep the whole length, with less detail


REPLAY = Limits(REPLAY_CHANGES, REPLAY_FRAMES, thins=True)


class Tape:
    """All that came, newest last."""

    def __init__(self, limits: Limits | None = None) -> None:
        """Begin with nothing."""
        self.events: deque[Event] = deque(maxlen=EVENTS_KEPT)
        self.told = 0  # how many events there ever were
        self.cases: dict[str, Case] = {}
        self.dropped = 0  # how many frames were kept once, and are not any more
        self.added = 0  # how many were ever kept
        self.is_thinned = False
        self._limits = limits or Limits()
        self._kept: deque[Kept] | list[Kept] = [] if self._limits.thins else deque()
        self._changes = 0
        self._last: Frame | None = None

    def __len__(self) -> int:
        """Count the frames."""
        return len(self._kept)

    def __getitem__(self, index: int) -> Frame:
        """Give the frame at this place."""
        return self._kept[index].frame

    @property
    def last(self) -> Frame | None:
        """The newest frame, whether it is kept or not."""
        return self._last

    @property
    def begin(self) -> Millis | None:
        """When the oldest frame was made."""
        return self._kept[0].frame.at if self._kept else None

    @property
    def end(self) -> Millis | None:
        """When the newest frame was made."""
        return self._last.at if self._last else None

    def frames(self, begin: Millis = 0) -> Iterator[Frame]:
        """Give the kept frames from the one that was on at this moment, oldest first."""
        return (one.frame for one in self.kept(max(0, self.index_at(begin))))

    def kept(self, first: int = 0) -> Iterator[Kept]:
        """Give the kept frames from this one on, each with what changed in it."""
        return islice(self._kept, first, None)

    def index_at(self, moment: Millis) -> int:
        """Find the newest kept frame that is not after this moment; -1 when all are."""
        low, high = 0, len(self._kept)
        while low < high:
            middle = (low + high) // 2
            if self._kept[middle].frame.at <= moment:
                low = middle + 1
            else:
                high = middle
        return low - 1

    def frame_at(self, moment: Millis) -> Frame | None:
        """Give the frame that was on at this moment; the first one when none was on yet."""
        last = self._last
        if last is not None and moment >= last.at:
            return last
        return self._kept[max(0, self.index_at(moment))].frame if self._kept else None

    def change_after(self, moment: Millis) -> Millis | None:
        """Give the time of the first change after this moment."""
        later = self.kept(self.index_at(moment) + 1)
        return next((one.frame.at for one in later if one.changed or one.alarms), None)

    def change_before(self, moment: Millis) -> Millis | None:
        """Give the time of the last change before this moment."""
        for index in range(self.index_at(moment - 1), -1, -1):
            one = self._kept[index]
            if one.changed or one.alarms or not index:
                return one.frame.at
        return None

    def alarm_after(self, moment: Millis) -> Millis | None:
        """Give the first time after this moment at which something began to be wrong."""
        later = self.kept(self.index_at(moment) + 1)
        return next((one.frame.at for one in later if one.alarms), None)

    def add(self, frame: Frame) -> None:
        """Take the next frame."""
        self.events.extend(frame.events)
        self.told += len(frame.events)
        self._file(frame)
        one = self._compared(frame)
        kept = self._kept[-1].frame if self._kept else None
        if one.weight or kept is None or frame.at - kept.at >= QUIET_MS:
            one = one._replace(tables=_rows(frame, kept) // ROWS)
            self._kept.append(one)
            self._changes += one.weight + one.tables
            self.added += 1
        self._last = frame
        while len(self._kept) > self._limits.frames or self._changes > self._limits.changes:
            if not self._shortened():
                break

    def _compared(self, frame: Frame) -> Kept:
        """Tell what is different from the newest frame."""
        if self._last is None:
            return Kept(frame, frozenset(), tuple(_bad(frame.report)), 1)
        before, now = self._last.report, frame.report
        changed = frozenset(now.parts.changed_since(before.parts))
        bad = set(_bad(before))
        alarms = tuple(one for one in _bad(now) if one not in bad)
        has_news = _verdicts(before) != _verdicts(now) or before.world.link is not now.world.link
        return Kept(frame, changed, alarms, len(changed) + has_news)

    def _shortened(self) -> bool:
        """Forget some frames; False when there is nothing left that may be forgotten."""
        before = len(self._kept)
        if self._limits.thins:
            self._kept = _thinned(list(self._kept))
            self._changes = sum(one.weight + one.tables for one in self._kept)
            self.is_thinned = True
        elif isinstance(self._kept, deque) and before > 1:
            oldest = self._kept.popleft()
            self._changes -= oldest.weight + oldest.tables
        self.dropped += before - len(self._kept)
        return len(self._kept) < before

    def _file(self, frame: Frame) -> None:
        """Keep the picture of each deadlock as it was when it was confirmed."""
        alive = {deadlock.id: deadlock for deadlock in frame.report.deadlocks}
        for name, deadlock in alive.items():
            case = self.cases.get(name)
            if (
                case is None
                or case.over_at is not None
                or (deadlock.coexistence_proven > case.deadlock.coexistence_proven)
            ):
                self.cases[name] = Case(deadlock, frame)
        for name, case in self.cases.items():
            if name not in alive and case.over_at is None:
                self.cases[name] = msgspec.structs.replace(case, over_at=frame.at)
        for name in [name for name, case in self.cases.items() if case.over_at][:-CASES_KEPT]:
            del self.cases[name]


def _thinned(kept: list[Kept]) -> list[Kept]:
    """Leave out every other frame; what happened in it is told by the one after it."""
    left: list[Kept] = []
    waiting: Kept | None = None
    for number, one in enumerate(kept):
        joined = _joined(waiting, one) if waiting else one
        waiting = None
        is_last = number == len(kept) - 1
        if number % 2 and not joined.alarms and not is_last:
            waiting = joined
        else:
            left.append(joined)
    return left


def _joined(before: Kept, now: Kept) -> Kept:
    frame = Frame(now.frame.report, (*before.frame.events, *now.frame.events))
    changed = before.changed | now.changed
    weight = min(before.weight + now.weight, len(changed) + 1)
    return Kept(frame, changed, now.alarms, weight, now.tables)


def _rows(frame: Frame, before: Frame | None) -> int:
    """Count the rows of the servers' tables that the frame before does not share."""
    known = before.report.world.tables if before is not None else {}
    return sum(
        len(now or ())
        for server, tables in frame.report.world.tables.items()
        for now, then in zip(_tables(tables), _tables(known.get(server)), strict=True)
        if now is not then
    )


def _tables(tables: "Tables | None") -> tuple[Sized | None, ...]:
    """Give what of a server's tables may be large."""
    one, two, three = (
        (tables.connections, tables.watches, tables.expiry) if tables else (None, None, None)
    )
    return (
        one.rows if one else None,
        two.rows if two else None,
        three.expires_in_ms if three else None,
        three.timeouts_ms if three else None,
    )


def _bad(report: "Report") -> Iterator[str]:
    """Name what nobody must miss."""
    yield from (one.id for one in report.deadlocks)
    for one in report.findings:
        if one.severity == "critical" and not one.cause:
            yield one.id


def _verdicts(report: "Report") -> list[str]:
    """Name everything that is wrong."""
    return [*(one.id for one in report.deadlocks), *(one.id for one in report.findings)]
