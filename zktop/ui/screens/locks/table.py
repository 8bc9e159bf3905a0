"""The table of all locks: columns, cells, and tagged locks."""

from typing import Final

from zktop.model.format import spoken
from zktop.model.history.events import Since
from zktop.model.layouts.layout import MODE_LETTERS
from zktop.model.locks.lock import Member
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.inks import Ink
from zktop.ui.screens.common.graphs import bar, sparkline
from zktop.ui.screens.common.lock_status import state_cell
from zktop.ui.screens.common.numbers_and_times import TOTAL_WAIT_CELLS, age, per_second
from zktop.ui.screens.locks.groups import GROUP_CELLS, total_wait_cell
from zktop.ui.screens.locks.lock_row import KIND_NAMES, LockRow
from zktop.ui.styled_text import DASH, UNKNOWN, Line, Run, line
from zktop.ui.widgets.panel import Panel
from zktop.ui.widgets.table import Column, RowGroup, Table

SPARK_CELLS: Final = 5
BAR_CELLS: Final = 3
FULL_BAR_WAITERS: Final = 12


class LockCells:
    """Draws the cells of locks from one report, which is set before the first row."""

    report: Report
    is_ascii = False

    def state(self, row: LockRow) -> Line:
        if row.gone_at is not None:
            return line((" gone", "dim"))
        return state_cell(row.status)

    def path(self, row: LockRow) -> Line:
        """LOCK: the path. It is bright if a finding is about the lock."""
        ink: Ink = "dim" if row.gone_at is not None or row.status.code == "free" else "plain"
        return line((row.path, "strong" if row.status.case else ink))

    def kind(self, row: LockRow) -> Line:
        lock = row.lock
        kind = KIND_NAMES.get(lock.kind, lock.kind)
        leases = f" {lock.leases or '?'}" if lock.kind == "semaphore" else ""
        return line((f"{kind}{leases}", "dim"))

    def holder(self, row: LockRow) -> Line:
        """HOLDER: the first holder, and the number of others."""
        lock = row.lock
        if row.gone_at is not None:
            return DASH
        if lock.error is not None:
            return UNKNOWN  # the line below the table says why
        holders = lock.holders
        if not holders:
            return DASH
        if lock.kind == "semaphore":
            return line((f"{len(holders)}/{lock.leases or '?'} leases", "holds"))
        more = f" +{len(holders) - 1}" if len(holders) > 1 else ""
        return self._first_holder(holders[0], more)

    def _first_holder(self, holder: Member, more: str) -> Line:
        letter = Run(MODE_LETTERS[holder.mode] + " ", "dim")
        if holder.znode.stat is None and not holder.label:
            return (letter, Run(f"?{more}", "unknown"))
        if not holder.owner and not holder.releases:
            name = f"no owner ({holder.label or 'persistent'})"
            return (letter, Run(name + more, "warning"))
        ink: Ink = "ours" if holder.owner in self.report.ours else "holds"
        name = self.report.client_names.of(holder)
        return (letter, Run(name, ink), Run(more, ink))

    def held(self, row: LockRow) -> Line:
        since = None if row.gone_at is not None else row.held
        return DASH if since is None else self._age(since)

    def queue(self, row: LockRow) -> Line:
        if row.gone_at is not None:
            return DASH
        if row.waiting is None:
            return UNKNOWN
        ink: Ink = "standby" if row.lock.has_standbys else "waits"
        number = Run(f"{row.waiting:>5}", ink if row.waiting else "dim")
        drawn = bar(row.waiting, FULL_BAR_WAITERS, BAR_CELLS, is_ascii=self.is_ascii)
        return (Run(drawn, ink), number)

    def mix(self, row: LockRow) -> Line:
        return line(row.mix)

    def oldest(self, row: LockRow) -> Line:
        if row.gone_at is not None:
            return DASH
        if row.waited is None:
            return UNKNOWN if row.waiting or row.waiting is None else DASH
        return self._age(row.waited)

    def _age(self, since: Since) -> Line:
        text = age(since.at, since.bound, self.report.now, is_ascii=self.is_ascii)
        return UNKNOWN if text == "?" else (Run(text),)

    def blocked(self, row: LockRow) -> Line:
        blocked_ms = row.blocked_ms(self.report.now)
        if blocked_ms is None:
            return DASH if row.lock.has_standbys else UNKNOWN
        return total_wait_cell(blocked_ms)

    def holds(self, row: LockRow) -> Line:
        usual = row.history.usual_hold
        return DASH if usual is None else line("/".join(spoken(ms / 1000) for ms in usual))

    def rate(self, row: LockRow) -> Line:
        rate = row.rate(self.report.now)
        if rate is None or row.gone_at is not None:
            return DASH
        return line((per_second(rate), "plain" if rate else "dim"))

    def minute(self, row: LockRow) -> Line:
        if row.gone_at is not None:
            return ()
        now = self.report.now
        drawn = sparkline(row.recent(now), now, SPARK_CELLS)
        if row.lock.has_standbys:
            return tuple([run._replace(ink="standby") for run in drawn])
        return drawn


