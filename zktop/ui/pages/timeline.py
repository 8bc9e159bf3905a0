"""Screen timeline."""

from textual.app import ComposeResult

from zktop.ui.ink import line
from zktop.ui.moment import Moment
from zktop.ui.pages.page import Page
from zktop.ui.widgets.sheet import Sheet


class Timeline(Page):
    """To be drawn."""

    NAME = "timeline"
    TITLE = "Timeline"

    def compose(self) -> ComposeResult:
        """Give the panes."""
        yield Sheet()

    def show(self, moment: Moment) -> None:
        """Draw this moment."""
        self.query_one(Sheet).show([line(moment.status.says)])
