"""The cells of a row in the table of all locks, as they look at one moment.

The cells of the line that stands for quiet siblings, and what it says of itself.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from zktop.model.facts import Millis
from zktop.model.format import count, spoken
from zktop.model.history.lock_history import SECOND_MS
from zktop.model.locks.lock import Lock, Member
from zktop.model.report import Report
from zktop.ui.screens.common.format import age, blocked_seconds, per_second, sparkline
from zktop.ui.screens.locks.groups import RESTS_MS, LockGroup
from zktop.ui.screens.locks.row import MODE_LETTERS, LockRow
from zktop.ui.styled_text import NOTHING, Ink, Line, Run, joined, line

KINDS: Final = {"read-write": "rw", "election": "elect", "semaphore": "sem"}
DASH: Final = line(("-", "dim"))
UNKNOWN: Final = line(("?", "unknown"))
SPARK: Final = 10


class LockCells(NamedTuple):
    """Draws rows beside one report."""

    report: Report
    is_ascii: bool = False

    def state(self, row: LockRow) -> Line:
        """Say in three letters how it is."""
        if row.gone_at is not None:
            return line(("gone", "dim"))
        return line((row.mark.code, row.mark.ink))

    def path(self, row: LockRow) -> Line:
        """Name the lock; quiet ones are less bright."""
        ink: Ink = "dim" if row.gone_at is not None or row.mark.code == "free" else "plain"
        return line((row.path, "strong" if row.mark.case else ink))

    def kind(self, row: LockRow) -> Line:
        """Say what sort of lock it is."""
        lock = row.lock
        kind = KINDS.get(lock.kind, lock.kind)
        leases = f" {lock.leases or '?'}" if lock.kind == "semaphore" else ""
        return line((f"{kind}{leases}", "dim"))

    def holder(self, row: LockRow) -> Line:
        """Name the first holder, and count the others."""
        lock = row.lock
        if row.gone_at is not None:
            return DASH
        if lock.error is not None:
            return line((lock.error, "unknown"))
        holders = lock.holders
        if not holders:
            return DASH
        if lock.kind == "semaphore":
            return self._leases(lock, holders)
        more = f" +{len(holders) - 1}" if len(holders) > 1 else ""
        return self._one(holders[0], more)

    def _one(self, holder: Member, more: str) -> Line:
        letter = Run(MODE_LETTERS[holder.mode] + " ", "dim")
        if holder.znode.stat is None and not holder.label:
            return (letter, Run(f"?{more}", "unknown"))
        if not holder.owner and not holder.releases:
            said = f"nobody ({holder.label})" if holder.label else "nobody (persistent)"
            return (letter, Run(said + more, "warning"))
        ink: Ink = "ours" if holder.owner in self.report.ours else "holds"
        return (
            letter,
            Run(self.report.client_names(holder.owner, holder.label), ink),
            Run(more, ink),
        )

    def _leases(self, lock: Lock, holders: Sequence[Member]) -> Line:
        held = f"{len(holders)}/{lock.leases or '?'} leases"
        return line((held, "holds"))

    def held(self, row: LockRow) -> Line:
        """Say for how long it has been held."""
        since = None if row.gone_at is not None else row.held
        if since is None:
            return DASH
        return _age(age(since.at, since.how, self.report.now, is_ascii=self.is_ascii))

    def queue(self, row: LockRow) -> Line:
        """Count who waits."""
        if row.waiting is None:
            return UNKNOWN
        ink: Ink = "standby" if row.lock.kind == "election" else "waits"
        return line((str(row.waiting), ink if row.waiting else "dim"))

    def mix(self, row: LockRow) -> Line:
        """Say who wants what, in the order of the queue."""
        return line(row.mix)

    def oldest(self, row: LockRow) -> Line:
        """Say how long the oldest of the waiters has waited."""
        since = None if row.gone_at is not None else row.waited
        if since is None:
            return UNKNOWN if row.waiting or row.waiting is None else DASH
        return _age(age(since.at, since.how, self.report.now, is_ascii=self.is_ascii))

    def blocked(self, row: LockRow) -> Line:
        """Add up the seconds that all have waited together."""
        blocked = row.blocked_ms(self.report.now)
        if blocked is None:
            return DASH if row.lock.kind == "election" else UNKNOWN
        return number(blocked)

    def holds(self, row: LockRow) -> Line:
        """Say how long it is usually held: the median, and all but one in a hundred."""
        usual = row.history.usual_hold
        if usual is None:
            return DASH
        return line("/".join(spoken(ms / 1000) for ms in usual))

    def rate(self, row: LockRow) -> Line:
        """Say how many ask for it, a second."""
        rate = row.rate(self.report.now)
        if rate is None or row.gone_at is not None:
            return DASH
        return line((per_second(rate), "plain" if rate else "dim"))

    def minute(self, row: LockRow) -> Line:
        """Draw the queue of the last minute."""
        if row.gone_at is not None:
            return ()
        now = self.report.now
        drawn = sparkline(row.recent(now), now, SPARK, is_ascii=self.is_ascii)
        return (Run(drawn, "waits" if row.waiting else "dim"),)


def _age(text: str) -> Line:
    return UNKNOWN if text == "?" else (Run(text),)


def number(blocked_ms: Millis) -> Line:
    """Write seconds that were waited."""
    return (Run(blocked_seconds(blocked_ms), "plain" if blocked_ms >= SECOND_MS else "dim"),)


CLOSED: Final = "▸"
OPEN: Final = "▾"


def sign(group: LockGroup) -> Run:
    """Show whether it is open."""
    return Run(OPEN if group.is_open else CLOSED, "selected")


def state(_group: LockGroup) -> Line:
    """Say that they are well."""
    return line(("ok", "good"))


def path(group: LockGroup) -> Line:
    """Name them all, and count them."""
    return line((f"{group.path} ({group.count})", "plain"))


def kind(group: LockGroup) -> Line:
    """Say what sort of locks they are, where they are of one sort."""
    return line((KINDS.get(group.kind, group.kind) or "mixed", "dim"))


def holder(group: LockGroup) -> Line:
    """Count those that are held."""
    return line((f"{group.held} held", "holds" if group.held else "dim"))


def queue(group: LockGroup) -> Line:
    """Nobody waits, as far as that can be seen."""
    return line(("?", "unknown") if group.unknown else ("0", "dim"))


def blocked(group: LockGroup) -> Line:
    """Add up what was waited for them before."""
    return number(group.blocked_ms)


def nothing(_group: LockGroup) -> Line:
    """Say nothing, where there is a value for each of them but none for all."""
    return NOTHING


def about(group: LockGroup) -> Line:
    """Say what the line is, and how it is opened."""
    waits = "nobody is seen to wait" if group.unknown else "nobody waits"
    rest: Millis = RESTS_MS // 1000
    said = f"{count(group.count, 'quiet lock')}: nothing is wrong, {waits} (for {rest} s)"
    how = "enter folds them again" if group.is_open else "enter opens them, f opens all such lines"
    return joined([line((f" {group.path}", "strong")), line(said), line((how, "dim"))])
