"""Screen 4: the servers, the sessions, and what would happen if one of them died."""

from collections.abc import Mapping
from functools import partial
from math import inf
from typing import ClassVar, Final

from msgspec.structs import replace
from textual.app import ComposeResult
from textual.containers import Vertical

from zktop.model.facts import SECOND_MS, Session
from zktop.model.format import count
from zktop.model.report import Report
from zktop.model.session_ids import session_text
from zktop.model.text import Text
from zktop.ui.filters import FilterCount
from zktop.ui.messages import PageReady, SelectionChanged, ShowPage
from zktop.ui.past.contacts_and_packet_rates import recent_contacts
from zktop.ui.screens.common.empty_screen import empty_state
from zktop.ui.screens.common.event_lines import About, event_lines
from zktop.ui.screens.common.example_row import ExampleCell
from zktop.ui.screens.common.line_writer import LineLink, LineWriter
from zktop.ui.screens.common.live_rows import ReadingInSteps, RowSorter
from zktop.ui.screens.page import OrderedTable, Page
from zktop.ui.screens.sessions import server_rows
from zktop.ui.screens.sessions.rows import FIELDS as SESSION_FIELDS
from zktop.ui.screens.sessions.rows import SessionGroup, SessionRow, SessionRows
from zktop.ui.screens.sessions.session_detail import details
from zktop.ui.screens.sessions.table import ServerTable, SessionTable, about_group, session_counts
from zktop.ui.screens.timeline.last_60_seconds import minute_lines
from zktop.ui.screens.timeline.last_60_seconds_panel import MinutePanel
from zktop.ui.styled_text import NOTHING, Line, line, text_of
from zktop.ui.textual_fixes.work_in_steps import call_in_steps
from zktop.ui.view_state import Selection, ViewState
from zktop.ui.widgets.panel import FrameWords, TextPanel, set_height
from zktop.ui.widgets.text_view import StaticText

MAX_BLIND_LINES: Final = 2  # lines about missing tables
MAX_SERVER_ROWS: Final = 6  # more servers are scrolled
MAX_EVENTS: Final = 20
SHORT_DETAIL_LINES: Final = 9  # in a short window
COPIED_LINE_CELLS: Final = 100


