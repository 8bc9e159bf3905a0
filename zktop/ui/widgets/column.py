"""The columns of a table: how wide each is, which go first, and the cells of a row in them."""

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, NamedTuple, TypeVar

from zktop.model.findings.words import middle
from zktop.ui.ink import Line, Run, fitted, text_of, width_of

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


def cell(column: Column[R], row: R, cells: int) -> Cell:
    """Draw a row in one column, in at most so many cells."""
    drawn = column.draw(row)
    room = cells - width_of(drawn)
    if room >= 0:
        return drawn, room
    if column.keeps_end:
        return fitted((Run("…" + text_of(drawn)[1 - room :], drawn[0].ink),), cells), 0
    if column.names is not None and column.names(row):
        return fitted(narrowed(drawn, cells), cells), 0
    return fitted(drawn, cells), 0


def narrowed(drawn: Line, cells: int) -> Line:
    """Cut the longest piece of a line in its middle, so that the whole fits.

    >>> text_of(narrowed((Run("X "), Run("127.0.0.1:59112"), Run(" +2")), 16))
    'X 127.…:59112 +2'
    """
    longest = max(range(len(drawn)), key=lambda at: len(drawn[at].text))
    name = drawn[longest].text
    kept = max(1, len(name) - (width_of(drawn) - cells))
    cut = drawn[longest]._replace(text=middle(name, kept))
    return (*drawn[:longest], cut, *drawn[longest + 1 :])


class Still(Generic[R]):
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
