"""Screen 2: one lock, who holds it, who waits in which order, and who wakes whom."""

from time import perf_counter
from typing import Final

from textual.app import ComposeResult
from textual.containers import Horizontal

from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.messages import ShowPage
from zktop.ui.screens.common.format import side_by_side, stacked
from zktop.ui.screens.lock.filter import FIELDS as PLACE_FIELDS
from zktop.ui.screens.lock.filter import QueueFilter, match_line
from zktop.ui.screens.lock.heading import lock_head, lock_notes, lock_text
from zktop.ui.screens.lock.histograms import WaiterClasses, histograms
from zktop.ui.screens.lock.matrix import compatibility_matrix
from zktop.ui.screens.lock.missing import deleted_lock, last_seen, no_lock_chosen, worst_path
from zktop.ui.screens.lock.rows import (
    QueueRow,
    QueueRows,
    fold_queue,
    only_positions,
    unfold_queue,
)
from zktop.ui.screens.lock.selected import selected_lines
from zktop.ui.screens.lock.table import QueueTable
from zktop.ui.screens.lock.view import LockDetail
from zktop.ui.screens.lock.wakeups import wake_map
from zktop.ui.screens.screen import Page
from zktop.ui.state import Selection, ViewState
from zktop.ui.styled_text import Line, line
from zktop.ui.textual_fixes.key_queue import call_after
from zktop.ui.widgets.text_view import TextView

TWO_COLUMNS: Final = 110
TO_THE_RIGHT: Final = 70
SIDE: Final = 74  # columns of the drawings beside the queue
LEAST_QUEUE: Final = 8  # lines that the queue keeps when the head is long
WIDE: Final = 160  # columns; from here on the drawings stand beside the queue
HUGE: Final = 2_000  # places; from here on ...
HUGE_S: Final = 0.25  # ... so long between two drawings
ODD_SHOWN: Final = 40  # places with something wrong that get rows of their own


class Heading(TextView, can_focus=False):
    """What stays above the queue."""


