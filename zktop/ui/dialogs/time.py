"""Ask for a time to go to, and show what changed between a moment of the past and now."""

from collections.abc import Iterator
from typing import Final

from textual import events
from textual.app import ComposeResult
from textual.widgets import Input, Label

from zktop.model.facts import Millis
from zktop.model.format import count, several, spoken
from zktop.model.report import LockView, Report
from zktop.ui.dialogs.base import Box, Dialog
from zktop.ui.past.playback import moment_of
from zktop.ui.screens.common.format import time_ms
from zktop.ui.styled_text import Ink, Line, hanging, line
from zktop.ui.widgets.text_view import TextView


class SeekDialog(Dialog[Millis]):
    """Returns the time that the user typed."""

    def __init__(self, begin: Millis, end: Millis, here: Millis) -> None:
        super().__init__()
        self._begin, self._end, self._here = begin, end, here

    def compose(self) -> ComposeResult:
        """Yield the field, and the formats that it accepts."""
        with Box("Go to a time", "enter go   esc cancel"):
            known = f"{time_ms(self._begin)}Z to {time_ms(self._end)}Z is available (UTC)."
            yield Label(known, markup=False)
            yield Label("Examples: 13:57:10, +90s from the start, -10s from here.", markup=False)
            yield Input(placeholder=time_ms(self._here), compact=True)
            yield Label("", id="wrong", markup=False)

    def action_accept(self) -> None:
        """Return the time, or say that the text is not one."""
        text = self.query_one(Input).value
        at = moment_of(text, self._begin, self._here)
        if at is None:
            self.refuse(f"Not a time: {text}")
        else:
            self.dismiss(at)


MAX_LOCKS: Final = 500


def compared(then: Report, now: Report, width: int) -> list[Line]:
    """The differences: minus was then, plus is now."""
    lines = [*_verdicts(then, now, width), *_locks(then, now, width)]
    if not lines:
        return [line(("No differences: same holders, queues and findings.", "good"))]
    passed = spoken(max(0, now.now - then.now) / 1000)
    return [line((f"- then   + now, {passed} later", "dim")), *lines]


def _verdicts(then: Report, now: Report, width: int) -> Iterator[Line]:
    before, after = problems(then), problems(now)
    ink: Ink
    for sign, ink, some, others in (("-", "dim", before, after), ("+", "warning", after, before)):
        for name, sentence in some.items():
            if name not in others:
                text = f"{name.partition('-')[0]} {sentence}"
                yield from hanging(line((f"{sign} ", "strong")), text, max(12, width), ink)


def problems(report: Report) -> dict[str, str]:
    """The sentences of all deadlocks and findings, by id."""
    known = {one.id: one.sentence for one in report.deadlocks}
    known.update((one.id, one.sentence) for one in report.findings if one.id not in known)
    return known


def _locks(then: Report, now: Report, width: int) -> Iterator[Line]:
    changed = sorted(now.parts.changed_since(then.parts))
    shown = 0
    for path in changed:
        before, after = lock_state(then.view(path)), lock_state(now.view(path))
        if before == after:
            continue
        shown += 1
        if shown <= MAX_LOCKS:
            yield line((path, "title"))
            yield from hanging(line(("- ", "strong")), before, max(12, width), "dim")
            yield from hanging(line(("+ ", "strong")), after, max(12, width))
    if shown > MAX_LOCKS:
        yield line((f"and {count(shown - MAX_LOCKS, 'more lock')}", "dim"))


def lock_state(view: LockView | None) -> str:
    """Who holds a lock, and who waits."""
    if view is None:
        return "does not exist"
    holders = [one.name for one in view.holders]
    waiters = [one.name for one in view.waiters]
    held = f"held by {several(holders)}" if holders else "free"
    return f"{held}; waiting: {several(waiters)}" if waiters else f"{held}; no waiters"


class CompareDialog(Dialog[None]):
    """Shows the differences between two reports."""

    DEFAULT_CSS = """
    CompareDialog Box { height: 90%; }
    CompareDialog TextView { background: $surface; }
    """
    moves_in = "TextView"

    def __init__(self, then: Report, now: Report) -> None:
        super().__init__()
        self._then, self._now = then, now

    def compose(self) -> ComposeResult:
        """Yield the text."""
        title = f"{time_ms(self._then.now)}Z compared with {time_ms(self._now.now)}Z"
        with Box(title, "esc close"):
            yield TextView()

    def on_mount(self) -> None:
        """Draw when the width is known."""
        self.call_after_refresh(self._draw)

    def on_resize(self, _event: events.Resize) -> None:
        """Draw for another width."""
        self._draw()

    def _draw(self) -> None:
        view = self.query_one(TextView)
        view.show(compared(self._then, self._now, max(20, view.room.width)))
