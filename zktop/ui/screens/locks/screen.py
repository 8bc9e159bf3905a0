"""Screen 1: all locks, worst first, surrounded by alerts, root blockers, events and health."""

from collections.abc import Mapping
from functools import partial
from typing import ClassVar, Final

from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.containers import Container, Vertical

from zktop.model.format import count
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.filters import FilterCount
from zktop.ui.messages import SelectionChanged, ShowPage
from zktop.ui.screens.common.empty_screen import empty_state
from zktop.ui.screens.common.example_row import ExampleCell
from zktop.ui.screens.common.live_rows import ReadingInSteps, RowSorter
from zktop.ui.screens.common.numbers_and_times import with_spaces
from zktop.ui.screens.common.split import SplitPage
from zktop.ui.screens.common.throttle import READABLE_S, Throttle
from zktop.ui.screens.locks.groups import LockGroup, about_group
from zktop.ui.screens.locks.health_line import health
from zktop.ui.screens.locks.lock_row import FIELDS as ROW_FIELDS
from zktop.ui.screens.locks.lock_row import STATES as ROW_STATES
from zktop.ui.screens.locks.pane_sizes import (
    FRAME_CELLS,
    PaneHeights,
    UsedLines,
    columns_of,
    heights_now,
    most_heights,
)
from zktop.ui.screens.locks.panes import (
    AlertsPane,
    BlockersPane,
    EventsPane,
    MinutePane,
    Pane,
    PreviewPane,
    PulsePane,
    WaitsPane,
    lock_summary,
)
from zktop.ui.screens.locks.rows import LockRows
from zktop.ui.screens.locks.table import LockTable
from zktop.ui.screens.page import OrderedTable
from zktop.ui.styled_text import text_of
from zktop.ui.textual_fixes.work_in_steps import call_in_steps
from zktop.ui.view_state import Selection, ViewState, locks_of
from zktop.ui.widgets.panel import FrameWords, set_height
from zktop.ui.widgets.text_view import StaticText

SIDE_PERCENT: Final = {2: 36, 3: 54}  # number of columns: width of all except the first
EVENTS_S: Final = 0.09  # the pause between drawings of events, which users watch as they happen


