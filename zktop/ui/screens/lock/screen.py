"""Screen 2: one lock with its holders, its queue, and which release wakes which client."""

from collections.abc import Mapping
from functools import partial
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from zktop.model.format import count
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.messages import ShowPage
from zktop.ui.screens.common.event_lines import About, event_lines
from zktop.ui.screens.common.example_row import ExampleCell
from zktop.ui.screens.common.line_writer import LineWriter
from zktop.ui.screens.common.split import SplitPage
from zktop.ui.screens.common.throttle import READABLE_S, Throttle
from zktop.ui.screens.lock import table
from zktop.ui.screens.lock.compatibility_matrix import compatibility_matrix
from zktop.ui.screens.lock.filter import FIELDS as QUEUE_FIELDS
from zktop.ui.screens.lock.filter import STATES as QUEUE_STATES
from zktop.ui.screens.lock.filter import match_line, matching_positions
from zktop.ui.screens.lock.heading import lock_head
from zktop.ui.screens.lock.histograms import histograms
from zktop.ui.screens.lock.lock_detail import LockDetail, child_watchers
from zktop.ui.screens.lock.no_lock import deleted_lock, last_seen, no_lock_chosen, worst_path
from zktop.ui.screens.lock.notes import lock_notes
from zktop.ui.screens.lock.rows import QueueRow, folded_rows, single_rows
from zktop.ui.screens.lock.selected_row import selected_lines
from zktop.ui.screens.lock.table import QueueTable
from zktop.ui.screens.lock.waiter_classes import waiter_classes
from zktop.ui.screens.lock.wake_map import wake_map
from zktop.ui.screens.timeline.last_60_seconds import minute_lines_of_lock
from zktop.ui.screens.timeline.last_60_seconds_panel import MinutePanel
from zktop.ui.styled_text import Line, joined, line, side_by_side, stacked_lines, text_of
from zktop.ui.trees.tree_lines import MAX_TREE_LOCKS, WaitTreeLines
from zktop.ui.trees.wait_tree import tree_of
from zktop.ui.view_state import Selection, ViewState
from zktop.ui.widgets.panel import FrameWords, LinkPanel, TextPanel, set_height
from zktop.ui.widgets.text_view import StaticText

TWO_COLUMNS_FROM_CELLS: Final = 110  # in a narrower pane, drawings are stacked
RIGHT_COLUMN_CELLS: Final = 74
USUAL_SIDE_CELLS: Final = 76  # for the drawings to the right of the queue
FRAME_CELLS: Final = 5  # around the text of the drawings
MIN_QUEUE_LINES: Final = 8  # below a long head
MIN_PAST_LINES: Final = 6
MIN_TREE_LINES: Final = 8
MAX_EVENTS: Final = 60
NO_HISTORY: Final = line((" Nothing has happened to this lock since zktop started.", "dim"))
HUGE_QUEUE_MEMBERS: Final = 1_000  # a longer queue is drawn less often
MAX_MARKED_ROWS: Final = 40  # members with findings that are not folded
COPIED_LINE_CELLS: Final = 120
COPIED_ROWS: Final = 50


