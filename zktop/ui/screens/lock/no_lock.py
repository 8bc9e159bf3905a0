"""The lock screen without a lock: the lock was deleted, or none is selected."""

from itertools import pairwise
from typing import NamedTuple

from zktop.model.facts import Millis
from zktop.model.format import clock, count, spoken
from zktop.model.locks.lock import Member
from zktop.model.report import LockRecord, Report
from zktop.model.session_ids import session_text
from zktop.model.text import Text
from zktop.ui.past.tape import Tape
from zktop.ui.screens.common.empty_screen import empty_state, paragraph
from zktop.ui.styled_text import Line, line
from zktop.ui.view_state import ViewState


class LastSeen(NamedTuple):
    """A moment at which a lock existed, and its state if its report is still in memory."""

    at: Millis
    record: LockRecord | None = None


def deleted_lock(path: str, last: LastSeen | None, now: Millis, width: int) -> list[Line]:
    """Describe a deleted lock: when it was last seen, and its state at that time."""
    lines: list[Line] = [(), line((f"  {path}", "title")), ()]
    if last is None:
        text = "There is no lock at this path, and zktop had not seen one here earlier."
        return [*lines, *paragraph(text, width), *_hint()]
    ago = spoken(max(0, now - last.at) / 1000)
    seen = f"This lock no longer exists. It was last seen at {clock(last.at)}, {ago} ago."
    lines += paragraph(seen, width, "warning")
    if last.record is not None:
        lines += paragraph(_was(last.record), width)
    return [*lines, *_hint()]


def last_seen(path: str, tape: Tape, moment: Millis) -> LastSeen | None:
    """Return when the lock was last seen before this moment; None if it was never seen."""
    for index in range(tape.index_at(moment), -1, -1):
        frame = tape[index]
        record = frame.report.records.get(Text(path))
        if record is not None:
            return LastSeen(frame.at, record)
    states = tape.tracks.lock_states(Text(path), tape.begin or 0, moment + 1)
    ends = [after.at for state, after in pairwise(states) if state.queue is not None]
    return LastSeen(ends[-1]) if ends else None


def _was(record: LockRecord) -> str:
    """Describe the last state of a lock. Waiters that only watched it are not in its record."""
    lock, kind = record.lock, f"{record.lock.kind} ({record.lock.layout})"
    if lock.error is not None:
        return f"zktop could not read it: {lock.error}"
    if not lock.size:
        return f"It was a free {kind}{'' if lock.is_only_watched else ' with no waiters'}."
    holders = count(len(lock.holders), "holder")
    names = ", ".join(map(_holder, lock.holders[:3]))
    waiting = "" if lock.is_only_watched else f" and {count(len(lock.waiters), 'waiter')}"
    named = f" ({names})" if names else ""
    return f"It was a {kind} with {holders}{named}{waiting}."


def _holder(member: Member) -> str:
    return member.label or (session_text(member.owner) if member.owner else member.node)


def _hint() -> list[Line]:
    return [
        (),
        line("  Screen 1 lists all locks, ", ("esc", "key"), " goes back."),
    ]


def no_lock_chosen(state: ViewState, width: int) -> list[Line]:
    """Explain how to select a lock, or why there is none to select."""
    if state.report is not None and state.report.paths:
        return [
            (),
            line(("  No lock selected", "title")),
            (),
            line("  Screen 1 lists all locks, ", ("enter", "key"), " there opens one."),
        ]
    return empty_state(state, width)


def worst_path(report: Report) -> Text | None:
    """Return the lock of the worst deadlock or finding, else the one with the longest queue."""
    for deadlock in report.deadlocks:
        existing = next((path for path in deadlock.locks if path in report.records), None)
        if existing is not None:
            return Text(existing)
    for finding in report.findings:
        if finding.severity != "info" and finding.lock in report.records:
            return finding.lock
    return max(report.paths, key=lambda path: _demand(report, path), default=None)


def _demand(report: Report, path: Text) -> tuple[int, int]:
    """Return the number of waiters, then of all members."""
    lock = report.records[path].lock
    return len(lock.waiters), lock.size