class LocksScreen(SplitPage):
    """All locks."""

    FIELDS = ROW_FIELDS
    STATES = ROW_STATES
    SIDE = "#side"
    STILL_S = 10.0  # ages above a minute change in such steps
    HELP = (
        "All locks: those with problems first, then those that clients wait for, then the others, "
        "each by total wait. Around them are alerts, who is blocking, and recent events.\n\n"
        "Quiet locks below one parent share a line, `▸ /locks/user/* (388)`: they have no "
        "problems and no waiters. Enter opens the line. `f` lists every lock, and so does a "
        "filter or another order.\n\n"
        "**MIX** is the queue by mode: `W.R5` is a writer, then five readers. `o` explains all "
        "columns.\n\n"
        "**Who is blocking** lists the clients that others wait for, and that wait for no other "
        "client. **Last 60 s**, below a short table, shows what the clients in alerts and the "
        "root blockers did, with the signs of the timeline, and how many clients waited. Enter "
        "opens the lock, session or finding of the line; tab goes to the next pane.\n\n"
        "`a` acknowledges the alert under the cursor (from another pane, the first one), `A` all "
        "alerts. Acknowledged alerts fold into one line; enter opens it, and `a` on an alert "
        "there brings it back. An alert also comes back if it gets more severe or more certain, "
        "if more locks or clients are involved, if its queue doubles, or if it ends and begins "
        "again."
    )
    HELP_KEYS: ClassVar[Mapping[str, str]] = {
        "open": "open the lock",
        "next_alert": "explain the next alert",
        "filter": "filter",
        "acknowledge": "acknowledge the alert",
        "sort": "columns and order",
        "fold": "list or fold quiet locks",
        "palette": "find by name",
        "tree": "who waits for whom",
    }
    HELP_ROW: ClassVar[tuple[ExampleCell, ...]] = (
        ExampleCell("STATE", " DEADLOCK ", "worst problem; ? means likely", "alarm"),
        ExampleCell("LOCK", "/shop/stock", "path"),
        ExampleCell("HOLDER", "X stock-sync", "client, with mode X, R or W", "holds"),
        ExampleCell("HELD", " 17s", "how long it has held it"),
        ExampleCell("QUEUE", "██ 2", "clients that wait", "waits"),
        ExampleCell("TOTAL WAIT", "     2m28s", "all waits", "waits"),
    )
    DEFAULT_CSS = """
    LocksScreen #columns { height: 1fr; layout: vertical; }
    LocksScreen #main { height: 1fr; }
    LocksScreen #side, LocksScreen #lock-side, LocksScreen #news { height: auto; }
    LocksScreen #lock-side { display: none; }
    LocksScreen #preview { height: 1fr; }
    LocksScreen #alerts { dock: top; }
    LocksScreen #about { height: 0; overflow: hidden; background: $panel; }
    LocksScreen #health { height: 0; overflow: hidden; background: $panel; }
    .-double LocksScreen #columns, .-triple LocksScreen #columns { layout: horizontal; }
    .-double LocksScreen #main, .-triple LocksScreen #main { width: 1fr; }
    .-double LocksScreen #lock-side { display: block; height: 1fr; }
    .-triple LocksScreen #lock-side { display: block; }
    .-double LocksScreen #side { height: 1fr; }
    .-triple LocksScreen #side { height: 1fr; layout: horizontal; }
    .-triple LocksScreen #lock-side, .-triple LocksScreen #news { width: 1fr; height: 1fr; }
    """
    SCOPED_CSS: ClassVar[bool] = False  # the width classes are set on the screen

    def __init__(self) -> None:
        super().__init__()
        self._rows = LockRows()
        self._reading = ReadingInSteps(self)
        self._filter_in_use: str | None = ""  # None: not all rows are sorted yet
        self._followed: str | None = None  # the path that another screen selected last
        self._about, self._health = StaticText(id="about"), StaticText(id="health")
        self._alerts, self._blockers = AlertsPane(), BlockersPane(id="blockers")
        self._events, self._waits = EventsPane(id="events"), WaitsPane(id="waits")
        self._pulse, self._preview = PulsePane(id="pulse"), PreviewPane(id="preview")
        self._minute = MinutePane(id="minute")
        self.table = LockTable()
        self.table.newest = self._rows.rows
        search = partial(self.search, self._rows.search, self.table, "Locks")
        self._sorter = RowSorter(self.table, self._order, search)
        self._panes = Throttle(self, self._draw_panes, READABLE_S)
        self._news = Throttle(self, self._draw_events, EVENTS_S)

    def compose(self) -> ComposeResult:
        """Create the panes. The table comes first, so it gets the focus."""
        with Container(id="columns"):
            with Vertical(id="main"):
                yield self.table
                yield self._about
                yield self._minute
                yield self._alerts
            with Container(id="side"):
                with Vertical(id="lock-side"):
                    yield self._pulse
                    yield self._preview
                    yield self._waits
                with Vertical(id="news"):
                    yield self._blockers
                    yield self._events
        yield self._health

    # What it shows

    def draw(self, state: ViewState) -> None:
        self.apply_split()
        report = state.report
        if report is None:
            self.table.frame(FrameWords("Locks"))
            self.table.show((), empty_state(state, self.main_cells))
            return
        self.table.cells.report, self.table.cells.is_ascii = report, state.is_ascii
        self._rows.kept_path = self._chosen
        if self._reading.read(self._rows, report):
            self._show_report(state, report)
        elif not self.table.rows:
            self._sorter.now()

    def _show_report(self, state: ViewState, report: Report) -> None:
        if self._rows.take_changed():
            self._sorter.changed()
        self._follow(state.subject)
        if state.filter.text != self._filter_in_use or not self.table.rows:
            self._sorter.now()
        chosen = self._chosen_view(state)
        self._panes.draw_for(chosen)
        self._news.draw_for(chosen)

    def _chosen_view(self, state: ViewState) -> object:
        """Return the values whose change draws all panes at once: connection, choices, sizes."""
        moment = state.chosen_moment
        choices = state.filter.text, state.acknowledged.weights, state.hides_notes, moment
        return state.status.word, choices, self.size, self.side_cells

    def filter_opened(self) -> None:
        call_in_steps(self, self._rows.prepare())

    def _order(self) -> None:
        """Sort the rows, grouped or filtered."""
        state, report, table = self.view_state, self.report, self.table
        if state is None or report is None:
            return
        rows = self._rows.listed(
            report.now,
            state.filter,
            {*table.tagged, table.kept_key},
            is_sorted=table.has_order,
        )
        self._filter_in_use = None if self._reading.is_under_way else state.filter.text
        total = len(self._rows.rows)
        self.passed = FilterCount(len(rows), total) if state.filter else None
        order = f"by {table.sorted_by}" if table.sorted_by else "worst first"
        counted = f"{with_spaces(len(rows))} of " if state.filter else ""
        facts = f"{counted}{with_spaces(total)} · {order}"
        if self._reading.is_under_way:
            facts = f"reading {count(len(report.paths), 'lock')} ..."
        table.frame(FrameWords("Locks", facts, "{open} open  {filter} filter  {sort} columns"))
        table.show(rows, () if rows else empty_state(state, self.main_cells))
        self._describe(self._most_heights.about)

    @property
    def usual_side_cells(self) -> int:
        return self.size.width * SIDE_PERCENT[self.columns] // 100

    @property
    def _page_height(self) -> int:
        return self.size.height - 1  # the line about health

    @property
    def _most_heights(self) -> PaneHeights:
        return most_heights(self._page_height)

    def _heights(self) -> PaneHeights:
        table = self.table.count + 1 + self.table.gutter.height
        used = UsedLines(table, self._alerts.wanted_height, self._blockers.wanted_height)
        return heights_now(self._page_height, self.columns, used)

    @property
    def columns(self) -> int:
        return columns_of(self.size.width)

    @property
    def _news_cells(self) -> int:
        """The width of a pane in the column of news, without its frame."""
        side = self.side_cells
        return (side if self.columns < 3 else side // 2) - FRAME_CELLS  # noqa: PLR2004  columns

    def _list_problems(self, state: ViewState, report: Report) -> None:
        """Fill the panes whose height depends on their text. The others share the rest."""
        heights, main = self._most_heights, self.main_cells - FRAME_CELLS
        self._blockers.show_report(state, report, heights.blockers, self._news_cells)
        self._alerts.show_report(state, report, heights.alerts, main)

    def _draw_panes(self) -> None:
        """Draw new values in the table, and fill the panes around it."""
        state, report = self.view_state, self.report
        if state is None or report is None:
            return
        self._sorter.when_due()
        self._describe(self._most_heights.about)
        self._list_problems(state, report)
        heights = self._heights()
        number, main, news = self.columns, self.main_cells - FRAME_CELLS, self._news_cells
        self._waits.show_report(state, report, heights.waits, news)
        self._minute.show_state(state, report, heights.minute, main)
        if number > 1:
            self._pulse.show_state(state, heights.pulse, news)
            self._preview.show_lock(state, report, self.table.row)
        set_height(self._health, heights.health)
        self._health.show([health(report, state.feed.notes)])

    def _draw_events(self) -> None:
        state, report = self.view_state, self.report
        if state is not None and report is not None:
            height = self._heights().events
            fills = self.columns == 3  # noqa: PLR2004  columns
            self._events.show_report(state, report, height, self._news_cells, fills=fills)

    def _describe(self, height: int) -> None:
        """Describe the row under the cursor in one line."""
        row, group, key = self.table.row, self._group, self.table.key_of("fold")
        set_height(self._about, height if row or group else 0)
        if row:
            self._about.show([lock_summary(row)])
        else:
            self._about.show([about_group(group, key)] if group else [])

    # The cursor

    @property
    def _group(self) -> LockGroup | None:
        group = self.table.group
        return group if isinstance(group, LockGroup) else None

    @property
    def _chosen(self) -> Text | None:
        row = self.table.row
        return row.path if row is not None and self.table.held else None

    def _follow(self, subject: Selection) -> None:
        """Put the cursor on the lock that another screen selected."""
        if subject.path is not None and subject.path != self._followed:
            self._followed = subject.path
            path = Text(subject.path)
            if path in self._rows.rows and not self.table.choose(path):
                self._sorter.now()  # the lock is new, or in a closed group
            self._describe(self._most_heights.about)

    @property
    def subject(self) -> Selection:
        row = self.table.row
        return Selection(path=row.path if row else None)

    @property
    def chosen_subject(self) -> Selection:
        return self.subject if self.table.held else Selection()

    @property
    def under_cursor(self) -> Selection:
        """The lock under the cursor, or the item under the cursor of another pane."""
        pane = self.screen.focused
        return pane.subject if isinstance(pane, Pane) else self.subject

    def on_table_cursor_moved(self) -> None:
        """Select the lock on the other screens as well, and describe it."""
        self._followed = self.subject.path
        self.post_message(SelectionChanged(self.subject))
        self._describe(self._about.size.height)
        if self.view_state is not None and self.report is not None and self.columns > 1:
            self._preview.show_lock(self.view_state, self.report, self.table.row)

    def on_table_sort_changed(self) -> None:
        self._sorter.now()

    @property
    def ordered_table(self) -> OrderedTable:
        return OrderedTable(self.table, "locks", "worst first")

    @property
    def selected_alerts(self) -> tuple[str, ...]:
        return self._alerts.selected

    # Keys

    def action_open(self) -> None:
        """Open the lock under the cursor, or open or close the group."""
        group = self.table.group
        if group is not None:
            self._rows.toggle(group.name)
            self._sorter.now()
        elif self.subject.path is not None:
            self.post_message(ShowPage("lock", self.subject))

    def action_back(self) -> None:
        """Remove all tags, else return the cursor to the first row, else leave Esc to the app."""
        if self._has_filter_or_is_past:
            raise SkipAction
        if self.table.untag():
            return
        if not self.table.held:
            raise SkipAction
        self.table.release()
        self.on_table_cursor_moved()

    @property
    def _has_filter_or_is_past(self) -> bool:
        """True if escape must first clear a filter or return from the past."""
        state = self.view_state
        return state is None or bool(state.filter) or not state.is_newest

    def action_reverse(self) -> None:
        """Reverse the table, even while another pane has the focus."""
        self.table.action_reverse()

    def action_tag(self) -> None:
        self.table.tag()

    def action_fold(self) -> None:
        if self.table.has_order or (self.view_state is not None and self.view_state.filter):
            self.say("All locks are listed while a filter or a sort order is set.")
            return
        self._rows.is_grouped = not self._rows.is_grouped
        self._rows.open_groups.clear()
        self._sorter.now()

    def copied(self) -> str:
        """Return the tagged locks, or those under the cursor, in the format of a text snapshot."""
        state, report = self.view_state, self.report
        if state is None or report is None:
            return ""
        pane, pointed = self.screen.focused, self.under_cursor
        tagged = self.table.tagged & self._rows.rows.keys()
        group = self._group
        if group is not None and pane is self.table and not tagged:
            return text_of(about_group(group, state.key_of("fold"))).strip()
        paths = tagged or locks_of(report, pointed) or locks_of(report, self.subject)
        if state.exports is None or not paths:
            return ""
        return state.exports.excerpt(report, paths, state.feed.name)
