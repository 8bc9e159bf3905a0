"""The lines of the timeline: axis, alerts, strips of locks and clients, contacts, waiting clients.

All lines share one label column and one time axis, and the cursor crosses them all.
"""

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Final, NamedTuple

from rich.cells import cell_len

from zktop.model.facts import Millis, Session
from zktop.model.format import count
from zktop.ui.inks import Ink
from zktop.ui.past.contacts_and_packet_rates import contacts
from zktop.ui.screens.timeline import strips, time_axis
from zktop.ui.screens.timeline.first_line import (
    Moment,
    group_words,
    lock_words,
    session_words,
    waiting_words,
)
from zktop.ui.screens.timeline.strip_choice import StripChoice, StripSubject
from zktop.ui.screens.timeline.time_axis import TimeWindow
from zktop.ui.styled_text import Line, cut_middle, fitted, line
from zktop.ui.view_state import ViewState

NARROW_LABEL_CELLS, WIDE_LABEL_CELLS = 18, 30
WIDE_FROM_CELLS: Final = 110
AROUND_NAME_CELLS: Final = 3  # the letter, and a blank on each side
MIN_NAME_CELLS: Final = 6
MIN_COLUMNS: Final = 10
LOCK_SIGNS: Final = "B holder, b unlisted holder, R readers, S several, . free; 0-9 * queue"
LOCK_BARS: Final = "B━ holder, b━ unlisted holder, R readers, S several, · free; ▁█ queue"
CLIENT_SIGNS: Final = "# holds  = holds and waits  - waits  ! deadlock  ? likely  x expired"
CLIENT_BARS: Final = "━ holds  ═ holds and waits  ╌ waits  ■ deadlock  □ likely  x expired"
GRAPH_TITLE_LINES: Final = 1
MIN_GRAPH_LINES, MAX_GRAPH_LINES = 2, 12

Words = Callable[[Moment], str]


class TimelineLine(NamedTuple):
    """One line, the item that Enter opens, and the function that describes it at a moment."""

    drawn: Line
    target: str | Session | None = None
    words: Words | None = None


def label_cells(width: int) -> int:
    return WIDE_LABEL_CELLS if width >= WIDE_FROM_CELLS else NARROW_LABEL_CELLS


