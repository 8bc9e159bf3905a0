"""The live table: ten thousand rows, of which only the visible ones are ever drawn.

The columns of a table: how wide each is, which go first, and the cells of a row in them.
"""

from collections.abc import Callable, Hashable, Sequence
from time import perf_counter
from typing import Generic, NamedTuple, TypeVar

from textual.message import Message

from zktop.model.format import middle
from zktop.ui.styled_text import Line, Run, fitted, merged, right, text_of, width_of
from zktop.ui.widgets.canvas import Canvas

R = TypeVar("R")
GAP = 1
DRAWN = 500  # rows whose look is remembered

Cell = tuple[Line, int]  # what is in it, and how much room is left


class Column(NamedTuple, Generic[R]):
    """One column: its name, how wide it is, and how a row is drawn in it.

    Where the terminal is too narrow, columns with the highest `rank` go first. What room is left
    over goes to the columns with a `share` of it.
    """

    name: str
    width: int
    draw: Callable[[R], Line]
    key: Callable[[R], object] | None = None  # to sort by; None: cannot be sorted
    at_right: bool = False
    rank: int = 0
    share: int = 0
    descending: bool = False  # the order in which it is most useful
    needs: int = 0  # cells of the whole table; in a narrower one it is not shown
    keeps_end: bool = False  # what does not fit loses its beginning: the end of a path says more
    names: Callable[[R], bool] | None = None  # of these rows the middle: a name's ends tell more
    ages: bool = True  # else all that it draws is in the row, and stays for as long as the row


def draw_cell(column: Column[R], row: R, cells: int) -> Cell:
    """Draw a row in one column, in at most so many cells."""
    drawn = column.draw(row)
    room = cells - width_of(drawn)
    if room >= 0:
        return drawn, room
    if column.keeps_end:
        return fitted((Run("…" + text_of(drawn)[1 - room :], drawn[0].ink),), cells), 0
    if column.names is not None and column.names(row):
        return fitted(shortened(drawn, cells), cells), 0
    return fitted(drawn, cells), 0


def shortened(drawn: Line, cells: int) -> Line:
    """Cut the longest piece of a line in its middle, so that the whole fits.

    >>> text_of(shortened((Run("X "), Run("127.0.0.1:59112"), Run(" +2")), 16))
    'X 127.…:59112 +2'
    """
    longest = max(range(len(drawn)), key=lambda at: len(drawn[at].text))
    name = drawn[longest].text
    kept = max(1, len(name) - (width_of(drawn) - cells))
    cut = drawn[longest]._replace(text=middle(name, kept))
    return (*drawn[:longest], cut, *drawn[longest + 1 :])


class CellCache(Generic[R]):
    """The cells that do not age, of rows that were drawn lately.

    A row is drawn again and again because times in it pass; nothing else in it is another then.
    """

    def __init__(self) -> None:
        """Begin without any."""
        self._known: dict[Hashable, tuple[R, int, dict[str, Cell]]] = {}

    def of(self, name: Hashable, row: R, width: int) -> dict[str, Cell]:
        """Give those of a row, by column; to be filled by who draws them."""
        known = self._known.get(name)
        if known is None or known[0] is not row or known[1] != width:
            if len(self._known) > DRAWN:
                self._known.clear()
            known = self._known[name] = row, width, {}
        return known[2]


def fitting(columns: Sequence[Column[R]], width: int) -> list[tuple[Column[R], int]]:
    """Choose the columns that there is room for, and say how wide each is."""
    kept = [one for one in columns if one.needs <= width]
    while len(kept) > 1 and sum(one.width + GAP for one in kept) - GAP > width:
        kept.remove(max(kept, key=lambda one: (one.rank, kept.index(one))))
    spare = width - sum(one.width + GAP for one in kept) + GAP
    shares = sum(one.share for one in kept)
    widths = []
    for column in kept:
        more = max(0, spare) * column.share // shares if shares else 0
        widths.append((column, column.width + more))
    return widths


