"""Screen 4: the servers, the sessions, and what would happen if one of them died."""

from collections.abc import Iterator
from time import monotonic
from typing import ClassVar, Final

from textual.app import ComposeResult

from zktop.model.facts import Connections, Millis, Session
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.draw import servers
from zktop.ui.draw.nothing import nothing
from zktop.ui.draw.session import details
from zktop.ui.draw.sessions import COLUMNS, Row, Scene, rows, summary
from zktop.ui.ink import NOTHING, Line, line, text_of
from zktop.ui.messages import Show
from zktop.ui.moment import Moment, Subject
from zktop.ui.pages.page import Page
from zktop.ui.roster import Dangers, Rates, Roster
from zktop.ui.tape import Tape
from zktop.ui.widgets.sheet import Sheet
from zktop.ui.widgets.table import Table

ORDERED_EVERY_S: Final = 0.25
PART: Final = 20  # of all time, what may be spent on this, where there are very many
SLOW_S: Final = 0.1
SERVERS_SHOWN = 6
FRAMES_SEARCHED = 400


class Words(Sheet, can_focus=False):
    """A line or two that nothing can be done with."""


class Listing(Table[Row]):
    """The sessions; the page is told when another one is looked at, or another order is asked."""

    def moved(self) -> None:
        """Draw what is told of the one under the cursor now."""
        super().moved()
        self._tell_page()

    def _tell_page(self) -> None:
        page = self.parent
        if isinstance(page, Sessions):
            page.redraw()


class ServerListing(Table[servers.ServerRow]):
    """The servers."""