class TimelineLines:
    """Draws a span of time of one view state."""

    def __init__(
        self, state: ViewState, window: TimeWindow, chosen: StripChoice, width: int
    ) -> None:
        self._state, self._window, self._chosen, self._width = state, window, chosen, width
        self._label = label_cells(width)
        self._alarms = strips.column_alarms(state.tape.tracks, window)
        self._at = state.at if state.at is not None else window.newest
        alone = [subject.session for subject in chosen.subjects if subject.session is not None]
        self._letters = dict(zip(alone, strips.LETTERS, strict=False))

    def heads(self, mark: Millis | None, words: Line) -> list[Line]:
        """Return the lines that stay at the top: the description, the axis and the alerts."""
        window, at = self._window, self._at
        axis = [
            strips.row(
                "", time_axis.labels(window, at, is_newest=self._state.is_newest), self._label
            ),
            strips.row("UTC", time_axis.marks(window, at, mark), self._label, "dim"),
        ]
        if not self._chosen.counts.has_alerts:
            return [words, *axis]
        alerts = self._shown(strips.alarm_strip(self._alarms))
        return [words, *axis, self._row("alert", alerts, "title")]

    def lines(self, room: int) -> list[TimelineLine]:
        """Return the strips, and a graph of the waiting clients if there is room for it."""
        counts = self._chosen.counts
        drawn = [*self._locks(), *self._clients(), *self._contacts()]
        height = min(MAX_GRAPH_LINES, room - counts.has_alerts - len(drawn) - GRAPH_TITLE_LINES)
        if height >= MIN_GRAPH_LINES and counts.graph:
            drawn += self._graph(height)
        return drawn

    def _locks(self) -> Iterator[TimelineLine]:
        counts, window, state = self._chosen.counts, self._window, self._state
        if counts.legends > 1:
            yield self._legend("LOCKS", LOCK_SIGNS if state.is_ascii else LOCK_BARS)
        for path in self._chosen.paths:
            states = state.tape.tracks.lock_states(path, window.begin, window.known_end)
            held, queue = map(
                self._without_unseen, strips.lock_strip(states, window, self._letters)
            )
            if not state.is_ascii:
                held, queue = strips.spans(held), strips.levels(queue)
            words = partial(lock_words, path=path)
            yield TimelineLine(self._row(path, held, "strong"), path, words)
            if counts.has_queues:
                yield TimelineLine(self._row("  queue", queue, "dim"), None, words)

    def _clients(self) -> Iterator[TimelineLine]:
        state, tracks = self._state, self._state.tape.tracks
        if self._chosen.counts.legends:
            yield self._legend("CLIENTS", CLIENT_SIGNS if state.is_ascii else CLIENT_BARS)
        ours = state.report.ours if state.report is not None else ()
        for subject in self._chosen.subjects:
            is_ours = subject.session in ours
            drawn = strips.session_strip(
                tracks, subject.sessions, self._window, self._alarms, tracks.expired
            )
            name = self._with_letter(subject, " (demo)" if is_ours else "")
            ink: Ink = "ours" if is_ours else "plain"
            row = self._row(name, self._shown(drawn), ink)
            yield TimelineLine(row, subject.session, _words_of(subject))

    def _contacts(self) -> Iterator[TimelineLine]:
        """Yield strips of contact times, for sessions in the servers' tables."""
        window, state, tape = self._window, self._state, self._state.tape
        alone = [subject for subject in self._chosen.subjects if subject.session is not None]
        alone = alone[: self._chosen.counts.contacts]
        sessions = [subject.sessions[0] for subject in alone]
        heard = contacts(tape, sessions, window.begin, window.known_end)
        if any(heard.values()):
            sign = "p" if state.is_ascii else "●"
            yield self._legend("SESSIONS", f"{sign} contact, from the servers' connection tables")
        for subject in alone:
            if times_and_servers := heard[subject.sessions[0]]:
                _, newest_server = times_and_servers[-1]
                server = newest_server.rpartition(":")[0]
                times = [at for at, _ in times_and_servers]
                known_from = tape.in_memory_from or 0  # earlier tables are packed
                drawn = strips.contact_strip(times, window, known_from)
                row = self._row(
                    self._with_letter(subject, f" {server}"), self._shown(drawn), "dim"
                )
                yield TimelineLine(row, None, _words_of(subject))

    def _graph(self, height: int) -> Iterator[TimelineLine]:
        """Yield the graph of the clients that waited for any lock."""
        state = self._state
        drawn, most = strips.waiting_area(state.pulse, self._window, height)
        most_waiting = f"up to {count(most, 'client')}" if most else "no client"
        title = line(("WAITING  ", "title"), (most_waiting, "dim"))
        yield TimelineLine(self._crossed_text(title))
        words = partial(waiting_words, pulse=state.pulse)
        for graph_line in map(self._without_unseen, drawn):
            yield TimelineLine(self._row("", graph_line), None, words)

    # One line

    @cached_property
    def _cell(self) -> int | None:
        """The column of the cursor; None at the newest moment, where it would hide new cells."""
        if self._state.is_newest or not self._window.shows(self._at):
            return None
        return self._window.column(self._at)

    def _shown(self, drawn: Line) -> Line:
        """Return a strip as bars or in ASCII, blank where nothing is known."""
        return self._without_unseen(drawn if self._state.is_ascii else strips.solid(drawn))

    def _without_unseen(self, drawn: Line) -> Line:
        return strips.without_unseen(drawn, self._window, self._state.tape.tracks.unseen)

    def _row(self, label: str, drawn: Line, ink: Ink = "plain") -> Line:
        """Return a strip with its label in front, crossed by the cursor."""
        if self._cell is not None:
            drawn = strips.crossed(fitted(drawn, self._window.columns), self._cell)
        return strips.row(label, drawn, self._label, ink)

    def _legend(self, title: str, says: str) -> TimelineLine:
        return TimelineLine(self._crossed_text(line((f"{title:<9}", "title"), (says, "dim"))))

    def _crossed_text(self, text: Line) -> Line:
        """Return a line of text, with the cursor where it is blank."""
        if self._cell is None:
            return text
        filled = fitted(text, self._label + self._window.columns)
        return strips.crossed(filled, self._label + self._cell, over_text=False)

    def _with_letter(self, subject: StripSubject, more: str) -> str:
        """Return the letter of a client, and as much of its name as fits between it and `more`."""
        room = self._label - AROUND_NAME_CELLS - cell_len(more)
        name = cut_middle(subject.name, max(MIN_NAME_CELLS, room))
        return f"{self._letters.get(subject.session or 0, ' ')} {name}{more}"


def _words_of(subject: StripSubject) -> Words:
    if subject.session is None:
        return partial(group_words, name=subject.name, sessions=subject.sessions)
    return partial(session_words, name=subject.name, session=subject.session)
