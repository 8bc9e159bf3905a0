"""Questions to the user: a word that permits writing, a time, or just yes or no."""

from collections.abc import Callable, Iterable
from functools import partial

from textual.app import ComposeResult
from textual.widgets import Input, Label

from zktop.model.facts import Millis
from zktop.model.parse_moment import moment_of
from zktop.ui.dialogs.base import Box, Dialog, T, text_field
from zktop.ui.screens.common.numbers_and_times import time_ms, time_s, with_date_if_needed


class QuestionDialog(Dialog[T]):
    """Returns the text as `read` parses it. On a ValueError, it shows that and stays open."""

    DEFAULT_CSS = """
    QuestionDialog Label { width: 1fr; height: auto; }
    """

    def __init__(
        self, title: str, says: Iterable[str], hint: str, read: Callable[[str], T], verb: str
    ) -> None:
        super().__init__()
        self._title, self._says, self._hint = title, says, hint
        self._read, self._verb = read, verb

    def compose(self) -> ComposeResult:
        with Box(self._title, f"enter {self._verb}   esc cancel"):
            for sentence in self._says:
                yield Label(sentence, markup=False)
            yield text_field(hint=self._hint)
            yield Label("", id="wrong", markup=False)

    def action_accept(self) -> None:
        try:
            self.dismiss(self._read(self.query_one(Input).value))
        except ValueError as wrong:
            self.refuse(str(wrong))


class ConfirmDialog(QuestionDialog[str]):
    """Asks for permission to write: returns the word if it was typed. Enter alone does nothing."""

    def __init__(self, title: str, question: str, word: str) -> None:
        def read(typed: str) -> str:
            if typed != word:
                raise ValueError(f"Nothing was written. Type {word}, or press esc to cancel.")
            return typed

        super().__init__(title, [question], f"type {word}", read, "submit")


class YesNoDialog(Dialog[bool]):
    """Asks for confirmation: Enter is yes, Esc is no."""

    DEFAULT_CSS = """
    YesNoDialog Label { width: 1fr; height: auto; }
    """

    def __init__(self, title: str, says: str, verb: str) -> None:
        super().__init__()
        self._title, self._says, self._verb = title, says, verb

    def compose(self) -> ComposeResult:
        with Box(self._title, f"enter {self._verb}   esc cancel"):
            yield Label(self._says, markup=False)

    def action_accept(self) -> None:
        self.dismiss(True)  # noqa: FBT003  the result of the dialog


class SeekDialog(QuestionDialog[Millis]):
    """Returns the time that the user typed."""

    def __init__(self, begin: Millis, end: Millis, here: Millis) -> None:
        first = with_date_if_needed(time_s(begin), begin, end)
        last = with_date_if_needed(time_s(end), end, begin)
        dated = "" if first == time_s(begin) else f"{first[:16]}, "
        says = [
            f"{first}Z to {last}Z is available (UTC).",
            f"Examples: 13:57:10, {dated}+90s from the start, -10s from here.",
        ]
        super().__init__(
            "Go to a time",
            says,
            with_date_if_needed(time_ms(here), here, begin, end),
            partial(moment_of, begin=begin, current=here),
            "go",
        )
