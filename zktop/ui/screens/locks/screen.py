"""Screen 1: all locks, the worst first, with what is wrong and who is at the root of it."""

from collections.abc import Sequence
from time import perf_counter
from typing import Final, NamedTuple

from textual.app import ComposeResult

from zktop.model.findings.finding import LETTERS
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.export_text import as_text, concerned
from zktop.ui.filters import FilterCount
from zktop.ui.messages import SelectionChanged, ShowPage
from zktop.ui.screens.common.empty import empty_state
from zktop.ui.screens.locks import cells as group
from zktop.ui.screens.locks.groups import Entry
from zktop.ui.screens.locks.order import Pace
from zktop.ui.screens.locks.panes import (
    AlertsPane,
    BlockersPane,
    EventsPane,
    Pane,
    about,
    health,
    set_height,
)
from zktop.ui.screens.locks.row import FIELDS as ROW_FIELDS
from zktop.ui.screens.locks.row import LockRow
from zktop.ui.screens.locks.rows import LockRows, worst_first
from zktop.ui.screens.locks.table import LockTable
from zktop.ui.screens.screen import Page
from zktop.ui.state import Selection, ViewState
from zktop.ui.styled_text import text_of
from zktop.ui.textual_fixes.key_queue import call_after
from zktop.ui.widgets.text_view import TextView


class PaneHeights(NamedTuple):
    """How many lines each pane may have, by the height of the page."""

    alerts: int
    about: int = 0
    blockers: int = 0
    events: int = 0
    health: int = 0


SHORT: Final = PaneHeights(alerts=3)
ROOMS: Final = (  # from so many lines of the page on
    (50, PaneHeights(alerts=8, about=1, blockers=8, events=10, health=1)),
    (30, PaneHeights(alerts=5, about=1, blockers=5, events=5, health=1)),
    (25, PaneHeights(alerts=4, about=1, health=1)),
)
STEP: Final = 5  # lines, so that the panes do not move with every lock that comes or goes


