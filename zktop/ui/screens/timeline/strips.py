"""The strips of the timeline: each column is the same time span for all locks and sessions.

A column shows the state at its end, and the longest queue within it. A colon marks a column with
more than one change of the holder, so that no change is lost silently.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Final, NamedTuple

from rich.cells import cell_len

from zktop.model.facts import Millis, Session
from zktop.ui.inks import Ink
from zktop.ui.past.pulse import Pulse, WaitingChange, most_waiting
from zktop.ui.past.states import Alarms, LockState
from zktop.ui.past.tracks import Tracks
from zktop.ui.screens.common.graphs import HEAT, MIN_TOP, area
from zktop.ui.screens.timeline.time_axis import TimeWindow
from zktop.ui.styled_text import Line, Run, end_of, fitted, line, merged, text_of  # noqa: F401  for the examples

LETTERS: Final = "ABCDEFGHIJKLMNOPQTUVWXYZ"  # R stands for several readers, S for others
OTHERS: Final = "abcdefghijklmnopqrstuvwxyz"
LONG_QUEUE: Final = 10
INKS: Final[dict[str, Ink]] = {
    "#": "holds", "=": "waits", "-": "waits", "!": "critical", "?": "warning", "x": "critical",
    ".": "dim", " ": "dim", ":": "info", "0": "dim", "p": "good", "*": "waits",
    **dict.fromkeys("123456789", "waits"),
}  # fmt: skip

Letters = Mapping[Session, str]  # the letters of ungrouped sessions
MATTERS_MOST: Final = "!?=#-x."  # a group shows the first of these that one of its sessions has
IDLE: Final = "."
SIGNS: Final = {  # keys: whether a session holds a lock, and whether it waits for one
    (True, True): "=",
    (True, False): "#",
    (False, True): "-",
    (False, False): IDLE,
}
DEADLOCK_SIGNS: Final = str.maketrans("=#-", "!!!")  # for a session in a proven deadlock
SUSPICION_SIGNS: Final = str.maketrans("=#-", "???")


class ColumnAlarms(NamedTuple):
    """The alarms at the ends of some columns."""

    first: int
    end: int
    alarms: Alarms


def column_alarms(tracks: Tracks, window: TimeWindow) -> list[ColumnAlarms]:
    """Return the alarms in all known columns, from the first data on."""
    column_count = len(window.known)
    states = tracks.alarm_states(window.begin, window.known_end)
    firsts = [window.column(state.at) for state in states]
    spans = zip(states, firsts, (*firsts[1:], column_count), strict=True)
    return [ColumnAlarms(first, end, state.alarms) for state, first, end in spans if first < end]


def alarm_strip(alarms: Sequence[ColumnAlarms]) -> Line:
    """Draw when there were critical problems, confirmed (!) or likely (?)."""
    blank = " " * alarms[0].first if alarms else ""
    signs = (_alarm_sign(span.alarms) * (span.end - span.first) for span in alarms)
    return inked(blank + "".join(signs))


def _alarm_sign(alarms: Alarms) -> str:
    if not alarms.number:
        return "."
    return "!" if alarms.is_sure else "?"


def lock_strip(
    states: Sequence[LockState], window: TimeWindow, letters: Letters
) -> tuple[Line, Line]:
    """Draw the holders of a lock, and the length of its queue."""
    state, *changes = states
    others: dict[Session, str] = {}
    held: list[str] = []
    queue: list[str] = []
    by_column: defaultdict[int, list[LockState]] = defaultdict(list)
    for change in changes:
        by_column[window.column(change.at)].append(change)
    holder, digit = _holder(state, letters, others), _digit(state.queue)
    for column in window.known:
        if column not in by_column:
            held.append(holder)
            queue.append(digit)
            continue
        lock_states = state, *by_column[column]
        existing = [lock for lock in lock_states if lock.queue is not None]
        holders = [(lock.holder, lock.holders) for lock in existing]
        turns = sum(earlier != later for earlier, later in pairwise(holders))
        state = by_column[column][-1]
        holder, digit = _holder(state, letters, others), _digit(state.queue)
        held.append(":" if turns > 1 else holder)
        queue.append(_digit(max((lock.queue or 0 for lock in existing), default=None)))
    return inked("".join(held), letters), inked("".join(queue))


def _holder(state: LockState, letters: Letters, others: dict[Session, str]) -> str:
    if state.queue is None:
        return " "
    if not state.holders:
        return IDLE
    if state.holders > 1:
        return "R" if state.are_readers else "S"
    letter = letters.get(state.holder)
    return letter or others.setdefault(state.holder, OTHERS[len(others) % len(OTHERS)])


def _digit(queue: int | None) -> str:
    if queue is None:
        return " "
    return str(queue) if queue < LONG_QUEUE else "*"


def session_strip(
    tracks: Tracks,
    sessions: Iterable[Session],
    window: TimeWindow,
    alarms: Sequence[ColumnAlarms],
    expired: Mapping[Session, Millis],
) -> Line:
    """Draw the signs of a session. For a group, draw the worst sign in each column."""
    strips = {
        _signs(tracks, session, window, alarms, expired.get(session)) for session in sessions
    }
    columns = zip(*strips, strict=True)
    return inked("".join(min(signs, key=MATTERS_MOST.find) for signs in columns))


def _signs(
    tracks: Tracks,
    session: Session,
    window: TimeWindow,
    alarms: Sequence[ColumnAlarms],
    expired: Millis | None,
) -> str:
    """Return a session's sign at the end of each column. It is blank before the first data."""
    columns = len(window.known)
    signs = " " * columns
    for state in tracks.session_states(session, window.begin, window.known_end):
        column = window.column(state.at)
        signs = signs[:column] + SIGNS[state.holds, state.waits] * (columns - column)
    if expired is not None and expired < window.known_end:
        column = max(0, window.column(expired))
        signs = signs[:column] + signs[column:].replace(IDLE, "x")
    for span in alarms:
        if session in span.alarms.proven or session in span.alarms.suspected:
            stuck = DEADLOCK_SIGNS if session in span.alarms.proven else SUSPICION_SIGNS
            stuck_signs = signs[span.first : span.end].translate(stuck)
            signs = signs[: span.first] + stuck_signs + signs[span.end :]
    return signs


