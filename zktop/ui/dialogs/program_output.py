"""The output of one of the user's own commands."""

import shlex
from collections import deque
from collections.abc import Sequence
from typing import Final

from textual.app import ComposeResult

from zktop.ui.dialogs.base import Box, Dialog
from zktop.ui.styled_text import Line, line
from zktop.ui.user_commands import RunProgram
from zktop.ui.widgets.text_view import LogView

MAX_LINES: Final = 5_000  # only the newest lines of output are kept


class OutputDialog(Dialog[None]):
    """Shows what a program writes while it runs; closing it ends the program."""

    DEFAULT_CSS = """
    OutputDialog Box { height: 80%; max-width: 100%; }
    OutputDialog LogView { height: 1fr; background: $surface; }
    """
    moves_in = "#output"

    def __init__(self, title: str, words: Sequence[str], run: RunProgram) -> None:
        super().__init__()
        self._title, self._words, self._run = title, words, run
        self._lines: deque[Line] = deque(maxlen=MAX_LINES)
        self._is_due = False

    def compose(self) -> ComposeResult:
        with Box(self._title, "esc close"):
            yield LogView(id="output")

    def on_mount(self) -> None:
        """Start the program. Textual cancels the worker when the dialog closes."""
        self._add(line((shlex.join(self._words), "dim")))
        self.run_worker(self._follow())

    async def _follow(self) -> None:
        ending = await self._run(self._words, lambda text: self._add(line(text)))
        self._add(line((ending, "strong")))

    def _add(self, drawn: Line) -> None:
        """Add a line. Lines that come at once are drawn together."""
        self._lines.append(drawn)
        if not self._is_due:
            self._is_due = True
            self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        self._is_due = False
        self.query_one(LogView).show(tuple(self._lines))
