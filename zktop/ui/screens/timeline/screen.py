"""Screen 5: the history of locks and sessions as strips, and what happened at the cursor."""

from collections.abc import Mapping
from time import monotonic
from typing import ClassVar, Final

from textual.app import ComposeResult

from zktop.model.facts import Millis
from zktop.ui.messages import PressKey, ShowPage
from zktop.ui.screens.common.empty_screen import empty_state
from zktop.ui.screens.common.example_row import ExampleCell
from zktop.ui.screens.common.numbers_and_times import time_ms, with_date_if_needed
from zktop.ui.screens.page import Page
from zktop.ui.screens.timeline import time_axis
from zktop.ui.screens.timeline.changes_at_cursor import cursor_lines
from zktop.ui.screens.timeline.first_line import Moment, alert_words, overview, pointed_at
from zktop.ui.screens.timeline.strip_choice import StripChoice, chosen_strips
from zktop.ui.screens.timeline.strip_panel import PointedAt, StripPanel, StripPlace, Zoomed
from zktop.ui.screens.timeline.time_axis import ZOOMS_MS, TimeWindow
from zktop.ui.screens.timeline.timeline_lines import (
    MIN_COLUMNS,
    TimelineLine,
    TimelineLines,
    label_cells,
)
from zktop.ui.screens.timeline.wait_totals import wait_totals
from zktop.ui.styled_text import Line, text_of
from zktop.ui.view_state import Selection, TimeRange, ViewState
from zktop.ui.widgets.panel import FrameWords, TextPanel

CHOSEN_EVERY_S: Final = 1.0
AXIS_LINES: Final = 3  # above the strips, without the alerts
MIN_LINES: Final = 16  # a shorter screen has no pane about the cursor


