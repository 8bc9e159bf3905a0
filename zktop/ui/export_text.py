"""A part of a report as text, to be pasted into a chat or a ticket."""

from collections.abc import Collection

import msgspec

from zktop.model.findings.finding import Finding
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock
from zktop.model.world.persistent_map import PersistentMap
from zktop.output import text
from zktop.output.snapshot import snapshot
from zktop.ui.state import Selection


def excerpt(report: Report, paths: Collection[str]) -> Report:
    """Leave out all locks but these, and what was found elsewhere."""
    wanted = frozenset(map(Text, paths))
    return msgspec.structs.replace(
        report,
        parts=PersistentMap({path: part for path in wanted if (part := report.parts.get(path))}),
        paths=tuple(path for path in sorted(wanted) if path in report.parts),
        deadlocks=tuple(one for one in report.deadlocks if not wanted.isdisjoint(one.locks)),
        findings=tuple(one for one in report.findings if not wanted.isdisjoint(one.locks)),
    )


def as_text(report: Report, paths: Collection[str], hosts: str | None = None) -> str:
    """Write these locks as a snapshot in text does."""
    return "\n".join(text.lines(snapshot(excerpt(report, paths), hosts)))


def concerned(report: Report, subject: Selection) -> frozenset[str]:
    """Name the locks that something is about."""
    if subject.case is None:
        return frozenset() if subject.path is None else frozenset((subject.path,))
    told: tuple[Deadlock | Finding, ...] = (*report.deadlocks, *report.findings)
    return frozenset(path for one in told if one.id == subject.case for path in one.locks)
