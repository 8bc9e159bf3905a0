"""The door of the history: told of every look, it says what happened and remembers enough.

It is the one mutable value here, written by one thread. What it hands out never changes.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from zktop.model.facts import Millis
from zktop.model.history.change import ChangeContext, JointDeletions, LockChange, joint_deletions
from zktop.model.history.events import Event
from zktop.model.history.expiries import RecentExpiries
from zktop.model.history.lock_history import (
    NO_HISTORY,
    FirstLook,
    LockHistory,
    RootHistory,
    arrivals,
    first_bounds,
    first_look,
)
from zktop.model.history.sessions import SessionHistories
from zktop.model.locks.lock import Lock
from zktop.model.text import Text
from zktop.model.world.ensemble import Ensemble

if TYPE_CHECKING:
    from zktop.model.history.lock_log import LockLog

GRAVES: Final = 1_000  # vanished roots that are remembered in case they come back
SEEING: Final = (None, "connected", "read-only")


class LockHistories:
    """All locks' histories. A lock that never changed costs two numbers."""

    def __init__(self) -> None:
        """Begin without having looked."""
        self.sessions = SessionHistories()
        self.expiries = RecentExpiries()
        self._first: dict[Text, FirstLook] = {}
        self._diaries: dict[Text, LockLog] = {}
        self._graves: dict[Text, RootHistory] = {}
        self._hidden: dict[Text, Lock | None] = {}  # the last sight of locks that refuse a look
        self._unread: set[Text] = set()  # found, and nobody knows yet whether they are new
        self._from_zxid = 0
        self._began: Millis = 0
        self._now: Millis = 0
        self._blind_from: Millis | None = None
        self._blind: tuple[Millis, Millis] | None = None  # the last time we looked away

    def note(
        self,
        path: str,
        before: Lock | None,
        after: Lock | None,
        ensemble: Ensemble,
        now_ms: Millis,
    ) -> list[Event]:
        """Take note of one lock that changed; for several in one look `after` sees more."""
        return self.after([LockChange.between(path, before, after)], ensemble, now_ms)

    def after(
        self, changes: Iterable[LockChange], ensemble: Ensemble, now_ms: Millis
    ) -> list[Event]:
        """Take note of one look at everything: the locks that changed, and the tables."""
        changes = list(changes)
        self._now = max(self._now, now_ms)
        self.sessions.look(ensemble)
        self._mind_the_gap(ensemble)
        self._begin(changes, ensemble)
        company = joint_deletions(changes)
        events = [event for change in changes for event in self._fold(change, ensemble, company)]
        self.expiries.look(events, self.sessions, self._now)
        return events

    def of(self, path: str, now_ms: Millis | None = None) -> LockHistory:
        """Give the history of one lock up to now."""
        now_ms = self._now if now_ms is None else now_ms
        diary = self._diaries.get(Text(path))
        if diary is not None:
            return diary.history(now_ms)
        first = self._first.get(Text(path))
        return NO_HISTORY if first is None else _without_events(now_ms, first)

    def _fold(
        self, change: LockChange, ensemble: Ensemble, company: JointDeletions
    ) -> list[Event]:
        if change.before is None and self._was_there(change):
            return []
        change = self._seen(change)
        if change.path in self._unread:
            self._unread.discard(change.path)
            change = LockChange.between(change.path, None, change.after)
        if change.before is change.after is None:
            return []
        look = ChangeContext(self._now, ensemble, company, self._blind_since(change))
        if change.is_rebuilt:
            gone = self._vanished(LockChange.between(change.path, change.before, None), look)
            return gone + self._appeared(LockChange.between(change.path, None, change.after), look)
        if change.before is None:
            return self._appeared(change, look)
        if change.after is None:
            return self._vanished(change, look)
        return self._diary(change).fold(change, look)

    def _was_there(self, change: LockChange) -> bool:
        """Meet a lock all of which was there before we looked, as nearly all is; False if not."""
        lock, path, since = change.after, change.path, self._from_zxid
        if lock is None or lock.stat is None or lock.error is not None:
            return False
        if path in self._unread or path in self._graves or path in self._hidden:
            return False
        born = arrivals(change.created)
        is_old = (max(born) if born else 0) <= since and lock.stat.czxid <= since
        if not is_old or (0 in born and self._now != self._began):
            return False
        self._first[path] = first_bounds(lock.stat, change.created, born, self._now)
        return True

    def _seen(self, change: LockChange) -> LockChange:
        """Leave out looks that were refused: they tell nothing, and least that all are gone."""
        path, before, after = change.path, change.before, change.after
        if after is not None and after.error is not None:
            if before is None or before.error is None:
                self._hidden[path] = before
            return LockChange(path, None, None)
        if before is None or before.error is None:
            return change
        return LockChange.between(path, self._hidden.pop(path, None), after)

    def _appeared(self, change: LockChange, look: ChangeContext) -> list[Event]:
        """Meet a lock: in the first look everything was there before, later it may be new.

        A look may come between the news of a znode and the answer that tells its age; whether
        such a lock is new is told with the next look.
        """
        lock, path = change.after, change.path
        if lock is None:
            return []
        is_root_new = path in self._graves or self._is_root_new(lock)
        if look.now_ms > self._began and not is_root_new and _is_unread(change):
            self._unread.add(path)
            return []
        first = first_look(lock, look.now_ms)
        self._first[path] = first
        fresh = change.created
        if not is_root_new:
            fresh = tuple([member for member in fresh if member.czxid > self._from_zxid])
        is_new = is_root_new or (bool(fresh) and len(fresh) == len(change.created))
        if not fresh and not is_new:
            return []
        origin = self._graves.pop(path, RootHistory())
        if origin.generation:
            origin = replace(origin, recreated_at=look.now_ms)
        self._diaries[path] = diary = _opened(first, None, look.now_ms, origin)
        names = {member.node for member in fresh}
        granted = tuple(member for member in change.granted if member.node in names)
        appeared = Event(at=look.now_ms, event="lock-appeared", lock=path)
        events = diary.fold(LockChange(path, None, lock, created=fresh, granted=granted), look)
        return [appeared, *events] if is_new else events

    def _vanished(self, change: LockChange, look: ChangeContext) -> list[Event]:
        path, lock, now_ms = change.path, change.before, look.now_ms
        diary = self._diary(change)
        events = diary.fold(change, look)
        fallen = sum(len(line.members) for line in lock.queues) if lock else 0
        earlier = diary.history(now_ms).generation
        self._graves[path] = RootHistory(
            earlier + 1,
            reaped_at=None if fallen else now_ms,
            fell_at=(now_ms, fallen) if fallen else None,
        )
        if len(self._graves) > GRAVES:
            del self._graves[next(iter(self._graves))]
        for kept in (self._first, self._diaries):
            kept.pop(path, None)
        return [*events, Event(at=now_ms, event="lock-vanished", lock=path)]

    def _diary(self, change: LockChange) -> "LockLog":
        known = self._diaries.get(change.path)
        if known is None:
            first = self._first.get(change.path) or first_look(change.before, self._now)
            known = _opened(first, change.before, self._now, RootHistory())
            self._diaries[change.path] = known
            self._first[change.path] = first
        return known

    def _begin(self, changes: list[LockChange], ensemble: Ensemble) -> None:
        """Fix the transaction up to which all that exists was there before we looked."""
        if not self._from_zxid:
            seen = [change.after.seen_zxid for change in changes if change.after]
            self._from_zxid = max([ensemble.zxid, *seen])
            self._began = self._now

    def _is_root_new(self, lock: Lock) -> bool:
        return lock.stat is not None and lock.stat.czxid > self._from_zxid

    def _mind_the_gap(self, ensemble: Ensemble) -> None:
        if ensemble.link not in SEEING:
            self._blind_from = ensemble.link_at if self._blind_from is None else self._blind_from
        elif self._blind_from is not None:
            self._blind = (self._blind_from, ensemble.link_at)
            self._blind_from = None

    def _blind_since(self, change: LockChange) -> Millis | None:
        """Tell since when we had looked away, if this change may have happened meanwhile."""
        if self._blind_from is not None:
            return self._blind_from
        if self._blind is None or change.before is None:
            return None
        start, end = self._blind
        return start if change.before.at < end else None


def _opened(first: FirstLook, lock: Lock | None, now_ms: Millis, origin: RootHistory) -> "LockLog":
    from zktop.model.history.lock_log import LockLog  # noqa: PLC0415  one look alone sees no change

    return LockLog(first, lock, now_ms, origin)


def _is_unread(change: LockChange) -> bool:
    """Tell whether somebody's znode was told of and has not been read: it may be old or new."""
    znodes = (member.znode for member in change.created)
    return any(znode.stat is None and not znode.hidden for znode in znodes)


@lru_cache(maxsize=1024)
def _without_events(now_ms: Millis, first: FirstLook) -> LockHistory:
    """Give the history of a lock at which nothing happened; most locks of one look share it."""
    return LockHistory(at=now_ms, first_look=first)
