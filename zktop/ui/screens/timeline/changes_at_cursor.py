"""The pane below the strips: what changed at the cursor, and the preceding events."""

from collections.abc import Iterator, Sequence
from typing import Final

from zktop.model.facts import Millis
from zktop.model.format import count
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.dialogs.compare import problems, state_text
from zktop.ui.inks import Ink
from zktop.ui.interfaces import Frame
from zktop.ui.past.tape import Tape
from zktop.ui.screens.common.event_lines import event_lines
from zktop.ui.styled_text import Line, line, wrapped

MAX_LOCKS: Final = 3
LIKELY: Final[tuple[str, Ink]] = ("!", "warning")
PROVEN: Final[tuple[str, Ink]] = ("!!", "critical")
MAX_EVENTS: Final = 30


def cursor_lines(
    tape: Tape, frame: Frame, at: Millis, width: int, totals: Sequence[Line] = ()
) -> list[Line]:
    """Draw the totals, then the changes at the cursor, then the preceding events."""
    report = frame.report
    lines = list(totals)
    before = tape.frame_before(frame)
    if before is not None:
        lines += _changed(before.report, report, width)
    lines.append(line(("EVENTS UP TO HERE, newest first", "title")))
    events = event_lines(tape, report, MAX_EVENTS, width, shown_at=at)
    happened = [event.drawn for event in events]
    return [*lines, *(happened or [line(("  no events yet", "dim"))])]


def _changed(before: Report, now: Report, width: int) -> Iterator[Line]:
    earlier, current = problems(before), problems(now)
    begun = {name: sentence for name, sentence in current.items() if name not in earlier}
    over = [sentence for name, sentence in earlier.items() if name not in current]
    proven = _proven(now)
    for name, sentence in begun.items():
        sign, ink = PROVEN if name in proven else LIKELY
        yield from wrapped(f"{sign} begins: {sentence}", width, ink, "  ")
    for sentence in over:
        yield from wrapped(f"over: {sentence}", width, "good", "  ")
    changed = sorted(now.records.changed_since(before.records))
    for path in changed[:MAX_LOCKS]:
        yield from _lock_change(path, before, now, width)
    if len(changed) > MAX_LOCKS:
        yield line((f"  and {count(len(changed) - MAX_LOCKS, 'more lock')} changed", "dim"))
    if not changed and not begun and not over:
        yield line(("  nothing changed at this moment", "dim"))


def _proven(report: Report) -> set[str]:
    """Return the ids of confirmed deadlocks and critical findings."""
    deadlocks = {deadlock.id for deadlock in report.deadlocks if deadlock.is_sure}
    critical = (finding for finding in report.findings if finding.severity == "critical")
    return deadlocks | {finding.id for finding in critical if finding.is_sure}


def _lock_change(path: Text, before: Report, now: Report, width: int) -> Iterator[Line]:
    earlier, current = state_text(before.view(path)), state_text(now.view(path))
    if earlier == current:
        return
    yield line((f"  {path}", "strong"))
    yield from wrapped(f"before: {earlier}", width, "dim", "    ")
    yield from wrapped(f"after:  {current}", width, "plain", "    ")