class Sessions(Page):
    """Servers above, sessions in the middle, the chosen session below."""

    NAME = "sessions"
    TITLE = "Sessions"
    HELP: ClassVar[str | None] = """
    The servers: what each tells of itself, and which of its tables it gives. A `?` was not told.

    The sessions, those in most danger first. CONTACT is the silence as a part of the timeout: at
    the mark its own library gives up, at the end it expires. LEFT is the time until then.

    Below: the session under the cursor, who gets its locks if it dies, and who waits behind it.
    """
    SCOPED_CSS: ClassVar[bool] = False  # the screen says how short it is
    DEFAULT_CSS = """
    Sessions #servers { height: auto; }
    Sessions Words { height: auto; max-height: 2; }
    Sessions #sessions { height: 1fr; min-height: 4; }
    Sessions #detail { height: 45%; border-top: solid $panel; }
    .-short Sessions #detail { height: 9; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self._roster, self._rates, self._contacts = Roster(), Rates(), Contacts()
        self._moment: Moment | None = None
        self._scene: Scene | None = None
        self._made_at = self._took = 0.0
        self._made_of: object = None
        self._rows: list[Row] = []
        self._folded, self._has_begun = True, False

    def compose(self) -> ComposeResult:
        """Give the panes."""
        yield Words(id="blind")
        yield ServerListing(servers.COLUMNS, lambda row: row.name, id="servers")
        yield Words(id="summary")
        yield Listing(COLUMNS, lambda row: row.session, id="sessions")
        yield Sheet(id="detail")

    # What is shown

    def show(self, moment: Moment) -> None:
        """Draw this moment."""
        self._moment = moment
        if moment.frame is None:
            self._show_nothing(moment)
            return
        self._take(moment, moment.frame.report)
        self.redraw()
        if not self._has_begun:  # with the sessions, not with the servers above them
            self._has_begun = True
            if self.app.screen is self.screen:
                self.query_one(Listing).focus(scroll_visible=False)

    def _show_nothing(self, moment: Moment) -> None:
        detail = self.query_one("#detail", Sheet)
        detail.show(nothing(moment, detail.room.width))

    def _take(self, moment: Moment, report: Report) -> None:
        """Work out what changed, not more often than somebody can read it."""
        made_of = (moment.index, self._folded, moment.filter.text)
        rest = PART * self._took if made_of == self._made_of else self._took
        is_early = monotonic() - self._made_at < max(ORDERED_EVERY_S, rest)
        if self._scene is not None and is_early and (made_of == self._made_of or rest > SLOW_S):
            return
        began, self._made_of = monotonic(), made_of
        self._roster.look(report)
        at = report.now
        self._rates.look(report, moment.tape, at)
        scene = Scene(report, self._roster, Dangers(self._roster, report), self._rates)
        self._scene = scene
        wanted = moment.filter
        made = rows(scene, folded=self._folded)
        self._rows = [one for one in made if wanted.passes(one.fields)] if wanted else made
        self._made_at = monotonic()
        self._took = self._made_at - began

    def redraw(self) -> None:
        """Draw everything again from what is known."""
        scene, moment = self._scene, self._moment
        if scene is None or moment is None:
            return
        blind = servers.blindness(scene.report, is_live=moment.feed.is_live)
        self._put("#blind", blind)
        table = self.query_one(ServerListing)
        known = table.ordered(servers.server_rows(scene.report, self._rates))
        table.styles.height = min(len(known), SERVERS_SHOWN) + 1 if known else 0
        table.show(known)
        self._put("#summary", [self._summary(scene, moment)])
        listing = self.query_one(Listing)
        self._follow(listing, moment)
        listing.show(listing.ordered(self._rows))
        self._show_detail(moment)

    def _put(self, name: str, lines: list[Line]) -> None:
        words = self.query_one(name, Words)
        words.styles.height = len(lines)
        words.show(lines)

    def _summary(self, scene: Scene, moment: Moment) -> Line:
        said = summary(scene, folded=self._folded, shown=len(self._rows) or not moment.filter)
        return (*line((" SESSIONS ", "title")), *said)

    def _follow(self, listing: Listing, moment: Moment) -> None:
        """Begin with the session that another page has led here."""
        wanted = moment.subject.session
        if wanted is None or listing.chosen is not None:
            return
        if any(row.session == wanted for row in self._rows):
            listing.chosen, listing.held = wanted, True

    def _show_detail(self, moment: Moment) -> None:
        sheet, row = self.query_one("#detail", Sheet), self.query_one(Listing).row
        width = sheet.room.width
        if row is None or not width:
            sheet.show([line((" No session has a place in a lock.", "dim"))] if not row else [])
            return
        contacts = self._contacts.of(row.session, row.scene.report, moment.tape)
        lines, targets = details(row, contacts, width, is_ascii=moment.is_ascii)
        sheet.show(lines, targets)

    # What the user does

    def do_open(self) -> None:
        """Show the lock under the cursor, or the first one of the session under it."""
        sheet, row = self.query_one("#detail", Sheet), self.query_one(Listing).row
        path = sheet.target if sheet.has_focus else None
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
            self.post_message(Show("lock", Subject(path=path, node=node, session=row.session)))

    def do_sort(self) -> None:
        """Sort by the next column."""
        self._table.do_sort()

    def do_reverse(self) -> None:
        """Reverse the order."""
        self._table.do_reverse()

    def on_table_sorted(self) -> None:
        """Put them into the order that was asked for."""
        self.redraw()

    @property
    def _table(self) -> "Listing | ServerListing":
        own = self.query_one(ServerListing)
        return own if own.has_focus else self.query_one(Listing)

    def do_fold(self) -> None:
        """Show the sessions without any lock too, or leave them out again."""
        self._folded = not self._folded
        if self._moment is not None:
            self.show(self._moment)

    @property
    def subject(self) -> Subject:
        """The session under the cursor."""
        row = self.query_one(Listing).row
        return Subject(session=row.session if row else None)

    def copied(self) -> str:
        """Give what is told of the session under the cursor."""
        row = self.query_one(Listing).row
        moment = self._moment
        if row is None or moment is None:
            return ""
        contacts = self._contacts.of(row.session, row.scene.report, moment.tape)
        lines, _ = details(row, contacts, 100, is_ascii=moment.is_ascii)
        return "\n".join(text_of(one).rstrip() for one in lines if one != NOTHING)


class Contacts:
    """When a session was heard of, by the tables of the last minutes."""

    def __init__(self) -> None:
        """Begin with nothing looked up."""
        self._known: tuple[Session, object, tuple[Millis, ...]] = (0, None, ())

    def of(self, session: Session, report: Report, tape: Tape) -> tuple[Millis, ...]:
        """Give the times, newest first; looked up again when there is a newer table."""
        presence = report.sight.presence(session)
        if presence is None or presence.timeout_ms is None:
            return ()
        newest = presence.server, presence.at
        if self._known[:2] != (session, newest):
            begin = report.now - 2 * presence.timeout_ms
            found = tuple(
                sorted(set(_contacts(session, presence.server, tape, report.now, begin)))
            )
            self._known = session, newest, found
        return self._known[2]


def _contacts(
    session: Session, server: str, tape: Tape, end: Millis, begin: Millis
) -> Iterator[Millis]:
    before: Connections | None = None
    last = tape.index_at(end)
    for index in range(last, max(-1, last - FRAMES_SEARCHED), -1):
        frame = tape[index]
        if frame.at < begin:
            return
        for witness in frame.report.sight.witnesses:
            table = witness.tables.connections
            if witness.server == server and table is not None and table is not before:
                before = table
                row = (witness.connections or {}).get(session)
                if row is not None and row.quiet_ms is not None:
                    yield table.at - row.quiet_ms
