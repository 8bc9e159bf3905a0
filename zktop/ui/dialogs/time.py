"""Asks for a time to go to.

Shows what is different between a moment of the past and the newest one.

What is different between two moments: verdicts first, then lock by lock.
"""

from collections.abc import Iterator
from typing import Final

from textual import events, on
from textual.app import ComposeResult
from textual.widgets import Input, Label

from zktop.model.facts import Millis
from zktop.model.format import count, several, spoken
from zktop.model.report import LockView, Report
from zktop.ui.dialogs.base import Box, Dialog
from zktop.ui.past.playback import moment_of
from zktop.ui.screens.common.format import time_ms
from zktop.ui.styled_text import Ink, Line, line, wrapped
from zktop.ui.widgets.text_view import TextView


class SeekDialog(Dialog[Millis]):
    """Gives the time that was typed."""

    DEFAULT_CSS = """
    SeekDialog Input { border: none; height: 1; padding: 0; background: $surface; }
    SeekDialog #wrong { color: $error; height: auto; }
    """

    def __init__(self, begin: Millis, end: Millis, here: Millis) -> None:
        super().__init__()
        self._begin, self._end, self._here = begin, end, here

    def compose(self) -> ComposeResult:
        """Give the line to type in, and what may be typed."""
        box = Box()
        box.border_title, box.border_subtitle = "Go to a time", "enter go   esc leave"
        with box:
            known = f"{time_ms(self._begin)}Z to {time_ms(self._end)}Z is kept, in UTC."
            yield Label(known, markup=False)
            yield Label(
                "Type 13:57:10, or +90s from the beginning, or -10s from here.", markup=False
            )
            yield Input(placeholder=time_ms(self._here), compact=True)
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


LISTED: Final = 500  # locks; more are counted


def compared(then: Report, now: Report, width: int) -> list[Line]:
    """Draw the differences; a minus was then, a plus is now."""
    lines = [*_verdicts(then, now, width), *_locks(then, now, width)]
    if not lines:
        return [line(("Nothing is different: same holders, same queues, same findings.", "good"))]
    passed = spoken(max(0, now.now - then.now) / 1000)
    return [line((f"- was so then   + is so at the newest moment, {passed} later", "dim")), *lines]


def _verdicts(then: Report, now: Report, width: int) -> Iterator[Line]:
    before, after = told(then), told(now)
    for sign, ink, some, others in (("-", "dim", before, after), ("+", "warning", after, before)):
        for name, sentence in some.items():
            if name not in others:
                yield from _item(sign, f"{name.partition('-')[0]} {sentence}", width, ink)


def told(report: Report) -> dict[str, str]:
    """Give the sentence of all that is wrong, by id."""
    known = {one.id: one.sentence for one in report.deadlocks}
    known.update((one.id, one.sentence) for one in report.findings if one.id not in known)
    return known


def _item(sign: str, text: str, width: int, ink: str) -> list[Line]:
    shown: Ink = "warning" if ink == "warning" else "dim"
    folded = wrapped(text, max(10, width - 2), shown)
    return [
        (*line((f"{sign if not number else ' '} ", "strong")), *one)
        for number, one in enumerate(folded)
    ]


def _locks(then: Report, now: Report, width: int) -> Iterator[Line]:
    changed = sorted(now.parts.changed_since(then.parts))
    shown = 0
    for path in changed:
        before, after = stood(then.view(path)), stood(now.view(path))
        if before == after:
            continue
        shown += 1
        if shown <= LISTED:
            yield line((path, "title"))
            yield from _item("-", before, width, "dim")
            yield from _item("+", after, width, "plain")
    if shown > LISTED:
        yield line((f"and {count(shown - LISTED, 'more lock')}", "dim"))


def stood(view: LockView | None) -> str:
    """Say how a lock stood."""
    if view is None:
        return "there is no such lock"
    holders = [one.name for one in view.holders]
    waiters = [one.name for one in view.waiters]
    held = f"held by {several(holders)}" if holders else "free"
    return f"{held}; waiting: {several(waiters)}" if waiters else f"{held}; nobody waits"


class CompareDialog(Dialog[None]):
    """A list to read; it does not change while it is open."""

    DEFAULT_CSS = """
    CompareDialog Box { height: 90%; }
    CompareDialog TextView { background: $surface; }
    """

    def __init__(self, then: Report, now: Report) -> None:
        super().__init__()
        self._then, self._now = then, now

    def compose(self) -> ComposeResult:
        """Give the list."""
        box = Box()
        box.border_title = f"{time_ms(self._then.now)}Z, and the newest: {time_ms(self._now.now)}Z"
        box.border_subtitle = "esc leave"
        with box:
            yield TextView()

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
        self.query_one(TextView).do_up()

    def do_down(self) -> None:
        """Go down."""
        self.query_one(TextView).do_down()

    def _draw(self) -> None:
        sheet = self.query_one(TextView)
        sheet.show(compared(self._then, self._now, max(20, sheet.room.width)))
