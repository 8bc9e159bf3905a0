"""Ask for permission to write: the user must type a word. Enter alone does nothing."""

from textual import on
from textual.app import ComposeResult
from textual.widgets import Input, Label

from zktop.ui.dialogs.base import Box, Dialog


class ConfirmDialog(Dialog[str]):
    """Returns the typed word, or None."""

    DEFAULT_CSS = """
    ConfirmDialog Label { width: 1fr; height: auto; }
    ConfirmDialog Input { border: none; height: 1; padding: 0; background: $surface; }
    ConfirmDialog #wrong { color: $error; text-style: bold; }
    """

    def __init__(self, title: str, question: str, word: str) -> None:
        super().__init__()
        self._title, self._question, self._word = title, question, word

    def compose(self) -> ComposeResult:
        """Yield the question and the field for the word."""
        box = Box()
        box.border_title, box.border_subtitle = self._title, "enter submit   esc cancel"
        with box:
            yield Label(self._question, markup=False)
            field = Input(placeholder=f"type {self._word}", compact=True)
            field.cursor_blink = False
            yield field
            yield Label("", id="wrong", markup=False)

    @on(Input.Submitted)
    def action_accept(self) -> None:
        """Close if the word is right; else stay open."""
        typed = self.query_one(Input).value
        if typed == self._word:
            self.dismiss(typed)
        else:
            sentence = f"Nothing was written. Type {self._word}, or press esc to cancel."
            self.query_one("#wrong", Label).update(sentence)
