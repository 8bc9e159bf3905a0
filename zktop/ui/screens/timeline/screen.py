"""Screen 5: the past of locks and sessions in strips, with a cursor and what happened there."""

from collections.abc import Iterator, Sequence
from itertools import islice
from time import monotonic
from typing import ClassVar, Final

from textual import events
from textual.app import ComposeResult

from zktop.model.facts import Millis
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.messages import PressKey, SeekTo, ShowPage
from zktop.ui.past.contacts_and_packet_rates import contacts
from zktop.ui.past.states import expired_at, lock_states
from zktop.ui.past.tape import Tape
from zktop.ui.screens.common.empty_screen import empty_state
from zktop.ui.screens.common.format import time_ms
from zktop.ui.screens.page import Page
from zktop.ui.screens.timeline import strip_choice, strips
from zktop.ui.screens.timeline.at_cursor import cursor_lines, wait_totals
from zktop.ui.screens.timeline.strip_choice import StripSubject
from zktop.ui.screens.timeline.strips import ColumnEnd, TimeWindow
from zktop.ui.styled_text import Line, line, text_of
from zktop.ui.view_state import Selection, TimeRange, ViewState
from zktop.ui.widgets.panel import FrameWords, Panel, TextPanel
from zktop.ui.widgets.text_view import TextView

CHOSEN_EVERY_S: Final = 1.0
NARROW_LABEL_CELLS, WIDE_LABEL_CELLS = 18, 30  # cells of the labels
WIDE_FROM_CELLS: Final = 110
MAX_SESSIONS: Final = 12
LOCK_SIGNS: Final = "A holder, a not listed, R readers, S leases, . free; 0-9 * queue"
LOCK_BARS: Final = "A━ holder, a━ not listed, R readers, S leases, · free; ▁█ queue"
CLIENT_SIGNS: Final = "# holds  = holds and waits  - waits  ! deadlock  ? likely  x lost"
CLIENT_BARS: Final = "━ holds  ═ holds and waits  ╌ waits  ▓ deadlock  ▒ likely  x lost"
TALL_FROM_LINES: Final = 14  # lines; a lower screen shows no contacts
CONTACT_STRIPS: Final = 4
HEAD_LINES: Final = 4  # lines above the strips

ColumnEnds = Sequence[ColumnEnd | None]


class Strips(Panel, TextView):
    """The strips; a click goes to that moment."""

    seen: TimeWindow | None = None
    label = NARROW_LABEL_CELLS

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        column = at.x - self.label if at is not None else -1
        if self.seen is not None and 0 <= column < self.seen.columns:
            self.post_message(SeekTo(at=self.seen.time(column)))


