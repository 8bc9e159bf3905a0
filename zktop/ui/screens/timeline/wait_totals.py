"""How long clients have waited for each lock in view, and the longest ongoing wait."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from zktop.model.facts import SECOND_MS, Millis
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.past.states import LockState
from zktop.ui.past.tape import Tape
from zktop.ui.screens.common.numbers_and_times import age, total_wait
from zktop.ui.screens.findings.deadlock_steps import brief_paths
from zktop.ui.screens.locks.lock_row import MAX_MEMBERS_DATED
from zktop.ui.screens.timeline.time_axis import TimeWindow
from zktop.ui.styled_text import Line, cut_middle, joined, line

LOCK_NAME_CELLS: Final = 24


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
    labels = {path: cut_middle(name, LOCK_NAME_CELLS) for path, name in brief_paths(paths).items()}
    blocked = {path: blocked_ms(tape, path, window) for path in paths}
    drawn = [
        line(f"{labels[path]} ", (total_wait(ms), "waits" if ms >= SECOND_MS else "dim"))
        for path, ms in blocked.items()
    ]
    if not drawn:
        return []
    longest = min(_ongoing_waits(paths, report, is_ascii=is_ascii), default=None)
    if longest is not None:
        text = f"{longest.duration} {longest.name} in {labels[longest.path]}"
        drawn.append(line(("LONGEST WAIT ", "title"), text))
    return [joined([line(("TOTAL WAIT in view", "title")), *drawn])]


def _has_standbys(report: Report, path: Text) -> bool:
    record = report.records.get(path)
    return record is not None and record.lock.has_standbys


def blocked_ms(tape: Tape, path: Text, window: TimeWindow) -> Millis:
    """Add up the waits of all waiters for a lock within the window, as far as they were seen."""
    end = min(window.end, window.newest)
    states = [*tape.tracks.lock_states(path, window.begin, end), LockState(end)]
    return sum(
        state.queue * _seen_ms(tape, state.at, after.at)
        for state, after in pairwise(states)
        if state.queue
    )


def _seen_ms(tape: Tape, begin: Millis, end: Millis) -> Millis:
    """Return the part of a time span during which zktop had a connection."""
    unseen = (min(end, until) - max(begin, since) for since, until in tape.tracks.unseen)
    return max(0, end - begin - sum(length for length in unseen if length > 0))


def _ongoing_waits(
    paths: Sequence[Text], report: Report, *, is_ascii: bool
) -> Iterator[OngoingWait]:
    for path in paths:
        record = report.records.get(path)
        for member in record.lock.waiters[:MAX_MEMBERS_DATED] if record else ():
            since = record.history.since(member, holds=False) if record else None
            if since is not None and since.at is not None:
                name = report.client_names.of(member)
                duration = age(since.at, since.bound, report.now, is_ascii=is_ascii)
                yield OngoingWait(since.at, path, name, duration)
