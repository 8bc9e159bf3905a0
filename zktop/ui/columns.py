"""The columns of the table of all locks: which there are, and what goes first in a narrow one."""

from collections.abc import Callable
from typing import Final

from zktop.model.history.event import Since
from zktop.ui.draw import group
from zktop.ui.draw.cells import SPARK, Cells
from zktop.ui.draw.numbers import BLOCKED_CELLS
from zktop.ui.folds import Entry, Group
from zktop.ui.ink import Line
from zktop.ui.row import Row
from zktop.ui.widgets.column import Column

WIDE: Final = 90  # cells; a narrower table shows what counts, and nothing else
NEVER: Final = float("inf")


def columns(cells: Callable[[], Cells]) -> tuple[Column[Entry], ...]:
    """Give the columns; `cells` gives what draws at this moment."""

    def blocked(row: Row) -> int:
        return row.blocked_ms(cells().report.now) or 0

    def rate(row: Row) -> float:
        return row.rate(cells().report.now) or 0.0

    def draws(
        row: Callable[[Cells, Row], Line], folded: Callable[[Group], Line] = group.nothing
    ) -> Callable[[Entry], Line]:
        return lambda one: row(cells(), one) if isinstance(one, Row) else folded(one)

    return (
        Column("ST", 4, draws(Cells.state, group.state), _by(lambda row: row.mark.rank),
               ages=False),
        Column("LOCK", 20, draws(Cells.path, group.path), _by(lambda row: row.path), share=4,
               keeps_end=True, ages=False),
        Column("KIND", 6, draws(Cells.kind, group.kind), _by(lambda row: row.lock.kind), rank=4,
               needs=WIDE, ages=False),
        Column("HOLDER", 16, draws(Cells.holder, group.holder), share=1,
               names=lambda one: isinstance(one, Row)),
        Column("HELD", 7, draws(Cells.held), _by(lambda row: _start(row.held)),
               at_right=True, rank=1, needs=WIDE),
        Column("QUEUE", 5, draws(Cells.queue, group.queue), _by(lambda row: row.waiting or 0),
               at_right=True, descending=True, ages=False),
        Column("MIX", 8, draws(Cells.mix), rank=5, share=1, needs=WIDE, ages=False),
        Column("OLDEST", 7, draws(Cells.oldest), _by(lambda row: _start(row.waited)),
               at_right=True),
        Column("BLOCKED*s", BLOCKED_CELLS, draws(Cells.blocked, group.blocked), _by(blocked),
               at_right=True, rank=2, descending=True, needs=WIDE),
        Column("REQ/s", 5, draws(Cells.rate), _by(rate), at_right=True, rank=7,
               descending=True, needs=WIDE),
        Column("HOLD p50/p99", 12, draws(Cells.holds), _by(_usual), rank=6,
               descending=True, needs=WIDE, ages=False),
        Column("60s QUEUE", SPARK, draws(Cells.minute), rank=3, needs=WIDE),
    )  # fmt: skip


def _by(key: Callable[[Row], object]) -> Callable[[Entry], object]:
    """Sort by a value of a lock; who sorts leaves folds out."""
    return lambda one: key(one) if isinstance(one, Row) else None


def _start(since: Since | None) -> float:
    """Sort by when it began: what has lasted longest comes first, what never began last."""
    return NEVER if since is None or since.at is None else since.at


def _usual(row: Row) -> int:
    usual = row.history.usual_hold
    return usual[1] if usual else -1
