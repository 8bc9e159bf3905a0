"""When the state of each lock and session changed, as far as the tape reaches.

The changes are read off the tape on demand: for each new frame, only the locks that changed in it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from zktop.model.actors import session_of
from zktop.model.client_names import ClientNames
from zktop.model.facts import Millis, Session
from zktop.model.findings.finding import SURE
from zktop.model.locks.lock import Lock
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.past.tape import StoredFrame, Tape

if TYPE_CHECKING:
    from zktop.model.waits.deadlock import Deadlock

UNDATED: Final = -1
LARGE: Final = 500  # members; of a larger lock, only the holders are followed


class LockState(NamedTuple):
    """The state of a lock from one moment on."""

    at: Millis
    holders: tuple[Session, ...] = ()
    are_readers: bool = False
    queue: int = 0


class SessionState(NamedTuple):
    """The state of a session from one moment on: the number of locks it holds and waits for."""

    at: Millis
    holds: int = 0
    waits: int = 0
    is_lost: bool = False


class AlarmState(NamedTuple):
    """The alarms from one moment on."""

    at: Millis
    proven: frozenset[Session] = frozenset()  # sessions in a confirmed deadlock
    suspected: frozenset[Session] = frozenset()  # sessions in a probable deadlock
    bad: int = 0
    is_sure: bool = False  # at least one of them is confirmed


class StateChanges:
    """State changes of all locks and sessions on a tape."""

    def __init__(self) -> None:
        self._begin(None)

    def _begin(self, tape: Tape | None) -> None:
        self.locks: dict[Text, list[LockState]] = {}
        self.sessions: dict[Session, list[SessionState]] = {}
        self.alarms: list[AlarmState] = []
        self._tape, self._read = tape, 0
        self._times_thinned = tape.times_thinned if tape else 0
        self.names: dict[Session, Text] = {}  # of ended sessions, too
        self._places: dict[Text, dict[Session, bool]] = {}

    def update(self, tape: Tape) -> None:
        """Read the frames added since the last call; after thinning, all of them."""
        if self._tape is not tape or self._times_thinned != tape.times_thinned:
            self._begin(tape)
        for one in tape.since(self._read):
            self._read = one.number
            self._take(one, is_first=not self.alarms)

    def _take(self, one: StoredFrame, *, is_first: bool) -> None:
        report, at = one.frame.report, one.frame.at
        self._take_alarms(report, at)
        touched: set[Session] = set()
        for path in report.parts if is_first else one.changed:
            part = report.parts.get(path)
            self._take_lock(path, part.lock if part else None, at)
            touched |= self._moved(path, part.lock if part else None)
            self._name(part.lock if part else None, report.client_names)
        for session in touched | one.expired:
            self._take_actor(session, at, is_lost=session in one.expired)

    def _take_alarms(self, report: Report, at: Millis) -> None:
        dead = {one.id for one in report.deadlocks}
        bad = [
            one
            for one in report.findings
            if one.severity == "critical" and not one.cause and one.id not in dead
        ]
        now = AlarmState(
            at,
            _stuck(one for one in report.deadlocks if one.confidence in SURE),
            _stuck(one for one in report.deadlocks if one.confidence not in SURE),
            len(report.deadlocks) + len(bad),
            any(one.confidence in SURE for one in report.deadlocks)
            or any(one.confidence in SURE for one in bad),
        )
        if not self.alarms or self.alarms[-1][1:] != now[1:]:
            self.alarms.append(now)

    def _take_lock(self, path: Text, lock: Lock | None, at: Millis) -> None:
        if lock is None:
            stand = LockState(at)
        else:
            holders = lock.holders
            reads = len(holders) > 1 and all(one.mode == "read" for one in holders)
            sessions = tuple(one.owner for one in holders[:LARGE])
            stand = LockState(at, sessions, reads, len(lock.waiters))
        self.locks.setdefault(path, []).append(stand)

    def _moved(self, path: Text, lock: Lock | None) -> set[Session]:
        """Sessions that now hold, wait for, or have left a lock."""
        before = self._places.get(path, {})
        now: dict[Session, bool] = {}
        if lock is not None:
            if lock.size <= LARGE:
                now.update((one.owner, False) for one in lock.waiters if one.owner)
            now.update((one.owner, True) for one in lock.holders if one.owner)
        self._places[path] = now
        moved = {one for one in before.keys() | now.keys() if before.get(one) != now.get(one)}
        for session in moved:
            self._count(session, before.get(session), now.get(session))
        return moved

    def _name(self, lock: Lock | None, client_names: ClientNames) -> None:
        """Remember the names of new sessions."""
        if lock is None or lock.size > LARGE:
            return
        for member in lock.members:
            if member.owner and member.owner not in self.names:
                self.names[member.owner] = client_names(member.owner, member.label)

    def _count(self, session: Session, was: bool | None, does: bool | None) -> None:  # noqa: FBT001  holds, waits, neither
        """Count the locks that a session holds and waits for; the state is dated afterwards."""
        known = self.sessions.setdefault(session, [])
        last = known[-1] if known else SessionState(UNDATED)
        holds = last.holds + (does is True) - (was is True)
        waits = last.waits + (does is False) - (was is False)
        known.append(SessionState(UNDATED, holds, waits))

    def _take_actor(self, session: Session, at: Millis, *, is_lost: bool) -> None:
        """Date the counted state; several changes in one frame are one."""
        known = self.sessions.setdefault(session, [])
        last = known[-1] if known else SessionState(at)
        while known and known[-1].at in (UNDATED, at):
            known.pop()
        known.append(last._replace(at=at, is_lost=is_lost and not last.holds and not last.waits))

    # Looking up

    def lock_states(
        self, path: Text, begin: Millis, end: Millis
    ) -> tuple[LockState | None, list[LockState]]:
        """State of a lock before a span of time, and its changes within it."""
        known = self.locks.get(path, [])
        first, last = _within(known, begin, end)
        return (known[first - 1] if first else None), known[first:last]

    def session_states(
        self, session: Session, begin: Millis, end: Millis
    ) -> tuple[SessionState | None, list[SessionState]]:
        """State of a session before a span of time, and its changes within it."""
        known = self.sessions.get(session, [])
        first, last = _within(known, begin, end)
        return (known[first - 1] if first else None), known[first:last]

    def alarm_at(self, at: Millis) -> AlarmState:
        """The alarms at a moment."""
        place = bisect_right(self.alarms, at, key=itemgetter(0))
        return self.alarms[place - 1] if place else AlarmState(at)

    def busiest(self, begin: Millis, end: Millis, paths: Iterable[Text]) -> list[Text]:
        """Locks by the number of changes in a span of time, busiest first."""
        counts = {path: len(self.lock_states(path, begin, end)[1]) for path in paths}
        return sorted(counts, key=lambda path: (-counts[path], path))


def _stuck(deadlocks: "Iterable[Deadlock]") -> frozenset[Session]:
    actors = (session_of(name) for one in deadlocks for name in one.actors)
    return frozenset(one for one in actors if one is not None)


def _within(
    known: Sequence[LockState | SessionState], begin: Millis, end: Millis
) -> tuple[int, int]:
    return bisect_left(known, begin, key=_at), bisect_left(known, end, key=_at)


def _at(one: LockState | SessionState) -> Millis:
    return one.at
