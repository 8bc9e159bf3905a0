"""A table of any length that draws only its visible rows.

When rows are sorted, the cursor stays on its row, and the row stays on its line of the screen.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from time import perf_counter
from typing import Any, ClassVar, Final, Generic, NamedTuple, TypeVar

import msgspec
from rich.cells import cell_len
from textual.message import Message

from zktop.model.format import whole_names
from zktop.ui.styled_text import (
    NOTHING,
    Line,
    Run,
    cut_middle,
    end_of,
    fitted,
    merged,
    right_aligned,
    text_of,
    width_of,
)
from zktop.ui.widgets.scrolling_view import ScrollingView

R = TypeVar("R")
GAP_CELLS: Final = 1  # between two columns
MIN_NAME_CELLS: Final = 6  # for a name that is cut in its middle
KEEPS_WIDTH_S: Final = 10.0  # how long a column at least keeps the width of a text that is gone


class RowGroup(msgspec.Struct, Generic[R], frozen=True, eq=False, dict=True):
    """A line that stands for several rows. When it is open, the rows follow it."""

    name: str
    rows: tuple[R, ...]
    is_open: bool = False

    @property
    def sign(self) -> Run:
        return Run("▾" if self.is_open else "▸", "selected")


class Column(NamedTuple, Generic[R]):
    """One column: its name, its width, and how a row is drawn in it.

    In a narrow terminal the columns with the highest `rank` are left out first. Spare cells go to
    the columns with a `share`. If they need fewer, the rest goes to columns with `keeps_end`.
    """

    name: str
    width: int
    draw: Callable[[R], Line]
    key: Callable[[R], object] | None = None  # to sort by; None: cannot be sorted
    at_right: bool = False  # aligned to the right
    rank: int = 0
    share: int = 0
    descending: bool = False  # the order of the first click
    needs: int = 0  # a table with fewer cells leaves the column out
    keeps_end: bool = False  # cut text at its start, because the end of a path says more
    cuts_middle: Callable[[R], bool] | None = None  # True: cut the row's text in its middle
    title: str = ""  # the full name
    about: str = ""  # what it means, in a sentence


def cut_cell(column: Column[R], row: R | RowGroup[R], drawn: Line, cells: int) -> Line:
    if column.keeps_end:
        end = whole_names(end_of(text_of(drawn), cells - 1))
        return fitted((Run(f"…{end}", drawn[0].ink),), cells)
    if column.cuts_middle and not isinstance(row, RowGroup) and column.cuts_middle(row):
        return fitted(shortened(drawn, cells), cells)
    return fitted(drawn, cells)


def shortened(drawn: Line, cells: int) -> Line:
    """Cut the longest piece of a line in its middle, so that the line fits.

    >>> text_of(shortened((Run("X "), Run("127.0.0.1:59112"), Run(" +2")), 16))
    'X 127.…:59112 +2'
    """
    longest = max(range(len(drawn)), key=lambda at: cell_len(drawn[at].text))
    name = drawn[longest].text
    name_cells = max(1, cell_len(name) - (width_of(drawn) - cells))
    cut = drawn[longest]._replace(text=cut_middle(name, name_cells))
    return (*drawn[:longest], cut, *drawn[longest + 1 :])


def cut_last(drawn: Line, cells: int) -> Line:
    """Cut a line that is too long in the middle of its last piece, or at its end if that is short.

    >>> text_of(cut_last((Run("deadlock  "), Run("127.0.0.1:59112")), 20))
    'deadlock  127…:59112'
    >>> text_of(cut_last((Run("lock order inversion?  "), Run("orders")), 22))
    'lock order inversion?…'
    """
    name_cells = cells - width_of(drawn[:-1])
    if width_of(drawn) <= cells or name_cells < MIN_NAME_CELLS:
        return fitted(drawn, min(cells, width_of(drawn)))
    return (*drawn[:-1], drawn[-1]._replace(text=cut_middle(drawn[-1].text, name_cells)))


def fitting(columns: Sequence[Column[R]], width: int) -> list[tuple[Column[R], int]]:
    """Choose the columns that fit into `width` cells. Return each with its width."""
    fit = [column for column in columns if column.needs <= width]
    while len(fit) > 1 and _spare(fit, width) < 0:
        fit.remove(max(fit, key=lambda column: (column.rank, fit.index(column))))
    spare, shares = max(0, _spare(fit, width)), sum(column.share for column in fit)
    return [
        (column, column.width + (spare * column.share // shares if shares else 0))
        for column in fit
    ]


def _spare(columns: Sequence[Column[R]], width: int) -> int:
    """Return how many of `width` cells are left; negative if there are too few."""
    return width - sum(column.width for column in columns) - GAP_CELLS * (len(columns) - 1)


def lent(
    widths: Sequence[tuple[Column[R], int]], needed: Mapping[str, int]
) -> list[tuple[Column[R], int]]:
    """Move spare cells of flexible columns to the columns that would cut the start of a text.

    `needed` is the width of the widest text in each flexible column.
    """
    cells = {column.name: width for column, width in widths}
    takers = [column.name for column, _ in widths if column.keeps_end]
    givers = [column.name for column, _ in widths if column.share and not column.keeps_end]
    for taker in takers:
        for giver in givers:
            spare = cells[giver] - max(needed.get(giver, cells[giver]), len(giver) + 1)
            more = max(0, min(spare, needed.get(taker, 0) - cells[taker]))
            cells[taker] += more
            cells[giver] -= more
    return [(column, cells[column.name]) for column, _ in widths]


class Table(ScrollingView, Generic[R]):
    """Rows in columns, with a cursor that stays on its row."""

    page_orders: ClassVar[bool] = False  # True: after SortChanged the page calls `show` itself

    class SortChanged(Message):
        """The user has chosen another order of the rows."""

    class CursorMoved(Message):
        """The user has put the cursor on another row."""

    def __init__(
        self,
        columns: Sequence[Column[R]],
        key_of: Callable[[R], Hashable],
        *,
        id: str | None = None,  # noqa: A002  Textual's name
        mark: Callable[[Any], Run] | None = None,
        group_cells: Mapping[str, Callable[[Any], Line]] | None = None,
    ) -> None:
        """Create a table.

        `mark` draws one cell left of each row. `group_cells` draw the cells of a group, by the
        names of their columns; its other cells are empty.
        """
        super().__init__(id=id)
        self.columns, self._key_of, self._mark = columns, key_of, mark
        self._group_cells = group_cells or {}
        self.rows: Sequence[R | RowGroup[R]] = ()
        self.newest: Mapping[Hashable, R] = {}  # rows that are newer than those shown, by key
        self.note: Sequence[Line] = ()  # shown while there are no rows
        self.chosen: Hashable | None = None  # the key of the row under the cursor
        self.held = False  # the user has placed the cursor: keep it on its row
        self.moved_at = 0.0  # a time of `perf_counter`
        self.sorted_by: str | None = None
        self.reversed = False
        self.hidden: frozenset[str] = frozenset()  # columns that the user has hidden, by name
        self.cursor = None
        self._given: Sequence[R | RowGroup[R]] = ()  # the rows before the user's order
        self._widths: tuple[int, list[tuple[Column[R], int]]] = (0, [])
        self._needed: dict[str, int] = {}  # the widest text, by flexible column
        self._lent_for: dict[str, int] = {}  # the same when `_widths` was computed
        self._recent: dict[str, int] = {}  # the same since `_recent_since`
        self._recent_since = 0.0  # a time of `perf_counter`

    # Rows

    @property
    def count(self) -> int:
        return len(self.rows) or len(self.note)

    @property
    def row(self) -> R | None:
        """The row under the cursor; None if that is a group, or if there are no rows."""
        line = self._line
        return None if isinstance(line, RowGroup) else line

    @property
    def group(self) -> RowGroup[R] | None:
        line = self._line
        return line if isinstance(line, RowGroup) else None

    @property
    def kept_key(self) -> Hashable | None:
        """The key of the row that the user has put the cursor on."""
        return self.chosen if self.held else None

    @property
    def _line(self) -> R | RowGroup[R] | None:
        at = self.cursor
        return self.row_at(at) if at is not None and at < len(self.rows) else None

    def row_at(self, index: int) -> R | RowGroup[R]:
        """Return the newest version of a row: rows change more often than their order."""
        row = self.rows[index]
        if isinstance(row, RowGroup) or not self.newest:
            return row
        return self.newest.get(self._key_of(row), row)

    def _key(self, row: R | RowGroup[R]) -> Hashable:
        return (row.name,) if isinstance(row, RowGroup) else self._key_of(row)

    def show(self, rows: Sequence[R | RowGroup[R]], note: Sequence[Line] = ()) -> None:
        """Show these rows, in the user's order if one is set. If there are none, show the note."""
        line = None if self.cursor is None else self.cursor - int(self.scroll_offset.y)
        self._given, self.rows, self.note = rows, self.ordered(rows), note
        if self.is_mounted and self.room.height:
            self.measure(self.room)
        self._follow_chosen(line)
        self.repaint()

    def choose(self, key: Hashable) -> bool:
        """Put the cursor on the row with this key. Return False if that row is not shown yet."""
        self.chosen, self.held = key, True
        at = self._index(key)
        if at is not None:
            self.cursor = at
            self._reveal(at)
            self.repaint()
        return at is not None

    def _follow_chosen(self, line: int | None) -> None:
        """Move the cursor to the new position of the chosen row, and keep it on its line."""
        if not self.rows:
            self.cursor = None
            return
        if not self.held:
            self.cursor = 0
            self.chosen = self._key(self.rows[0])
            return
        at = self._index(self.chosen)
        if at is None:  # the row is gone: choose the one in its place
            self.cursor = min(self.cursor or 0, len(self.rows) - 1)
            self.chosen = self._key(self.rows[self.cursor])
            return
        self.cursor = at
        room = self.lines_in_sight()
        if line is None:
            self._reveal(at)
        elif 0 <= line < room:
            top = first_in_sight(at, line, len(self.rows), room)
            self.scroll_to(y=top, animate=False, immediate=True)

    def _index(self, key: Hashable) -> int | None:
        at = self.cursor
        if at is not None and at < len(self.rows) and self._key(self.rows[at]) == key:
            return at
        newest = self.newest.get(key)
        if newest is not None and newest in self.rows:  # 30 times as fast as comparing keys
            return self.rows.index(newest)
        return next((i for i, row in enumerate(self.rows) if self._key(row) == key), None)

    def moved(self) -> None:
        """Remember the row under the cursor, and post `CursorMoved`."""
        if self._line is not None:
            self.chosen, self.held = self._key(self._line), True
            self.moved_at = perf_counter()
            self.post_message(self.CursorMoved())

    def can_rest(self, index: int) -> bool:
        return bool(self.rows)

    @property
    def is_cursor_placed(self) -> bool:
        return self.held

    def release(self) -> None:
        """Put the cursor back on the first row, and keep it there when rows change."""
        self.held = False
        self.scroll_to(y=0, animate=False, immediate=True)
        self.show(self._given, self.note)

    # Drawing

    def repaint(self) -> None:
        """Draw the visible rows, and again if their texts change the widths of columns."""
        now = perf_counter()
        if now - self._recent_since >= KEEPS_WIDTH_S:
            self._needed, self._recent, self._recent_since = self._recent, {}, now
        super().repaint()
        if self._needed != self._lent_for and self._widths[0]:
            width, widths = self._widths
            self._widths = 0, []
            if self._fitting(width) != widths:
                super().repaint()

    def heads(self, width: int) -> Sequence[Line]:
        """Draw the names of the columns, with an arrow at the one that sorts the rows."""
        if not self.rows and self.note:
            return ()
        runs: list[Run] = [Run(" " * self._margin)]
        for column, cells in self._fitting(width):
            name = column.name
            if name == self.sorted_by:
                name = name[: cells - 1] + self.arrow
            drawn = (Run(name, "title"),)
            runs += right_aligned(drawn, cells) if column.at_right else fitted(drawn, cells)
            runs.append(Run(" " * GAP_CELLS))
        return (merged(tuple(runs[:-1])),)

    def draw(self, index: int, width: int) -> Line:
        if not self.rows:
            return self.note[index]
        row = self.row_at(index)
        runs: list[Run] = [self._mark(row)] if self._mark else []
        for column, cells in self._fitting(width):
            drawn = self._cell(column, row)
            needed = width_of(drawn)
            if column.share or column.keeps_end:
                for widest in (self._needed, self._recent):
                    widest[column.name] = max(needed, widest.get(column.name, 0))
            room = cells - needed
            if room < 0:
                drawn = cut_cell(column, row, drawn, cells)
            space = Run(" " * room)
            runs += (space, *drawn) if column.at_right else (*drawn, space)
            runs.append(Run(" " * GAP_CELLS))
        return tuple(runs[:-1])

    def _cell(self, column: Column[R], row: R | RowGroup[R]) -> Line:
        if not isinstance(row, RowGroup):
            return column.draw(row)
        draw_group = self._group_cells.get(column.name)
        return draw_group(row) if draw_group else NOTHING

    @property
    def _margin(self) -> int:
        return 1 if self._mark else 0

    def _fitting(self, width: int) -> list[tuple[Column[R], int]]:
        if self._widths[0] != width:
            shown = [column for column in self.columns if column.name not in self.hidden]
            self._lent_for = dict(self._needed)
            fit = fitting(shown or self.columns, width - self._margin)
            self._widths = width, lent(fit, self._needed)
        return self._widths[1]

    # Columns

    @property
    def columns_in_sight(self) -> frozenset[str]:
        """The names of the columns that are drawn: not hidden, and with enough room."""
        return frozenset(column.name for column, _ in self._fitting(self.room.width))

    def use(self, columns: Sequence[Column[R]]) -> None:
        if columns != self.columns:
            self.columns, self._widths = columns, (0, [])

    def toggle_column(self, name: str) -> bool:
        """Hide a column, or show it again. Return False for the last visible one."""
        hidden = self.hidden ^ {name}
        if all(column.name in hidden for column in self.columns):
            return False
        self.hidden, self._widths = hidden, (0, [])
        self.repaint()
        return True

    # Order

    @property
    def has_order(self) -> bool:
        """True if the user has chosen an order other than the usual one, by a present column."""
        return self.reversed if self.sorted_by is None else self._sorting_column is not None

    @property
    def _sorting_column(self) -> Column[R] | None:
        return next((column for column in self.columns if column.name == self.sorted_by), None)

    @property
    def arrow(self) -> str:
        """The direction of the order."""
        column = self._sorting_column
        descending = column is not None and column.descending
        return "↓" if self.reversed != descending else "↑"

    def head_clicked(self, x: int) -> None:
        """Sort by the column that was clicked on."""
        left = self._margin
        for column, cells in self._fitting(self.room.width):
            if left <= x < left + cells and column.key:
                self.sort_by(column.name)
            left += cells + GAP_CELLS

    def sort_by(self, name: str | None) -> None:
        """Sort by this column. A second call with the same name reverses the order."""
        self.reversed = not self.reversed if name == self.sorted_by else False
        self.sorted_by = name
        self._reorder()

    def action_reverse(self) -> None:
        if not self.has_order:  # also if the column that sorted the rows is missing
            self.sorted_by, self.reversed = None, False
        self.reversed = not self.reversed
        self._reorder()

    def _reorder(self) -> None:
        if not self.page_orders:
            self.show(self._given, self.note)
        self.post_message(self.SortChanged())

    def ordered(self, rows: Sequence[R | RowGroup[R]]) -> Sequence[R | RowGroup[R]]:
        """Return the rows without groups in the user's order, or as they are if none is set."""
        if not self.has_order or not any(column.key for column in self.columns):
            return rows
        alone = [row for row in rows if not isinstance(row, RowGroup)]
        column = self._sorting_column
        if column is None or column.key is None:
            return alone[::-1]
        return sorted(alone, key=column.key, reverse=self.reversed != column.descending)  # type: ignore[arg-type]  # keys of one column have one type


def first_in_sight(index: int, line: int, count: int, room: int) -> int:
    """Return the row to scroll to, so that the row at `index` is on this line of the screen.

    Near the ends of the table, the row is on the nearest line that is possible.

    >>> [first_in_sight(index, 3, 100, 20) for index in (40, 1, 99)]
    [37, 0, 80]
    """
    return max(0, min(index - line, count - room))
