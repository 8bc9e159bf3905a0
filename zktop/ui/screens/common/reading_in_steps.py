"""Read a report into the rows of a page in steps, so that the page still handles keys.

Building 100,000 rows at once would freeze a screen for a second when it is first opened, or when
the user goes to another time.
"""

from collections.abc import Iterator
from typing import Any

from zktop.model.report import Report
from zktop.ui.screens.common.live_rows import LiveRows
from zktop.ui.screens.page import Page
from zktop.ui.textual_fixes.key_queue import call_in_steps


class ReadingInSteps:
    """Reads a report into the rows of a page, and draws it after the first and the last step."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.is_under_way = False

    def is_over(self, rows: LiveRows[Any], report: Report) -> bool:
        """Read a report into the rows; False while it, or an earlier one, is read in steps."""
        if self.is_under_way:
            return False
        steps = rows.read(report)
        if next(steps, steps) is steps:
            return True
        self.is_under_way = True
        call_in_steps(self._page, self._rest(steps), then=self._end)
        return False

    def _rest(self, steps: Iterator[None]) -> Iterator[None]:
        self._page.redraw()
        yield
        yield from steps

    def _end(self) -> None:
        self.is_under_way = False
        self._page.redraw()
