"""The table on the page of all locks: a row for each lock, or a line for many quiet ones."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Final

from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.columns import columns
from zktop.ui.draw import group
from zktop.ui.draw.cells import Cells
from zktop.ui.folds import Entry, Group
from zktop.ui.ink import Run
from zktop.ui.row import Row
from zktop.ui.widgets.table import Table

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
        self._lock_cells: Cells | None = None
        self._newest: Mapping[Text, Row] = {}

    def tell(self, report: Report, newest: Mapping[Text, Row], *, is_ascii: bool) -> None:
        """Draw rows beside this report from now on, each as it is in this report."""
        self._lock_cells = Cells(report, is_ascii=is_ascii)
        self._newest = newest

    @property
    def age(self) -> int:
        """Say in which step of time rows are drawn; what is around them ages with them."""
        return self.drawer().report.now // (AGES_MS if self.count <= FEW else MANY_AGES_MS)

    def row_at(self, index: int) -> Entry:
        """Give a row as it is now: rows change much more often than their order."""
        row = self.rows[index]
        return self._newest.get(row.path, row) if isinstance(row, Row) else row

    def drawer(self) -> Cells:
        """Give what draws a row at this moment."""
        assert self._lock_cells is not None  # noqa: S101  rows exist only after a report has come
        return self._lock_cells

    @property
    def lock_row(self) -> Row | None:
        """The row under the cursor, where it is one of a lock."""
        return self.row if isinstance(self.row, Row) else None

    @property
    def fold(self) -> Group | None:
        """The fold under the cursor."""
        return self.row if isinstance(self.row, Group) else None

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
        return super().ordered([one for one in rows if isinstance(one, Row)])

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
        if isinstance(one, Group):
            return group.sign(one)
        return Run("*" if one.path in self.tagged else " ", "selected")

    def _looks(self, one: Entry) -> tuple[int, bool, bool]:
        """Draw a row anew when it has become older; a whole screen of them, a little later."""
        return self.age, self.drawer().is_ascii, one.path in self.tagged


def _name(one: Entry) -> Hashable:
    return one.path if isinstance(one, Row) else (one.parent,)  # no lock is called so
