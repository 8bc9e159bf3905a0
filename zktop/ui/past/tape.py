"""The frames that came, as far back as memory is allowed to reach.

When they take too much room, a tape of a live run thins out what is long ago, so that it reaches
back to its beginning with ever less detail; a tape of a recording forgets every other frame in
which nothing began to be wrong. What happened to nothing is not kept: a quiet hour is a few
frames long.

What the tape keeps of a frame, what room that takes, and how old frames are thinned out.

Neighbours share almost everything, so a frame takes the room of what changed in it. A change in a
lock of ten thousand members makes new lists of all of them, the servers' tables are new each time
they are read, a finding is told anew whenever its words change, and now and then the table of all
locks is written anew: each of these counts.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from zktop.model.facts import Millis, Session
from zktop.model.text import Text
from zktop.ui.past.event_log import EventLog
from zktop.ui.ports import Frame

if TYPE_CHECKING:
    from zktop.model.history.events import Event
    from zktop.model.report import Report
    from zktop.model.waits.deadlock import Deadlock
    from zktop.model.waits.deadlock_log import EndedDeadlock
    from zktop.model.world.world import TableFacts

# How many of each take as much room as one changed lock, or the rest of one frame: 3 to 6 kB.
MEMBERS = LOCKS = 128
ROWS = 25
FINDINGS = 6
FINEST = 256  # of a stretch of time is the shortest step in it that is told apart
COARSER = 0.75  # is the next step to try; half as fine would forget far more than has to go


class StoredFrame(NamedTuple):
    """A frame, and what is different in it from the one before it."""

    number: int
    frame: Frame
    changed: frozenset[Text]  # the paths of locks
    alarms: tuple[str, ...] = ()  # what is newly wrong and bad, by id
    expired: frozenset[Session] = frozenset()
    has_news: bool = False  # of what is wrong, or of the connection
    room: int = 1

    def after(self, before: "StoredFrame | None") -> "StoredFrame":
        """Give it with the room that it takes behind this one."""
        return self._replace(room=_room(self, before))


def thinned(kept: Sequence[StoredFrame], most: int) -> list[StoredFrame]:
    """Leave frames out until the rest takes so little room: the longer ago, the more.

    The newest hour is not worth as much as the newest minute: of each stretch of time as many
    moments stay as of the one before it that was half as long. Those at which something began to
    be wrong stay as long as there is room for them.
    """
    fineness = FINEST
    left = list(kept)
    while fineness and _total(left) > most:
        left = _without(left, _by_age(left, fineness))
        fineness = int(COARSER * fineness)
    total = _total(left)
    forgotten = 0
    while total > most and forgotten < len(left) - 1:
        total -= left[forgotten].room
        forgotten += 1
    return left[forgotten:]


def halved(kept: Sequence[StoredFrame]) -> list[StoredFrame]:
    """Leave out every other frame."""
    return _without(kept, (one.number for one in kept[1::2]))


def _by_age(kept: Sequence[StoredFrame], fineness: int) -> Iterator[int]:
    """Name the frames that follow too soon on the one before them, for how long ago they are."""
    newest, before = kept[-1].frame.at, kept[0].frame.at
    for one in kept[1:]:
        if one.frame.at - before < (newest - one.frame.at) / fineness:
            yield one.number
        else:
            before = one.frame.at


def _without(kept: Sequence[StoredFrame], numbers: Iterable[int]) -> list[StoredFrame]:
    """Leave these out, but no alarm and not the last; what happened is told by the one after."""
    unwanted = set(numbers)
    left: list[StoredFrame] = []
    waiting: StoredFrame | None = None
    for one in kept:
        joined = _joined(waiting, one) if waiting else one
        if joined.number in unwanted and not joined.alarms and one is not kept[-1]:
            waiting = joined
            continue
        left.append(joined.after(left[-1] if left else None) if waiting else joined)
        waiting = None
    return left


def _joined(before: StoredFrame, now: StoredFrame) -> StoredFrame:
    changed, expired = before.changed | now.changed, before.expired | now.expired
    return now._replace(changed=changed, expired=expired, alarms=before.alarms + now.alarms)


def _total(kept: Iterable[StoredFrame]) -> int:
    return sum(one.room for one in kept)


def _room(one: StoredFrame, before: StoredFrame | None) -> int:
    report = one.frame.report
    known = before.frame.report if before is not None else None
    members = sum(_members(report, path) for path in one.changed)
    is_new = known is None or known.parts.base is not report.parts.base
    locks = len(report.parts.base) if is_new else 0
    return (
        1
        + len(one.changed)
        + members // MEMBERS
        + locks // LOCKS
        + _rows(report, known) // ROWS
        + _findings(report, known) // FINDINGS
    )


def _members(report: "Report", path: Text) -> int:
    part = report.parts.get(path)
    return len(part.lock.holders) + len(part.lock.waiters) if part else 0


def _findings(report: "Report", before: "Report | None") -> int:
    """Count the findings that the frame before does not share."""
    if before is None:
        return len(report.findings)
    if report.findings is before.findings:
        return 0
    return len(set(map(id, report.findings)).difference(map(id, before.findings)))


def _rows(report: "Report", before: "Report | None") -> int:
    """Count the rows of the servers' tables that the frame before does not share."""
    known = before.world.tables if before is not None else {}
    return sum(
        len(now or ())
        for server, tables in report.world.tables.items()
        for now, then in zip(_tables(tables), _tables(known.get(server)), strict=True)
        if now is not then
    )


def _tables(tables: "TableFacts | None") -> tuple[Sized | None, ...]:
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


