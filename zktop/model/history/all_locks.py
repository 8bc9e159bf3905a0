"""The histories of all locks. `LockHistories.after(changes)` returns the events of one look.

One thread uses it; what it returns is frozen.
"""

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any, Final

from msgspec.structs import replace

from zktop.model.facts import Gone, Millis
from zktop.model.history.derive_events import LockLog
from zktop.model.history.events import Event, FormerMember
from zktop.model.history.expired_sessions import ExpiryLedger, RecentExpiries
from zktop.model.history.lock_change import (
    ChangeContext,
    JointDeletions,
    LockChange,
    joint_deletions,
)
from zktop.model.history.lock_history import (
    NO_HISTORY,
    FirstLook,
    LockHistory,
    RootHistory,
    VanishedQueue,
    first_look_at,
)
from zktop.model.history.missed_events import RootCounters
from zktop.model.history.session_activity import SessionHistories
from zktop.model.locks.lock import Lock, absolute_path
from zktop.model.locks.queue import HERE
from zktop.model.text import Text
from zktop.model.world.tables_of_all_servers import NO_ENSEMBLE, Ensemble
from zktop.model.world.world import World

_AT: Final = attrgetter("at")
MAX_VANISHED_ROOTS: Final = 1_000  # remembered in case they are created again
MAX_VANISHED_QUEUES: Final = 100  # each is a finding, which is written again at every look
MAX_WAITERS_CHECKED: Final = 20  # whether their sessions outlived the lock
RECURSIVE_MS: Final[Millis] = 1_000  # a recursive delete deletes the next node within this time
CONNECTED_STATES: Final = (None, "connected", "read-only")


