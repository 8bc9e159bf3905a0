"""Ask whether a new recording should include the past that zktop remembers."""

from typing import Final

from textual.app import ComposeResult

from zktop.ui.dialogs.base import Box, Dialog
from zktop.ui.styled_text import line
from zktop.ui.widgets.text_view import TextList

WITH_PAST, FROM_NOW = "past", "now"
TITLE_CELLS: Final = 26


class RecordDialog(Dialog[bool]):
    """Returns True to include the past, False to begin now."""

    DEFAULT_CSS = """
    RecordDialog TextList { height: 2; background: $surface; }
    """
    moves_in = "#choices"

    def __init__(self, length: str) -> None:
        """Offer a past of this length."""
        super().__init__()
        self._length = length

    def compose(self) -> ComposeResult:
        with Box("Record", "up, down choose   enter record   esc cancel"):
            yield TextList(id="choices")

    def on_mount(self) -> None:
        choices = {
            WITH_PAST: (f"the last {self._length}", "and everything from now on"),
            FROM_NOW: ("from now on only", ""),
        }
        lines = [
            line((f"{title:<{TITLE_CELLS}}", "strong"), more) for title, more in choices.values()
        ]
        self.query_one(TextList).show(lines, list(choices))
        self.query_one(TextList).focus()

    def action_accept(self) -> None:
        self.dismiss(self.query_one(TextList).target == WITH_PAST)
