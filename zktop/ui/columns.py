"""The columns of the table of all locks: which there are, and what goes first in a narrow one."""

from collections.abc import Callable
from typing import Final

from zktop.model.history.event import Since
from zktop.ui.draw.cells import SPARK, Cells
from zktop.ui.row import Row
from zktop.ui.widgets.table import Column

WIDE: Final = 90  # cells; a narrower table shows what counts, and nothing else
NEVER: Final = float("inf")


def columns(cells: Callable[[], Cells]) -> tuple[Column[Row], ...]:
    """Give the columns; `cells` gives what draws at this moment."""

    def blocked(row: Row) -> int:
        return row.blocked_ms(cells().report.now) or 0

    def rate(row: Row) -> float:
        return row.rate(cells().report.now) or 0.0

    return (
        Column("ST", 4, lambda row: cells().state(row), lambda row: row.mark.rank),
        Column("LOCK", 18, lambda row: cells().path(row), lambda row: row.path, share=2,
               keeps_end=True),
        Column("KIND", 6, lambda row: cells().kind(row), lambda row: row.lock.kind, rank=4,
               needs=WIDE),
        Column("HOLDER", 16, lambda row: cells().holder(row), share=1),
        Column("HELD", 7, lambda row: cells().held(row), lambda row: _start(row.held),
               at_right=True, rank=1, needs=WIDE),
        Column("QUEUE", 5, lambda row: cells().queue(row), lambda row: row.waiting or 0,
               at_right=True, descending=True),
        Column("MIX", 10, lambda row: cells().mix(row), rank=5, needs=WIDE),
        Column("OLDEST", 7, lambda row: cells().oldest(row), lambda row: _start(row.waited),
               at_right=True),
        Column("BLOCKED*s", 9, lambda row: cells().blocked(row), blocked, at_right=True, rank=2,
               descending=True, needs=WIDE),
        Column("REQ/s", 5, lambda row: cells().rate(row), rate, at_right=True, rank=7,
               descending=True, needs=WIDE),
        Column("HOLD p50/p99", 12, lambda row: cells().holds(row), _usual, rank=6,
               descending=True, needs=WIDE),
        Column("60s QUEUE", SPARK, lambda row: cells().minute(row), rank=3, needs=WIDE),
    )  # fmt: skip


def _start(since: Since | None) -> float:
    """Sort by when it began: what has lasted longest comes first, what never began last."""
    return NEVER if since is None or since.at is None else since.at


def _usual(row: Row) -> int:
    usual = row.history.usual_hold
    return usual[1] if usual else -1