class LockHistories:
    """A fold over looks. A lock that never changed costs only two numbers."""

    def __init__(self) -> None:
        self.sessions = SessionHistories()
        self.expiries = RecentExpiries()
        self.ledger = ExpiryLedger()
        self._first: dict[Text, FirstLook] = {}
        self._logs: dict[Text, LockLog] = {}
        self._vanished_roots: dict[Text, RootHistory] = {}
        self.vanished_queues: dict[Text, VanishedQueue] = {}  # by the path of their lock
        self._hidden: dict[Text, Lock | None] = {}  # the last readable version
        self._world = World()
        self._earlier = NO_ENSEMBLE  # the server tables of the previous look
        # Found but not read: reading them will show whether they are new.
        self._unread: set[Text] = set()
        self._from_zxid = 0
        self._began: Millis = 0
        self._now: Millis = 0
        self._last: Millis = 0  # the time of the previous look
        self._blind_from: Millis | None = None
        self._blind: tuple[Millis, Millis] | None = None  # the last time without a connection
        self._before_loss = NO_ENSEMBLE  # the server tables from before that time

    def after(
        self,
        changes: Iterable[LockChange],
        ensemble: Ensemble,
        now_ms: Millis,
        world: World | None = None,
    ) -> list[Event]:
        """Add one look: the locks that changed, and the server tables. Return its events."""
        changes = list(changes)
        self._world = world or World()
        self._last, self._now = self._now, max(self._now, now_ms)
        self.sessions.look(ensemble)
        self._note_connection(ensemble)
        self._begin(changes, ensemble)
        joint = joint_deletions(changes)
        events = [event for change in changes for event in self._fold(change, ensemble, joint)]
        if ensemble.complete_to:
            events.sort(key=_AT)
        self.expiries.look(events, self.sessions, self._now, self._unseen_from(changes))
        self.ledger.look(events, self.sessions)
        self._earlier = ensemble
        return events

    def of(self, path: str, now_ms: Millis | None = None) -> LockHistory:
        now_ms = self._now if now_ms is None else now_ms
        log = self._logs.get(Text(path))
        if log is not None:
            return log.history(now_ms)
        first = self._first.get(Text(path))
        return NO_HISTORY if first is None else LockHistory(at=now_ms, first_look=first)

    def _fold(self, change: LockChange, ensemble: Ensemble, joint: JointDeletions) -> list[Event]:
        change = self._readable(change)
        if change.path in self._unread:
            self._unread.discard(change.path)
            change = LockChange.between(change.path, None, change.after)
        if (change.before is None and change.after is None) or self._complete_first_look(change):
            return []
        at = self._time_of(change, ensemble)
        blind_since = self._blind_since(change)
        earlier = self._earlier if blind_since is None else self._before_loss
        ctx = ChangeContext(at, ensemble, joint, blind_since, self._world.removal_of, earlier)
        if change.is_rebuilt:
            vanished = self._vanished(LockChange.between(change.path, change.before, None), ctx)
            appeared = self._appeared(LockChange.between(change.path, None, change.after), ctx)
            return vanished + appeared
        if change.before is None:
            return self._appeared(change, ctx)
        if self._is_retracted(change):
            return self._retracted(change, ctx)
        is_gone = change.after is None
        return self._vanished(change, ctx) if is_gone else self._log_of(change).fold(change, ctx)

    def _time_of(self, change: LockChange, ensemble: Ensemble) -> Millis:
        """When a lock changed: the time of its newest fact if no change is missing.

        If all facts about its children are older than the last look, something else changed it:
        the data of its znode, or the end of a lease.
        """
        if change.after is None or not ensemble.complete_to:
            return self._now
        at = change.after.changed_at
        if at <= self._last:
            ended = change.before.until if change.before else None
            at = self._now if ended is None or ended <= self._last else ended
        return min(self._now, at)

    def _complete_first_look(self, change: LockChange) -> bool:
        """Complete the first look if znodes were read since, and nothing else happened.

        What was unread at the first look may prove an earlier hold. Return whether it was
        completed.
        """
        path, moved = change.path, (change.created, change.deleted, change.granted, change.lost)
        first = self._first.get(path)
        if first is None or path in self._logs or not change.read or any(moved):
            return False
        if change.admitted or change.dismissed or change.is_rebuilt:
            return False
        if change.before and change.after and change.before.stat != change.after.stat:
            return False  # a child came and went
        self._first[path] = first_look_at(change.after, first.at)
        return True

    def _readable(self, change: LockChange) -> LockChange:
        """Compare readable versions only: a lock that became unreadable still has its members."""
        path, before, after = change.path, change.before, change.after
        if after is not None and after.error is not None:
            if before is None or before.error is None:
                self._hidden[path] = before
            return LockChange(path, None, None)
        if before is None or before.error is None:
            return change
        return LockChange.between(path, self._hidden.pop(path, None), after)

    def _appeared(self, change: LockChange, ctx: ChangeContext) -> list[Event]:
        """Add a lock. At the first look it is old; later, it may be new.

        If a look comes after a znode was found and before it was read, a later look decides
        whether its lock is new.
        """
        lock, path = change.after, change.path
        if lock is None:
            return []
        is_younger = lock.stat is not None and lock.stat.czxid > self._from_zxid
        is_root_new = path in self._vanished_roots or is_younger
        if ctx.now_ms > self._began and not is_root_new and _is_unread(change):
            self._unread.add(path)
            return []
        self._logs.pop(path, None)  # that of an empty lock, if none was recognised here before
        self._first[path] = first = first_look_at(lock, ctx.now_ms)
        fresh = change.created
        if not is_root_new:
            fresh = tuple([member for member in fresh if member.czxid > self._from_zxid])
        is_new = is_root_new or (bool(fresh) and len(fresh) == len(change.created))
        if not fresh and not is_new:
            return []
        origin = self._vanished_roots.pop(path, RootHistory())
        if origin.generation:
            origin = replace(origin, recreated_at=ctx.now_ms)
        counters = RootCounters.of_new(lock) if is_root_new else None
        self._logs[path] = log = LockLog(first, None, ctx.now_ms, origin, counters)
        names = {member.node for member in fresh}
        granted = tuple(member for member in change.granted if member.node in names)
        appeared = Event(at=ctx.now_ms, event="lock-appeared", lock=path)
        events = log.fold(LockChange(path, None, lock, created=fresh, granted=granted), ctx)
        return [appeared, *events] if is_new else events

    def _vanished(self, change: LockChange, ctx: ChangeContext) -> list[Event]:
        path, lock, now_ms = change.path, change.before, ctx.now_ms
        log = self._log_of(change)
        before = log.history(now_ms)
        events = log.fold(change, ctx)
        if lock is None or lock.member(HERE) is None:  # otherwise the lock was a client's own node
            self._remember(path, lock, before, log.history(now_ms), now_ms)
        self._forget(path)
        return [*events, Event(at=now_ms, event="lock-vanished", lock=path)]

    def _remember(
        self,
        path: Text,
        lock: Lock | None,
        before: LockHistory,
        history: LockHistory,
        now_ms: Millis,
    ) -> None:
        """Remember a root that vanished, in case it is created again.

        `before` is the history without this look.
        """
        stat = lock.stat if lock else None
        removal = self._world.removal_of(path)
        if removal is not None and stat is not None and removal.zxid < stat.czxid:
            removal = None  # it was that of an earlier root: transactions are missing
        start = _deleted_since(before.former_members, removal, now_ms)
        queue = _vanished_queue(lock, before, start, removal, now_ms)
        if queue is not None:
            self.vanished_queues[path] = queue
            _drop_oldest(self.vanished_queues, MAX_VANISHED_QUEUES)
        is_full = queue is not None or (lock is not None and bool(lock.family.members))
        self._vanished_roots[path] = RootHistory(
            history.generation + 1,
            reaped_at=None if is_full else now_ms,
            removed_by=removal.by if removal and removal.how == "deleted" else None,
            earlier_members=history.former_members,
        )
        _drop_oldest(self._vanished_roots, MAX_VANISHED_ROOTS)

    def _is_retracted(self, change: LockChange) -> bool:
        """Whether a lock is no longer recognised, although its znode still exists."""
        before, after = change.before, change.after
        if before is None or before.unrecognised:
            return False
        if after is not None:
            return after.unrecognised
        known, now = before.family.stat, self._world.family(change.path).stat
        return known is not None and now is not None and known.czxid == now.czxid

    def _retracted(self, change: LockChange, ctx: ChangeContext) -> list[Event]:
        """Forget a lock; only the members whose znodes are gone count as having left it."""
        gone = {
            member.node
            for member in change.deleted
            if member.node == HERE or not self._exists(absolute_path(change.path, member.node))
        }
        deleted = tuple(member for member in change.deleted if member.node in gone)
        lost = tuple(member for member in change.lost if member.node in gone)
        left = LockChange(change.path, change.before, None, deleted=deleted, lost=lost)
        events = self._log_of(change).fold(left, ctx)
        self._forget(change.path)
        return events

    def _exists(self, path: Text) -> bool:
        return self._world.node(path) is not None

    def _forget(self, path: Text) -> None:
        self._first.pop(path, None)
        self._logs.pop(path, None)

    def _log_of(self, change: LockChange) -> LockLog:
        known = self._logs.get(change.path)
        if known is None:
            first = self._first.get(change.path) or first_look_at(change.before, self._now)
            known = LockLog(first, change.before, self._now, RootHistory())
            self._logs[change.path] = known
            self._first[change.path] = first
        return known

    def _begin(self, changes: list[LockChange], ensemble: Ensemble) -> None:
        """Store the newest transaction of the first look: older znodes existed before.

        A first look without one came before anything was read, or at the beginning of a complete
        log. In both cases, nothing is older.
        """
        has_everything = self._began > 0 and ensemble.complete_to > 0
        if not self._from_zxid and not has_everything:
            listed = [change.after.seen_zxid for change in changes if change.after]
            self._from_zxid = max([ensemble.zxid, *listed])
            self._began = self._now

    def _note_connection(self, ensemble: Ensemble) -> None:
        if ensemble.link not in CONNECTED_STATES:
            if self._blind_from is None:
                self._blind_from, self._before_loss = ensemble.link_at, self._earlier
        elif self._blind_from is not None:
            self._blind = (self._blind_from, ensemble.link_at)
            self._blind_from = None

    def _blind_since(self, change: LockChange) -> Millis | None:
        """When the connection was lost, if this change may have happened while it was lost."""
        if self._blind_from is not None:
            return self._blind_from
        if self._blind is None:
            return None
        start, end = self._blind
        if change.before is None:
            is_older = any(0 < (member.ctime or 0) < end for member in change.created)
        else:
            is_older = change.before.at < end
        return start if is_older else None

    def _unseen_from(self, changes: Iterable[LockChange]) -> dict[Text, Millis]:
        """The locks that may have changed while the connection was lost, and since when."""
        if self._blind_from is None and self._blind is None:
            return {}
        since = {change.path: self._blind_since(change) for change in changes}
        return {path: at for path, at in since.items() if at is not None}


