"""Shows what is different between a moment of the past and the newest one."""

from textual import events
from textual.app import ComposeResult

from zktop.model.report import Report
from zktop.ui.dialogs.dialog import Box, Dialog
from zktop.ui.draw.clock import exact
from zktop.ui.draw.compare import compared
from zktop.ui.widgets.sheet import Sheet


class Compare(Dialog[None]):
    """A list to read; it does not change while it is open."""

    DEFAULT_CSS = """
    Compare Box { height: 90%; }
    Compare Sheet { background: $surface; }
    """

    def __init__(self, then: Report, now: Report) -> None:
        super().__init__()
        self._then, self._now = then, now

    def compose(self) -> ComposeResult:
        """Give the list."""
        box = Box()
        box.border_title = f"{exact(self._then.now)}Z, and the newest: {exact(self._now.now)}Z"
        box.border_subtitle = "esc leave"
        with box:
            yield Sheet()

    def on_mount(self) -> None:
        """Draw it when its width is known."""
        self.call_after_refresh(self._draw)

    def on_resize(self, _event: events.Resize) -> None:
        """Draw it for another width."""
        self._draw()

    def action_accept(self) -> None:
        """There is nothing to choose."""
        self.dismiss(None)

    def do_up(self) -> None:
        """Go up."""
        self.query_one(Sheet).do_up()

    def do_down(self) -> None:
        """Go down."""
        self.query_one(Sheet).do_down()

    def _draw(self) -> None:
        sheet = self.query_one(Sheet)
        sheet.show(compared(self._then, self._now, max(20, sheet.room.width)))
