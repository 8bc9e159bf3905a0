"""The cells of one lock in the table of all locks."""

from typing import Final

from zktop.model.facts import Millis
from zktop.model.format import spoken
from zktop.model.history.events import Since
from zktop.model.history.last_minute import SECOND_MS
from zktop.model.locks.lock import Member
from zktop.model.report import Report
from zktop.ui.screens.common.format import (
    MODE_LETTERS,
    age,
    blocked_seconds,
    per_second,
    sparkline,
)
from zktop.ui.screens.locks.lock_row import LockRow
from zktop.ui.styled_text import Ink, Line, Run, line

KIND_NAMES: Final = {"read-write": "rw", "election": "elect", "semaphore": "sem"}
DASH: Final = line(("-", "dim"))
UNKNOWN: Final = line(("?", "unknown"))
SPARK_CELLS: Final = 10


class LockCells:
    """Draws the cells of locks as of one report, which is set before there are rows."""

    report: Report
    is_ascii = False

    def state(self, row: LockRow) -> Line:
        if row.gone_at is not None:
            return line(("gone", "dim"))
        return line((row.status.code, row.status.ink))

    def path(self, row: LockRow) -> Line:
        """LOCK: the path; bright if a finding is about the lock."""
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
            return line((lock.error, "unknown"))
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
        name = self.report.client_names(holder.owner, holder.label)
        return (letter, Run(name, ink), Run(more, ink))

    def held(self, row: LockRow) -> Line:
        since = None if row.gone_at is not None else row.held
        return DASH if since is None else self._age(since)

    def queue(self, row: LockRow) -> Line:
        if row.waiting is None:
            return UNKNOWN
        ink: Ink = "standby" if row.lock.kind == "election" else "waits"
        return line((str(row.waiting), ink if row.waiting else "dim"))

    def mix(self, row: LockRow) -> Line:
        return line(row.mix)

    def oldest(self, row: LockRow) -> Line:
        since = None if row.gone_at is not None else row.waited
        if since is None:
            return UNKNOWN if row.waiting or row.waiting is None else DASH
        return self._age(since)

    def _age(self, since: Since) -> Line:
        text = age(since.at, since.how, self.report.now, is_ascii=self.is_ascii)
        return UNKNOWN if text == "?" else (Run(text),)

    def blocked(self, row: LockRow) -> Line:
        blocked_ms = row.blocked_ms(self.report.now)
        if blocked_ms is None:
            return DASH if row.lock.kind == "election" else UNKNOWN
        return seconds_cell(blocked_ms)

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
        drawn = sparkline(row.recent(now), now, SPARK_CELLS, is_ascii=self.is_ascii)
        return (Run(drawn, "waits" if row.waiting else "dim"),)


def seconds_cell(blocked_ms: Millis) -> Line:
    """Draw waiting time in seconds."""
    return (Run(blocked_seconds(blocked_ms), "plain" if blocked_ms >= SECOND_MS else "dim"),)