def _drop_oldest(by_path: dict[Text, Any], most: int) -> None:
    """Forget the entry that was added first if there are more than `most`."""
    if len(by_path) > most:
        del by_path[next(iter(by_path))]


def _is_unread(change: LockChange) -> bool:
    """Whether a znode has not been read yet: it may be old or new."""
    znodes = (member.znode for member in change.created)
    return any(znode.stat is None and not znode.hidden for znode in znodes)


def _is_taken(member: FormerMember, removal: Gone | None) -> bool:
    """Whether a log shows that the session that deleted the root, if known, deleted this node."""
    return member.deleted_by is not None and (removal is None or member.deleted_by == removal.by)


def _deleted_since(
    left: Sequence[FormerMember], removal: Gone | None, vanished_at: Millis
) -> Millis:
    """A time just before the root began to vanish: deleting a long queue takes time."""
    start = vanished_at - RECURSIVE_MS
    for member in reversed(left):
        if member.gone_at < start:
            break
        if _is_taken(member, removal):
            start = member.gone_at - RECURSIVE_MS
    return start


def _vanished_queue(
    lock: Lock | None, past: LockHistory, start: Millis, removal: Gone | None, now_ms: Millis
) -> VanishedQueue | None:
    """Return the queue that a recursive delete removed, with members that left before this look.

    A transaction log shows which of these were deleted by the session that deleted the root.
    Without a log, a waiter that left with the root, or just before it, is a sign of such a delete:
    if clients release a lock in turn and then delete its folder, no waiter is left.
    """
    before = [member for member in past.former_members if member.gone_at >= start]
    is_all = past.forgotten_at is None or past.forgotten_at < start
    taken = sum(_is_taken(member, removal) for member in before)
    unclear = [member for member in before if member.how is None and member.ending != "expired"]
    if lock is not None and (waiters := lock.waiters[:MAX_WAITERS_CHECKED]):
        sessions = () if taken else tuple(member.owner for member in waiters)
        members = lock.size + taken
        return VanishedQueue(now_ms, members, is_all and not unclear, waiters=sessions)
    if taken:
        return VanishedQueue(now_ms, taken, is_all and not unclear)
    if gave_up := tuple(member.session for member in unclear if member.ending == "abandoned"):
        return VanishedQueue(now_ms, len(unclear), is_all, is_certain=False, waiters=gave_up)
    return None
