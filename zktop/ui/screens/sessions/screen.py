"""Screen 4: the servers, the sessions, and what would happen if one of them died."""

from collections.abc import Sequence
from time import perf_counter
from typing import ClassVar

from msgspec.structs import replace
from textual.app import ComposeResult
from textual.containers import Vertical

from zktop.model.facts import Session
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.filters import FilterCount
from zktop.ui.messages import PageReady, SelectionChanged, ShowPage
from zktop.ui.past.contact_times import ContactTimes
from zktop.ui.screens.common.empty import empty_state
from zktop.ui.screens.common.session_index import PacketRates, SessionDirectory, SessionRisks
from zktop.ui.screens.screen import Page
from zktop.ui.screens.sessions import groups as fleet
from zktop.ui.screens.sessions import servers
from zktop.ui.screens.sessions.detail import Described, details
from zktop.ui.screens.sessions.order import (
    BREATH_S,
    Listing,
    Ordering,
    Rest,
    SessionQuery,
    sessions_of,
)
from zktop.ui.screens.sessions.rows import COLUMNS, SessionRow, SessionsSnapshot, summary
from zktop.ui.screens.sessions.rows import FIELDS as SESSION_FIELDS
from zktop.ui.screens.sessions.table import ServerTable, SessionTable
from zktop.ui.state import Selection, ViewState
from zktop.ui.styled_text import NOTHING, Line, line, text_of
from zktop.ui.textual_fixes.key_queue import call_after
from zktop.ui.widgets.text_view import TextView

SERVERS_SHOWN = 6
COPIED = 100  # cells of a line that is copied


class StaticLines(TextView, can_focus=False):
    """A line or two that nothing can be done with."""


