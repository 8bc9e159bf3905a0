"""Screen 1: all locks, the worst first."""

from textual.app import ComposeResult

from zktop.model.contender import View
from zktop.ui.ink import line
from zktop.ui.moment import Moment, Subject
from zktop.ui.pages.page import Page
from zktop.ui.widgets.table import Column, Table

COLUMNS = (
    Column[View](
        "LOCK", 20, lambda view: line(view.lock.path), lambda view: view.lock.path, share=1
    ),
    Column[View](
        "QUEUE",
        5,
        lambda view: line(str(len(view.lock.waiters))),
        lambda view: len(view.lock.waiters),
        at_right=True,
        descending=True,
    ),
)


class Locks(Page):
    """All locks."""

    NAME = "locks"
    TITLE = "Locks"

    def compose(self) -> ComposeResult:
        """Give the panes."""
        yield Table(COLUMNS, lambda view: view.lock.path)

    def show(self, moment: Moment) -> None:
        """Draw this moment."""
        table = self.query_one(Table)
        if moment.frame:
            table.show(table.ordered(list(moment.frame.report.views)))

    @property
    def subject(self) -> Subject:
        """The lock under the cursor."""
        row = self.query_one(Table).row
        return Subject(path=row.lock.path if row else None)
