"""All locks as rows, updated from each report: only rows of changed locks are replaced."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final

from zktop.model.facts import Millis
from zktop.model.findings.finding import Finding
from zktop.model.report import LockRecord, Report
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock
from zktop.model.world.persistent_map import PersistentMap
from zktop.ui.screens.common.live_rows import LiveRows
from zktop.ui.screens.common.lock_status import (
    LockStatus,
    deadlock_status,
    status_of,
    status_without_finding,
)
from zktop.ui.screens.locks.groups import KEEP_GROUP, LINGER_MS, MIN_GROUP, LockGroup
from zktop.ui.screens.locks.lock_row import LockRow, fields_with

MEMBERS_AT_ONCE: Final = 5_000  # reading them takes some 10 ms
GONE_SHOWN_MS: Final[Millis] = 5_000  # how long the row under the cursor outlives its lock


class LockRows(LiveRows[LockRow]):
    """One row for each lock of the newest report."""

    group_type = LockGroup

    def __init__(self) -> None:
        super().__init__(MIN_GROUP, KEEP_GROUP, LINGER_MS)
        self.report: Report | None = None
        self.kept_path: Text | None = None  # this row stays for a while after its lock is deleted
        self.records: PersistentMap[Text, LockRecord] = PersistentMap()  # those of all rows
        self._statuses: dict[Text, LockStatus] = {}
        self._statuses_of: tuple[object, object] = ((), ())  # these findings and deadlocks
        self._only_watched: set[Text] = set()  # locks whose waiters are known by watches alone
        self._gone: set[Text] = set()

    def read(self, report: Report) -> Iterator[None]:
        """Apply the next report, or an earlier one, in steps if many locks have changed."""
        previous, self.report = self.report, report
        if previous is report:
            return
        paths = self._changed(previous, report)
        at = report.now if previous is None or previous.now <= report.now else None
        members = 0
        for path in paths:
            self._set(path, report, at)
            members += self.rows[path].lock.size if path in self.rows else 1
            if members >= MEMBERS_AT_ONCE:
                members = 0
                yield
        self.records = report.records
        self.has_changed |= bool(paths)
        if previous is not None and self.keeps_texts:
            yield from self._forget_names(previous, report)

    def _forget_names(self, previous: Report, report: Report) -> Iterator[None]:
        """Drop the cached texts of locks whose clients may have been renamed."""
        renamed: Iterable[Text] = report.paths
        if report.client_names.owners.has_entries_of(previous.client_names.owners):
            changed = report.ensemble.changed_since(previous.ensemble)  # a name may be an address
            renamed = (path for session in changed for path in report.locks_of.get(session, ()))
        for number, path in enumerate(renamed, start=1):
            self.forget(self.rows.get(path))
            self.has_changed = True
            if number % MEMBERS_AT_ONCE == 0:
                yield

    def _changed(self, previous: Report | None, report: Report) -> Collection[Text]:
        """Return the paths whose rows change. If all change, they are sorted, to save time."""
        statuses = self._changed_statuses(report)
        if previous is None:
            return report.paths
        changed = report.records.changed_since(self.records) | statuses
        return changed | self._changed_watchers(previous, report) | self._outlived(report)

    @property
    def fields(self) -> Mapping[str, Callable[[LockRow], str]]:
        assert self.report is not None  # noqa: S101  rows exist only after the first report
        return fields_with(self.report.owner_name)

    def _changed_statuses(self, report: Report) -> set[Text]:
        deadlocks = tuple((deadlock.id, deadlock.confidence) for deadlock in report.deadlocks)
        if report.findings is self._statuses_of[0] and deadlocks == self._statuses_of[1]:
            return set()
        previous_statuses, self._statuses_of = self._statuses, (report.findings, deadlocks)
        self._statuses = statuses_of(report.findings, report.deadlocks)
        either = previous_statuses.keys() | self._statuses.keys()
        return {path for path in either if previous_statuses.get(path) != self._statuses.get(path)}

    def _changed_watchers(self, previous: Report | None, report: Report) -> set[Text]:
        if previous is not None and previous.ensemble.tables == report.ensemble.tables:
            return set()
        return {
            path
            for path in self._only_watched
            if self._watchers(path, report) != self.rows[path].waiting
        }

    def _outlived(self, report: Report) -> set[Text]:
        """Return the deleted locks that were shown long enough, or that lost the cursor."""
        return {
            path
            for path in self._gone
            if path != self.kept_path
            or not 0 <= report.now - (self.rows[path].gone_at or 0) < GONE_SHOWN_MS
        }

    def _set(self, path: Text, report: Report, at: Millis | None) -> None:
        record = report.records.get(path)
        if record is None:
            self._remove(path, report.now)
            return
        lock = record.lock
        self._gone.discard(path)
        if lock.is_only_watched:
            self._only_watched.add(path)
            waiting = self._watchers(path, report)
        else:
            waiting = (
                sum(len(queue.waiters) for queue in lock.queues) if lock.error is None else None
            )
        status = self._statuses.get(path) or status_without_finding(lock)
        self.put(LockRow(lock, record.history, status, waiting), at)

    def _remove(self, path: Text, now: Millis) -> None:
        self._only_watched.discard(path)
        self._gone.discard(path)
        row = self.remove(path)
        if row is not None and row.gone_at is None and path == self.kept_path:
            self._gone.add(path)
            self.put(LockRow(row.lock, row.history, row.status, row.waiting, now))

    def _watchers(self, path: Text, report: Report) -> int | None:
        """Count the waiters of a lock by its watches; None if none is seen but some may exist."""
        view = report.view(path)
        if view is None or not (view.waiting or view.knows_waiters):
            return None
        return view.waiting


def statuses_of(
    findings: Iterable[Finding], deadlocks: Iterable[Deadlock] = ()
) -> dict[Text, LockStatus]:
    """Return the worst status of each lock. Consequences count only for locks without a cause."""
    statuses: dict[Text, LockStatus] = {}
    for deadlock in deadlocks:
        for path in deadlock.locks:
            statuses.setdefault(Text(path), deadlock_status(deadlock))
    problems = (finding for finding in findings if finding.severity != "info")
    for finding in sorted(problems, key=lambda finding: finding.cause is not None):
        status = status_of(finding)
        for path in finding.locks:
            worst = statuses.get(path)
            if worst is None or (status.rank < worst.rank and finding.cause is None):
                statuses[path] = status
    return statuses
