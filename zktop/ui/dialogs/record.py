"""Ask whether a new recording should include the past that zktop remembers."""

from textual.app import ComposeResult

from zktop.ui.dialogs.base import Box, Dialog
from zktop.ui.styled_text import line
from zktop.ui.widgets.text_view import TextList

WITH_PAST, FROM_NOW = "past", "now"


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
            WITH_PAST: f"the last {self._length}, and from now on",
            FROM_NOW: "only from now on",
        }
        lines = [line((title, "strong")) for title in choices.values()]
        self.query_one(TextList).show(lines, list(choices))
        self.query_one(TextList).focus()

    def action_accept(self) -> None:
        self.dismiss(self.query_one(TextList).target == WITH_PAST)