class SessionsScreen(Page):
    """Servers above, sessions in the middle, the chosen session below."""

    NAME = "sessions"
    FIELDS = SESSION_FIELDS
    TITLE = "Sessions"
    HELP: ClassVar[str | None] = """
    The servers: what each tells of itself, and which of its tables it gives. A `?` was not told.

    The sessions, those in most danger first. CONTACT is the silence as a part of the timeout: at
    the mark its own library gives up, at the end it expires. LEFT is the time until then.
    Many that are called alike and are in no danger are one line: enter unfolds it, f all of them.
    On a wide terminal RECVD and SENT count the packets since it connected.

    Below: the session under the cursor, who gets its locks if it dies, and who waits behind it.
    Of a silent one also whether others on its host are silent too, and what it believes if it
    wakes up too late. Others of its name are told where they have no connection any more, or
    expired lately: a process that was started again may wait for its own former session.
    """
    SCOPED_CSS: ClassVar[bool] = False  # the screen says how short it is
    DEFAULT_CSS = """
    SessionsScreen #above { dock: top; height: auto; }
    SessionsScreen #servers { height: auto; }
    SessionsScreen StaticLines { height: auto; max-height: 2; }
    SessionsScreen #sessions { height: 1fr; min-height: 4; }
    SessionsScreen #detail { height: 50%; border-top: solid $panel; }
    .-short SessionsScreen #detail { height: 9; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self._roster, self._rates, self._contacts = (
            SessionDirectory(),
            PacketRates(),
            ContactTimes(),
        )
        self._moment: ViewState | None = None
        self._scene: SessionsSnapshot | None = None
        self._servers: list[servers.ServerRow] = []
        self._made_of: object = None
        self._rest, self._ordering = Rest(perf_counter), Ordering(perf_counter)
        self._followed: Session | None = None  # who was looked at elsewhere
        self._drawn_for: object = None  # what is told below
        self._is_waiting = False  # to go on with the order
        self._folded = True
        self._opened: frozenset[str] = frozenset()  # fleets
        self._apart: frozenset[Session] = frozenset()  # who was looked for in one

    def compose(self) -> ComposeResult:
        """Give the panes; the sessions are first, so that they have the keys."""
        yield SessionTable(self.picked)
        yield TextView(id="detail")
        with Vertical(id="above"):
            yield StaticLines(id="blind")
            yield ServerTable()
            yield StaticLines(id="summary")

    # What is shown

    def show(self, moment: ViewState) -> None:
        """Draw this moment."""
        self._moment = moment
        if moment.frame is None:
            self._show_nothing(moment)
            return
        self._take(moment, moment.frame.report)
        self.redraw()

    def _show_nothing(self, moment: ViewState) -> None:
        self._drawn_for = None
        detail = self.query_one("#detail", TextView)
        detail.show(empty_state(moment, detail.room.width))

    def _take(self, moment: ViewState, report: Report) -> None:
        """Work out what changed; who goes to another moment need not wait for it."""
        is_other = moment.index != self._made_of
        if self._scene is None or is_other or self._rest.is_over:
            self._renew(moment, report)
        if self._scene is not None:
            self._ordering.look(self._scene, self._asked(moment), at_once=is_other)
            self._go_on_later()

    def _renew(self, moment: ViewState, report: Report) -> None:
        """Look at this report from now on."""
        self._rest.begin()
        began, self._made_of = perf_counter(), moment.index
        self._roster.look(report)
        self._rates.look(report, moment.tape, report.now)
        self._contacts.look(moment.tape)
        dangers = SessionRisks(self._roster, report)
        self._scene = SessionsSnapshot(report, self._roster, dangers, self._rates)
        self._servers = servers.server_rows(report, self._rates)
        self._rest.spend(perf_counter() - began)

    def _asked(self, moment: ViewState) -> SessionQuery:
        """Tell which sessions are wanted, and in which order."""
        table = self.query_one(SessionTable)
        column = next((one for one in COLUMNS if one.name == table.sorted_by), None)
        return SessionQuery(
            self._folded, moment.filter, column, table.reversed, self._opened, self._apart
        )

    def _go_on_later(self) -> None:
        """Have a very long order gone on with, once that is done which came in the meantime."""
        if self._ordering.is_working and not self._is_waiting:
            self._is_waiting = True
            call_after(BREATH_S, self, self._go_on)

    def _go_on(self) -> None:
        self._is_waiting = False
        self._ordering.go_on()
        self._go_on_later()
        if not self._ordering.is_working:
            self.redraw()
            self.post_message(PageReady())  # the head counts them

    def redraw(self) -> None:
        """Draw everything again from what is known."""
        scene, moment = self._scene, self._moment
        if scene is None or moment is None:
            return
        blind = servers.blindness(scene.report, is_live=moment.feed.is_live)
        self._put("#blind", blind)
        self._show_servers()
        self._put("#summary", [self._summary(scene, moment)])
        if self._ordering.listing is not None:
            table = self.query_one(SessionTable)
            table.show(self._ordering.listing)
            self.passed = self._passed(scene, moment)
            self._follow(table, self._ordering.listing, moment)
        self._show_detail(moment)

    def _passed(self, scene: SessionsSnapshot, moment: ViewState) -> FilterCount | None:
        listing = self._ordering.listing
        if listing is None or not moment.filter:
            return None
        return FilterCount(len(listing), len(sessions_of(scene, is_folded=self._folded)))

    def _show_servers(self) -> None:
        table = self.query_one(ServerTable)
        known = table.ordered(self._servers)
        table.styles.height = min(len(known), SERVERS_SHOWN) + 1 if known else 0
        table.show(known)

    def _put(self, name: str, lines: list[Line]) -> None:
        words = self.query_one(name, StaticLines)
        words.styles.height = len(lines)
        words.show(lines)

    def _summary(self, scene: SessionsSnapshot, moment: ViewState) -> Line:
        known = self._ordering.listing
        shown = len(known) if known is not None and moment.filter else 1
        said = summary(scene, folded=self._folded, shown=shown)
        return (*line((" SESSIONS ", "title")), *said)

    def _follow(self, table: SessionTable, listing: Listing, moment: ViewState) -> None:
        """Go to the session that another page has led here."""
        wanted = moment.subject.session
        if wanted is None or wanted == self._followed:
            return
        if listing.find(wanted) is not None:
            self._followed = wanted
            table.choose(wanted)
        elif wanted not in self._apart and listing.is_folded(wanted):
            self._apart |= {wanted}
            self._ask_again()

    def _ask_again(self) -> None:
        """Have other sessions listed, or in another order."""
        if self._moment is not None:
            self.show(self._moment)

    def picked(self) -> None:
        """Remember the session for the other pages, and tell of it."""
        row = self.query_one(SessionTable).session_row
        if row is not None and self._moment is not None:
            self._followed = row.session
            subject = self._moment.subject._replace(session=row.session)
            self._moment = replace(self._moment, subject=subject)
            self.post_message(SelectionChanged(subject))
        self.redraw()

    def _show_detail(self, moment: ViewState) -> None:
        sheet, table = self.query_one("#detail", TextView), self.query_one(SessionTable)
        row, width = table.session_row, sheet.room.width
        if table.fleet is not None and self._scene is not None:
            self._drawn_for = None
            sheet.show(fleet.told(table.fleet, self._scene))
            return
        if row is None or not width:
            self._drawn_for = None
            sheet.show([line((" No session has a place in a lock.", "dim"))] if not row else [])
            return
        contacts = self._contacts.recent(row.session, row.scene.report)
        drawn_for = row.scene, row.session, contacts, width
        if drawn_for != self._drawn_for:
            self._drawn_for = drawn_for
            sheet.show(*self._details(row, moment, width))

    def _details(self, row: SessionRow, moment: ViewState, width: int) -> Described:
        report = row.scene.report
        contacts = self._contacts.recent(row.session, report)
        past = moment.tape.events_until(report.now)
        return details(row, contacts, width, past, is_ascii=moment.is_ascii)

    # What the user does

    def do_open(self) -> None:
        """Show the lock under the cursor, or the first one of the session under it."""
        sheet, table = self.query_one("#detail", TextView), self.query_one(SessionTable)
        row, path = table.session_row, sheet.target if sheet.has_focus else None
        if table.fleet is not None:
            self._opened ^= {table.fleet.name}
            self._ask_again()
        if row is None:
            return
        if not isinstance(path, str):
            path = next(iter((*row.places.holds, *row.places.waits)), None)
        if path is None:
            self.say("This session has no place in any lock.")
        else:
            places, path = row.places, Text(path)
            member = places.waits.get(path) or places.holds.get(path)
            node = member.node if member else None
            self.post_message(
                ShowPage("lock", Selection(path=path, node=node, session=row.session))
            )

    def do_sort(self) -> None:
        """Sort by the next column."""
        self._table.do_sort()

    def do_reverse(self) -> None:
        """Reverse the order."""
        self._table.do_reverse()

    def on_table_sort_changed(self) -> None:
        """Put them into the order that was asked for."""
        self._ask_again()

    @property
    def _table(self) -> "SessionTable | ServerTable":
        own = self.query_one(ServerTable)
        return own if own.has_focus else self.query_one(SessionTable)

    def do_fold(self) -> None:
        """Show every session, also those without any lock; or fold them again."""
        self._folded, self._opened = not self._folded, frozenset()
        self._ask_again()

    @property
    def subject(self) -> Selection:
        """The session under the cursor."""
        row = self.query_one(SessionTable).session_row
        return Selection(session=row.session if row else None)

    def copied(self) -> str:
        """Give what is told of the session or the fleet under the cursor."""
        table, moment = self.query_one(SessionTable), self._moment
        lines: Sequence[Line] = ()
        if table.fleet is not None and self._scene is not None:
            lines = fleet.told(table.fleet, self._scene)
        elif table.session_row is not None and moment is not None:
            lines, _ = self._details(table.session_row, moment, COPIED)
        return "\n".join(text_of(one).rstrip() for one in lines if one != NOTHING)
