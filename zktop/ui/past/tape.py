"""Reports of the last hour, thinned out with age, and their events and deadlocks.

Neighbouring reports share almost everything, so the weight of a stored frame is its new data only.
When all frames together weigh too much, those closest in time are merged. In a live run the last
minute stays complete, and older gaps are proportional to their age. In a recording all gaps are
about equal. Frames without changes are stored every ten seconds, so a quiet hour takes little
memory.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import dropwhile, islice
from typing import Final, NamedTuple

import msgspec

from zktop.model.deadlock_log import EndedDeadlock
from zktop.model.facts import Millis, Session
from zktop.model.history.events import Event
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock
from zktop.model.world.world import TableFacts
from zktop.ui.interfaces import Frame
from zktop.ui.past.tracks import Tracks

LIVE_BYTES: Final = 20_000_000
QUIET_MS: Final = 10_000  # a frame without changes is stored after this time
READ_LATE_MS: Final = 10_000  # an event may become known this long after it happened
ENDED_DEADLOCKS: Final = 50

# The weight of new data in a frame; measured on 2,000 locks with the tables of 6,000 sessions.
FRAME_BYTES: Final = 16_000
LOCK_BYTES: Final = 5_000
MEMBER_BYTES: Final = 32
MAP_ENTRY_BYTES: Final = 32  # of the map of all locks, which is rewritten now and then
ROW_BYTES: Final = 200
FINDING_BYTES: Final = 800

RECENT_MS: Final = 60_000  # frames of the last minute stay as long as memory allows
YOUNGEST_MS: Final = 1_000  # a younger frame counts as this old
RECENT_WORTH: Final = 16  # weight of a gap in the last minute, compared with an older gap
ALARM_WORTH: Final = 64  # weight of a gap before an alarm
THINNING_STEPS: Final = 16  # each step merges one frame in 16
LEFT_OVER: Final = 0.9  # share of the limit that is still in use after thinning


class StoredFrame(NamedTuple):
    """A frame, and its differences from the stored frame before it."""

    number: int
    frame: Frame
    changed: frozenset[Text]  # paths of locks
    alarms: tuple[str, ...] = ()  # ids of deadlocks and critical findings that began
    expired: frozenset[Session] = frozenset()
    has_news: bool = False  # findings or the connection changed
    weight_bytes: int = FRAME_BYTES

    @property
    def at(self) -> Millis:
        return self.frame.at

    def weighed(self, before: "StoredFrame | None") -> "StoredFrame":
        """Weigh this frame as the successor of another one."""
        report = before.frame.report if before else None
        return self._replace(weight_bytes=new_bytes(self.frame.report, self.changed, report))


def new_bytes(report: Report, changed: Iterable[Text], before: Report | None) -> int:
    """Estimate the memory that a report does not share with the one stored before it."""
    locks = [part.lock for path in changed if (part := report.parts.get(path)) is not None]
    is_rewritten = before is None or before.parts.base is not report.parts.base
    if before is None or before.findings is not report.findings:
        known = set(map(id, before.findings)) if before else set()
        findings = sum(id(one) not in known for one in report.findings)
    else:
        findings = 0
    tables_before = before.world.tables if before else {}
    tables = report.world.tables
    rows = sum(_rows(one) for name, one in tables.items() if one is not tables_before.get(name))
    return (
        FRAME_BYTES
        + LOCK_BYTES * len(locks)
        + MEMBER_BYTES * sum(lock.size for lock in locks)
        + (MAP_ENTRY_BYTES * len(report.parts.base) if is_rewritten else 0)
        + ROW_BYTES * rows
        + FINDING_BYTES * findings
    )


def _rows(tables: TableFacts) -> int:
    connections, watches, expiry = tables.connections, tables.watches, tables.expiry
    large = (
        connections.rows if connections else None,
        watches.rows if watches else None,
        expiry.expires_in_ms if expiry else None,
        expiry.timeouts_ms if expiry else None,
    )
    return sum(len(one or ()) for one in large)


def thinned(
    stored: Sequence[StoredFrame], limit_bytes: int, *, is_even: bool = False
) -> list[StoredFrame]:
    """Merge the least needed frames until all weigh no more than the limit."""
    left = list(stored)
    while weight(left) > limit_bytes and len(left) > 2:  # noqa: PLR2004  both ends stay
        left = _merged(left, _least_needed(left, is_even=is_even))
    return _newest(left, limit_bytes)


def weight(stored: Iterable[StoredFrame]) -> int:
    return sum(one.weight_bytes for one in stored)


def _least_needed(stored: Sequence[StoredFrame], *, is_even: bool) -> set[int]:
    """Indexes of the frames that leave the smallest gaps for their age; never two neighbours."""
    newest = stored[-1].at

    def need(index: int) -> float:
        """The gap that the frame would leave, as a share of its age."""
        one, gap = stored[index], stored[index + 1].at - stored[index - 1].at
        age = 1 if is_even else max(newest - one.at, YOUNGEST_MS)
        is_recent = not is_even and age <= RECENT_MS
        worth = (ALARM_WORTH if one.alarms else 1) * (RECENT_WORTH if is_recent else 1)
        return worth * gap / age

    ranked = sorted(range(1, len(stored) - 1), key=need)
    chosen: set[int] = set()
    for index in ranked[: 1 + len(ranked) // THINNING_STEPS]:
        if chosen.isdisjoint((index - 1, index + 1)):
            chosen.add(index)
    return {stored[index].number for index in chosen}


def _merged(stored: Sequence[StoredFrame], unwanted: set[int]) -> list[StoredFrame]:
    """Merge each unwanted frame into the next one that stays; the last one always stays."""
    left: list[StoredFrame] = []
    waiting: StoredFrame | None = None
    for one in stored:
        joined = one
        if waiting is not None:
            joined = one._replace(
                changed=waiting.changed | one.changed,
                expired=waiting.expired | one.expired,
                alarms=waiting.alarms + one.alarms,
            )
        if one.number in unwanted and one is not stored[-1]:
            waiting = joined
        else:
            left.append(joined.weighed(left[-1] if left else None) if waiting else one)
            waiting = None
    return left


def _newest(stored: list[StoredFrame], limit_bytes: int) -> list[StoredFrame]:
    """Drop the oldest frames until the rest is within the limit; at least one stays."""
    total, dropped = weight(stored), 0
    while total > limit_bytes and dropped < len(stored) - 1:
        total -= stored[dropped].weight_bytes
        dropped += 1
    return stored[dropped:]


class DeadlockRecord(msgspec.Struct, frozen=True):
    """A deadlock as it was first seen, and the last report that still had it."""

    deadlock: Deadlock
    first_seen_at: Millis
    last: Report
    over_at: Millis | None = None

    @property
    def verdict(self) -> Deadlock:
        """The deadlock as it was last judged."""
        found = (one for one in self.last.deadlocks if one.id == self.deadlock.id)
        return next(found, self.deadlock)

    def ending(self, report: Report) -> EndedDeadlock | None:
        """How it ended, if this report knows."""
        number = self.deadlock.number
        return next((one for one in report.over if one.deadlock.number == number), None)


class TapeLimits(NamedTuple):
    """How much a tape keeps, and how it thins out."""

    memory_bytes: int = LIVE_BYTES
    events: int = 20_000
    is_even: bool = False  # the oldest frames are worth as much as the newest


REPLAY: Final = TapeLimits(memory_bytes=20 * LIVE_BYTES, events=50_000, is_even=True)


class Tape:
    """Frames of one run, oldest first, with its events and deadlocks."""

    def __init__(self, limits: TapeLimits | None = None) -> None:
        self._limits = limits or TapeLimits()
        self.deadlocks: dict[str, DeadlockRecord] = {}  # by id
        self.last: Frame | None = None  # the newest frame, stored or not
        self.changed_at: Millis = 0  # the time of the newest frame with anything new
        self.first_alarm: Millis | None = None  # when the first one of this run began
        self.times_thinned = 0
        self.events: deque[Event] = deque(maxlen=self._limits.events)
        self.tracks = Tracks()
        self._stored: list[StoredFrame] = []
        self._weight_bytes = 0

    def __len__(self) -> int:
        return len(self._stored)

    def __getitem__(self, index: int) -> Frame:
        return self._stored[index].frame

    @property
    def begin(self) -> Millis | None:
        """The moment of the oldest frame."""
        return self._stored[0].at if self._stored else None

    @property
    def end(self) -> Millis | None:
        """The moment of the newest frame."""
        return self.last.at if self.last else None

    # Looking back

    def frames(self, begin: Millis = 0) -> Iterator[Frame]:
        """The frame shown at this moment and all later ones, to the newest, stored or not."""
        shown = None
        for one in self.stored(max(0, self.index_at(begin))):
            shown = one.frame
            yield shown
        if self.last is not None and self.last is not shown:
            yield self.last

    def stored(self, first: int = 0) -> Iterator[StoredFrame]:
        """Stored frames from this index on."""
        return islice(self._stored, first, None)

    def index_at(self, moment: Millis) -> int:
        """Index of the newest stored frame not after this moment; -1 when all are later."""
        return bisect_right(self._stored, moment, key=lambda one: one.at) - 1

    def frame_at(self, moment: Millis) -> Frame | None:
        """The frame shown at this moment; before the first frame, the first."""
        if self.last is not None and moment >= self.last.at:
            return self.last
        return self._stored[max(0, self.index_at(moment))].frame if self._stored else None

    def frame_before(self, moment: Millis) -> Frame | None:
        """The frame stored before the one that is shown at this moment."""
        index = self.index_at(moment) - 1
        return self._stored[index].frame if index >= 0 else None

    def events_until(self, moment: Millis) -> Iterator[Event]:
        """Events up to a moment, and those read shortly after it, newest first."""
        end = moment + READ_LATE_MS
        return dropwhile(lambda one: one.at > end, reversed(self.events))

    def change_after(self, moment: Millis) -> Millis | None:
        """Time of the first change after this moment."""
        later = self.stored(self.index_at(moment) + 1)
        return next((one.at for one in later if one.changed or one.alarms), None)

    def change_before(self, moment: Millis) -> Millis | None:
        """Time of the last change before this moment; else that of the first frame."""
        for index in range(self.index_at(moment - 1), -1, -1):
            one = self._stored[index]
            if one.changed or one.alarms or not index:
                return one.at
        return None

    def alarm_after(self, moment: Millis) -> Millis | None:
        """The first time after this moment at which a deadlock or critical finding began."""
        later = self.stored(self.index_at(moment) + 1)
        return next((one.at for one in later if one.alarms), None)

    # Recording

    def add(self, frame: Frame) -> None:
        """Add the next frame; thin out older ones when the tape is full."""
        self.events.extend(frame.events)
        self._record_deadlocks(frame.report)
        before = self._stored[-1] if self._stored else None
        one = self._compared(before.number + 1 if before else 1, frame)
        self.tracks.add(self.last.report if self.last else None, frame, one.changed)
        if one.alarms and self.first_alarm is None:
            self.first_alarm = one.at
        self.last = frame
        is_new = one.changed or one.has_news
        if before is None or is_new:
            self.changed_at = frame.at
        if before is None or is_new or frame.at - before.at >= QUIET_MS:
            self._stored.append(one.weighed(before))
            self._weight_bytes += self._stored[-1].weight_bytes
        if self._weight_bytes > self._limits.memory_bytes:
            limit_bytes = int(LEFT_OVER * self._limits.memory_bytes)
            self._stored = thinned(self._stored, limit_bytes, is_even=self._limits.is_even)
            self._weight_bytes = weight(self._stored)
            self.times_thinned += 1
            self.tracks.forget_before(self._stored[0].at)

    def _compared(self, number: int, frame: Frame) -> StoredFrame:
        """A frame with its differences from the newest one."""
        if self.last is None:
            return StoredFrame(number, frame, frozenset(), tuple(_alarms(frame.report)))
        before, now = self.last.report, frame.report
        is_same = before.findings is now.findings and before.deadlocks is now.deadlocks
        known = () if is_same else set(_alarms(before))
        expired = (one.session for one in frame.events if one.event == "expired" and one.session)
        return StoredFrame(
            number,
            frame,
            changed=frozenset(now.parts.changed_since(before.parts)),
            alarms=() if is_same else tuple(one for one in _alarms(now) if one not in known),
            expired=frozenset(expired),
            has_news=not (is_same or _verdicts(before) == _verdicts(now))
            or before.world.link is not now.world.link,
        )

    def _record_deadlocks(self, report: Report) -> None:
        """Store each deadlock as it was when it was confirmed; note which ones are over."""
        alive = {deadlock.id: deadlock for deadlock in report.deadlocks}
        for name, deadlock in alive.items():
            known = self.deadlocks.get(name)
            if (
                known is None
                or known.over_at is not None
                or deadlock.coexistence_proven > known.deadlock.coexistence_proven
            ):
                self.deadlocks[name] = DeadlockRecord(deadlock, report.now, report)
            else:
                self.deadlocks[name] = msgspec.structs.replace(known, last=report)
        for name, known in self.deadlocks.items():
            if name not in alive and known.over_at is None:
                self.deadlocks[name] = msgspec.structs.replace(known, over_at=report.now)
        ended = [name for name, known in self.deadlocks.items() if known.over_at is not None]
        for name in ended[:-ENDED_DEADLOCKS]:
            del self.deadlocks[name]


def _alarms(report: Report) -> Iterator[str]:
    """Ids of deadlocks, and of critical findings that do not follow from another one."""
    yield from (one.id for one in report.deadlocks)
    for one in report.findings:
        if one.severity == "critical" and not one.cause:
            yield one.id


def _verdicts(report: Report) -> list[str]:
    """Ids of all deadlocks and findings."""
    return [*(one.id for one in report.deadlocks), *(one.id for one in report.findings)]
