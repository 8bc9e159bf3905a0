"""All locks as rows: a fold over reports that makes anew only the rows that changed.

Ten thousand locks are put into an order a few times a second, by numbers that every row has ready.
Everything else follows what changed.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Final

from zktop.model.facts import Millis
from zktop.model.findings.finding import Finding
from zktop.model.locks.lock import Lock
from zktop.model.report import LockRecord, Report
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock
from zktop.model.world.persistent_map import PersistentMap
from zktop.ui.filters import NO_FILTER, Filter
from zktop.ui.screens.common.status_codes import (
    LockStatus,
    deadlock_status,
    status_of,
    status_without_finding,
)
from zktop.ui.screens.locks.groups import LockGroups
from zktop.ui.screens.locks.order import Ranking
from zktop.ui.screens.locks.row import LockFields, LockRow, row_of

MOURNED_MS: Final[Millis] = 5_000  # how long the row under the cursor outlives its lock
WORST: Final = 1_000

Ordering = Callable[[list[LockRow]], list[LockRow]]


class LockRows:
    """One row for each lock of the newest report it was told of."""

    def __init__(self) -> None:
        """Begin with no lock."""
        self.rows: dict[Text, LockRow] = {}
        self.report: Report | None = None
        self.folds = LockGroups()
        self.kept: Text | None = None  # whose row stays for a while when its lock is gone
        self._parts: PersistentMap[Text, LockRecord] = PersistentMap()
        self._marks: dict[Text, LockStatus] = {}
        self._told: tuple[object, object] = ((), ())
        self._singles: set[Text] = set()
        self._ghosts: set[Text] = set()
        self._worst: list[LockRow] = []
        self._ranking: Ranking | None = None  # None: a lock has come or gone
        self._filter = NO_FILTER
        self._tested: dict[Text, tuple[LockRow, bool]] = {}

    def update(self, report: Report) -> set[Text]:
        """Take the next report, or an earlier one; give the paths whose rows are others now."""
        before, self.report = self.report, report
        if before is report:
            return set()
        changed = report.parts.changed_since(self._parts)
        changed |= self._judged(report) | self._watched(before, report) | self._forgotten(report)
        self._parts = report.parts
        at = report.now if before is None or before.now <= report.now else None
        for path in changed:
            row = self.rows.get(path)
            self._set(path, report)
            self.folds.put(path, row, self.rows.get(path), at)
            if self._ranking is not None and not self._ranking.put(path, self.rows.get(path)):
                self._ranking = None
        return changed

    def ordered(self, wanted: Filter = NO_FILTER, order: Ordering | None = None) -> list[LockRow]:
        """Give the rows that pass, the worst first or in the order asked for.

        Without a filter it is the same list for as long as no row would have another place.
        """
        if self.report is None:
            return []
        if order is not None:
            return order(self.passing(self._by_path(self.report), wanted))
        if self._ranking is None:
            self._ranking = Ranking(self._by_path(self.report))
        rows = self._ranking.ordered(self.report.now)
        self._worst = rows[:WORST]
        return self.passing(rows, wanted)

    def _by_path(self, report: Report) -> list[LockRow]:
        rows = [row for path in report.paths if (row := self.rows.get(path))]
        return rows + [self.rows[path] for path in self._ghosts]

    def locks(self) -> Iterator[Lock]:
        """Give all locks, those first that were the worst when they were last put in order."""
        first = (now.lock for row in self._worst if (now := self.rows.get(row.path)))
        return chain(first, (row.lock for row in self.rows.values()))

    def passing(self, rows: list[LockRow], wanted: Filter) -> list[LockRow]:
        """Leave out what does not pass; a row is tested once."""
        if not wanted:
            return rows
        if wanted.text != self._filter.text:
            self._filter, self._tested = wanted, {}
        return [row for row in rows if self._passes(row)]

    def _passes(self, row: LockRow) -> bool:
        known = self._tested.get(row.path)
        if known is None or known[0] is not row:
            naming = self.report.owner_name if self.report else None
            passes = naming is not None and self._filter.passes(LockFields(row, naming))
            known = self._tested[row.path] = row, passes
        return known[1]

    def _judged(self, report: Report) -> set[Text]:
        """Name the locks whose state is another one now, by what was found."""
        known = tuple((one.id, one.confidence) for one in report.deadlocks)
        if report.findings is self._told[0] and known == self._told[1]:
            return set()
        before, self._told = self._marks, (report.findings, known)
        self._marks = statuses_of(report.findings, report.deadlocks)
        either = before.keys() | self._marks.keys()
        return {path for path in either if before.get(path) != self._marks.get(path)}

    def _watched(self, before: Report | None, report: Report) -> set[Text]:
        """Name the locks whose waiters are known by their watches alone, when tables are new."""
        if before is not None and before.ensemble.tables == report.ensemble.tables:
            return set()
        return {path for path in self._singles if self._crowd(path, report) != self._waits(path)}

    def _forgotten(self, report: Report) -> set[Text]:
        """Name rows that were mourned long enough, or that nobody looks at any more."""
        return {
            path
            for path in self._ghosts
            if path != self.kept
            or not 0 <= report.now - (self.rows[path].gone_at or 0) < MOURNED_MS
        }

    def _set(self, path: Text, report: Report) -> None:
        part = report.parts.get(path)
        if part is None:
            self._take_away(path, report.now)
            return
        lock = part.lock
        self._ghosts.discard(path)
        if lock.kind == "single":
            self._singles.add(path)
        mark = self._marks.get(path) or status_without_finding(lock)
        waiting = _waiters(lock) if lock.kind != "single" else self._crowd(path, report)
        self.rows[path] = row_of(lock, part.history, mark, waiting)

    def _take_away(self, path: Text, now: Millis) -> None:
        row = self.rows.pop(path, None)
        self._singles.discard(path)
        self._ghosts.discard(path)
        self._tested.pop(path, None)
        if row is not None and row.gone_at is None and path == self.kept:
            self._ghosts.add(path)
            self.rows[path] = row_of(row.lock, row.history, row.mark, row.waiting, now)

    def _crowd(self, path: Text, report: Report) -> int | None:
        """Count who waits by a watch alone; None when no watch table was read."""
        view = report.view(path)
        if view is None or report.ensemble.visibility.watches == "none":
            return None
        return len(view.lock.waiters) + len(view.lookout.crowd)

    def _waits(self, path: Text) -> int | None:
        row = self.rows.get(path)
        return row.waiting if row else None


def _waiters(lock: Lock) -> int | None:
    return sum(len(line.waiters) for line in lock.queues) if lock.error is None else None


def worst_first(rows: list[LockRow], now: Millis) -> list[LockRow]:
    """Put rows in the usual order: what is wrong, then who has blocked most, then by path."""
    return Ranking(rows).ordered(now)


def statuses_of(
    findings: Iterable[Finding], deadlocks: Iterable[Deadlock] = ()
) -> dict[Text, LockStatus]:
    """Give the worst state of each lock; a mere consequence counts where nothing else does."""
    marks: dict[Text, LockStatus] = {}
    for deadlock in deadlocks:
        for path in deadlock.locks:
            marks.setdefault(Text(path), deadlock_status(deadlock))
    told = (one for one in findings if one.severity != "info")  # news mark nothing
    for finding in sorted(told, key=lambda one: one.cause is not None):
        mark = status_of(finding)
        for path in finding.locks:
            known = marks.get(path)
            if known is None or (mark.rank < known.rank and finding.cause is None):
                marks[path] = mark
    return marks
