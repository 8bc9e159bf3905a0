"""The last 60 seconds in strips: which clients are shown, what they did, and how many waited.

Columns begin at fixed times, so the signs of past columns never change.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, islice, zip_longest
from typing import Final, NamedTuple

from zktop.model.actors import session_of
from zktop.model.facts import MINUTE_MS, Millis, Session
from zktop.model.format import clock, middle
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.inks import Ink
from zktop.ui.past.states import name_in
from zktop.ui.past.tape import Tape
from zktop.ui.screens.common.line_writer import LineLink
from zktop.ui.screens.common.numbers_and_times import with_spaces
from zktop.ui.screens.timeline import strips
from zktop.ui.screens.timeline.time_axis import TimeWindow
from zktop.ui.styled_text import Line, fitted, line
from zktop.ui.view_state import Selection, ViewState

NARROW_LABEL_CELLS, WIDE_LABEL_CELLS = 16, 24
WIDE_FROM_CELLS: Final = 90
MIN_COLUMNS: Final = 20
MIN_GRAPH_LINES, MAX_GRAPH_LINES = 2, 14
AIR_FROM_LINES: Final = 5  # a graph at least this tall has an empty line above it
AXIS_LABELS: Final = 4
MAX_EVENTS_SEARCHED: Final = 200  # for recently active clients
MAX_LOCKS_SEARCHED: Final = 50  # for any other clients
MAX_WAITERS: Final = 10  # shown for each lock in a deadlock
DECIDED_EVERY_MS: Final[Millis] = 5_000

AXIS_LINES: Final = 1


class MinuteLine(NamedTuple):
    """One line, and the screen that Enter opens."""

    drawn: Line
    link: LineLink | None = None


def important_clients(report: Report, tape: Tape, at_most: int) -> list[Session]:
    """Return sessions in alerts first, then root blockers, then recently active sessions.

    Active sessions are chosen every five seconds: busy clients would otherwise replace each other
    too fast to read.
    """
    clients: dict[Session, None] = {}
    for session in chain(_in_trouble(report), _active(report, tape), _others(report, tape)):
        if len(clients) >= at_most:
            break
        if session in report.locks_of:
            clients[session] = None
    return list(clients)


def _in_trouble(report: Report) -> Iterator[Session]:
    """Yield sessions that are in alerts or block others, with duplicates."""
    for deadlock in report.deadlocks:
        yield from _sessions(deadlock.actors)
    for finding in report.findings:
        yield from finding.sessions if finding.severity != "info" else ()
    for blocker in report.blockers:
        yield from _sessions(blocker.actors)
    for path in chain.from_iterable(deadlock.locks for deadlock in report.deadlocks):
        record = report.records.get(Text(path))
        yield from (waiter.owner for waiter in record.lock.waiters[:MAX_WAITERS]) if record else ()


def _active(report: Report, tape: Tape) -> Iterator[Session]:
    """Yield sessions that were active in the minute before the last decision, latest first."""
    decided_at = report.now - report.now % DECIDED_EVERY_MS
    for event in islice(tape.events_until(decided_at), MAX_EVENTS_SEARCHED):
        if event.at < decided_at - MINUTE_MS:
            break
        yield event.session or 0


def _others(report: Report, tape: Tape) -> Iterator[Session]:
    """Yield sessions with events after or before that minute, then clients of some locks."""
    for event in islice(tape.events_until(report.now), MAX_EVENTS_SEARCHED):
        yield event.session or 0
    for path in islice(report.records, MAX_LOCKS_SEARCHED):
        lock = report.records[path].lock
        yield from (member.owner for member in (*lock.holders[:1], *lock.waiters[:MAX_WAITERS]))


def _sessions(actors: Iterable[str]) -> Iterator[Session]:
    return (session for session in map(session_of, actors) if session is not None)


def minute_lines(
    state: ViewState, report: Report, first: Iterable[Session], width: int, room: int
) -> list[MinuteLine]:
    """Return at most `room` lines: the strips, the graph of waiting clients, and the axis.

    Clients in `first` get the first strips.
    """
    label = _label_cells(width)
    columns = max(MIN_COLUMNS, width - label - 1)
    window = _window(state, report, columns)
    reserved = min(MAX_GRAPH_LINES, max(MIN_GRAPH_LINES, (room - AXIS_LINES) // 3))
    most_clients = max(0, room - AXIS_LINES - reserved)
    others = important_clients(report, state.tape, most_clients)
    clients = list(dict.fromkeys((*first, *others)))[:most_clients]
    has_waited = strips.waiting_area(state.pulse, window, 1)[1] > 0
    if not clients and not has_waited:
        return []
    graph_lines = min(MAX_GRAPH_LINES, max(0, room - AXIS_LINES - len(clients)))
    waiting = strips.waiting_area(state.pulse, window, _height_without_air(graph_lines))
    drawn = _strips(state, report, window, clients, label)
    return [*drawn, *_graph(waiting, graph_lines, label), _axis(state, window, label)]


def minute_lines_of_lock(
    state: ViewState, report: Report, path: Text, width: int, room: int
) -> list[MinuteLine]:
    """Return at most `room` lines about one lock: its clients, and the graph of its queue."""
    label = _label_cells(width)
    window = _window(state, report, max(MIN_COLUMNS, width - label - 1))
    lock = report.records[path].lock
    clients = dict.fromkeys(
        member.owner for member in (*lock.holders, *lock.waiters) if member.owner
    )
    shown = list(clients)[: max(0, room - AXIS_LINES - MIN_GRAPH_LINES)]
    graph_lines = min(MAX_GRAPH_LINES, room - AXIS_LINES - len(shown))
    states = state.tape.tracks.lock_states(path, window.begin, window.known_end)
    waiting = strips.queue_area(states, window, _height_without_air(graph_lines))
    drawn = _strips(state, report, window, shown, label)
    return [*drawn, *_graph(waiting, graph_lines, label), _axis(state, window, label)]


def _window(state: ViewState, report: Report, columns: int) -> TimeWindow:
    """Return the minute before the cursor. A column is a whole number of milliseconds."""
    column_ms = 2 * -(-MINUTE_MS // (2 * columns))
    at = state.at if state.at is not None else report.now
    begin = at - at % column_ms - (columns - 1) * column_ms
    return TimeWindow(begin, column_ms, columns, at)


def _strips(
    state: ViewState, report: Report, window: TimeWindow, clients: Iterable[Session], label: int
) -> Iterator[MinuteLine]:
    tracks = state.tape.tracks
    alarms = strips.column_alarms(tracks, window)
    for session in clients:
        drawn = strips.session_strip(tracks, (session,), window, alarms, {})
        drawn = strips.without_unseen(drawn, window, tracks.unseen)
        name = name_in(report, session) or state.tape.tracks.name(session)
        ink: Ink = "ours" if session in report.ours else "plain"
        named = fitted(line(" ", (middle(name, label - 3), ink)), label)
        link = LineLink("timeline", Selection(session=session))
        yield MinuteLine((*named, *(drawn if state.is_ascii else strips.solid(drawn))), link)


def _label_cells(width: int) -> int:
    return WIDE_LABEL_CELLS if width >= WIDE_FROM_CELLS else NARROW_LABEL_CELLS


def _height_without_air(lines: int) -> int:
    """Return the lines of the graph itself. A tall graph has an empty line above it."""
    return max(0, lines - 1 if lines >= AIR_FROM_LINES else lines)


def _graph(waiting: tuple[list[Line], int], room: int, label: int) -> Iterator[MinuteLine]:
    """Draw the number of waiting clients in the same columns."""
    drawn, most = waiting
    if room <= 0:
        return
    height = _height_without_air(room)
    if height < room:
        yield MinuteLine(())
    names = [" waiting", f" up to {with_spaces(most)}" if most else " none"][:height]
    above = [""] * ((height - len(names)) // 2)
    for name, graph_line in zip_longest((*above, *names), drawn, fillvalue=""):
        yield MinuteLine((*fitted(line((name, "dim")), label), *graph_line))


def _axis(state: ViewState, window: TimeWindow, label: int) -> MinuteLine:
    """Draw the ages of the columns, and "now" or the current moment on the right."""
    last = "now" if state.is_newest else clock(window.newest)
    names = [f"-{60 - 60 * part // AXIS_LABELS}s" for part in range(AXIS_LABELS)]
    cells = [" "] * window.columns
    for part, name in enumerate(names):
        at = part * window.columns // AXIS_LABELS
        cells[at : at + len(name)] = name
    cells[-len(last) :] = last
    ages = "".join(cells[: window.columns])
    return MinuteLine(line(" " * label, (ages, "dim")))