class Table(Canvas, Generic[R]):
    """Rows in columns; the cursor stays on its row, on the same line of the screen."""

    class SortChanged(Message):
        """The user wants another order of the rows."""

    class CursorMoved(Message):
        """The user has put the cursor on another row."""

    def __init__(
        self,
        columns: Sequence[Column[R]],
        name_of: Callable[[R], Hashable],
        *,
        id: str | None = None,  # noqa: A002  Textual's name
        mark: Callable[[R], Run] | None = None,
        stamp: Callable[[R], Hashable] | None = None,
    ) -> None:
        """Show rows; `stamp` gives what the look of a row depends on besides the row itself.

        With a stamp, a row that is the same object and has the same stamp is not drawn again.
        """
        super().__init__(id=id)
        self.columns, self._name_of, self._mark, self._stamp = columns, name_of, mark, stamp
        self.rows: Sequence[R] = ()
        self.note: Sequence[Line] = ()  # what is said where there are no rows
        self.chosen: Hashable | None = None  # the name of the row under the cursor
        self.held = False  # the user has moved the cursor: keep its row where it is
        self.moved_at = 0.0  # by the clock of `perf_counter`
        self.sorted_by: str | None = None
        self.reversed = False
        self.cursor = None
        self._widths: tuple[int, list[tuple[Column[R], int]]] = (0, [])
        self._named: tuple[Hashable, Line] = (None, ())
        self._drawn: dict[Hashable, tuple[R, Hashable, Line]] = {}
        self._still = CellCache[R]()

    # Rows

    @property
    def count(self) -> int:
        """How many lines there are below the heads."""
        return len(self.rows) or len(self.note)

    @property
    def row(self) -> R | None:
        """The row under the cursor."""
        at = self.cursor
        return self.row_at(at) if at is not None and at < len(self.rows) else None

    def row_at(self, index: int) -> R:
        """Give a row; who inherits may know a newer one of the same name than was shown."""
        return self.rows[index]

    def show(self, rows: Sequence[R], note: Sequence[Line] = ()) -> None:
        """Show these rows, in this order, from now on; where there are none, the note."""
        line = None if self.cursor is None else self.cursor - int(self.scroll_offset.y)
        self.rows, self.note = rows, note
        if self.is_mounted and self.room.height:
            self.measure(self.room)
        self._find(line)
        self.repaint()

    def choose(self, name: Hashable) -> bool:
        """Put the cursor on the row of this name; False when it has to wait for that row."""
        self.chosen, self.held = name, True
        at = self._index(name)
        if at is not None:
            self.cursor = at
            self._reveal(at)
            self.repaint()
        return at is not None

    def _find(self, line: int | None) -> None:
        """Follow the chosen row to where it is now."""
        if not self.rows:
            self.cursor = None
            return
        if not self.held:
            self.cursor = 0
            self.chosen = self._name_of(self.rows[0])
            return
        at = self._index(self.chosen)
        if at is None:  # it is gone: who took its place is next to be looked at
            self.cursor = min(self.cursor or 0, len(self.rows) - 1)
            self.chosen = self._name_of(self.rows[self.cursor])
            return
        self.cursor = at
        room = self.lines_in_sight()
        if line is None:
            self._reveal(at)
        elif 0 <= line < room:
            top = first_in_sight(at, line, len(self.rows), room)
            self.scroll_to(y=top, animate=False, immediate=True)

    def _index(self, name: Hashable) -> int | None:
        at = self.cursor
        if at is not None and at < len(self.rows) and self._name_of(self.rows[at]) == name:
            return at
        return next((i for i, row in enumerate(self.rows) if self._name_of(row) == name), None)

    def moved(self) -> None:
        """Remember which row it is, for it may move."""
        if self.row is not None:
            self.chosen, self.held = self._name_of(self.row), True
            self.moved_at = perf_counter()
            self.post_message(self.CursorMoved())

    def can_rest(self, index: int) -> bool:
        """Rest on rows, not on what is said in place of them."""
        return bool(self.rows)

    @property
    def is_cursor_placed(self) -> bool:
        """Tell whether the user has put the cursor where it is."""
        return self.held

    def release(self) -> None:
        """Let the cursor go back to the top, where the worst is."""
        self.held = False
        self.scroll_to(y=0, animate=False, immediate=True)
        self.show(self.rows, self.note)

    # Columns

    def heads(self, width: int) -> Sequence[Line]:
        """Draw the names of the columns; the one it is sorted by has an arrow."""
        if not self.rows and self.note:
            return ()
        of = width, self.sorted_by, self.reversed
        if self._named[0] != of:
            self._named = of, self._names(width)
        return (self._named[1],)

    def _names(self, width: int) -> Line:
        runs: list[Run] = [Run(" " * self._margin)]
        for column, cells in self._fitting(width):
            name = column.name
            if name == self.sorted_by:
                arrow = "↓" if self.reversed != column.descending else "↑"
                name = name[: cells - 1] + arrow
            drawn = (Run(name, "title"),)
            runs += right(drawn, cells) if column.at_right else fitted(drawn, cells)
            runs.append(Run(" " * GAP))
        return merged(tuple(runs[:-1]))

    def drawn(self, index: int, width: int) -> Line:
        """Draw one row, unless it was drawn before and looks the same."""
        if self._stamp is None or not self.rows:
            return super().drawn(index, width)
        row = self.row_at(index)
        name, stamp = self._name_of(row), (width, self._stamp(row))
        known = self._drawn.get(name)
        if known is None or known[0] is not row or known[1] != stamp:
            if len(self._drawn) > DRAWN:
                self._drawn.clear()
            drawn = self.draw(index, width)  # it fits, and no two of its runs look the same
            known = self._drawn[name] = row, stamp, drawn
        return known[2]

    def draw(self, index: int, width: int) -> Line:
        """Draw one row, exactly as wide as it may be."""
        if not self.rows:
            return self.note[index]
        row = self.row_at(index)
        runs: list[Run] = [self._mark(row)] if self._mark else []
        plain: list[str] = []  # what comes next and looks like nothing special
        blank, left = 0, width - self._margin + GAP
        still = self._still.of(self._name_of(row), row, width) if self._stamp else {}
        for column, cells in self._fitting(width):
            drawn, room = known = still.get(column.name) or draw_cell(column, row, cells)
            if not column.ages:
                still[column.name] = known
            plain.append(" " * (blank + room if column.at_right else blank))
            for run in drawn:
                if run.ink == "plain" and run.link is None:
                    plain.append(run.text)
                else:
                    runs += Run("".join(plain)), run
                    plain.clear()
            blank = GAP if column.at_right else room + GAP
            left -= cells + GAP
        plain.append(" " * (blank - GAP + left))
        runs.append(Run("".join(plain)))
        drawn = tuple([run for run in runs if run.text])
        return drawn if left >= 0 else fitted(drawn, width)

    @property
    def _margin(self) -> int:
        return 1 if self._mark else 0

    def _fitting(self, width: int) -> list[tuple[Column[R], int]]:
        """Choose the columns that there is room for, and how wide each is."""
        if self._widths[0] != width:
            self._widths = width, fitting(self.columns, width - self._margin)
        return self._widths[1]

    # Order

    def head_clicked(self, x: int) -> None:
        """Sort by the column that was clicked on."""
        left = self._margin
        for column, cells in self._fitting(self.room.width):
            if left <= x < left + cells and column.key:
                self.sort_by(column.name)
            left += cells + GAP

    def sort_by(self, name: str | None) -> None:
        """Sort by this column from now on; a second time turns the order around."""
        self.reversed = not self.reversed if name == self.sorted_by else False
        self.sorted_by = name
        self._reorder()

    def do_sort(self) -> None:
        """Sort by the next of the columns in sight; after the last, in the usual order again."""
        in_sight = [column for column, _ in self._fitting(self.room.width)]
        names = [column.name for column in in_sight if column.key is not None]
        at = names.index(self.sorted_by) + 1 if self.sorted_by in names else 0
        self.sort_by(names[at] if at < len(names) else None)

    def do_reverse(self) -> None:
        """Turn the order around."""
        self.reversed = not self.reversed
        self._reorder()

    def _reorder(self) -> None:
        """Put what is there into the new order; whoever fills the table may know a better one."""
        self.show(self.ordered(self.rows), self.note)
        self.post_message(self.SortChanged())

    def ordered(self, rows: Sequence[R]) -> Sequence[R]:
        """Give rows in the order that the user chose; without one as they are."""
        column = next((one for one in self.columns if one.name == self.sorted_by), None)
        if column is None or column.key is None:
            return rows
        return sorted(rows, key=column.key, reverse=self.reversed != column.descending)  # type: ignore[arg-type]  # keys of one column are alike


def first_in_sight(index: int, line: int, count: int, room: int) -> int:
    """Give the first row in sight that leaves the row at `index` on this line of the screen.

    >>> first_in_sight(40, 3, 100, 20), first_in_sight(99, 3, 100, 20)
    (37, 80)
    """
    return max(0, min(index - line, count - room))
