"""The strips of the timeline: a column is the same span of time for every lock and session.

A column shows the state at its end, and the longest queue within it. A colon stands for more than
one change of the holder, so that no change is lost silently.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple, TypeVar

from zktop.model.facts import Millis, Session
from zktop.model.format import spoken
from zktop.model.text import Text
from zktop.ui.past.state_changes import AlarmState, LockState, SessionState, StateChanges
from zktop.ui.screens.common.format import time_ms, time_s
from zktop.ui.state import ViewState
from zktop.ui.styled_text import Ink, Line, Run, fitted, line

ZOOMS_MS: Final = (50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000)
LETTERS: Final = "ABCDEFGHIJKLMNOPQTUVWXYZ"  # R stands for several readers, S for several leases
OTHERS: Final = "abcdefghijklmnopqrstuvwxyz"
RULER_COLUMNS: Final = 20  # columns between two times
LONG_QUEUE: Final = 10
INKS: Final[dict[str, Ink]] = {
    "#": "holds", "=": "waits", "-": "waits", "!": "critical", "?": "warning", "x": "critical",
    ".": "dim", " ": "dim", ":": "info", "0": "dim", "p": "good",
}  # fmt: skip

UNFOLLOWED: Final = line(("? not followed: its lock has too many waiters", "unknown"))
T = TypeVar("T")


class TimeWindow(NamedTuple):
    """The span of time in view."""

    begin: Millis
    column_ms: int
    columns: int
    newest: Millis  # the last known moment

    @property
    def end(self) -> Millis:
        return self.begin + self.columns * self.column_ms

    def column(self, at: Millis) -> int:
        """Column of a moment."""
        return (at - self.begin) // self.column_ms

    def time(self, column: int) -> Millis:
        """Last moment of a column."""
        return min(self.begin + (column + 1) * self.column_ms - 1, self.newest)


def window(at: Millis, begin: Millis, newest: Millis, column_ms: int, columns: int) -> TimeWindow:
    """The span around a moment; it ends at the newest moment if that is near enough."""
    span = column_ms * columns
    last = newest - newest % column_ms + column_ms
    start = min(last - span, at - at % column_ms - span // 2)
    start = max(start, begin - begin % column_ms)
    return TimeWindow(start, column_ms, columns, newest)


def title(state: ViewState, seen: TimeWindow) -> Line:
    """Which moment is shown, and how much of the past is stored."""
    begin = state.tape.begin or seen.begin
    length = spoken(max(0, seen.newest - begin) / 1000)
    if state.is_newest and state.status.word == "lost":
        how = Run("LAST KNOWN STATE", "warning")
    elif state.is_newest:
        how = Run("LIVE", "good")
    elif state.is_playing:
        how = Run(f"PLAYING {state.speed:g}x", "good")
    else:
        how = Run(f"PAUSED at {time_ms(state.at or 0)}", "paused")
    kept = f"   {length} kept, {time_ms(begin)[:8]} to {time_ms(seen.newest)[:8]} UTC"
    speed = f"   speed {state.speed:g}x" if not state.is_newest else ""
    thin = "   thinned: older moments are sparse" if state.tape.times_thinned else ""
    return (Run(" TIMELINE ", "title"), how, Run(f"{kept}{speed}{thin}", "dim"))


def ruler(seen: TimeWindow) -> list[Line]:
    """Times and tick marks above the columns."""
    named = [" "] * seen.columns
    marks = ["." for _ in range(seen.columns)]
    for column in range(0, seen.columns, RULER_COLUMNS // 2):
        marks[column] = "'" if column % RULER_COLUMNS else "|"
        name = time_s(seen.begin + column * seen.column_ms)
        if column % RULER_COLUMNS == 0 and column + len(name) <= seen.columns:
            named[column : column + len(name)] = name
    return [line(("".join(named), "dim")), line(("".join(marks), "dim"))]


def cursor(seen: TimeWindow, at: Millis, mark: Millis | None = None) -> Line:
    """The cursor, and a line from it to the mark."""
    column, time = seen.column(at), time_ms(at)
    if not 0 <= column < seen.columns:
        return ()
    marked = column if mark is None else seen.column(mark)
    needed = len(time) + 2
    is_free_at_right = column + needed <= seen.columns and marked <= column
    at_left = column >= needed and not is_free_at_right
    text = f"{time} ^".rjust(column + 1) if at_left else f"{' ' * column}^ {time}"
    cells = list(text.ljust(seen.columns))
    for one in range(max(0, min(marked, column)), min(seen.columns, max(marked, column) + 1)):
        cells[one] = "-" if cells[one] == " " else cells[one]
    if marked != column and 0 <= marked < seen.columns:
        cells[marked] = "m"
    return line(("".join(cells).rstrip(), "selected"))


def alarms(past: StateChanges, seen: TimeWindow) -> Line:
    """Draw when there were critical problems, confirmed (!) or probable (?)."""
    known = range(min(seen.columns, seen.column(seen.newest) + 1))
    return inked("".join(_alarm(past.alarm_at(seen.time(one))) for one in known))


def _alarm(one: AlarmState) -> str:
    return "." if not one.bad else "!" if one.is_sure else "?"


def lock_strip(
    past: StateChanges, path: Text, seen: TimeWindow, letters: Mapping[Session, str]
) -> tuple[Line, Line]:
    """Draw the holders of a lock, and the length of its queue."""
    before, changes = past.lock_states(path, seen.begin, min(seen.end, seen.newest + 1))
    others: dict[tuple[Session, ...], str] = {}
    held: list[str] = []
    queue: list[str] = []
    stand = before
    for inside in by_column(changes, seen, _at):
        passed = [one for one in (stand, *inside) if one is not None]
        turns = sum(one.holders != two.holders for one, two in pairwise(passed))
        stand = passed[-1] if passed else None
        held.append(":" if turns > 1 else _holder(stand, letters, others))
        queue.append(_digit(max((one.queue for one in passed), default=None)))
    return inked("".join(held), letters), inked("".join(queue))


def by_column(
    changes: Sequence[T], seen: TimeWindow, at: Callable[[T], Millis]
) -> Iterator[list[T]]:
    """Changes in each column, up to the newest moment."""
    place = 0
    for column in range(min(seen.columns, seen.column(seen.newest) + 1)):
        end = seen.begin + (column + 1) * seen.column_ms
        inside = []
        while place < len(changes) and at(changes[place]) < end:
            inside.append(changes[place])
            place += 1
        yield inside


def _holder(
    stand: LockState | None, letters: Mapping[Session, str], others: dict[tuple[Session, ...], str]
) -> str:
    if stand is None:
        return " "
    if not stand.holders:
        return "."
    if len(stand.holders) > 1:
        return "R" if stand.are_readers else "S"
    known = letters.get(stand.holders[0])
    return known or others.setdefault(stand.holders, OTHERS[len(others) % len(OTHERS)])


def _digit(queue: int | None) -> str:
    if queue is None:
        return " "
    return str(queue) if queue < LONG_QUEUE else "*"


def actor_strip(past: StateChanges, session: Session, seen: TimeWindow) -> Line:
    """Draw what a session did: hold, wait, both, or stuck in a deadlock."""
    if session not in past.sessions:  # its lock is too large to be followed
        return UNFOLLOWED
    doing, changes = past.session_states(session, seen.begin, min(seen.end, seen.newest + 1))
    cells: list[str] = []
    for column, inside in enumerate(by_column(changes, seen, _at)):
        doing = inside[-1] if inside else doing
        alarm = past.alarm_at(seen.time(column))
        stuck = "!" if session in alarm.proven else "?" if session in alarm.suspected else ""
        cells.append(sign(doing, stuck))
    return inked("".join(cells))


def contact_strip(contacts: Iterable[Millis], seen: TimeWindow) -> Line:
    """Draw when a server heard from a session."""
    cells = ["."] * min(seen.columns, seen.column(seen.newest) + 1)
    for at in contacts:
        if 0 <= (column := seen.column(at)) < len(cells):
            cells[column] = "p"
    return inked("".join(cells))


def sign(doing: SessionState | None, stuck: str = "") -> str:
    """Sign of what a session does; `stuck` replaces it while the session is in a deadlock."""
    if doing is None:
        return "."
    if doing.is_lost:
        return "x"
    if stuck and (doing.holds or doing.waits):
        return stuck
    if doing.holds and doing.waits:
        return "="
    return "#" if doing.holds else "-" if doing.waits else "."


def inked(cells: str, letters: Mapping[Session, str] | None = None) -> Line:
    """Colour runs of cells with the same meaning."""
    runs: list[Run] = []
    named = set((letters or {}).values())
    for cell in cells:
        ink: Ink = "strong" if cell in named else INKS.get(cell, "plain")
        if runs and runs[-1].ink == ink:
            runs[-1] = Run(runs[-1].text + cell, ink)
        else:
            runs.append(Run(cell, ink))
    return tuple(runs)


def _at(one: LockState | SessionState) -> Millis:
    return one.at


def row(label: str, drawn: Line, width: int, ink: Ink = "plain") -> Line:
    """A strip beside its label; a long label keeps its end, which says more."""
    text = label if len(label) < width else f"…{label[len(label) - width + 2 :]}"
    return (*fitted(line((text, ink)), width), *drawn)


def scale(seen: TimeWindow) -> str:
    """The length of a column.

    >>> scale(TimeWindow(0, 500, 60, 0))
    '1 column = 0.5s'
    """
    return f"1 column = {spoken(seen.column_ms / 1000)}"
