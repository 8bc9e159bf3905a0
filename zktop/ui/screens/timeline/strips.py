"""The strips of the timeline: a column is the same span of time for every lock and session.

A column shows the state at its end, and the longest queue within it. A colon stands for more than
one change of the holder, so that no change is lost silently.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from zktop.model.facts import Millis, Session
from zktop.model.format import spoken
from zktop.model.report import Report
from zktop.ui.past.states import Alarms, LockState, alarms_in, uses
from zktop.ui.past.tape import Tape
from zktop.ui.screens.common.format import time_ms, time_s
from zktop.ui.styled_text import Ink, Line, Run, fitted, line, text_of  # noqa: F401  in examples
from zktop.ui.view_state import ViewState

ZOOMS_MS: Final = (50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000)
LETTERS: Final = "ABCDEFGHIJKLMNOPQTUVWXYZ"  # R stands for several readers, S for several leases
OTHERS: Final = "abcdefghijklmnopqrstuvwxyz"
RULER_COLUMNS: Final = 20  # columns between two times
LONG_QUEUE: Final = 10
INKS: Final[dict[str, Ink]] = {
    "#": "holds", "=": "waits", "-": "waits", "!": "critical", "?": "warning", "x": "critical",
    ".": "dim", " ": "dim", ":": "info", "0": "dim", "p": "good",
}  # fmt: skip

Letters = Mapping[Session, str]  # of the sessions with strips of their own
MATTERS_MOST: Final = "!?=#-x."  # the first of these signs that a session of a group has is drawn


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
        return (at - self.begin) // self.column_ms

    def time(self, column: int) -> Millis:
        """Last moment of a column."""
        return min(self.begin + (column + 1) * self.column_ms - 1, self.newest)

    @property
    def known(self) -> range:
        """The columns up to the newest moment."""
        return range(min(self.columns, self.column(self.newest) + 1))


class ColumnEnd(NamedTuple):
    """The last moment of a column, with the report and the alarms of that moment."""

    at: Millis
    report: Report
    alarms: Alarms


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
    kept = f"   {length} kept, {time_s(begin)} to {time_s(seen.newest)} UTC"
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


def column_ends(tape: Tape, seen: TimeWindow) -> list[ColumnEnd | None]:
    """The ends of the columns up to the newest moment; None before the tape begins."""
    ends: list[ColumnEnd | None] = []
    last: ColumnEnd | None = None
    for at in map(seen.time, seen.known):
        frame = tape.frame_at(at)
        if frame is None or at < frame.at:
            ends.append(None)
            continue
        is_same = last is not None and last.report is frame.report
        alarms = last.alarms if last is not None and is_same else alarms_in(frame.report)
        last = ColumnEnd(at, frame.report, alarms)
        ends.append(last)
    return ends


def alarm_strip(ends: Iterable[ColumnEnd | None]) -> Line:
    """Draw when there were critical problems, confirmed (!) or likely (?)."""
    return inked("".join(_alarm(one.alarms) if one else "." for one in ends))


def _alarm(one: Alarms) -> str:
    return "." if not one.number else "!" if one.is_sure else "?"


def lock_strip(
    states: Sequence[LockState], seen: TimeWindow, letters: Letters
) -> tuple[Line, Line]:
    """Draw the holders of a lock, and the length of its queue."""
    before, *changes = states
    others: dict[tuple[Session, ...], str] = {}
    held: list[str] = []
    queue: list[str] = []
    state = before
    by_column: defaultdict[int, list[LockState]] = defaultdict(list)
    for one in changes:
        by_column[seen.column(one.at)].append(one)
    for column in seen.known:
        inside = by_column[column]
        passed = [one for one in (state, *inside) if one.queue is not None]
        turns = sum(one.holders != two.holders for one, two in pairwise(passed))
        state = inside[-1] if inside else state
        held.append(":" if turns > 1 else _holder(state, letters, others))
        queue.append(_digit(max((one.queue or 0 for one in passed), default=None)))
    return inked("".join(held), letters), inked("".join(queue))


def _holder(state: LockState, letters: Letters, others: dict[tuple[Session, ...], str]) -> str:
    if state.queue is None:
        return " "
    if not state.holders:
        return "."
    if len(state.holders) > 1:
        return "R" if state.are_readers else "S"
    known = letters.get(state.holders[0])
    return known or others.setdefault(state.holders, OTHERS[len(others) % len(OTHERS)])


def _digit(queue: int | None) -> str:
    if queue is None:
        return " "
    return str(queue) if queue < LONG_QUEUE else "*"


def session_strip(
    sessions: Collection[Session],
    ends: Iterable[ColumnEnd | None],
    expired: Mapping[Session, Millis],
) -> Line:
    """Draw what a session did: hold, wait, both, or stuck in a deadlock.

    Of a group, draw in each column what matters most.
    """
    cells = (
        min((_sign(one, end, expired) for one in sessions), key=MATTERS_MOST.index) if end else "."
        for end in ends
    )
    return inked("".join(cells))


def _sign(session: Session, end: ColumnEnd, expired: Mapping[Session, Millis]) -> str:
    holds, waits = uses(end.report, session)
    if not holds and not waits:
        return "x" if expired.get(session, end.at + 1) <= end.at else "."
    if session in end.alarms.proven:
        return "!"
    if session in end.alarms.suspected:
        return "?"
    return ("=" if waits else "#") if holds else "-"


def contact_strip(contacts: Iterable[Millis], seen: TimeWindow) -> Line:
    """Draw when a server heard from a session."""
    cells = ["."] * len(seen.known)
    for at in contacts:
        if 0 <= (column := seen.column(at)) < len(cells):
            cells[column] = "p"
    return inked("".join(cells))


def inked(cells: str, letters: Letters | None = None) -> Line:
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


BLOCKS_BY_SIGN: Final = str.maketrans("#=-!?.:", "━═╌▓▒·┇")
QUEUES: Final = str.maketrans("0123456789*.", "·▁▁▂▂▃▄▅▆▇█·")


def solid(drawn: Line) -> Line:
    """Draw a strip of signs as bars: holds, holds and waits, waits, in a deadlock, likely so.

    >>> text_of(solid(inked("##==--!!??..")))
    '━━══╌╌▓▓▒▒··'
    """
    return tuple([run._replace(text=run.text.translate(BLOCKS_BY_SIGN)) for run in drawn])


def levels(drawn: Line) -> Line:
    """Draw the lengths of a queue as columns.

    >>> text_of(levels(inked("0139*")))
    '·▁▂▇█'
    """
    return tuple([run._replace(text=run.text.translate(QUEUES)) for run in drawn])


def spans(drawn: Line) -> Line:
    """Draw each holder as a bar that begins with its letter.

    >>> text_of(spans(inked("AAAB..CC", {1: "A", 2: "B", 3: "C"})))
    'A━━B··C━'
    """
    made, before = [], ""
    for run in drawn:
        text = ""
        for sign in run.text:
            text += "━" if sign == before and sign.isalpha() else sign
            before = sign
        made.append(run._replace(text=text.replace(".", "·")))
    return tuple(made)


def crossed(drawn: Line, cell: int) -> Line:
    """Draw the cursor across a line at one of its cells.

    >>> text_of(crossed(line("a", "bcd"), 2))
    'ab┃d'
    """
    made: list[Run] = []
    at = 0
    for run in drawn:
        inside = cell - at
        at += len(run.text)
        if 0 <= inside < len(run.text):
            made += [
                run._replace(text=run.text[:inside]),
                Run("┃", "selected"),
                run._replace(text=run.text[inside + 1 :]),
            ]
        else:
            made.append(run)
    return tuple(run for run in made if run.text)


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
