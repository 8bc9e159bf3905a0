"""A question that is answered with yes or no; enter alone is no."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import Label

from zktop.ui.dialogs.dialog import Box, Dialog


class Confirm(Dialog[bool]):
    """Asks before something is done that cannot be taken back."""

    BINDINGS: ClassVar = [
        Binding("y", "yes", "Yes", show=True),
        Binding("n", "leave", "No", show=True),
    ]

    def __init__(self, title: str, question: str) -> None:
        super().__init__()
        self._title, self._question = title, question

    def compose(self) -> ComposeResult:
        """Give the question."""
        box = Box()
        box.border_title, box.border_subtitle = self._title, "y yes   n, esc no"
        with box:
            yield Label(self._question, markup=False)

    def action_yes(self) -> None:
        """Agree."""
        self.dismiss(True)  # noqa: FBT003  the answer

    def action_accept(self) -> None:
        """Take a hasty enter for a no."""
        self.dismiss(None)