class TimelineScreen(Page):
    """Locks and sessions over time; all screens show the moment of the cursor."""

    FIELDS = ("path",)
    HELP: ClassVar[str | None] = """
    A column is the same span of time everywhere. Locks: the letter of the holder at the end of
    the column, R for several readers, S for several leases, `.` for free, `:` for more changes
    than a column can show; below, the longest queue, `*` for ten or more.

    Sessions: `#` holds, `=` holds and waits, `-` waits, `!` is in a deadlock, `?` is probably in
    one, `x` has expired, `p` contact with a server. Three or more waiters with similar names
    share a strip.

    `m` marks a moment; `x` exports the time between the mark and the cursor, or without a mark
    the time in view, as a recording: locks, sessions and findings of that time. The other
    screens show the moment of the cursor; escape goes back to live.
    """
    SCOPED_CSS: ClassVar[bool] = False  # the height class is set on the screen
    DEFAULT_CSS = """
    TimelineScreen #strips { height: 1fr; }
    TimelineScreen #instant { height: 30%; }
    .-short TimelineScreen #instant { height: 6; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._zoom = strips.ZOOMS_MS.index(500)
        self._mark: Millis | None = None
        self._paths: list[Text] = []
        self._subjects: list[StripSubject] = []
        self._chosen_at, self._is_tall = 0.0, False
        self._chosen_for: object = None

    def compose(self) -> ComposeResult:
        yield Strips(id="strips")
        yield TextPanel(id="instant")

    # What is shown

    def draw(self, state: ViewState) -> None:
        sheet = self.query_one(Strips)
        begin, end = state.tape.begin, state.tape.end
        if state.frame is None or state.at is None or begin is None or end is None:
            sheet.show(empty_state(state, sheet.room.width))
            return
        width = sheet.room.width
        if not width:
            return
        sheet.label = WIDE_LABEL_CELLS if width >= WIDE_FROM_CELLS else NARROW_LABEL_CELLS
        columns = max(10, width - sheet.label)
        zoom = strips.ZOOMS_MS[self._zoom]
        seen = sheet.seen = strips.window(state.at, begin, end, zoom, columns)
        self._choose(state, seen, state.frame.report)
        ends = strips.column_ends(state.tape, seen)
        drawn = list(self._strips(state, seen, ends, sheet.label))
        cell = None if state.is_newest else sheet.label + seen.column(state.at)
        sheet.show(
            [one if cell is None else strips.crossed(one, cell) for one, _ in drawn],
            [about for _, about in drawn],
            self._heads(state, seen, ends, sheet.label),
        )
        sheet.frame(FrameWords("Timeline", strips.scale(seen), "space play  [ ] step  t go to"))
        below = self.query_one("#instant", TextPanel)
        below.frame(FrameWords("At the cursor", f"{time_ms(state.at)}Z"))
        report = state.frame.report
        added = wait_totals(state.tape, self._paths, seen, report, is_ascii=state.is_ascii)
        below.show(cursor_lines(state.tape, state.frame, max(20, below.room.width), added))

    def _heads(
        self, state: ViewState, seen: TimeWindow, ends: ColumnEnds, label: int
    ) -> list[Line]:
        times, marks = strips.ruler(seen)
        at = state.at or seen.newest
        return [
            strips.title(state, seen),
            strips.row("", times, label),
            strips.row(strips.scale(seen), marks, label, "dim"),
            strips.row("alert", strips.alarm_strip(ends), label, "title"),
            strips.row("", strips.cursor(seen, at, self._mark), label),
        ]

    def _strips(
        self, state: ViewState, seen: TimeWindow, ends: ColumnEnds, label: int
    ) -> Iterator[tuple[Line, object]]:
        """The strips of locks, then of sessions; each with what enter opens."""
        alone = [one.session for one in self._subjects if one.session is not None]
        letters = dict(zip(alone, strips.LETTERS, strict=False))
        is_ascii = state.is_ascii
        yield self._legend("LOCKS", LOCK_SIGNS if is_ascii else LOCK_BARS)
        for path in self._paths:
            states = lock_states(state.tape, path, seen.begin, min(seen.end, seen.newest + 1))
            held, queue = strips.lock_strip(states, seen, letters)
            if not state.is_ascii:
                held, queue = strips.spans(held), strips.levels(queue)
            yield strips.row(path, held, label, "strong"), path
            yield strips.row("  queue", queue, label, "dim"), None
        yield self._legend("CLIENTS", CLIENT_SIGNS if is_ascii else CLIENT_BARS)
        ours = state.frame.report.ours if state.frame is not None else ()
        expired = expired_at(state.tape)
        for one in self._subjects:
            is_ours = one.session in ours
            name = f"{letters.get(one.session or 0, ' ')} {one.name}{' (demo)' if is_ours else ''}"
            drawn = strips.session_strip(one.sessions, ends, expired)
            drawn = drawn if state.is_ascii else strips.solid(drawn)
            yield strips.row(name, drawn, label, "ours" if is_ours else "plain"), one.session
        if self._is_tall:
            yield from self._contacts(state.tape, seen, label, letters)

    def _contacts(
        self, tape: Tape, seen: TimeWindow, label: int, letters: strips.Letters
    ) -> Iterator[tuple[Line, object]]:
        """Strips of contact times, where a server lists them."""
        end = min(seen.end, seen.newest + 1)
        alone = [one for one in self._subjects if one.session is not None][:CONTACT_STRIPS]
        heard = [(one, contacts(tape, one.sessions[0], seen.begin, end)) for one in alone]
        if any(found for _, found in heard):
            yield self._legend("SESSIONS", "p contact, by the servers' connection tables")
        for one, found in heard:
            if found:
                server = found[-1][1].partition(":")[0]
                drawn = strips.contact_strip((at for at, _ in found), seen)
                name = f"{letters.get(one.sessions[0], ' ')} {one.name} {server}"
                yield strips.row(name, drawn, label, "dim"), None

    def _legend(self, title: str, says: str) -> tuple[Line, None]:
        return line((f"{title:<9}", "title"), (says, "dim")), None

    def _choose(self, state: ViewState, seen: TimeWindow, report: Report) -> None:
        """Choose the strips; without a new selection, once a second at most."""
        asked = (state.subject.path, state.subject.session, seen.columns, state.filter.text)
        is_early = monotonic() - self._chosen_at < CHOSEN_EVERY_S
        if is_early and asked == self._chosen_for and self._paths:
            return
        self._chosen_at, self._chosen_for = monotonic(), asked
        room = max(6, self.query_one(Strips).room.height - HEAD_LINES - 3)
        self._is_tall = room >= TALL_FROM_LINES
        locks, actors = (room // 5, room // 3) if self._is_tall else (room // 4, room // 2)
        paths = strip_choice.strip_locks(state, seen, report)
        self._paths = list(islice(paths, max(2, locks)))
        sessions = strip_choice.strip_sessions(state, report, self._paths)
        self._subjects = list(islice(sessions, min(MAX_SESSIONS, max(3, actors))))

    # What the user does

    def action_zoom_in(self) -> None:
        self._set_zoom(self._zoom - 1)

    def action_zoom_out(self) -> None:
        self._set_zoom(self._zoom + 1)

    def _set_zoom(self, place: int) -> None:
        self._zoom = min(max(place, 0), len(strips.ZOOMS_MS) - 1)
        self._chosen_at = 0.0
        self.redraw()

    def action_mark(self) -> None:
        """Mark this moment, or remove the mark from it."""
        here = self.view_state.at if self.view_state is not None else None
        self._mark = None if here == self._mark else here
        if self._mark is None:
            self.say("Mark removed.")
        else:
            self.say(f"Marked {time_ms(self._mark)}Z: x exports from here to the cursor.")
        self.redraw()

    @property
    def marked_range(self) -> TimeRange | None:
        """The time between mark and cursor; without a mark, the time in view."""
        seen = self.query_one(Strips).seen
        if self.view_state is None or self.view_state.at is None or seen is None:
            return None
        if self._mark is None:
            return TimeRange(seen.begin, min(seen.end, seen.newest))
        return TimeRange(*sorted((self._mark, self.view_state.at)))

    def action_next_alert(self) -> None:
        self.post_message(PressKey("next_alert_in_time"))

    def action_open(self) -> None:
        target = self.query_one(Strips).target
        if isinstance(target, str):
            self.post_message(ShowPage("lock", Selection(path=target)))
        elif isinstance(target, int):
            self.post_message(ShowPage("sessions", Selection(session=target)))

    @property
    def subject(self) -> Selection:
        target = self.query_one(Strips).target
        if isinstance(target, str):
            return Selection(path=target)
        return Selection(session=target) if isinstance(target, int) else Selection()

    def copied(self) -> str:
        state, sheet = self.view_state, self.query_one(Strips)
        if state is None or sheet.seen is None:
            return ""
        ends = strips.column_ends(state.tape, sheet.seen)
        drawn = self._strips(state, sheet.seen, ends, sheet.label)
        lines = [*self._heads(state, sheet.seen, ends, sheet.label), *(one for one, _ in drawn)]
        return "\n".join(text_of(one).rstrip() for one in lines)
