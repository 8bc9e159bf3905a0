"""Draws the one line for many quiet locks below one parent, with their totals."""

from collections.abc import Callable
from functools import cached_property
from typing import Final

from zktop.model.facts import Millis
from zktop.model.format import count
from zktop.ui.screens.common.status_codes import FREE
from zktop.ui.screens.locks.cells import KIND_NAMES, seconds_cell
from zktop.ui.screens.locks.lock_row import LockRow
from zktop.ui.styled_text import Line, Run, joined, line
from zktop.ui.widgets.table import RowGroup

MIN_GROUP: Final = 20  # quiet locks below one parent that become one line
KEEP_GROUP: Final = 10  # ... which stays until there are fewer
LINGER_MS: Final[Millis] = 10_000  # a lock that becomes quiet keeps its row for so long
CLOSED: Final = "▸"
OPEN: Final = "▾"


class LockGroup(RowGroup[LockRow], frozen=True, eq=False):
    """Quiet locks below one parent."""

    @cached_property
    def held(self) -> int:
        """How many of them have a holder."""
        return sum(row.status is not FREE for row in self.rows)

    @cached_property
    def has_unknown(self) -> bool:
        """True if some may have waiters that cannot be seen."""
        return any(row.waiting is None for row in self.rows)

    @cached_property
    def blocked_ms(self) -> Millis:
        """How long clients have waited for them, before they became quiet."""
        return sum(row.history.blocked_ms for row in self.rows if row.lock.kind != "election")

    @cached_property
    def kind(self) -> str:
        """The kind of all of them, or "mixed"."""
        kinds = {row.lock.kind for row in self.rows}
        return kinds.pop() if len(kinds) == 1 else "mixed"


GROUP_CELLS: Final[dict[str, Callable[[LockGroup], Line]]] = {
    "ST": lambda _group: line(("ok", "good")),
    "LOCK": lambda group: line((f"{group.name} ({len(group.rows)})", "plain")),
    "KIND": lambda group: line((KIND_NAMES.get(group.kind, group.kind), "dim")),
    "HOLDER": lambda group: line((f"{group.held} held", "holds" if group.held else "dim")),
    "QUEUE": lambda group: line(("?", "unknown") if group.has_unknown else ("0", "dim")),
    "BLOCKED*s": lambda group: seconds_cell(group.blocked_ms),
}


def group_sign(group: RowGroup[LockRow]) -> Run:
    return Run(OPEN if group.is_open else CLOSED, "selected")


def about_group(group: LockGroup) -> Line:
    """Explain the line under the cursor, and the keys that open it."""
    waits = "no waiters seen" if group.has_unknown else "no waiters"
    text = (
        f"{count(len(group.rows), 'quiet lock')}: no problems, {waits} (for {LINGER_MS // 1000} s)"
    )
    keys = "enter closes the group" if group.is_open else "enter opens the group, f opens all"
    return joined([line((f" {group.name}", "strong")), line(text), line((keys, "dim"))])