class LockScreen(Page):
    """The lock that was chosen on another page; else the worst one."""

    FIELDS = PLACE_FIELDS
    HELP = (
        "One lock. POS counts from the holders on; a queue is served in this order. BLOCKED "
        "BY: the places that must go first: who holds, then who is ahead in the queue. "
        "WATCHES: the place whose deletion wakes it, as the watch tables say: NONE means that"
        " nothing will wake it, invisible that it may be watching the children, which no server"
        " lists, ? that no table could be read. The matrix shows what can be granted beside what"
        " is held and queued. f unfolds groups, d shows a znode's data, enter opens the session,"
        " a filter finds a place in a long queue."
    )
    DEFAULT_CSS = """
    LockScreen > #lock-head { height: auto; }
    LockScreen > #lock-body { height: 1fr; }
    LockScreen #lock-queue { height: 1fr; }
    LockScreen #lock-side { border-top: solid $panel; }
    LockScreen .-wide #lock-side { height: 1fr; width: 74; border: none; padding-left: 1; }
    LockScreen #lock-body { layout: vertical; }
    LockScreen #lock-body.-wide { layout: horizontal; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self._detail: LockDetail | None = None
        self._moment: ViewState | None = None
        self._subject: Selection | None = None  # that the cursor was put on
        self._path: str | None = None  # that we chose where nobody did
        self._opened: frozenset[Text] = frozenset()
        self._is_open = False
        self._with_data = False
        self._finder, self._crowd = QueueFilter(), WaiterClasses()
        self._drawn_at, self._is_due = 0.0, False

    def compose(self) -> ComposeResult:
        """Give the panes."""
        yield Heading(id="lock-head")
        with Horizontal(id="lock-body"):
            yield QueueTable(id="lock-queue")
            yield TextView(id="lock-side")

    # What it shows

    def show(self, moment: ViewState) -> None:
        """Draw this moment; a queue of thousands not more often than can be read."""
        before, self._moment = self._moment, moment
        is_same = before is not None and (before.subject, before.filter.text) == (
            moment.subject,
            moment.filter.text,
        )
        wait = self._drawn_at + HUGE_S - perf_counter()
        if is_same and self._detail is not None and len(self._detail.queue) > HUGE and wait > 0:
            if not self._is_due:
                self._is_due = True
                call_after(wait, self, self._again)
            return
        self._again()

    def _again(self) -> None:
        """Draw the newest moment."""
        moment = self._moment
        if moment is None:
            return
        self._is_due, self._drawn_at = False, perf_counter()
        report = moment.frame.report if moment.frame else None
        path = self._chosen_path(moment, report)
        self._detail = None
        if report is not None and path is not None:
            self._detail = LockDetail.of(report, path, is_ascii=moment.is_ascii)
        if self._detail is None:
            self._show_nothing(moment, path)
            return
        self._follow(moment.subject)
        self._show_queue(moment, self._detail)

    def _chosen_path(self, moment: ViewState, report: Report | None) -> str | None:
        if moment.subject.path is not None:
            return moment.subject.path
        if self._path is None and report is not None:
            self._path = worst_path(report)
        return self._path

    def _show_nothing(self, moment: ViewState, path: str | None) -> None:
        width = self.size.width
        if path is None or moment.frame is None:
            lines = no_lock_chosen(moment, width)
        else:
            lines = deleted_lock(
                path, last_seen(path, moment.tape, moment.frame.at), moment.frame.at, width
            )
        self._show_head([])
        self._queue.show((), lines)
        self._side.display = False

    def _follow(self, subject: Selection) -> None:
        """Put the cursor where another page has pointed to."""
        if subject == self._subject:
            return
        is_other = self._subject is None or subject.path != self._subject.path
        self._subject = subject
        detail = self._detail
        if is_other:
            self._opened, self._is_open, self._with_data = frozenset(), False, False
            self._queue.release()
        node = subject.node
        if node is None and detail is not None and subject.session is not None:
            mine = (m.node for m in detail.queue.members if m.owner == subject.session)
            node = next(mine, None)
        if node is not None:
            self._opened |= {Text(node)}
            self._queue.choose(node)

    def _show_queue(self, moment: ViewState, detail: LockDetail) -> None:
        head = lock_head(detail, self.size.width)
        if moment.filter:
            places = self._finder.places(detail, moment.filter)
            head.append(match_line(detail, places, moment.filter))
            folding = only_positions(places)
        elif self._is_open:
            folding = unfold_queue(detail.queue)
        else:
            folding = fold_queue(detail.queue, sorted(detail.odd)[:ODD_SHOWN], self._opened)
        self._show_head(head[: max(1, self.size.height - LEAST_QUEUE)])
        self._queue.show(QueueRows(detail, folding), _empty(detail, moment))
        self._show_side()

    def _show_head(self, lines: list[Line]) -> None:
        head = self.query_one(Heading)
        if head.styles.height is None or head.styles.height.value != len(lines):
            head.styles.height = len(lines)
        head.display = bool(lines)
        head.show(lines)

    def _show_side(self) -> None:
        side, detail = self._side, self._detail
        if detail is None:
            return
        is_wide = self.size.width >= WIDE
        self.query_one("#lock-body").set_class(is_wide, "-wide")
        side.display = True
        if is_wide:
            side.styles.height = "1fr"  # what a narrow page has set would stay
        else:
            self._share_height(side)
        width = SIDE - 3 if is_wide else self.size.width - 2
        side.show(self._side_lines(detail, max(30, width)))

    def _share_height(self, side: TextView) -> None:
        """Give the drawings what a short queue leaves, and less than half beside a long one."""
        head = self.query_one(Heading)
        room = self.size.height - (head.count if head.display else 0)
        left = room - self._queue.count - 1
        height = max(left, room * 2 // 5, 1)
        if side.styles.height is None or side.styles.height.value != height:
            side.styles.height = height

    def _side_lines(self, detail: LockDetail, width: int) -> list[Line]:
        """Put the drawings below each other; beside each other where there is room."""
        row = self._queue.row
        figures = [
            compatibility_matrix(detail.queue, row.member if row else None),
            wake_map(detail, row.place if row else None),
            self._crowd.lines(detail),
        ]
        if width < TWO_COLUMNS:
            chosen = selected_lines(row, width, with_data=self._with_data)
            past = histograms(detail, min(width, 70))
            parts = [*figures, past, lock_notes(detail, width)]
            return stacked([chosen, *parts] if self._with_data else [parts[0], chosen, *parts[1:]])
        room = max(width // 3, width - TO_THE_RIGHT)
        told = [selected_lines(row, room, with_data=self._with_data), lock_notes(detail, room)]
        drawn = [*figures, histograms(detail, min(width - room - 4, 60))]
        return side_by_side(stacked(told), stacked(drawn), room)

    def on_resize(self) -> None:
        """Draw for the new size."""
        self._again()

    # What is asked for

    @property
    def _queue(self) -> QueueTable:
        return self.query_one(QueueTable)

    @property
    def _side(self) -> TextView:
        return self.query_one("#lock-side", TextView)

    @property
    def _row(self) -> QueueRow | None:
        return self._queue.row if self._detail else None

    @property
    def subject(self) -> Selection:
        """The place under the cursor."""
        row, detail = self._row, self._detail
        if detail is None:
            return Selection(path=self._path)
        if row is None or row.is_group or row.member is None:
            return Selection(path=detail.path, session=row.session if row else None)
        return Selection(path=detail.path, node=row.member.node, session=row.session)

    def on_table_cursor_moved(self) -> None:
        """Tell about the place that the cursor came to."""
        self._show_side()

    def action_open(self) -> None:
        """Unfold a group, or go to the session of a place."""
        row = self._row
        if row is None:
            return
        if row.is_group:
            self._opened |= {member.node for member in row.members}
            self._again()
        elif row.session is None:
            self.say("No session owns this place: it stays when its client is gone.")
        else:
            self.post_message(ShowPage("sessions", self.subject))

    def action_fold(self) -> None:
        """Unfold everything, or fold it again."""
        self._is_open, self._opened = not (self._is_open or self._opened), frozenset()
        self._again()

    def action_show_data(self) -> None:
        """Show what is in the znode, or no more."""
        self._with_data = not self._with_data
        self._show_side()
        self._side.scroll_to(y=0, animate=False)

    def copied(self) -> str:
        """Give the lock, and the place under the cursor, as text."""
        return lock_text(self._detail, self._row) if self._detail else ""


def _empty(detail: LockDetail, moment: ViewState) -> list[Line]:
    """Say why there are no rows."""
    if moment.filter and len(detail.queue):
        return [(), line(("  Nobody passes the filter. Esc shows everybody again.", "dim"))]
    if detail.view.lock.error is not None:
        return [(), line(("  Who holds it and who waits cannot be seen from here.", "dim"))]
    return [(), line(("  Nobody holds this lock and nobody waits for it.", "dim"))]