def contact_strip(contacts: Iterable[Millis], window: TimeWindow, begin: Millis = 0) -> Line:
    """Draw when a server heard from a session. Nothing is known before `begin`."""
    cells = ["." if column >= window.column(begin) else " " for column in window.known]
    for at in contacts:
        if 0 <= (column := window.column(at)) < len(cells):
            cells[column] = "p"
    return inked("".join(cells))


def waiting_area(pulse: Pulse, window: TimeWindow, height: int) -> tuple[list[Line], int]:
    """Draw how many clients waited for any lock. Also return the most at one time."""
    waiting = pulse.waiting(window.begin, window.column_ms / 2, 2 * window.columns)
    return _area(waiting, window, height)


def queue_area(
    states: Sequence[LockState], window: TimeWindow, height: int
) -> tuple[list[Line], int]:
    """Draw the queue of one lock. Also return its greatest length."""
    changes = [WaitingChange(state.at, state.queue) for state in states]
    last = window.begin + len(window.known) * window.column_ms - 1
    waiting = most_waiting(changes, window.begin, window.column_ms / 2, 2 * window.columns, last)
    return _area(waiting, window, height)


def _area(
    waiting: Sequence[int | None], window: TimeWindow, height: int
) -> tuple[list[Line], int]:
    """Draw two values in each column. Also return the largest one."""
    most = max(filter(None, waiting), default=0)
    top = max(MIN_TOP, most)
    return area(waiting, window.columns, height=height, top=top, inks=HEAT), most


def without_unseen(
    drawn: Line, window: TimeWindow, unseen: Iterable[tuple[Millis, Millis]]
) -> Line:
    """Leave columns blank that end while there was no connection: nothing is known then."""
    blank = {
        column
        for since, until in unseen
        for column in range(
            max(0, window.column(since)), min(window.columns, window.column(until))
        )
    }
    if not blank:
        return drawn
    runs, column = list[Run](), 0
    for run in drawn:
        cells = "".join(
            " " if at in blank else cell for at, cell in enumerate(run.text, start=column)
        )
        runs.append(run._replace(text=cells))
        column += len(run.text)
    return tuple(runs)


def inked(cells: str, letters: Letters | None = None) -> Line:
    """Colour runs of cells with the same meaning."""
    named = set((letters or {}).values())
    runs: list[tuple[str, Ink]] = [
        ("".join(same), "strong" if cell in named else INKS.get(cell, "plain"))
        for cell, same in groupby(cells)
    ]
    return merged(line(*runs))


BLOCKS_BY_SIGN: Final = str.maketrans("#=-!?.:p", "━═╌■□·┇●")
QUEUES: Final = str.maketrans("0123456789*.", "·▁▁▂▂▃▄▅▆▇█·")


def solid(drawn: Line) -> Line:
    """Replace the ASCII signs of a strip with bars.

    >>> text_of(solid(inked("##==--!!??..")))
    '━━══╌╌■■□□··'
    """
    return tuple([run._replace(text=run.text.translate(BLOCKS_BY_SIGN)) for run in drawn])


def levels(drawn: Line) -> Line:
    """Replace the digits of a queue with blocks of matching height.

    >>> text_of(levels(inked("0139*")))
    '·▁▂▇█'
    """
    return tuple([run._replace(text=run.text.translate(QUEUES)) for run in drawn])


def spans(drawn: Line) -> Line:
    """Draw each holder as a bar that begins with its letter.

    >>> text_of(spans(inked("AAAB..::CC", {1: "A", 2: "B", 3: "C"})))
    'A━━B··┇┇C━'
    """
    runs: list[Run] = []
    for run in drawn:
        for cell, same in groupby(run.text):
            length = len([*same])
            if cell.isalpha():
                runs.append(run._replace(text=cell))
                runs += [Run("━" * (length - 1), "holds")] if length > 1 else []
            else:
                runs.append(run._replace(text=cell.translate(BLOCKS_BY_SIGN) * length))
    return merged(tuple(runs))


def crossed(drawn: Line, cell: int, *, over_text: bool = True) -> Line:
    """Draw the cursor in a cell of a line. Without `over_text`, draw it only in a blank cell.

    >>> text_of(crossed(line("a", "bcd"), 2)), text_of(crossed(line("ab cd"), 1, over_text=False))
    ('ab┃d', 'ab cd')
    """
    runs: list[Run] = []
    at = 0
    for run in drawn:
        inside = cell - at
        at += len(run.text)
        if 0 <= inside < len(run.text) and (over_text or run.text[inside] == " "):
            runs += [
                run._replace(text=run.text[:inside]),
                Run("┃", "selected"),
                run._replace(text=run.text[inside + 1 :]),
            ]
        else:
            runs.append(run)
    return tuple(run for run in runs if run.text)


def row(label: str, drawn: Line, width: int, ink: Ink = "plain") -> Line:
    """Return a strip with its label in front. A long label is truncated at its start."""
    text = label if cell_len(label) < width else f"…{end_of(label, width - 2)}"
    return (*fitted(line((text, ink)), width), *drawn)