class LocksScreen(Page):
    """All locks."""

    NAME = "locks"
    FIELDS = ROW_FIELDS
    TITLE = "Locks"
    HELP = (
        "# All locks\n\n"
        "The worst comes first: what is wrong, then where most time was spent waiting "
        "(**BLOCKED\\*s**, the waits of all who waited, added up). **ST** says what is wrong in "
        "three letters; a question mark means *probably*. **MIX** is the queue by what is wanted: "
        "`W.R5` is a writer, then five readers. `≥` means at least, `?` unknown.\n\n"
        + "\n".join(f"- `{code}` {words}" for code, words in LETTERS.items())
        + "\n- `ok` nothing is known to be wrong; `free` nobody holds it\n\n"
        "Many quiet locks below one parent are one line, `▸ /locks/user/* (388)`: nothing is "
        "wrong with them, and nobody waits. Enter opens it, `f` lists every lock; so does a "
        "filter, or another order.\n\n"
        "**Root blockers** are those at the root of all waiting: whoever they wait for, it is "
        "nobody. Enter opens what the line is about; tab goes from pane to pane."
    )
    DEFAULT_CSS = """
    LocksScreen > #alerts { dock: top; height: 1; }
    LocksScreen > #about, Locks > #health { height: 0; overflow: hidden; background: $panel; }
    """

    def __init__(self, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self._board = LockRows()
        self._pace = Pace()
        self._moment: ViewState | None = None
        self._filtered = ""
        self._followed: str | None = None  # the path that was looked at elsewhere
        self._is_due = False
        self._about, self._health = _still("about"), _still("health")
        self._blockers, self._events, self._alerts = BlockersPane(), EventsPane(), AlertsPane()
        self.table = LockTable()

    def compose(self) -> ComposeResult:
        """Give the panes; the table is first, so that it has the keys."""
        yield self.table
        yield from (self._about, self._blockers, self._events, self._health, self._alerts)

    # What it shows

    def show(self, moment: ViewState) -> None:
        """Draw this moment."""
        self._moment = moment
        if moment.frame is None:
            self.table.show((), empty_state(moment, self.size.width))
            return
        report = moment.frame.report
        self.table.tell(report, self._board.rows, is_ascii=moment.is_ascii)
        self._board.kept = self._chosen
        changed = self._board.update(report)
        self._follow(moment.subject)
        rooms = self._rooms()
        self._fill(changed)
        self._surround(moment, report, rooms)
        self._describe(rooms.about)

    def _fill(self, changed: set[Text]) -> None:
        """Show new values, and put the rows in order when it is time for that."""
        if changed:
            self._pace.changed()
        wanted = self._moment.filter.text if self._moment else ""
        if wanted != self._filtered or not self.table.rows:
            self._order()
        else:
            self._order_in_time()

    def _order_in_time(self) -> None:
        wait = self._pace.wait(perf_counter(), self.table.moved_at)
        if wait is not None and wait <= 0.0:
            self._order()
            return
        if wait is not None and not self._is_due:
            self._is_due = True
            call_after(wait, self, self._order_late)
        self.table.repaint()

    def _order_late(self) -> None:
        self._is_due = False
        self._order_in_time()

    def _order(self) -> None:
        """Put the rows in order, and leave out what does not pass the filter."""
        moment, table = self._moment, self.table
        if moment is None or moment.frame is None:
            return
        rows = self._rows(moment)
        self._filtered = moment.filter.text
        self._pace.ordered(perf_counter())
        self.passed = FilterCount(len(rows), len(self._board.rows)) if moment.filter else None
        table.show(rows, () if rows else empty_state(moment, self.size.width))

    def _rows(self, moment: ViewState) -> Sequence[Entry]:
        """Fold quiet locks, but not while the user looks for some, or compares them."""
        table, board = self.table, self._board
        if table.has_order:
            return board.ordered(moment.filter, self._as_asked)
        rows = board.ordered(moment.filter)
        if moment.filter:
            return rows
        return board.folds.folded(rows, table.drawer().report.now, {*table.tagged, table.kept})

    def _as_asked(self, rows: list[LockRow]) -> list[LockRow]:
        if self.table.sorted_by:
            return [one for one in self.table.ordered(rows) if isinstance(one, LockRow)]
        return worst_first(rows, self.table.drawer().report.now)[::-1]

    def _rooms(self) -> PaneHeights:
        """Give each pane its room; where there are few locks, events have what is left over."""
        height = self.size.height
        rooms = next((rooms for least, rooms in ROOMS if height >= least), SHORT)
        spare = height - sum(rooms) - self.table.count - 1
        return rooms._replace(events=rooms.events + max(0, spare // STEP * STEP))

    def _surround(self, moment: ViewState, report: Report, rooms: PaneHeights) -> None:
        """Fill the panes around the table, as far as there is room for them."""
        self._blockers.tell(moment, report, self._board.locks, rooms.blockers, self.table.age)
        is_short = rooms.alerts == SHORT.alerts
        self._alerts.tell(moment, report, rooms.alerts, is_short=is_short)
        self._events.tell(moment, report, rooms.events)
        set_height(self._health, rooms.health)
        self._health.show([health(report, moment.feed.notes)])

    def _describe(self, room: int) -> None:
        """Tell more about the row under the cursor than fits into it."""
        row, fold = self.table.lock_row, self.table.fold
        set_height(self._about, room if row or fold else 0)
        self._about.show([about(row)] if row else [group.about(fold)] if fold else [])

    # The cursor

    @property
    def _chosen(self) -> Text | None:
        row = self.table.lock_row
        return row.path if row is not None and self.table.held else None

    def _follow(self, subject: Selection) -> None:
        """Put the cursor on the lock that was looked at on another page."""
        if subject.path is not None and subject.path != self._followed:
            self._followed = subject.path
            path = Text(subject.path)
            if path in self._board.rows and not self.table.choose(path):
                self._order()  # it is folded, or new

    @property
    def subject(self) -> Selection:
        """The lock under the cursor."""
        row = self.table.lock_row
        return Selection(path=row.path if row else None)

    def on_table_cursor_moved(self) -> None:
        """Remember the lock for the other pages, and describe it."""
        self._followed = self.subject.path
        self.post_message(SelectionChanged(self.subject))
        self._describe(self._about.size.height)

    def on_table_sort_changed(self) -> None:
        """Put the rows into the order that the user wants."""
        self._order()

    def on_resize(self) -> None:
        """Give the panes other rooms."""
        if self._moment is not None:
            self.show(self._moment)

    # Keys

    def do_open(self) -> bool:
        """Open the lock under the cursor; of quiet locks, list them, or fold them again."""
        fold = self.table.fold
        if fold is not None:
            self._board.folds.toggle(fold.parent)
            self._order()
            return True
        if self.subject.path is None:
            return False
        self.post_message(ShowPage("lock", self.subject))
        return True

    def do_back(self) -> bool:
        """Take away the tags, then let the cursor go back to the worst; else it is not for us."""
        if self.app_is_away:
            return False
        if self.table.untag():
            return True
        if self.table.held:
            self.table.release()
            self.on_table_cursor_moved()
            return True
        return False

    @property
    def app_is_away(self) -> bool:
        """Tell whether escape has a more urgent meaning: a filter, a moment of the past."""
        moment = self._moment
        return moment is None or bool(moment.filter) or not moment.is_newest

    def do_sort(self) -> None:
        """Sort the table, whichever pane has the keys."""
        self.table.do_sort()

    def do_reverse(self) -> None:
        """Turn the table around, whichever pane has the keys."""
        self.table.do_reverse()

    def do_tag(self) -> None:
        """Tag the lock under the cursor, or take its tag away, and go on to the next."""
        self.table.tag()

    def do_fold(self) -> None:
        """List every lock, or fold those again that are quiet."""
        if self.table.has_order or (self._moment is not None and self._moment.filter):
            self.say("With a filter, or in another order, every lock is listed.")
            return
        self._board.folds.turn()
        self._order()

    def copied(self) -> str:
        """Give the tagged locks, or what is under the cursor, as a snapshot in text has them."""
        if self._moment is None or self._moment.frame is None:
            return ""
        report = self._moment.frame.report
        pane = self.screen.focused
        pointed = pane.subject if isinstance(pane, Pane) else self.subject
        tagged = self.table.tagged & self._board.rows.keys()
        fold = self.table.fold
        if fold is not None and pane is self.table and not tagged:
            return text_of(group.about(fold)).strip()
        paths = tagged or concerned(report, pointed) or concerned(report, self.subject)
        return as_text(report, paths, self._moment.feed.name) if paths else ""


def _still(name: str) -> TextView:
    """Make a line that is only read."""
    sheet = TextView(id=name)
    sheet.can_focus = False
    return sheet