ROOM = 1_250  # about 6 MB: the last quarter of a minute, and an hour in steps of half a minute
ROOM_LEFT = 0.9  # of it is in use when enough was forgotten
QUIET_MS = 10_000  # a frame like the one before it is kept after so long
EVENTS_KEPT = 10_000
READ_LATE_MS = 10_000  # after an event, something may still be learned of it
CASES_KEPT = 50


class DeadlockRecord(msgspec.Struct, frozen=True):
    """A deadlock from its confirmation on: the picture of then, the last one, and its end."""

    deadlock: "Deadlock"  # as it was confirmed
    frame: Frame
    last: Frame  # in which it was seen to live
    over_at: Millis | None = None

    @property
    def verdict(self) -> "Deadlock":
        """The last that was said of it while it lived."""
        found = (one for one in self.last.report.deadlocks if one.id == self.deadlock.id)
        return next(found, self.deadlock)

    def over(self, report: "Report") -> "EndedDeadlock | None":
        """How it ended, as far as was known at that moment."""
        number = self.deadlock.number
        return next((one for one in report.over if one.deadlock.number == number), None)


class Limits(NamedTuple):
    """How much is kept, and what happens when that is too much."""

    room: int = ROOM
    events: int = EVENTS_KEPT
    is_even: bool = False  # the oldest is worth as much as the newest


REPLAY = Limits(room=20 * ROOM, events=5 * EVENTS_KEPT, is_even=True)


class Tape:
    """All that came, newest last."""

    def __init__(self, limits: Limits | None = None) -> None:
        """Begin with nothing."""
        self._limits = limits or Limits()
        self.events = EventLog(self._limits.events)
        self.told = 0  # how many events there ever were
        self.deadlocks: dict[str, DeadlockRecord] = {}
        self.thinned = 0  # how often frames were left out
        self._kept: list[StoredFrame] = []
        self._room = 0
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
    def is_thinned(self) -> bool:
        """Tell whether there were moments between the kept ones."""
        return self.thinned > 0

    def events_until(self, moment: Millis) -> Iterator["Event"]:
        """Give what happened up to a moment, and what was read soon after it, newest first."""
        return self.events.until(moment + READ_LATE_MS)

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

    def kept(self, first: int = 0) -> Iterator[StoredFrame]:
        """Give the kept frames from this one on, each with what changed in it."""
        return islice(self._kept, first, None)

    def since(self, number: int) -> Iterator[StoredFrame]:
        """Give the kept frames that came after the one of this number."""
        return self.kept(bisect_right(self._kept, number, key=_number))

    def index_at(self, moment: Millis) -> int:
        """Find the newest kept frame that is not after this moment; -1 when all are."""
        return bisect_right(self._kept, moment, key=_at) - 1

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
        before = self._kept[-1] if self._kept else None
        number = before.number + 1 if before else 1
        one = self._compared(number, frame)
        is_worth_it = one.changed or one.has_news
        if is_worth_it or before is None or frame.at - before.frame.at >= QUIET_MS:
            self._kept.append(one.after(before))
            self._room += self._kept[-1].room
        self._last = frame
        if self._room > self._limits.room:
            self._thin()

    def _compared(self, number: int, frame: Frame) -> StoredFrame:
        """Tell what is different from the newest frame."""
        if self._last is None:
            return StoredFrame(number, frame, frozenset(), tuple(_bad(frame.report)))
        before, now = self._last.report, frame.report
        is_alike = _is_alike(before, now)
        bad = () if is_alike else set(_bad(before))
        expired = (one.session for one in frame.events if one.event == "expired" and one.session)
        return StoredFrame(
            number,
            frame,
            changed=frozenset(now.parts.changed_since(before.parts)),
            alarms=() if is_alike else tuple(one for one in _bad(now) if one not in bad),
            expired=frozenset(expired),
            has_news=not (is_alike or _verdicts(before) == _verdicts(now))
            or before.world.link is not now.world.link,
        )

    def _thin(self) -> None:
        """Leave out what is least worth its room."""
        most = int(self._limits.room * ROOM_LEFT)
        if self._limits.is_even:
            self._kept = halved(self._kept)
        self._kept = thinned(self._kept, most)
        self._room = sum(one.room for one in self._kept)
        self.thinned += 1

    def _file(self, frame: Frame) -> None:
        """Keep the picture of each deadlock as it was when it was confirmed."""
        alive = {deadlock.id: deadlock for deadlock in frame.report.deadlocks}
        for name, deadlock in alive.items():
            case = self.deadlocks.get(name)
            if (
                case is None
                or case.over_at is not None
                or (deadlock.coexistence_proven > case.deadlock.coexistence_proven)
            ):
                self.deadlocks[name] = DeadlockRecord(deadlock, frame, frame)
            else:
                self.deadlocks[name] = msgspec.structs.replace(case, last=frame)
        for name, case in self.deadlocks.items():
            if name not in alive and case.over_at is None:
                self.deadlocks[name] = msgspec.structs.replace(case, over_at=frame.at)
        for name in [name for name, case in self.deadlocks.items() if case.over_at][:-CASES_KEPT]:
            del self.deadlocks[name]


def _number(one: StoredFrame) -> int:
    return one.number


def _at(one: StoredFrame) -> Millis:
    return one.frame.at


def _is_alike(before: "Report", now: "Report") -> bool:
    """Tell whether the same is wrong, without a look at all of it: most reports share the list."""
    return before.findings is now.findings and before.deadlocks is now.deadlocks


def _bad(report: "Report") -> Iterator[str]:
    """Name what nobody must miss."""
    yield from (one.id for one in report.deadlocks)
    for one in report.findings:
        if one.severity == "critical" and not one.cause:
            yield one.id


def _verdicts(report: "Report") -> list[str]:
    """Name everything that is wrong."""
    return [*(one.id for one in report.deadlocks), *(one.id for one in report.findings)]
