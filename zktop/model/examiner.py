"""Builds the next report from a world: its locks, their history, who waits for whom, findings.

`Examiner.look` runs these steps in order. The cost of a step depends on the size of the change,
because each part keeps its state from one look to the next.
"""

from collections.abc import Collection, Sequence

from zktop.model.client_names import ClientNames, SharedNames
from zktop.model.deadlock_log import DeadlockLog
from zktop.model.facts import Cost, Millis, OwnerNames, Session
from zktop.model.findings.confirm import CurrentFindings
from zktop.model.findings.tracker import FindingTracker, LookInput
from zktop.model.history.all_locks import LockHistories
from zktop.model.history.events import Event
from zktop.model.history.lock_change import LockChange
from zktop.model.lock_tracker import LockTracker
from zktop.model.locks.folder import NO_MEMORIES, FolderMemories
from zktop.model.locks_of_sessions import LocksOfSessions, index_after
from zktop.model.owner_list import OwnerList
from zktop.model.report import LockRecord, Report
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.waits.detector import DeadlockDetector, DeadlockVerdict
from zktop.model.world.persistent_map import PersistentMap
from zktop.model.world.tables_of_all_servers import NO_ENSEMBLE, Ensemble
from zktop.model.world.world import World


class Examiner:
    """A fold over worlds: the same worlds at the same times give the same reports.

    It has no clock and does no I/O, so a replay of recorded facts gives the reports of the live
    run. Its state depends only on the worlds it was given.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        memories: FolderMemories = NO_MEMORIES,
        *,
        ranks_blockers: bool = True,
    ) -> None:
        """Begin with what an earlier examiner knew of some locks, if there was one.

        Without `ranks_blockers`, the reports have no root blockers.
        """
        self.settings = settings or Settings()
        self._tracker = LockTracker(self.settings, memories)
        self._histories = LockHistories()
        self._records: PersistentMap[Text, LockRecord] = PersistentMap()
        self._locks_of: LocksOfSessions = PersistentMap()
        self._shared_names = SharedNames()
        self._waits = DeadlockDetector(self.settings, ranks_blockers=ranks_blockers)
        self._deadlock_log = DeadlockLog(
            self._histories, self._tracker.locks, self._waits.is_concurrent
        )
        self._findings = FindingTracker(self.settings, self._histories)
        self._ensemble = NO_ENSEMBLE
        self._owners = OwnerList(self.settings.owners)
        self._owners_read: OwnerNames | None = None  # the fact that is in `_owners`
        self._now: Millis = 0  # of the newest report

    @property
    def is_behind(self) -> bool:
        """Whether the last look was not thorough and left work for the next one."""
        return self._findings.is_behind or self._waits.is_behind

    def look(
        self,
        world: World,
        now: Millis,
        *,
        thorough: bool = True,
        ours: Collection[Session] = frozenset(),
        cost: Cost | None = None,
    ) -> Report:
        """Report on a world at a given time.

        A look that is not thorough leaves some examinations to the next looks: the report shows
        the locks at once, and their findings a moment later.
        """
        self._now = now = self._time_of(world, now)
        self._ensemble = ensemble = Ensemble.of(world, now, self._ensemble)
        changes = self._tracker.changes(world, now)
        events = self._histories.after(changes, ensemble, now, world)
        self._index(changes)
        self._shared_names.count(changes)
        client_names = ClientNames(ensemble, self._owners_in(world), self._shared_names.shared)
        waits = self._judge_waits(changes, client_names, is_thorough=thorough)
        look = LookInput(
            world=world,
            now=now,
            ensemble=ensemble,
            locks=self._tracker.locks,
            locks_of=self._locks_of,
            changes=changes,
            deadlocks=(*waits.deadlocks, *waits.hints),
            inversions=self._deadlock_log.with_last_times(waits.inversions),
            client_names=client_names,
            thorough=thorough,
        )
        current = self._findings.look(look)
        return self._report(look, waits, current, tuple(events), ours=ours, cost=cost)

    def _judge_waits(
        self, changes: Sequence[LockChange], client_names: ClientNames, *, is_thorough: bool
    ) -> DeadlockVerdict:
        for change in changes:
            self._waits.change(change)
        return self._waits.judge(
            self._ensemble,
            self._histories,
            self._tracker.locks,
            self._now,
            client_names=client_names,
            is_thorough=is_thorough,
        )

    def _report(
        self,
        look: LookInput,
        waits: DeadlockVerdict,
        current: CurrentFindings,
        events: tuple[Event, ...],
        *,
        ours: Collection[Session],
        cost: Cost | None,
    ) -> Report:
        deadlocks = self._deadlock_log.look(
            (*waits.deadlocks, *current.deadlocks),
            waits.hints,
            look.now,
            changed={change.path for change in look.changes},
        )
        return Report(
            world=look.world,
            now=look.now,
            settings=self.settings,
            ensemble=look.ensemble,
            client_names=look.client_names,
            records=self._records,
            paths=self._tracker.paths,
            locks_of=self._locks_of,
            deadlocks=deadlocks,
            over=self._deadlock_log.over,
            inversions=look.inversions,
            blockers=waits.blockers,
            findings=current.findings,
            blind=current.blind,
            events=events,
            expiries=self._histories.ledger.entries,
            idle=self._histories.sessions.idle,
            relist=waits.relist,
            ours=ours,
            cost=cost,
        )

    def _owners_in(self, world: World) -> OwnerList:
        """The user's list of owners. It is the same object until the owners file changes."""
        read = world.owners
        if read is not None and read is not self._owners_read:
            self._owners_read = read
            # The entries of the config come first, and also replace those of the file.
            self._owners = OwnerList(
                {**self.settings.owners, **read.owners, **self.settings.owners}
            )
        return self._owners

    def _time_of(self, world: World, now: Millis) -> Millis:
        """The time of the report. While the connection is lost, it is the time of the loss."""
        lost_at = world.link.gone_since if world.link else None
        return now if lost_at is None else max(self._now, min(now, lost_at))

    def _index(self, changes: Sequence[LockChange]) -> None:
        """Store the changed locks with their histories, and index them by session."""
        records: dict[Text, LockRecord | None] = {}
        for change in changes:
            path, lock = change.path, change.after
            records[path] = None if lock is None else LockRecord(lock, self._histories.of(path))
        self._records = self._records.with_changes(records)
        self._locks_of = index_after(self._locks_of, changes)
