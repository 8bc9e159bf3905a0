"""The lock to look at where nobody has chosen one: what is worst, else what is wanted most."""

from zktop.model.report import Report
from zktop.model.text import Text


def worst_path(report: Report) -> Text | None:
    """Choose a lock; None where there is none."""
    for deadlock in report.deadlocks:
        found = next((path for path in deadlock.locks if path in report.parts), None)
        if found is not None:
            return Text(found)
    for finding in report.findings:
        if finding.severity != "info" and finding.lock in report.parts:
            return finding.lock
    return max(report.paths, key=lambda path: _wanted(report, path), default=None)


def _wanted(report: Report, path: Text) -> tuple[int, int]:
    lock = report.parts[path].lock
    return len(lock.waiters), lock.size
