"""The differences between two moments."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from zktop.model.facts import Millis
from zktop.model.format import count, several, spoken
from zktop.model.lock_view import LockView
from zktop.model.report import Report
from zktop.ui.dialogs.base import TextDialog
from zktop.ui.inks import Ink
from zktop.ui.screens.common.numbers_and_times import time_ms, with_date_if_needed
from zktop.ui.styled_text import Line, hanging_lines, line

MAX_LOCKS: Final = 500


def compared(then: Report, now: Report, width: int) -> list[Line]:
    """Draw the differences: a minus marks the earlier moment, a plus the later one."""
    lines = [*_verdicts(then, now, width), *_locks(then, now, width)]
    if not lines:
        return [line(("No differences: same holders, queues and findings.", "good"))]
    return lines


def _verdicts(then: Report, now: Report, width: int) -> Iterator[Line]:
    before, after = problems(then), problems(now)
    ink: Ink
    for sign, ink, shown, others in (("-", "dim", before, after), ("+", "warning", after, before)):
        for name, sentence in shown.items():
            if name not in others:
                rule = name.partition("-")[0]
                text = f"{rule} {sentence}"
                yield from hanging_lines(line((f"{sign} ", "strong")), text, max(12, width), ink)


def problems(report: Report) -> dict[str, str]:
    """Return the sentences of all deadlocks and findings, by id."""
    sentences = {deadlock.id: deadlock.sentence for deadlock in report.deadlocks}
    sentences.update(
        (finding.id, finding.sentence)
        for finding in report.findings
        if finding.id not in sentences
    )
    return sentences


def _locks(then: Report, now: Report, width: int) -> Iterator[Line]:
    changed = sorted(now.records.changed_since(then.records))
    shown = 0
    for path in changed:
        views = then.view(path), now.view(path)
        if _members(views[0]) == _members(views[1]):
            continue
        before, after = map(state_text, views)
        if before == after:
            after += "; other nodes, or another order"
        shown += 1
        if shown <= MAX_LOCKS:
            yield line((path, "title"))
            yield from hanging_lines(line(("- ", "strong")), before, max(12, width), "dim")
            yield from hanging_lines(line(("+ ", "strong")), after, max(12, width))
    if shown > MAX_LOCKS:
        yield line((f"and {count(shown - MAX_LOCKS, 'more lock')}", "dim"))


def _members(view: LockView | None) -> object:
    """Return the node of each holder and waiter, in order, with its session or else its label."""
    if view is None:
        return None
    groups = view.holders, view.waiters
    return [
        [(contender.node, contender.session or contender.owner) for contender in contenders]
        for contenders in groups
    ]


def state_text(view: LockView | None) -> str:
    """Return the first holders and waiters of a lock by name, and the number of others."""
    if view is None:
        return "does not exist"
    holders = [holder.name for holder in view.holders]
    waiters = [waiter.name for waiter in view.waiters]
    held = f"held by {several(holders)}" if holders else "free"
    return f"{held}; waiting: {several(waiters)}" if waiters else f"{held}; no waiters"


class ComparedMoment(NamedTuple):
    """One of the two moments: what it is, its time, and the report of that time."""

    name: str  # mark, cursor or now
    at: Millis
    report: Report

    def words(self, other: Millis) -> str:
        """Return its name and time, with the date unless the other moment is of the same day."""
        return f"{self.name} {with_date_if_needed(time_ms(self.at), self.at, other)}Z"


class CompareDialog(TextDialog):
    """Shows the differences between two moments, the earlier one first."""

    def __init__(self, first: ComparedMoment, second: ComparedMoment) -> None:
        """Compare two moments, given in any order."""
        then, now = sorted((first, second), key=lambda moment: moment.at)
        self._then, self._now = then, now
        title = f"Compare: {then.words(now.at)} with {now.words(then.at)}"
        super().__init__(title, "esc close")

    def lines(self, width: int) -> list[Line]:
        then, now = self._then, self._now
        passed = spoken((now.at - then.at) / 1000)
        legend = line(
            ("- ", "strong"), (f"{then.words(now.at)}   ", "dim"),
            ("+ ", "strong"), (f"{now.words(then.at)}, {passed} later", "dim"),
        )  # fmt: skip
        return [legend, *compared(then.report, now.report, max(20, width))]
