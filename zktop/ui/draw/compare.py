"""What is different between two moments: verdicts first, then lock by lock."""

from collections.abc import Iterator
from typing import Final

from zktop.headless.durations import spoken
from zktop.model.contender import View
from zktop.model.findings.words import count, several
from zktop.model.report import Report
from zktop.ui.ink import Ink, Line, line, wrapped

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


def stood(view: View | None) -> str:
    """Say how a lock stood."""
    if view is None:
        return "there is no such lock"
    holders = [one.name for one in view.holders]
    waiters = [one.name for one in view.waiters]
    held = f"held by {several(holders)}" if holders else "free"
    return f"{held}; waiting: {several(waiters)}" if waiters else f"{held}; nobody waits"
