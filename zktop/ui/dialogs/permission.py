"""Ask for permission to write: the user must type a word. Enter alone does nothing."""

from textual.app import ComposeResult
from textual.widgets import Input, Label

from zktop.ui.dialogs.base import Box, Dialog, text_field


class ConfirmDialog(Dialog[str]):
    """Returns the typed word, or None."""

    DEFAULT_CSS = """
    ConfirmDialog Label { width: 1fr; height: auto; }
    """

    def __init__(self, title: str, question: str, word: str) -> None:
        super().__init__()
        self._title, self._question, self._word = title, question, word

    def compose(self) -> ComposeResult:
        """Yield the question and the field for the word."""
        with Box(self._title, "enter submit   esc cancel"):
            yield Label(self._question, markup=False)
            yield text_field(hint=f"type {self._word}")
            yield Label("", id="wrong", markup=False)

    def action_accept(self) -> None:
        """Close if the word is right; else stay open."""
        typed = self.query_one(Input).value
        if typed == self._word:
            self.dismiss(typed)
        else:
            self.refuse(f"Nothing was written. Type {self._word}, or press esc to cancel.")
