"""The table of one lock's queue."""

from collections.abc import Hashable, Sequence
from typing import Final

from zktop.ui.screens.lock import cells
from zktop.ui.screens.lock.rows import QueueRow, index_of
from zktop.ui.styled_text import Line, Run
from zktop.ui.widgets.table import Column, RowGroup, Table

COLUMNS: Final = (
    Column[QueueRow]("POS", 7, cells.position, at_right=True),
    Column[QueueRow]("SEQ", 10, cells.sequence, rank=4),
    Column[QueueRow]("M", 1, cells.mode),
    Column[QueueRow]("IDENTITY", 13, cells.identity, share=3, names=lambda row: not row.is_group),
    Column[QueueRow]("SESSION", 7, cells.session, rank=3),
    Column[QueueRow]("CLIENT@SERVER", 21, cells.client, rank=5, share=1),
    Column[QueueRow]("AGE", 7, cells.age_of, at_right=True),
    Column[QueueRow]("BLOCKED BY", 13, cells.blocked_by, rank=2, share=1),
    Column[QueueRow]("WATCHES", 12, cells.watches, rank=1),
    Column[QueueRow]("STATE", 17, cells.state, share=2),
)


class QueueTable(Table[QueueRow]):
    """A queue in its own order; it cannot be sorted."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(COLUMNS, lambda row: row.name, id=id, mark=self._gutter)
        self._barring: frozenset[int] = frozenset()  # positions that block the selected row

    def show(
        self, rows: Sequence[QueueRow | RowGroup[QueueRow]], note: Sequence[Line] = ()
    ) -> None:
        """Show rows, and mark those that block the one under the cursor."""
        super().show(rows, note)
        before = self._barring
        self._find_barring()
        if self._barring != before:
            self.repaint()

    def moved(self) -> None:
        """Mark the rows that block the one under the cursor."""
        super().moved()
        self._find_barring()

    def _find_barring(self) -> None:
        row = self.row
        if row is None or row.is_group:
            self._barring = frozenset()
        else:
            nodes = row.contender.blocked_by
            self._barring = frozenset(row.detail.queue.places_of(nodes))

    def _gutter(self, row: QueueRow) -> Run:
        return cells.gutter(row, self._barring)

    def _index(self, name: Hashable) -> int | None:
        """The row with this name, or the group that it is folded into."""
        rows = [one for one in self.rows if isinstance(one, QueueRow)]
        place = rows[0].detail.queue.position.get(str(name)) if rows else None
        return None if place is None else index_of(rows, place)
