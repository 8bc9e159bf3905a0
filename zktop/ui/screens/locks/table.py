"""The table on the page of all locks: a row for each lock, or a line for many quiet ones.

The columns of the table of all locks: which there are, and what goes first in a narrow one.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Final

from zktop.model.history.events import Since
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.screens.common.format import BLOCKED_CELLS
from zktop.ui.screens.locks import cells as group
from zktop.ui.screens.locks.cells import SPARK, LockCells
from zktop.ui.screens.locks.groups import Entry, LockGroup
from zktop.ui.screens.locks.row import LockRow
from zktop.ui.styled_text import Line, Run
from zktop.ui.widgets.table import Column, Table

WIDE: Final = 90  # cells; a narrower table shows what counts, and nothing else
NEVER: Final = float("inf")


def columns(cells: Callable[[], LockCells]) -> tuple[Column[Entry], ...]:
    """Give the columns; `cells` gives what draws at this moment."""

    def blocked(row: LockRow) -> int:
        return row.blocked_ms(cells().report.now) or 0

    def rate(row: LockRow) -> float:
        return row.rate(cells().report.now) or 0.0

    def draws(
        row: Callable[[LockCells, LockRow], Line],
        folded: Callable[[LockGroup], Line] = group.nothing,
    ) -> Callable[[Entry], Line]:
        return lambda one: row(cells(), one) if isinstance(one, LockRow) else folded(one)

    return (
        Column("ST", 4, draws(LockCells.state, group.state), _by(lambda row: row.mark.rank),
               ages=False),
        Column("LOCK", 20, draws(LockCells.path, group.path), _by(lambda row: row.path), share=4,
               keeps_end=True, ages=False),
        Column("KIND", 6, draws(LockCells.kind, group.kind), _by(lambda row: row.lock.kind),
               rank=4, needs=WIDE, ages=False),
        Column("HOLDER", 16, draws(LockCells.holder, group.holder), share=1,
               names=lambda one: isinstance(one, LockRow)),
        Column("HELD", 7, draws(LockCells.held), _by(lambda row: _start(row.held)),
               at_right=True, rank=1, needs=WIDE),
        Column("QUEUE", 5, draws(LockCells.queue, group.queue), _by(lambda row: row.waiting or 0),
               at_right=True, descending=True, ages=False),
        Column("MIX", 8, draws(LockCells.mix), rank=5, share=1, needs=WIDE, ages=False),
        Column("OLDEST", 7, draws(LockCells.oldest), _by(lambda row: _start(row.waited)),
               at_right=True),
        Column("BLOCKED*s", BLOCKED_CELLS, draws(LockCells.blocked, group.blocked), _by(blocked),
               at_right=True, rank=2, descending=True, needs=WIDE),
        Column("REQ/s", 5, draws(LockCells.rate), _by(rate), at_right=True, rank=7,
               descending=True, needs=WIDE),
        Column("HOLD p50/p99", 12, draws(LockCells.holds), _by(_usual), rank=6,
               descending=True, needs=WIDE, ages=False),
        Column("60s QUEUE", SPARK, draws(LockCells.minute), rank=3, needs=WIDE),
    )  # fmt: skip


def _by(key: Callable[[LockRow], object]) -> Callable[[Entry], object]:
    """Sort by a value of a lock; who sorts leaves folds out."""
    return lambda one: key(one) if isinstance(one, LockRow) else None


def _start(since: Since | None) -> float:
    """Sort by when it began: what has lasted longest comes first, what never began last."""
    return NEVER if since is None or since.at is None else since.at


def _usual(row: LockRow) -> int:
    usual = row.history.usual_hold
    return usual[1] if usual else -1


AGES_MS, MANY_AGES_MS = 1_000, 2_000  # after which times are drawn anew that only pass
FEW: Final = 15  # rows; more cost more than the rest of a quiet second


class LockTable(Table[Entry]):
    """Draws rows beside the report that it was told of."""

    def __init__(self) -> None:
        super().__init__(
            columns(self.drawer),
            _name,
            id="locks",
            mark=self._sign,
            stamp=self._looks,
        )
        self.tagged: set[Text] = set()
        self._lock_cells: LockCells | None = None
        self._newest: Mapping[Text, LockRow] = {}

    def tell(self, report: Report, newest: Mapping[Text, LockRow], *, is_ascii: bool) -> None:
        """Draw rows beside this report from now on, each as it is in this report."""
        self._lock_cells = LockCells(report, is_ascii=is_ascii)
        self._newest = newest

    @property
    def age(self) -> int:
        """Say in which step of time rows are drawn; what is around them ages with them."""
        return self.drawer().report.now // (AGES_MS if self.count <= FEW else MANY_AGES_MS)

    def row_at(self, index: int) -> Entry:
        """Give a row as it is now: rows change much more often than their order."""
        row = self.rows[index]
        return self._newest.get(row.path, row) if isinstance(row, LockRow) else row

    def drawer(self) -> LockCells:
        """Give what draws a row at this moment."""
        assert self._lock_cells is not None  # noqa: S101  rows exist only after a report has come
        return self._lock_cells

    @property
    def lock_row(self) -> LockRow | None:
        """The row under the cursor, where it is one of a lock."""
        return self.row if isinstance(self.row, LockRow) else None

    @property
    def fold(self) -> LockGroup | None:
        """The fold under the cursor."""
        return self.row if isinstance(self.row, LockGroup) else None

    @property
    def kept(self) -> Hashable:
        """What the user has put the cursor on."""
        return self.chosen if self.held else None

    @property
    def has_order(self) -> bool:
        """Tell whether the user wants another order than the usual one."""
        return self.sorted_by is not None or self.reversed

    def ordered(self, rows: Sequence[Entry]) -> Sequence[Entry]:
        """Put the locks in order; a fold has no place among them."""
        return super().ordered([one for one in rows if isinstance(one, LockRow)])

    def tag(self) -> None:
        """Tag the lock under the cursor, or take its tag away, and go on to the next line."""
        row = self.lock_row
        if row is not None:
            self.tagged ^= {row.path}
        self.do_down()
        self.repaint()

    def untag(self) -> bool:
        """Take all tags away; False where there is none."""
        if not self.tagged:
            return False
        self.tagged.clear()
        self.repaint()
        return True

    def _sign(self, one: Entry) -> Run:
        if isinstance(one, LockGroup):
            return group.sign(one)
        return Run("*" if one.path in self.tagged else " ", "selected")

    def _looks(self, one: Entry) -> tuple[int, bool, bool]:
        """Draw a row anew when it has become older; a whole screen of them, a little later."""
        return self.age, self.drawer().is_ascii, one.path in self.tagged


def _name(one: Entry) -> Hashable:
    return one.path if isinstance(one, LockRow) else (one.parent,)  # no lock is called so