class LockScreen(SplitPage):
    """The selected lock. If none is selected at the first drawing, the worst one is shown."""

    DEFAULT_CLASSES = "-air"
    FIELDS = QUEUE_FIELDS
    STATES = QUEUE_STATES
    SIDE = "#lock-aside"
    WIDE_FROM = 160  # in a narrower window, the drawings are below the queue
    HELP = (
        "One lock: its queue in order, who may enter, what each client watches, and which clients "
        "a release wakes.\n\n"
        "WATCHES comes from the servers' watch tables. `NONE` means that nothing will wake the "
        "client; `children?` and a dotted arrow, that it may watch the children, which no server "
        "lists; `?`, that no table could be read.\n\n"
        "The matrix shows which modes can be granted with those held and queued. To find a "
        "client in a long queue, filter by its name."
    )
    HELP_KEYS: ClassVar[Mapping[str, str]] = {
        "open": "open the session",
        "show_data": "show the znode's data",
        "fold": "unfold or fold groups",
        "filter": "find a client",
        "copy": "copy as text",
        "next_alert": "explain the next alert",
        "back": "go back",
        "tree": "who waits for whom",
    }
    HELP_ROW: ClassVar[tuple[ExampleCell, ...]] = (
        ExampleCell("POS", "  2", "position in the queue, holders first"),
        ExampleCell("M", "W", "mode: X exclusive, R read, W write", "strong"),
        ExampleCell("IDENTITY", "stock-w", "client, by its unique name"),
        ExampleCell("AGE", "15s", "how long it has held or waited"),
        ExampleCell("BLOCKED BY", "0 · ahead 1", "holders, then positions ahead"),
        ExampleCell("WATCHES", "→ 1", "position that wakes it"),
        ExampleCell("STATE", "waits", "holds or waits", "waits"),
    )
    DEFAULT_CSS = """
    LockScreen > #lock-head { height: auto; background: $panel; }
    LockScreen > #lock-body { height: 1fr; }
    LockScreen #lock-main { height: 1fr; }
    LockScreen .-wide #lock-main { width: 1fr; }
    LockScreen #lock-queue { height: 1fr; }
    LockScreen #lock-past, LockScreen #lock-tree { display: none; }
    LockScreen #lock-aside { height: auto; }
    LockScreen .-wide #lock-aside { height: 1fr; }
    LockScreen #lock-body { layout: vertical; }
    LockScreen #lock-body.-wide { layout: horizontal; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._detail: LockDetail | None = None
        self._subject: Selection | None = None  # the last selection that moved the cursor
        self._path: str | None = None  # the worst lock at the first drawing without a selection
        self._unfolded: frozenset[Text] = frozenset()
        self._is_unfolded = False
        self._shows_data = False
        self._drawing = Throttle(self, self._draw_lock, READABLE_S)
        self._head, self._queue = StaticText(id="lock-head"), QueueTable()
        self._minute, self._past = MinutePanel(id="lock-minute"), TextPanel(id="lock-past")
        self._aside = Vertical(id="lock-aside")
        self._side, self._tree = TextPanel(id="lock-side"), LinkPanel(id="lock-tree")

    def compose(self) -> ComposeResult:
        yield self._head
        with Horizontal(id="lock-body"):
            with Vertical(id="lock-main"):
                yield self._queue
                yield self._minute
                yield self._past
            with self._aside:
                yield self._side
                yield self._tree

    # What it shows

    def draw(self, state: ViewState) -> None:
        """Draw this state. A huge queue is drawn at most twice a second."""
        chosen = state.subject, state.filter.text, self.size, self.side_cells
        is_huge = self._detail is not None and len(self._detail.queue) > HUGE_QUEUE_MEMBERS
        self._drawing.draw_for(chosen, at_once=not is_huge)

    def _draw_lock(self) -> None:
        state = self.view_state
        if state is None:
            return
        path = self._chosen_path(state, self.report)
        self._detail = self._detail_of(state, self.report, path)
        if self._detail is None:
            self._show_nothing(state, path)
            return
        self._follow(state.subject)
        self._show_queue(state, self._detail)

    def _detail_of(
        self, state: ViewState, report: Report | None, path: str | None
    ) -> LockDetail | None:
        """Return the lock at this path. If nothing has changed, return the current object."""
        if report is None or path is None:
            return None
        shown, watchers = self._detail, child_watchers(state, path)
        wanted = (path, state.is_ascii, watchers)
        if (
            shown is not None
            and shown.report is report
            and (shown.path, shown.is_ascii, shown.child_watchers) == wanted
        ):
            return shown
        return LockDetail.of(report, path, is_ascii=state.is_ascii, child_watchers=watchers)

    def _chosen_path(self, state: ViewState, report: Report | None) -> str | None:
        if state.subject.path is not None:
            return state.subject.path
        if self._path is None and report is not None:
            self._path = worst_path(report)
        return self._path

    def _show_nothing(self, state: ViewState, path: str | None) -> None:
        width = self.size.width
        if path is None or state.frame is None:
            lines = no_lock_chosen(state, width)
        else:
            lines = deleted_lock(
                path, last_seen(path, state.tape, state.frame.at), state.frame.at, width
            )
        self._show_head([])
        self._queue.frame(FrameWords("Queue"))
        self._queue.show((), lines)
        self._aside.display = self._past.display = False
        self._minute.hide()

    def _follow(self, subject: Selection) -> None:
        """Move the cursor to the node or session that another screen selected."""
        if subject == self._subject:
            return
        is_other = self._subject is None or subject.path != self._subject.path
        self._subject = subject
        detail = self._detail
        if is_other:
            self._unfolded, self._is_unfolded, self._shows_data = frozenset(), False, False
            self._queue.release()
        node = subject.node
        if node is None and detail is not None and subject.session is not None:
            own = (
                member.node for member in detail.queue.members if member.owner == subject.session
            )
            node = next(own, None)
        if node is not None:
            self._unfolded |= {Text(node)}
            self._queue.choose(node)

    def _show_queue(self, state: ViewState, detail: LockDetail) -> None:
        head = lock_head(detail, self.size.width)
        if state.filter:
            places = matching_positions(detail, state.filter)
            head.append(match_line(detail, places, state.filter))
            rows = single_rows(detail, places)
        elif self._is_unfolded:
            rows = single_rows(detail, range(len(detail.queue)))
        else:
            rows = folded_rows(
                detail, sorted(detail.unfolded_nodes)[:MAX_MARKED_ROWS], self._unfolded
            )
        self._show_head(head[: max(1, self.size.height - MIN_QUEUE_LINES)])
        facts = count(len(detail.queue), "client")
        self._queue.frame(
            FrameWords("Queue", facts, "{open} session  {fold} fold  {show_data} data")
        )
        self._queue.show(rows, _empty(detail, state))
        self._show_side()

    def _show_head(self, lines: list[Line]) -> None:
        head = self._head
        set_height(head, len(lines))
        head.display = bool(lines)
        head.show(lines)

    def _show_side(self) -> None:
        side, detail = self._side, self._detail
        if detail is None:
            return
        is_wide = self.columns > 1
        self.query_one("#lock-body").set_class(is_wide, "-wide")
        self.apply_split()
        self._aside.display = True
        side.frame(FrameWords("Who may enter, who wakes"))
        width = self.side_cells - FRAME_CELLS if is_wide else self.size.width - 4
        lines = self._side_lines(detail, max(30, width))
        side.show(lines)
        needed = len(lines) + side.gutter.height
        if is_wide:
            self._show_tree(detail, self._room - needed)
        else:
            self._tree.display = False
            # What a short queue leaves free, and at least two fifths.
            set_height(side, max(self._free_lines, self._room * 2 // 5, 1))
        self._show_minute(detail, is_wide=is_wide)

    @property
    def usual_side_cells(self) -> int:
        return USUAL_SIDE_CELLS

    @property
    def _room(self) -> int:
        """Lines below the head."""
        return self.size.height - (self._head.count if self._head.display else 0)

    @property
    def _free_lines(self) -> int:
        """Lines that the queue does not need."""
        return self._room - self._queue.count - 1 - self._queue.gutter.height

    def _show_minute(self, detail: LockDetail, *, is_wide: bool) -> None:
        """Show the last minute, then the history, below a short queue in a wide window."""
        state, minute, width = self.view_state, self._minute, self.main_cells - 4
        if state is None or not is_wide:
            minute.hide()
        else:
            draw = partial(minute_lines_of_lock, state, detail.report, detail.path)
            minute.show_minute(draw, (detail.path, state.chosen_moment), width, self._free_lines)
        height = minute.wanted_height
        self._show_past(detail, self._free_lines - height if height else 0, width)

    def _show_past(self, detail: LockDetail, left: int, width: int) -> None:
        past = self._past
        past.display = left >= MIN_PAST_LINES
        if past.display:
            set_height(past, left)
            past.frame(FrameWords("History", "newest first, UTC"))
            past.show(self._history(detail, width) or [NO_HISTORY])

    def _show_tree(self, detail: LockDetail, left: int) -> None:
        """Show who waits for whom in `left` lines, below the drawings in a wide window."""
        tree, report = self._tree, detail.report
        tree.display = left >= MIN_TREE_LINES and len(report.paths) <= MAX_TREE_LOCKS
        set_height(self._side, self._room - (left if tree.display else 0))
        if tree.display:
            writer = LineWriter(self.side_cells - FRAME_CELLS)
            shown = tree_of(report, Selection(path=detail.path))
            WaitTreeLines(report, is_ascii=detail.is_ascii).write(writer, [shown] if shown else [])
            tree.frame(FrameWords("Who waits for whom", "", "{tree} locks by path"))
            tree.show(writer.lines, writer.links)

    def _history(self, detail: LockDetail, width: int) -> list[Line]:
        state = self.view_state
        if state is None:
            return []
        about, moment = About(lock=detail.path), state.chosen_moment
        events = event_lines(state.tape, detail.report, MAX_EVENTS, width, about, shown_at=moment)
        return [event.drawn for event in events]

    def _side_lines(self, detail: LockDetail, width: int) -> list[Line]:
        """Return the drawings in one column, or in two where there is room."""
        row = self._queue.row
        figures = [
            compatibility_matrix(detail.queue, row.member if row else None),
            wake_map(detail, row.place if row else None),
            waiter_classes(detail),
        ]
        if width < TWO_COLUMNS_FROM_CELLS:
            chosen = selected_lines(row, width, with_data=self._shows_data)
            past = histograms(detail, min(width, 70))
            parts = [*figures, past, lock_notes(detail, width)]
            return stacked_lines(
                [chosen, *parts] if self._shows_data else [parts[0], chosen, *parts[1:]]
            )
        room = max(width // 3, width - RIGHT_COLUMN_CELLS)
        events = self._history(detail, room)
        text_parts = [
            selected_lines(row, room, with_data=self._shows_data),
            lock_notes(detail, room),
            [line(("HISTORY", "title")), *events] if events else [],
        ]
        drawn = [*figures, histograms(detail, min(width - room - 4, 60))]
        return side_by_side(stacked_lines(text_parts), stacked_lines(drawn), room)

    # The selection

    @property
    def _row(self) -> QueueRow | None:
        return self._queue.row if self._detail else None

    @property
    def subject(self) -> Selection:
        row, detail = self._row, self._detail
        if detail is None:
            state = self.view_state
            return Selection(path=(state.subject.path if state else None) or self._path)
        if row is None or row.is_group or row.member is None:
            return Selection(path=detail.path, session=row.session if row else None)
        return Selection(path=detail.path, node=row.member.node, session=row.session)

    def on_table_cursor_moved(self) -> None:
        self._show_side()

    def action_open(self) -> None:
        """Unfold the group or open the session under the cursor."""
        row = self._row
        if row is None:
            return
        if row.is_group:
            self._unfolded |= {member.node for member in row.members}
            self._draw_lock()
        elif row.session is None:
            self.say("No session owns this node: it stays when its client dies.")
        else:
            self.post_message(ShowPage("sessions", self.subject))

    def action_fold(self) -> None:
        self._is_unfolded, self._unfolded = not (self._is_unfolded or self._unfolded), frozenset()
        self._draw_lock()

    def action_show_data(self) -> None:
        self._shows_data = not self._shows_data
        self._show_side()
        self._side.scroll_to(y=0, animate=False)

    def copied(self) -> str:
        return lock_text(self._detail, self._row) if self._detail else ""


def _empty(detail: LockDetail, state: ViewState) -> list[Line]:
    if state.filter and len(detail.queue):
        return [(), line(("  No client matches the filter. Esc clears it.", "dim"))]
    if detail.view.lock.error is not None:
        return [(), line(("  zktop cannot read the holders and waiters of this lock.", "dim"))]
    return [(), line(("  The lock is free, and no client waits for it.", "dim"))]


def lock_text(detail: LockDetail, row: QueueRow | None) -> str:
    """Return the head, the first rows, the selected row and the notes as plain text."""
    number = min(COPIED_ROWS, len(detail.queue))
    rows = single_rows(detail, range(number))
    drawings = (
        table.position,
        table.mode,
        table.identity,
        table.age_of,
        table.blocked_by,
        table.watches,
        table.state,
    )
    lines = [
        *lock_head(detail, COPIED_LINE_CELLS),
        *(joined(cell(row) for cell in drawings) for row in rows),
        *selected_lines(row, COPIED_LINE_CELLS, with_data=False),
        *lock_notes(detail, COPIED_LINE_CELLS),
    ]
    texts = [text_of(drawn).rstrip() for drawn in lines]
    if len(detail.queue) > number:
        texts.append(f"... {len(detail.queue) - number} more requests")
    return "\n".join(texts)