class SessionsScreen(Page):
    """Servers above, sessions in the middle, the selected session below."""

    DEFAULT_CLASSES = "-air"
    FIELDS = SESSION_FIELDS
    STATES = ("holding", "waiting", "quiet")
    HELP: ClassVar[str | None] = """
    Servers at the top, then the sessions, highest risk first. At the bottom is the selected
    session, and what happens if it dies.

    Many sessions with similar names and low risk are one line: enter opens it, `f` opens all.
    CONTACT is a bar of the timeout: at the mark the client library looks for another server, and
    at the end the session expires. `o` explains all columns, those of the servers too.

    The bottom shows which clients get the locks of the session if it dies, and which clients wait
    behind it. For a silent session, it also shows whether other clients on its host are silent,
    and what the client would believe if it woke up late. Sessions with the same name are listed
    if they have no connection or expired recently: a restarted process may wait for its own
    earlier session.
    """
    HELP_KEYS: ClassVar[Mapping[str, str]] = {
        "open": "open the lock",
        "next_pane": "go to the next pane",
        "filter": "filter",
        "sort": "columns and order",
        "fold": "list or fold sessions",
        "copy": "copy the details",
        "next_alert": "explain the next alert",
        "tree": "who waits for whom",
    }
    HELP_ROW: ClassVar[tuple[ExampleCell, ...]] = (
        ExampleCell("RISK", "HIGH", "how likely it is to cause trouble", "critical"),
        ExampleCell("SESSION", "0x…91f3a", "last digits of its id"),
        ExampleCell("IDENTITY", "stock-sync", "client, by its unique name"),
        ExampleCell("CONTACT", "━━━━────┊───", "silence, as a share of the timeout", "warning"),
        ExampleCell("LEFT", "21s", "until it expires"),
        ExampleCell("HOLDS", "    1", "locks", "holds"),
        ExampleCell("WAITS", "    2", "for locks", "waits"),
    )
    SCOPED_CSS: ClassVar[bool] = False  # the height class is set on the screen
    DEFAULT_CSS = """
    SessionsScreen #above { dock: top; height: auto; }
    SessionsScreen #blind, SessionsScreen #servers { height: auto; }
    SessionsScreen #sessions { height: 1fr; min-height: 4; }
    SessionsScreen #detail { height: 50%; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._sessions = SessionRows()
        self._reading = ReadingInSteps(self)
        self._shown: Report | None = None
        self._table = SessionTable()
        self._table.newest = self._sessions.rows
        search = partial(self.search, self._sessions.search, self._table, "Sessions")
        self._sorter = RowSorter(self._table, self._order, search, aging_s=inf)
        self._ordered_for: object = None  # the filter and the frame that the order is for
        self._followed: Session | None = None  # the session that another screen selected last
        self._detail_for: object = None  # the values that the detail shows
        self._lines_above = 0  # the height of the panes above, before Textual lays them out
        self._detail, self._minute = TextPanel(id="detail"), MinutePanel(id="session-minute")
        self._blind, self._servers = StaticText(id="blind"), ServerTable()

    def compose(self) -> ComposeResult:
        """Create the panes. The sessions come first, so they get the focus."""
        yield self._table
        yield self._detail
        yield self._minute
        with Vertical(id="above"):
            yield self._blind
            yield self._servers

    # What it shows

    def draw(self, state: ViewState) -> None:
        self._detail.display = state.report is not None
        if state.report is None:
            self._detail_for = None
            self._servers.display = False
            self._table.frame(FrameWords("Sessions"))
            self._table.show((), empty_state(state, self.size.width))
            return
        if self._reading.read(self._sessions, state.report):
            self._show_report(state, state.report)
        else:
            self._draw_panes(state)

    def _show_report(self, state: ViewState, report: Report) -> None:
        is_new, self._shown = report is not self._shown, report
        if is_new:
            self._sessions.rates.update(report, state.tape)
        has_changed = self._sessions.take_changed()
        if has_changed or (is_new and (self._table.has_order or state.filter)):
            self._sorter.changed()
        self._follow(state)
        if (state.filter.text, state.past_frame) != self._ordered_for:
            self._sorter.now()
        else:
            self._sorter.when_due()
        self._draw_panes(state)

    def filter_opened(self) -> None:
        call_in_steps(self, self._sessions.prepare())

    def _order(self) -> None:
        """Sort the rows, grouped or filtered."""
        state, report = self.view_state, self.report
        rows, table = self._sessions, self._table
        if state is None or report is None or self._reading.is_under_way:
            return
        table.name_servers(are_several=report.ensemble.has_several_servers)
        listed = rows.listed(report.now, state.filter, {table.kept_key}, is_sorted=table.has_order)
        self._ordered_for = state.filter.text, state.past_frame
        count_before = self.passed
        self.passed = FilterCount(len(listed), len(rows.rows)) if state.filter else None
        table.show(listed)
        if self.passed != count_before:
            self.post_message(PageReady())  # the header shows the count

    def _draw_panes(self, state: ViewState) -> None:
        report, is_live = self._sessions.shown, state.feed.is_live
        why = server_rows.missing_tables(report, self.size.width, is_live=is_live)
        blind = why[:MAX_BLIND_LINES]
        self._blind.styles.height = len(blind)
        self._blind.show(blind)
        rows = server_rows.server_rows(report, self._sessions.rates)
        table = self._servers
        height = min(len(rows), MAX_SERVER_ROWS) + 1 + table.gutter.height if rows else 0
        table.styles.height = height
        table.display = bool(rows)
        self._lines_above = len(blind) + height
        table.frame(FrameWords("Servers", count(len(rows), "server")))
        table.show(rows)
        if self._reading.is_under_way and state.report is not None:
            total = count(len(state.report.locks_of), "session")
            counts = line((f"reading {total} ...", "dim"))
        else:
            shown = len(self._table.rows) if state.filter else 1
            counts = session_counts(self._sessions, state.key_of("fold"), shown=shown)
        self._table.frame(
            FrameWords("Sessions", text_of(counts), "{open} open  {fold} fold  {sort} columns")
        )
        self._show_detail(state)

    def _show_detail(self, state: ViewState) -> None:
        detail = self._detail
        row, group, width = self._table.row, self._group, detail.room.width
        if group is not None:
            self._detail_for = None
            detail.frame(FrameWords(group.name))
            detail.show(about_group(group, state.key_of("fold")))
        elif row is None or not width:
            self._detail_for = None
            is_empty = not row and not self._reading.is_under_way and not state.filter
            detail.frame(FrameWords("Session"))
            detail.show([line((" No session uses a lock.", "dim"))] if is_empty else [])
        else:
            contacts = recent_contacts(state.tape, row.session, row.report)
            detail_for = row, row.report.now // SECOND_MS, state.past_frame, contacts, width
            if detail_for != self._detail_for:
                self._detail_for = detail_for
                detail.frame(FrameWords(row.unique_name, session_text(row.session), "{copy} copy"))
                writer = self._details(row, state, width)
                detail.show(writer.lines, writer.links)
        self._share_height()

    def _share_height(self) -> None:
        """Give the details the lines that a short table leaves, and at least half the page."""
        if not self.screen.has_class("-tall"):
            set_height(self._detail, SHORT_DETAIL_LINES)
            self._minute.hide()
            return
        sessions = self._table.count + 1 + self._table.gutter.height
        free = self.size.height - self._lines_above - sessions
        height = max(self.size.height // 2, free)
        set_height(self._detail, height - self._show_minute(height - self._detail.count))

    def _show_minute(self, left: int) -> int:
        """Show the last minute of the session if there is room below it. Return its height."""
        row, state, report, minute = self._table.row, self.view_state, self.report, self._minute
        if row is None or state is None or report is None:
            minute.hide()
        else:
            draw = partial(minute_lines, state, report, (row.session,))
            height = left - minute.gutter.height
            minute.show_minute(
                draw, (row.session, state.chosen_moment), self.size.width - 4, height
            )
        return minute.wanted_height

    def _details(self, row: SessionRow, state: ViewState, width: int) -> LineWriter:
        contacts = recent_contacts(state.tape, row.session, row.report)
        past = state.tape.events_until(row.report.now)
        writer = details(row, contacts, width, past, is_ascii=state.is_ascii)
        about, moment = About(session=row.session), state.chosen_moment
        events = event_lines(state.tape, row.report, MAX_EVENTS, width, about, shown_at=moment)
        if events:
            writer.write()
            writer.write(line(("HISTORY", "title")))
        for event in events:
            writer.write(event.drawn, event.link)
        return writer

    # The cursor

    @property
    def _group(self) -> SessionGroup | None:
        group = self._table.group
        return group if isinstance(group, SessionGroup) else None

    def _follow(self, state: ViewState) -> None:
        """Put the cursor on the session that another screen selected."""
        session = state.subject.session
        if session is None or session == self._followed or session not in self._sessions.rows:
            return
        self._followed = session
        if not self._table.choose(session):
            self._sorter.now()  # the session is new, or in a closed group

    def on_table_cursor_moved(self) -> None:
        """Select the session on the other screens as well, and describe it."""
        row, state = self._table.row, self.view_state
        if state is None or state.frame is None:
            return
        if row is not None:
            self._followed = row.session
            state = self.view_state = replace(
                state, subject=state.subject.updated(Selection(session=row.session))
            )
            self.post_message(SelectionChanged(state.subject))
        self._draw_panes(state)

    @property
    def subject(self) -> Selection:
        row = self._table.row
        return Selection(session=row.session if row else None)

    @property
    def chosen_subject(self) -> Selection:
        return self.subject if self._table.held else Selection()

    # Keys

    def action_open(self) -> None:
        """Open the lock under the cursor, the first lock of the session, or the group."""
        detail, row, group = self._detail, self._table.row, self._group
        if group is not None:
            self._sessions.toggle(group.name)
            self._reorder_now()
        if row is None:
            return
        link = detail.target if detail.has_focus else None
        path = link.subject.path if isinstance(link, LineLink) else None
        if path is None:
            path = next(iter((*row.locks.holds, *row.locks.waits_for)), None)
        if path is None:
            self.say("This session uses no lock.")
            return
        path = Text(path)
        member = row.locks.waits.get(path) or row.locks.holds.get(path)
        node = member.node if member else None
        self.post_message(ShowPage("lock", Selection(path=path, node=node, session=row.session)))

    @property
    def ordered_table(self) -> OrderedTable:
        """The servers while they have the focus, else the sessions."""
        table = self._focused_table
        if isinstance(table, ServerTable):
            return OrderedTable(table, "servers", "leader first")
        return OrderedTable(table, "sessions", "highest risk first")

    def action_reverse(self) -> None:
        self._focused_table.action_reverse()

    def on_table_sort_changed(self) -> None:
        self._reorder_now()

    @property
    def _focused_table(self) -> SessionTable | ServerTable:
        return self._servers if self._servers.has_focus else self._table

    def action_fold(self) -> None:
        """List every session, including those without locks, or group them again."""
        self._sessions.set_grouped(on=not self._sessions.is_grouped)
        self._reorder_now()

    def _reorder_now(self) -> None:
        if self.view_state is not None and self.view_state.frame is not None:
            self._sorter.now()
            self._draw_panes(self.view_state)

    def copied(self) -> str:
        """Return the details of the session, or of the group, under the cursor."""
        row, group, state = self._table.row, self._group, self.view_state
        lines: list[Line] = []
        if state is None:
            return ""
        if group is not None:
            lines = about_group(group, state.key_of("fold"))
        elif row is not None:
            head = line(f"SESSION {session_text(row.session)}  {row.name or ''}")
            lines = [head, *self._details(row, state, COPIED_LINE_CELLS).lines]
        return "\n".join(text_of(drawn).rstrip() for drawn in lines if drawn != NOTHING)
