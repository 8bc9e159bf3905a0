"""A report in parts, so that a screen with many rows reads it in steps and handles keys meanwhile.

A screen would stand still for a second while it makes 100,000 rows, when it is first opened or
when the user goes to another time.
"""

from collections.abc import Callable, Iterator
from itertools import chain

from msgspec.structs import replace

from zktop.model.report import LockRecord, Report
from zktop.model.text import Text
from zktop.model.world.persistent_map import PersistentMap
from zktop.ui.screens.page import Page
from zktop.ui.textual_fixes.key_queue import call_in_steps


def partial_reports(
    report: Report, known: PersistentMap[Text, LockRecord], at_once: int
) -> Iterator[Report]:
    """Yield the report with more and more of the locks that differ from the known ones.

    Each part has locks with about `at_once` more members. The whole report is not among them: a
    small difference has no parts.
    """
    more: dict[Text, LockRecord | None] = {}
    members = 0
    for path in report.parts.changed_since(known) if known else tuple(report.parts):
        record = more[path] = report.parts.get(path)
        members += record.lock.size if record is not None else 1
        if members >= at_once:
            known = known.with_changes(more)
            yield replace(report, parts=known)
            more, members = {}, 0


class PartReader:
    """Lets a page read the parts of a report, each in a step, and draws the page after each."""

    def __init__(self, page: Page, read: Callable[[Report], object]) -> None:
        self._page, self._read = page, read
        self.is_reading = False

    def begins(self, parts: Iterator[Report]) -> bool:
        """Begin to read these parts; False if there are none."""
        first = next(parts, None)
        if first is None:
            return False
        self.is_reading = True
        call_in_steps(self._page, self._steps(chain((first,), parts)), then=self._end)
        return True

    def _steps(self, parts: Iterator[Report]) -> Iterator[None]:
        for part in parts:
            self._read(part)
            self._page.redraw()
            yield

    def _end(self) -> None:
        self.is_reading = False
        self._page.redraw()
