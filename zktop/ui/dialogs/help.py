"""The help: what the screen in sight shows, its keys as they are now, and what marks mean."""

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.widgets import Input

from zktop.ui.dialogs.dialog import Box, Dialog
from zktop.ui.draw.help import help_lines
from zktop.ui.keys import Key
from zktop.ui.widgets.sheet import Sheet


class Help(Dialog[str]):
    """Scrolls, and narrows to what is typed."""

    DEFAULT_CSS = """
    Help Box { height: 90%; }
    Help Sheet { height: 1fr; background: $surface; }
    Help Input { border: none; height: 1; padding: 0; background: $surface; }
    """

    def __init__(self, title: str, about: str, keys: Sequence[Key]) -> None:
        super().__init__()
        self._title, self._about, self._keys = title, about, keys

    def compose(self) -> ComposeResult:
        """Give the text, and a line to narrow it with."""
        box = Box()
        box.border_title, box.border_subtitle = "Help", "up, down scroll   esc leave"
        with box:
            field = Input(placeholder="type to find a key or a word", compact=True)
            field.cursor_blink = False
            yield field
            yield Sheet(id="text")

    def on_mount(self) -> None:
        """Show all of it."""
        self.call_after_refresh(self._draw)

    def on_input_changed(self) -> None:
        """Narrow it."""
        self._draw()

    def on_resize(self, _event: events.Resize) -> None:
        """Fold it for the new width."""
        self.call_after_refresh(self._draw)

    def do_up(self) -> None:
        """Scroll up."""
        self.query_one(Sheet).do_up()

    def do_down(self) -> None:
        """Scroll down."""
        self.query_one(Sheet).do_down()

    def do_page_up(self) -> None:
        """Scroll up a page."""
        self.query_one(Sheet).do_page_up()

    def do_page_down(self) -> None:
        """Scroll down a page."""
        self.query_one(Sheet).do_page_down()

    def action_accept(self) -> None:
        """Close it: there is nothing to choose."""
        self.dismiss(None)

    def on_input_submitted(self) -> None:
        """Close it."""
        self.action_accept()

    def _draw(self) -> None:
        sheet = self.query_one(Sheet)
        wanted = self.query_one(Input).value.strip()
        sheet.show(help_lines(self._title, self._about, self._keys, sheet.room.width, wanted))
