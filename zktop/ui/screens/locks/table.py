"""The table of all locks: its columns, and the locks that the user has tagged."""

from typing import Final

from zktop.model.history.events import Since
from zktop.model.text import Text
from zktop.ui.screens.common.format import BLOCKED_CELLS
from zktop.ui.screens.locks.cells import SPARK_CELLS, LockCells
from zktop.ui.screens.locks.groups import GROUP_CELLS, group_sign
from zktop.ui.screens.locks.lock_row import LockRow
from zktop.ui.styled_text import Run
from zktop.ui.widgets.table import Column, RowGroup, Table

WIDE: Final = 90  # cells; a narrower table has only the most important columns
NEVER: Final = float("inf")


def columns(cells: LockCells) -> tuple[Column[LockRow], ...]:
    def blocked(row: LockRow) -> int:
        return row.blocked_ms(cells.report.now) or 0

    def rate(row: LockRow) -> float:
        return row.rate(cells.report.now) or 0.0

    return (
        Column("ST", 4, cells.state, lambda row: row.status.rank),
        Column("LOCK", 20, cells.path, lambda row: row.path, share=4,
               keeps_end=True),
        Column("KIND", 6, cells.kind, lambda row: row.lock.kind, rank=4,
               needs=WIDE),
        Column("HOLDER", 16, cells.holder, share=1, names=lambda _: True),
        Column("HELD", 7, cells.held, lambda row: _start(row.held),
               at_right=True, rank=1, needs=WIDE),
        Column("QUEUE", 5, cells.queue, lambda row: row.waiting or 0,
               at_right=True, descending=True),
        Column("MIX", 8, cells.mix, rank=5, share=1, needs=WIDE),
        Column("OLDEST", 7, cells.oldest, lambda row: _start(row.waited),
               at_right=True),
        Column("BLOCKED*s", BLOCKED_CELLS, cells.blocked, blocked,
               at_right=True, rank=2, descending=True, needs=WIDE),
        Column("REQ/s", 5, cells.rate, rate, at_right=True, rank=7,
               descending=True, needs=WIDE),
        Column("HOLD p50/p99", 12, cells.holds, _usual_hold, rank=6,
               descending=True, needs=WIDE),
        Column("60s QUEUE", SPARK_CELLS, cells.minute, rank=3, needs=WIDE),
    )  # fmt: skip


def _start(since: Since | None) -> float:
    """Sort by when it began, so that the longest comes first."""
    return NEVER if since is None or since.at is None else since.at


def _usual_hold(row: LockRow) -> int:
    usual = row.history.usual_hold
    return usual[1] if usual else -1


class LockTable(Table[LockRow]):
    """All locks as of `cells.report`, some of them tagged."""

    def __init__(self) -> None:
        self.cells = LockCells()
        super().__init__(
            columns(self.cells),
            lambda row: row.path,
            id="locks",
            mark=self._sign,
            group_cells=GROUP_CELLS,
        )
        self.tagged: set[Text] = set()

    def tag(self) -> None:
        """Tag the lock under the cursor, or remove its tag; then go to the next line."""
        if self.row is not None:
            self.tagged ^= {self.row.path}
        self.action_down()
        self.repaint()

    def untag(self) -> bool:
        """Remove all tags; False if there are none."""
        if not self.tagged:
            return False
        self.tagged.clear()
        self.repaint()
        return True

    def _sign(self, row: LockRow | RowGroup[LockRow]) -> Run:
        if isinstance(row, RowGroup):
            return group_sign(row)
        return Run("*" if row.path in self.tagged else " ", "selected")
