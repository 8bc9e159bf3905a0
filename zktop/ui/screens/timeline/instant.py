"""What happened at one moment: its events, and how it stood before and after."""

from collections.abc import Iterator, Sequence
from typing import Final

from zktop.model.format import count
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.dialogs.time import lock_state, problems
from zktop.ui.past.tape import Tape
from zktop.ui.ports import Frame
from zktop.ui.screens.common.format import time_ms
from zktop.ui.screens.common.status_codes import SURE
from zktop.ui.screens.locks.events import event_lines
from zktop.ui.styled_text import Ink, Line, line, wrapped

LOCKS: Final = 3
SIGNS: Final[tuple[tuple[str, Ink], tuple[str, Ink]]] = (("!", "warning"), ("!!", "critical"))
EVENTS: Final = 30


def instant(
    tape: Tape, frame: Frame, index: int | None, width: int, sums: Sequence[Line] = ()
) -> list[Line]:
    """Draw what is different at a moment from the one before it, then what happened until then.

    Above it is what the time in sight adds up to.
    """
    report = frame.report
    lines = [*sums, line(("AT THE CURSOR ", "title"), (f"{time_ms(frame.at)}Z", "strong"))]
    before = tape[index - 1].report if index else None
    if before is not None:
        lines += _changed(before, report, width)
    lines.append(line(("EVENTS UP TO HERE, the newest first", "title")))
    happened = [one.drawn for one in event_lines(tape, report, EVENTS, width)]
    return [*lines, *(happened or [line(("  nothing has happened yet", "dim"))])]


def _changed(before: Report, now: Report, width: int) -> Iterator[Line]:
    was, is_now = problems(before), problems(now)
    begun = [name for name in is_now if name not in was]
    over = [sentence for name, sentence in was.items() if name not in is_now]
    sure = _proven(now)
    for name in begun:
        sign, ink = SIGNS[name in sure]
        yield from wrapped(f"{sign} begins: {is_now[name]}", width, ink, "  ")
    for sentence in over:
        yield from wrapped(f"over: {sentence}", width, "good", "  ")
    changed = sorted(now.parts.changed_since(before.parts))
    for path in changed[:LOCKS]:
        yield from _lock(path, before, now, width)
    if len(changed) > LOCKS:
        yield line((f"  and {count(len(changed) - LOCKS, 'more lock')} changed", "dim"))
    if not changed and not begun and not over:
        yield line(("  nothing changed at this moment", "dim"))


def _proven(report: Report) -> set[str]:
    """Give what is badly wrong, and proven to be."""
    known = {one.id for one in report.deadlocks if one.confidence in SURE}
    critical = (one for one in report.findings if one.severity == "critical")
    return known | {one.id for one in critical if one.confidence in SURE}


def _lock(path: Text, before: Report, now: Report, width: int) -> Iterator[Line]:
    was, is_now = lock_state(before.view(path)), lock_state(now.view(path))
    if was == is_now:
        return
    yield line((f"  {path}", "strong"))
    yield from wrapped(f"before: {was}", width, "dim", "    ")
    yield from wrapped(f"after:  {is_now}", width, "plain", "    ")