class TimelineScreen(Page):
    """Locks and sessions over time. All screens show the moment of the cursor."""

    DEFAULT_CLASSES = "-air"
    FIELDS = ("path",)
    HELP: ClassVar[str | None] = """
    What happened when. A column is the same time for every lock and client; the vertical line is
    the cursor, and all screens show its moment.

    Locks: a bar begins with the letter of the holder: R for several readers, S for several other
    holders, `·` for free, `┇` for more changes than a column can show. Below the bar is the
    longest queue. Without UTF-8: `#` holds, `=` holds and waits, `-` waits, `!` is in a deadlock,
    `?` probably in one, `:` more changes.

    Contacts: `●` (`p` without UTF-8) is a contact with a server. Three or more waiters with
    similar names share a strip. The graph at the bottom shows how many clients waited.

    Mouse: a click sets the cursor, a drag moves it, the wheel zooms. The first line says what
    happened at the moment under the mouse.

    `m` marks a moment. `c` compares it with the moment of the cursor. Without a mark, it compares
    the cursor with now. `x` exports the time between the mark and the cursor, or without a mark
    the time in view, as a recording: its locks, sessions and findings. `b` adds up who made others
    wait in the same time.
    """
    HELP_KEYS: ClassVar[Mapping[str, str]] = {
        "step_back": "previous change",
        "step": "next change",
        "play": "play or pause",
        "seek": "go to a time",
        "mark": "mark this moment",
        "compare": "compare with the mark",
        "export": "export a recording",
        "back": "to now if live, or back",
    }
    HELP_ROW: ClassVar[tuple[ExampleCell, ...]] = (
        ExampleCell("", "A ann", "client, and its letter in the strips of locks", "strong"),
        ExampleCell("", "━━━━━", "holds a lock", "holds"),
        ExampleCell("", "═════", "holds one and waits for another", "waits"),
        ExampleCell("", "╌╌╌╌╌", "waits", "waits"),
        ExampleCell("", "■■■■■", "is in a deadlock (□ likely)", "critical"),
        ExampleCell("", "x", "its session expired", "dim"),
    )
    SCOPED_CSS: ClassVar[bool] = False  # the height class is set on the screen
    DEFAULT_CSS = """
    TimelineScreen #strips { height: 1fr; }
    TimelineScreen #instant { height: 30%; }
    .-short TimelineScreen #instant { height: 6; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._zoom = ZOOMS_MS.index(500)
        self._mark: Millis | None = None
        self._window: TimeWindow | None = None
        self._chosen: StripChoice | None = None
        self._chosen_at = 0.0
        self._chosen_for: object = None
        self._lines: list[TimelineLine] = []
        self._pointed: StripPlace | None = None  # under the mouse
        self._strips, self._instant = StripPanel(id="strips"), TextPanel(id="instant")

    def compose(self) -> ComposeResult:
        yield self._strips
        yield self._instant

    # What is shown

    def draw(self, state: ViewState) -> None:
        panel, below = self._strips, self._instant
        below.display = self.size.height >= MIN_LINES
        width, height = panel.room
        begin, end = state.tape.begin, state.tape.end
        if state.frame is None or state.at is None or begin is None or end is None:
            below.display = False
            panel.frame(FrameWords("Timeline"))
            panel.show(empty_state(state, self.size.width))
            return
        if not width:
            return
        window = self._follow(state, begin, end, max(MIN_COLUMNS, width - label_cells(width)))
        panel.window, panel.label = window, label_cells(width)
        timeline = self._timeline(state, window, width, height)
        self._lines = timeline.lines(height - AXIS_LINES)
        heads = timeline.heads(self._mark, self._strip_words(state, window))
        lines, targets, _ = zip(*self._lines, strict=True) if self._lines else ((), (), ())
        panel.show(lines, targets, heads)
        keys = "{zoom_in} {zoom_out} zoom  {play} play  {step_back} {step} step  {seek} go to"
        panel.frame(FrameWords("Timeline", time_axis.scale(window), keys))
        self._show_cursor(state, window, below)

    def _follow(self, state: ViewState, begin: Millis, end: Millis, columns: int) -> TimeWindow:
        """Keep the window while it contains the cursor. When live, follow the newest moment."""
        column_ms, at = ZOOMS_MS[self._zoom], state.at or end
        window = self._window
        is_same = window is not None and (window.column_ms, window.columns) == (column_ms, columns)
        if state.is_newest:
            self._window = time_axis.latest(end, column_ms, columns)
        elif window is not None and is_same and window.shows(at):
            self._window = window._replace(newest=end)
        else:
            self._window = time_axis.window_around(at, begin, end, column_ms, columns)
        return self._window

    def _timeline(
        self, state: ViewState, window: TimeWindow, width: int, height: int
    ) -> TimelineLines:
        return TimelineLines(
            state, window, self._choose(state, window, height - AXIS_LINES), width
        )

    def _choose(self, state: ViewState, window: TimeWindow, room: int) -> StripChoice:
        """Choose the strips. Without a new selection, do so at most once a second."""
        begin = None if state.is_newest else window.begin  # when live, it moves all the time
        span = begin, window.columns, window.column_ms
        wanted = (*state.subject[:3], *span, room, state.filter.text)
        is_early = monotonic() - self._chosen_at < CHOSEN_EVERY_S
        if self._chosen is not None and is_early and wanted == self._chosen_for:
            return self._chosen
        frame = state.frame
        assert frame is not None  # noqa: S101  there is a window
        self._chosen_at, self._chosen_for = monotonic(), wanted
        self._chosen = chosen_strips(state, window, frame.report, room)
        return self._chosen

    def _show_cursor(self, state: ViewState, window: TimeWindow, below: TextPanel) -> None:
        """Draw the pane about the cursor."""
        if state.frame is None or state.at is None or self._chosen is None or not below.display:
            return
        begin = state.tape.begin or window.begin
        when = with_date_if_needed(time_ms(state.at), state.at, begin, window.newest)
        below.frame(FrameWords("At the cursor", f"{when}Z"))
        report = state.frame.report
        totals = wait_totals(
            state.tape, self._chosen.paths, window, report, is_ascii=state.is_ascii
        )
        width = max(20, below.room.width)
        below.show(cursor_lines(state.tape, state.frame, state.at, width, totals))

    # What the mouse does

    def on_pointed_at(self, message: PointedAt) -> None:
        """Describe the strip under the mouse."""
        self._pointed = message.place
        state, window = self.view_state, self._window
        if state is not None and window is not None:
            self._strips.show_words(self._strip_words(state, window))

    def _strip_words(self, state: ViewState, window: TimeWindow) -> Line:
        """Describe the strip under the mouse, or give an overview if there is none."""
        place = self._pointed
        if place is None or place.column not in window.known:
            return overview(state, window)
        at, tracks = window.time(place.column), state.tape.tracks
        if at < tracks.begin:
            return pointed_at(at, "before the first data")
        if any(since <= at < until for since, until in tracks.unseen):
            return pointed_at(at, "nothing is known of this time")
        frame = state.tape.frame_at(at)
        report = frame.report if frame is not None and frame.at <= at else None
        moment = Moment(at, tracks, report)
        if place.line < 0:
            return pointed_at(at, alert_words(moment))
        words = self._lines[place.line].words if place.line < len(self._lines) else None
        return pointed_at(at, words(moment) if words is not None else "")

    def on_zoomed(self, message: Zoomed) -> None:
        self._set_zoom(self._zoom + message.by, message.column)

    # What the keys do

    def action_zoom_in(self) -> None:
        self._set_zoom(self._zoom - 1)

    def action_zoom_out(self) -> None:
        self._set_zoom(self._zoom + 1)

    def _set_zoom(self, zoom: int, column: int | None = None) -> None:
        """Change the length of the columns. `column`, or else the cursor, stays in place."""
        self._zoom = min(max(zoom, 0), len(ZOOMS_MS) - 1)
        self._chosen_at = 0.0
        state, window = self.view_state, self._window
        if state is not None and state.at is not None and window is not None:
            place = window.column(state.at) if column is None else column
            self._window = time_axis.zoomed(window, ZOOMS_MS[self._zoom], place, state.at)
        self.redraw()

    def action_mark(self) -> None:
        """Mark this moment, or remove the mark from it."""
        state = self.view_state
        if state is None or state.at is None:
            return
        here = state.at
        self._mark = None if here == self._mark else here
        if self._mark is None:
            self.say("Mark removed.")
        else:
            compare, export = map(state.key_of, ("compare", "export"))
            hint = f"Move the cursor: {compare} compares, {export} exports from here."
            ends = state.tape.begin or here, state.tape.end or here
            when = with_date_if_needed(time_ms(here), here, *ends)
            self.say(f"Marked {when}Z. {hint}")
        self.redraw()

    @property
    def mark(self) -> Millis | None:
        return self._mark

    @property
    def marked_range(self) -> TimeRange | None:
        """The time between mark and cursor, or the time in view if there is no mark."""
        window = self._window
        if self.view_state is None or self.view_state.at is None or window is None:
            return None
        if self._mark is None:
            return TimeRange(window.begin, min(window.end, window.newest))
        return TimeRange(*sorted((self._mark, self.view_state.at)))

    def action_next_alert(self) -> None:
        self.post_message(PressKey("next_alert_in_time"))

    def action_open(self) -> None:
        target = self._strips.target
        if isinstance(target, str):
            self.post_message(ShowPage("lock", Selection(path=target)))
        elif isinstance(target, int):
            self.post_message(ShowPage("sessions", Selection(session=target)))

    @property
    def subject(self) -> Selection:
        target = self._strips.target
        if isinstance(target, str):
            return Selection(path=target)
        return Selection(session=target) if isinstance(target, int) else Selection()

    def copied(self) -> str:
        """Return the visible lines as text."""
        state, window = self.view_state, self._window
        width, height = self._strips.room
        if state is None or state.frame is None or window is None:
            return ""
        timeline = self._timeline(state, window, width, height)
        lines = timeline.heads(self._mark, overview(state, window))
        lines += [shown.drawn for shown in timeline.lines(height - AXIS_LINES)]
        return "\n".join(text_of(line).rstrip() for line in lines)