WIDE_FROM_CELLS: Final = 74  # a narrower table has only the most important columns
NO_AGE: Final = -float("inf")


def columns(cells: LockCells) -> tuple[Column[LockRow], ...]:
    """Return all columns. The function is long because it is a table."""

    def blocked(row: LockRow) -> int:
        return row.blocked_ms(cells.report.now) or 0

    def rate(row: LockRow) -> float:
        return row.rate(cells.report.now) or 0.0

    return (
        Column("STATE", 12, cells.state, lambda row: row.status.rank,
               title="Worst problem",
               about="The worst problem of the lock; a question mark means likely."),
        Column("LOCK", 20, cells.path, lambda row: row.path, share=4,
               keeps_end=True,
               title="Path", about="The path of the lock."),
        Column("KIND", 6, cells.kind, lambda row: row.lock.kind, rank=4,
               needs=WIDE_FROM_CELLS,
               title="Kind of lock",
               about="mutex, rw (read/write), sem (semaphore, and its leases), elect (election), "
               "or single (one znode is the lock)."),
        Column("HOLDER", 16, cells.holder, share=1, cuts_middle=lambda _: True,
               title="Who holds it",
               about="The client that holds the lock, with its mode (X exclusive, R read, W "
               "write), and the number of others."),
        Column("HELD", 7, cells.held, lambda row: _age_key(row.held),
               at_right=True, rank=1, descending=True,
               title="Held for", about="How long the oldest holder has held the lock."),
        Column("QUEUE", BAR_CELLS + 5, cells.queue, lambda row: row.waiting or 0,
               at_right=True, descending=True,
               title="Waiting clients", about="How many clients wait."),
        Column("MIX", 8, cells.mix, rank=8, share=1, needs=WIDE_FROM_CELLS,
               title="Queue by mode",
               about="The waiters in their order: W.R5 is a writer, then five readers."),
        Column("OLDEST", 7, cells.oldest, lambda row: _age_key(row.waited),
               at_right=True, descending=True, needs=WIDE_FROM_CELLS,
               title="Oldest wait",
               about="How long the oldest waiter has waited."),
        Column("TOTAL WAIT", TOTAL_WAIT_CELLS, cells.blocked, blocked,
               at_right=True, rank=3, descending=True, needs=WIDE_FROM_CELLS,
               title="Sum of all waits",
               about="How long all clients have waited for this lock, added up."),
        Column("REQ/s", 5, cells.rate, rate, at_right=True, rank=7,
               descending=True, needs=WIDE_FROM_CELLS,
               title="Requests per second",
               about="How many clients asked for the lock per second, over the last minute."),
        Column("HOLD p50/p99", 12, cells.holds, _usual_hold, rank=6,
               descending=True, needs=WIDE_FROM_CELLS,
               title="Usual hold",
               about="Half of all holds were shorter than the first time, and 99 in 100 shorter "
               "than the second."),
        Column("60s", SPARK_CELLS, cells.minute, rank=2,
               title="Queue, last minute",
               about="The length of the queue in the last 60 seconds."),
    )  # fmt: skip


def _age_key(since: Since | None) -> float:
    """Return a key that orders by age. Unknown ages come before the youngest."""
    return NO_AGE if since is None or since.at is None else -since.at


def _usual_hold(row: LockRow) -> int:
    usual = row.history.usual_hold
    return usual.p99_ms if usual else -1


class LockTable(Panel, Table[LockRow]):
    """The table of all locks. The user can tag some of them."""

    page_orders = True

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
        """Tag the lock under the cursor, or remove its tag. Then go to the next line."""
        if self.row is not None:
            self.tagged ^= {self.row.path}
        self.action_down()
        self.repaint()

    def untag(self) -> bool:
        """Remove all tags. Return False if there are none."""
        if not self.tagged:
            return False
        self.tagged.clear()
        self.repaint()
        return True

    def _sign(self, row: LockRow | RowGroup[LockRow]) -> Run:
        if isinstance(row, RowGroup):
            return row.sign
        return Run("*" if row.path in self.tagged else " ", "selected")
