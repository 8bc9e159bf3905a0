"""The table of all locks: its columns, and the locks that the user has tagged."""

from collections.abc import Callable
from typing import Final

from zktop.model.history.events import Since
from zktop.model.text import Text
from zktop.ui.screens.common.format import BLOCKED_CELLS
from zktop.ui.screens.locks.cells import SPARK_CELLS, LockCells
from zktop.ui.screens.locks.groups import GROUP_CELLS, group_sign
from zktop.ui.screens.locks.row import LockRow
from zktop.ui.styled_text import Run
from zktop.ui.widgets.table import Column, RowGroup, Table

WIDE: Final = 90  # cells; a narrower table has only the most important columns
NEVER: Final = float("inf")


def columns(cells: Callable[[], LockCells]) -> tuple[Column[LockRow], ...]:
    """Return the columns; `cells` returns what draws them as of the newest report."""

    def blocked(row: LockRow) -> int:
        return row.blocked_ms(cells().report.now) or 0

    def rate(row: LockRow) -> float:
        return row.rate(cells().report.now) or 0.0

    made: tuple[Column[LockRow], ...] = (
        Column("ST", 4, lambda row: cells().state(row), lambda row: row.status.rank),
        Column("LOCK", 20, lambda row: cells().path(row), lambda row: row.path, share=4,
               keeps_end=True),
        Column("KIND", 6, lambda row: cells().kind(row), lambda row: row.lock.kind, rank=4,
               needs=WIDE),
        Column("HOLDER", 16, lambda row: cells().holder(row), share=1, names=lambda _: True),
        Column("HELD", 7, lambda row: cells().held(row), lambda row: _start(row.held),
               at_right=True, rank=1, needs=WIDE),
        Column("QUEUE", 5, lambda row: cells().queue(row), lambda row: row.waiting or 0,
               at_right=True, descending=True),
        Column("MIX", 8, lambda row: cells().mix(row), rank=5, share=1, needs=WIDE),
        Column("OLDEST", 7, lambda row: cells().oldest(row), lambda row: _start(row.waited),
               at_right=True),
        Column("BLOCKED*s", BLOCKED_CELLS, lambda row: cells().blocked(row), blocked,
               at_right=True, rank=2, descending=True, needs=WIDE),
        Column("REQ/s", 5, lambda row: cells().rate(row), rate, at_right=True, rank=7,
               descending=True, needs=WIDE),
        Column("HOLD p50/p99", 12, lambda row: cells().holds(row), _usual_hold, rank=6,
               descending=True, needs=WIDE),
        Column("60s QUEUE", SPARK_CELLS, lambda row: cells().minute(row), rank=3, needs=WIDE),
    )  # fmt: skip
    return tuple(
        one._replace(draw_group=GROUP_CELLS[one.name]) if one.name in GROUP_CELLS else one
        for one in made
    )


def _start(since: Since | None) -> float:
    """Sort by when it began, so that the longest comes first."""
    return NEVER if since is None or since.at is None else since.at


def _usual_hold(row: LockRow) -> int:
    usual = row.history.usual_hold
    return usual[1] if usual else -1


class LockTable(Table[LockRow]):
    """All locks as of `cells.report`, some of them tagged."""

    def __init__(self) -> None:
        super().__init__(columns(self._cells), lambda row: row.path, id="locks", mark=self._sign)
        self.cells: LockCells | None = None
        self.tagged: set[Text] = set()

    def _cells(self) -> LockCells:
        assert self.cells is not None  # noqa: S101  rows exist only after a report has come
        return self.cells

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
