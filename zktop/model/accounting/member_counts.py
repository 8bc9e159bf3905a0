"""Counts the members of a lock by state, and finds the locks whose counts may have changed."""

from collections.abc import Iterator

from zktop.model.locks.lock import MemberState
from zktop.model.report import LockRecord, LockView, Report
from zktop.model.text import Text
from zktop.model.world.persistent_map import PersistentMap
from zktop.model.world.tables_of_one_server import ServerTables


class ChangedLocks:
    """Finds the locks whose members may have changed since the previous report."""

    def __init__(self) -> None:
        self._records: PersistentMap[Text, LockRecord] = PersistentMap()
        self._tables: tuple[ServerTables, ...] = ()
        self._watched: set[Text] = set()  # locks whose waiters only watch tables show

    def after(self, report: Report) -> set[Text]:
        """Return the paths of locks that may have changed, including new and vanished ones."""
        changed = report.parts.changed_since(self._records)
        if report.ensemble.tables != self._tables:
            changed |= self._watched
        self._records, self._tables = report.parts, report.ensemble.tables
        for path in changed:
            record = report.parts.get(path)
            if record is not None and record.lock.is_only_watched:
                self._watched.add(path)
            else:
                self._watched.discard(path)
        return changed


def member_counts(view: LockView) -> dict[MemberState, int]:
    """Count the members in each state, with the sessions known only by their watches."""
    return dict(_member_counts(view))


def _member_counts(view: LockView) -> Iterator[tuple[MemberState, int]]:
    lock = view.lock
    holders = sum(len(queue.holders) for queue in lock.queues)
    others = sum(len(queue.waiters) for queue in lock.queues)
    all_others = others + len(view.watch_check.watchers_waiting)
    waits = len(lock.stranded) if lock.has_standbys else all_others
    yield "holds", holders
    yield "waits", waits
    yield "standby", all_others - waits
    yield "pending", lock.size - holders - others
