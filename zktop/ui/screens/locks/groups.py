"""Quiet locks below one parent, as one line of the table."""

from collections.abc import Callable
from functools import cached_property
from typing import Final

from zktop.model.facts import SECOND_MS, Millis
from zktop.model.format import count
from zktop.ui.screens.common.lock_status import FREE
from zktop.ui.screens.common.numbers_and_times import total_wait
from zktop.ui.screens.locks.lock_row import KIND_NAMES, LockRow
from zktop.ui.styled_text import Line, Run, joined, line
from zktop.ui.widgets.table import RowGroup

MIN_GROUP: Final = 20  # this many quiet locks below one parent fold into one line
KEEP_GROUP: Final = 10  # if fewer locks are left, the line unfolds
LINGER_MS: Final[Millis] = 10_000  # how long a lock that becomes quiet keeps its row


class LockGroup(RowGroup[LockRow], frozen=True, eq=False):
    """Quiet locks below one parent."""

    @cached_property
    def held(self) -> int:
        """How many of them have a holder."""
        return sum(row.status is not FREE for row in self.rows)

    @cached_property
    def has_unknown(self) -> bool:
        """True if some locks may have waiters that zktop cannot see."""
        return any(row.waiting is None for row in self.rows)

    @cached_property
    def blocked_ms(self) -> Millis:
        """How long clients waited for these locks before they became quiet."""
        return sum(row.history.blocked_ms for row in self.rows if not row.lock.has_standbys)

    @cached_property
    def kind(self) -> str:
        """The kind of these locks, or "mixed"."""
        kinds = {row.lock.kind for row in self.rows}
        return kinds.pop() if len(kinds) == 1 else "mixed"


def total_wait_cell(blocked_ms: Millis) -> Line:
    """Draw how long clients have waited, added up."""
    return (Run(total_wait(blocked_ms), "plain" if blocked_ms >= SECOND_MS else "dim"),)


GROUP_CELLS: Final[dict[str, Callable[[LockGroup], Line]]] = {
    "STATE": lambda _group: line((" ok ", "good")),
    "LOCK": lambda group: line((f"{group.name} ({len(group.rows)})", "plain")),
    "KIND": lambda group: line((KIND_NAMES.get(group.kind, group.kind), "dim")),
    "HOLDER": lambda group: line((f"{group.held} held", "holds" if group.held else "dim")),
    "QUEUE": lambda group: line(("?", "unknown") if group.has_unknown else ("0", "dim")),
    "TOTAL WAIT": lambda group: total_wait_cell(group.blocked_ms),
}


def about_group(group: LockGroup, fold_key: str) -> Line:
    """Explain the line under the cursor, and the keys that open it."""
    waits = "no waiters seen" if group.has_unknown else "no waiters"
    text = (
        f"{count(len(group.rows), 'quiet lock')}: no problems, {waits} (for {LINGER_MS // 1000} s)"
    )
    opens = f"enter opens the group, {fold_key} opens all"
    keys = "enter closes the group" if group.is_open else opens
    return joined([line((f" {group.name}", "strong")), line(text), line((keys, "dim"))])
