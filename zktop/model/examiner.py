"""From one world to the next report, at a cost that follows what changed.

The examiner looks at worlds one after another and keeps what must be remembered between two
looks: the locks as they were, their history, the wait graph, and how long each finding has lasted.
It is a fold: the same worlds at the same times give the same reports.
"""

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from zktop.model.client_names import MAX_COUNTED_PER_LOOK as COUNTED_AT_ONCE
from zktop.model.client_names import ClientNames, SharedNames
from zktop.model.facts import Cost, Millis, Session
from zktop.model.findings.over_time import FindingTracker, LookInput
from zktop.model.history.all_locks import LockHistories
from zktop.model.history.change import LockChange
from zktop.model.history.events import Departure
from zktop.model.layouts.site import LockSite
from zktop.model.locks.candidates import may_be_lock, read_by
from zktop.model.locks.lock import Lock, NotALock
from zktop.model.locks.read_lock import lock_at
from zktop.model.locks.simple_lock import simple_lock
from zktop.model.locks.update import ChildrenDiff, difference
from zktop.model.report import LockRecord, Report
from zktop.model.session_index import LocksOfSessions, index_after
from zktop.model.settings import Root, Settings
from zktop.model.text import Text
from zktop.model.waits.deadlock_log import DeadlockLog
from zktop.model.waits.detector import DeadlockDetector
from zktop.model.world.ensemble import NO_ENSEMBLE, Ensemble
from zktop.model.world.family import NO_FAMILY
from zktop.model.world.persistent_map import PersistentMap
from zktop.model.world.world import World

if TYPE_CHECKING:
    from zktop.model.waits.deadlock import DeadlockPlace


