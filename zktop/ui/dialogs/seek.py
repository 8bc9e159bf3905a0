"""Asks for a time to go to."""

from textual import on
from textual.app import ComposeResult
from textual.widgets import Input, Label

from zktop.model.facts import Millis
from zktop.ui.dialogs.dialog import Box, Dialog
from zktop.ui.draw.clock import exact
from zktop.ui.travel import moment_of


class SeekTime(Dialog[Millis]):
    """Gives the time that was typed."""

    DEFAULT_CSS = """
    SeekTime Input { border: none; height: 1; padding: 0; background: $surface; }
    SeekTime #wrong { color: $error; height: auto; }
    """

    def __init__(self, begin: Millis, end: Millis, here: Millis) -> None:
        super().__init__()
        self._begin, self._end, self._here = begin, end, here

    def compose(self) -> ComposeResult:
        """Give the line to type in, and what may be typed."""
        box = Box()
        box.border_title, box.border_subtitle = "Go to a time", "enter go   esc leave"
        with box:
            known = f"{exact(self._begin)}Z to {exact(self._end)}Z is kept, in UTC."
            yield Label(known, markup=False)
            yield Label(
                "Type 13:57:10, or +90s from the beginning, or -10s from here.", markup=False
            )
            yield Input(placeholder=exact(self._here), compact=True)
            yield Label("", id="wrong", markup=False)

    @on(Input.Submitted)
    def action_accept(self) -> None:
        """Go there, if it is a time."""
        text = self.query_one(Input).value
        at = moment_of(text, self._begin, self._here)
        if at is None:
            self.query_one("#wrong", Label).update(f"{text!r} is no time.")
        else:
            self.dismiss(at)
