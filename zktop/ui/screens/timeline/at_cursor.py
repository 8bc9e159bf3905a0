"""The pane below the strips: total waits in view, changes at the cursor, recent events."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from zktop.model.facts import Millis
from zktop.model.format import count
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.dialogs.compare import lock_state, problems
from zktop.ui.inks import Ink
from zktop.ui.interfaces import Frame
from zktop.ui.past.states import LockState
from zktop.ui.past.tape import Tape
from zktop.ui.screens.common.event_lines import event_lines
from zktop.ui.screens.common.numbers_and_times import age, with_spaces
from zktop.ui.screens.findings.steps import brief_paths
from zktop.ui.screens.locks.lock_row import MAX_MEMBERS_DATED
from zktop.ui.screens.timeline.time_axis import TimeWindow
from zktop.ui.styled_text import Line, joined, line, wrapped

MAX_LOCKS: Final = 3
LIKELY: Final[tuple[str, Ink]] = ("!", "warning")
PROVEN: Final[tuple[str, Ink]] = ("!!", "critical")
MAX_EVENTS: Final = 30


def cursor_lines(tape: Tape, frame: Frame, width: int, totals: Sequence[Line] = ()) -> list[Line]:
    """Draw the totals, then the changes at the cursor, then the events before it."""
    report = frame.report
    lines = list(totals)
    before = tape.frame_before(frame)
    if before is not None:
        lines += _changed(before.report, report, width)
    lines.append(line(("EVENTS UP TO HERE, newest first", "title")))
    happened = [one.drawn for one in event_lines(tape, report, MAX_EVENTS, width)]
    return [*lines, *(happened or [line(("  no events yet", "dim"))])]


def _changed(before: Report, now: Report, width: int) -> Iterator[Line]:
    was, is_now = problems(before), problems(now)
    begun = [name for name in is_now if name not in was]
    over = [sentence for name, sentence in was.items() if name not in is_now]
    proven = _proven(now)
    for name in begun:
        sign, ink = PROVEN if name in proven else LIKELY
        yield from wrapped(f"{sign} begins: {is_now[name]}", width, ink, "  ")
    for sentence in over:
        yield from wrapped(f"over: {sentence}", width, "good", "  ")
    changed = sorted(now.parts.changed_since(before.parts))
    for path in changed[:MAX_LOCKS]:
        yield from _lock_change(path, before, now, width)
    if len(changed) > MAX_LOCKS:
        yield line((f"  and {count(len(changed) - MAX_LOCKS, 'more lock')} changed", "dim"))
    if not changed and not begun and not over:
        yield line(("  nothing changed at this moment", "dim"))


def _proven(report: Report) -> set[str]:
    """Return the ids of confirmed deadlocks and critical findings."""
    known = {deadlock.id for deadlock in report.deadlocks if deadlock.is_sure}
    critical = (finding for finding in report.findings if finding.severity == "critical")
    return known | {one.id for one in critical if one.is_sure}


def _lock_change(path: Text, before: Report, now: Report, width: int) -> Iterator[Line]:
    was, is_now = lock_state(before.view(path)), lock_state(now.view(path))
    if was == is_now:
        return
    yield line((f"  {path}", "strong"))
    yield from wrapped(f"before: {was}", width, "dim", "    ")
    yield from wrapped(f"after:  {is_now}", width, "plain", "    ")


class OngoingWait(NamedTuple):
    """A waiter, and the start of its wait."""

    at: Millis
    path: Text
    name: str
    duration: str


def wait_totals(
    tape: Tape, paths: Sequence[Text], window: TimeWindow, report: Report, *, is_ascii: bool
) -> list[Line]:
    """Draw the total wait for each lock within the window, and the longest ongoing wait."""
    paths = [path for path in paths if not _has_standbys(report, path)]
    labels = brief_paths(paths)
    blocked = {path: blocked_ms(tape, path, window) // 1000 for path in paths}
    drawn = [
        line(f"{labels[path]} ", (with_spaces(seconds), "waits" if seconds else "dim"))
        for path, seconds in blocked.items()
    ]
    longest = min(_ongoing_waits(paths, report, is_ascii=is_ascii), default=None)
    wait = (
        [
            line(
                ("LONGEST WAIT ", "title"),
                f"{longest.duration} {longest.name} in {labels[longest.path]}",
            )
        ]
        if longest
        else []
    )
    return [joined([line(("TOTAL WAIT in view (s)", "title")), *drawn, *wait])] if drawn else []


def _has_standbys(report: Report, path: Text) -> bool:
    part = report.parts.get(path)
    return part is not None and part.lock.has_standbys


def blocked_ms(tape: Tape, path: Text, window: TimeWindow) -> Millis:
    """Add up the waits of all waiters for a lock within the window."""
    end = min(window.end, window.newest)
    states = [*tape.tracks.lock_states(path, window.begin, end), LockState(end)]
    return sum((one.queue or 0) * max(0, after.at - one.at) for one, after in pairwise(states))


def _ongoing_waits(
    paths: Sequence[Text], report: Report, *, is_ascii: bool
) -> Iterator[OngoingWait]:
    for path in paths:
        part = report.parts.get(path)
        for member in part.lock.waiters[:MAX_MEMBERS_DATED] if part else ():
            since = part.history.since(member, holds=False) if part else None
            if since is not None and since.at is not None:
                name = report.client_names.of(member)
                duration = age(since.at, since.bound, report.now, is_ascii=is_ascii)
                yield OngoingWait(since.at, path, name, duration)