class Examiner:
    """Looks at the world again and again; each look gives a report."""

    def __init__(self, settings: Settings | None = None) -> None:
        """Begin without having seen anything."""
        self.settings = settings or Settings()
        self._chronicle = LockHistories()
        self._namesakes = SharedNames()
        self._deadlocks = DeadlockDetector(self.settings)
        self._log = DeadlockLog()
        self._inspection = FindingTracker(self.settings, self._chronicle)
        self._world = World()
        self._ensemble = NO_ENSEMBLE
        self._parts: PersistentMap[Text, LockRecord] = PersistentMap()
        self._locks: dict[Text, Lock] = {}
        self._locks_of: LocksOfSessions = PersistentMap()
        self._paths: tuple[Text, ...] = ()
        self._now: Millis = 0  # of the newest report
        self._due: dict[Text, Millis] = {}  # locks that the clock alone will change
        self._asking: set[Text] = set()  # locks that watch tables can change
        self._doubted: set[Text] = set()  # no locks, as far as watch tables tell

    @property
    def is_behind(self) -> bool:
        """Tell whether a look that was not thorough left examinations to the next one."""
        behind = (self._inspection, self._deadlocks, self._namesakes)
        return any(one.is_behind for one in behind)

    def look(
        self,
        world: World,
        now: Millis,
        *,
        thorough: bool = True,
        ours: Collection[Session] = frozenset(),
        cost: Cost | None = None,
    ) -> Report:
        """Give the report on this world at this time.

        A look that is not thorough leaves some examinations to the looks that follow: who looks
        twenty times a second sees the locks at once, and the findings a moment later.
        """
        self._now = now = self._standing(world, now)
        ensemble = Ensemble.of(world, now, self._ensemble)
        changes = self._changes(world, now)
        self._world, self._ensemble = world, ensemble
        events = self._chronicle.after(changes, ensemble, now)
        self._file(changes)
        self._locks_of = index_after(self._locks_of, changes)
        self._namesakes.note(changes)
        self._namesakes.count(None if thorough else COUNTED_AT_ONCE)
        client_names = ClientNames(ensemble, self.settings.owners, self._namesakes.shared)
        for change in changes:
            self._deadlocks.change(change)
        verdict = self._deadlocks.judge(
            ensemble,
            self._chronicle,
            self._locks,
            now,
            client_names=client_names,
            is_calm=thorough or not changes,
        )
        inversions = self._log.dated(verdict.inversions)
        found = self._inspection.look(
            LookInput(
                world=world,
                now=now,
                ensemble=ensemble,
                locks=self._locks,
                locks_of=self._locks_of,
                changes=changes,
                deadlocks=(*verdict.deadlocks, *verdict.hints),
                inversions=inversions,
                client_names=client_names,
                thorough=thorough,
            )
        )
        deadlocks = self._log.look(
            (*verdict.deadlocks, *found.deadlocks), verdict.hints, self._departed, now
        )
        return Report(
            world=world,
            now=now,
            settings=self.settings,
            ensemble=ensemble,
            client_names=client_names,
            parts=self._parts,
            paths=self._paths,
            locks_of=self._locks_of,
            deadlocks=deadlocks,
            over=self._log.over,
            inversions=inversions,
            blockers=verdict.blockers,
            findings=found.findings,
            blind=found.blind,
            events=tuple(events),
            idle=self._chronicle.sessions.idle,
            relist=verdict.relist,
            ours=ours,
            cost=cost,
        )

    def _departed(self, place: "DeadlockPlace") -> Departure | None:
        """Give how a place was left, if it was."""
        left = self._chronicle.of(place.lock).departures
        return next((one for one in reversed(left) if one.node == place.node), None)

    def _standing(self, world: World, now: Millis) -> Millis:
        """Let time stand still while the connection is lost: the picture is of that moment."""
        lost_at = world.link.gone_since if world.link else None
        return now if lost_at is None else max(self._now, min(now, lost_at))

    def _changes(self, world: World, now: Millis) -> list[LockChange]:
        """Make the locks again whose facts changed, and say how they differ."""
        changed = world.changed_since(self._world)
        known = self._world.families
        news: dict[Text, ChildrenDiff] = {}
        paths: set[Text] = set()
        for path in sorted(changed.paths):
            before, after = known.get(path, NO_FAMILY), world.families.get(path, NO_FAMILY)
            news[path] = difference(before.members, after.members)
            paths.update(read_by(path, news[path].names))
        paths.update(path for path, due in self._due.items() if due <= now)
        if changed.servers:
            paths |= self._asking | self._doubted
        changes = (self._change(path, world, now, news.get(path)) for path in sorted(paths))
        return [change for change in changes if change is not None]

    def _change(
        self, path: Text, world: World, now: Millis, news: ChildrenDiff | None
    ) -> LockChange | None:
        self._doubted.discard(path)
        before = self._locks.get(path)
        if before is None and self.settings.roots and self.settings.root_of(path) is None:
            return None
        if before is None and (simple := simple_lock(LockSite(path, world, self.settings))):
            return LockChange.between(path, None, simple)
        after: Lock | None = None
        if may_be_lock(path, world, self.settings):
            found = lock_at(path, world, self.settings, now, before, news)
            if isinstance(found, Lock):
                after = found
            else:
                after = _unknown(found, self.settings.root_of(path), world)
                if found.asks_watches:
                    self._doubted.add(path)
        return None if after is before else LockChange.between(path, before, after)

    def _file(self, changes: Iterable[LockChange]) -> None:
        """Keep the changed locks for the next look."""
        parts: dict[Text, LockRecord | None] = {}
        for change in changes:
            path, lock = change.path, change.after
            if lock is None:
                del self._locks[path]
                parts[path] = None
            else:
                self._locks[path] = lock
                parts[path] = LockRecord(lock, self._chronicle.of(path))
            self._mark(path, lock)
        came_or_went = any((change.before is None) != (change.after is None) for change in changes)
        self._parts = self._parts.with_changes(parts)
        if came_or_went:
            self._paths = tuple(sorted(self._locks))

    def _mark(self, path: Text, lock: Lock | None) -> None:
        """Note what else than its facts can change a lock."""
        self._due.pop(path, None)
        self._asking.discard(path)
        if lock is not None and lock.until is not None:
            self._due[path] = lock.until
        if lock is not None and lock.asks_watches:
            self._asking.add(path)


def _unknown(found: NotALock, root: Root | None, world: World) -> Lock | None:
    """Show what the user named although no lock was recognised there: he will wonder else."""
    if root is None or (("*" in root.path) and found.error is None):
        return None
    family = world.family(found.path)
    if not family.listed and not family.denied:
        return None
    return Lock(
        path=found.path,
        layout=found.kind,
        kind=root.kind or "other",
        queues=(),
        stat=family.stat,
        seen_zxid=family.listed_at,
        at=family.told_at,
        foreign=found.foreign,
        error=found.error,
        family=family,
    )
