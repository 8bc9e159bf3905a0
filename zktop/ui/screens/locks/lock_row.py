"""One lock as a row of the table: the values to draw, to sort by and to filter by.

Values that need a walk along the queue are computed when they are first drawn, and cached in the
row.
"""

from collections.abc import Callable, Sequence
from sys import intern
from typing import Final, get_args

import msgspec
from msgspec import UNSET, UnsetType

from zktop.model.facts import MINUTE_MS, SECOND_MS, Millis
from zktop.model.findings.catalogue import RULES
from zktop.model.history.events import UNKNOWN_SINCE, Since
from zktop.model.history.lock_history import LockHistory
from zktop.model.history.lock_load import WINDOW_S
from zktop.model.lock_view import OwnerName
from zktop.model.locks.lock import Lock, Member
from zktop.model.session_ids import session_text
from zktop.model.text import Text
from zktop.model.waits.choose_ring import DeadlockKind
from zktop.ui.screens.common.lock_status import QUIET_RANK, WORDS, LockStatus
from zktop.ui.screens.lock.notes import WARNINGS
from zktop.ui.screens.lock.queue_summary import ModeRun, mode_runs

MAX_MEMBERS_DATED: Final = 64  # members are in queue order, so the oldest is among the first
MAX_MEMBERS_MIXED: Final = 2_000  # waiters whose modes are shown
MAX_MODE_RUNS: Final = 8
KIND_NAMES: Final = {"read-write": "rw", "election": "elect", "semaphore": "sem"}
RANK_MS: Final = 10**16  # a worse rank outweighs any waiting time


class LockRow(msgspec.Struct, eq=False, gc=False):
    """One lock, its status, and its number of waiters: None where that is unknown.

    Rows are sorted by `urgency`, which grows linearly with time. Without `gc=False`, a garbage
    collection would visit every row: 60 ms with 100,000 of them.
    """

    lock: Lock
    history: LockHistory
    status: LockStatus
    waiting: int | None
    gone_at: Millis | None = None  # when the lock was deleted; its row stays for a moment
    group: str = ""  # the name of the quiet locks below the same parent
    is_quiet: bool = False  # no problem is known, and no client waits
    urgency: int = 0  # at time 0: the worst status, then contended ones, then the most time waited
    growth: int = 0  # how much the urgency grows per millisecond
    _held: Since | UnsetType | None = UNSET
    _waited: Since | UnsetType | None = UNSET

    def __post_init__(self) -> None:
        """Compute the values that sorting and grouping need for every row."""
        lock, waiting, end = self.lock, self.waiting, self.gone_at
        self.group = intern(f"{lock.path.rpartition('/')[0]}/*")
        is_waiting = bool(waiting) and not lock.has_standbys
        self.is_quiet = self.status.rank == QUIET_RANK and end is None and not is_waiting
        growth = waiting if is_waiting and waiting is not None and end is None else 0
        now = self._known_at if end is None else end
        blocked_ms = self.blocked_ms(now)
        rank = self.status.rank + self.is_quiet
        urgency = (-1 if blocked_ms is None else blocked_ms) - rank * RANK_MS
        self.urgency, self.growth = urgency - growth * now, growth

    @property
    def path(self) -> Text:
        return self.lock.path

    key = path

    def blocked_ms(self, now: Millis) -> int | None:
        """Add up the time that all clients have waited. Candidates of an election do not wait."""
        if self.waiting is None or self.lock.has_standbys:
            return None
        end = now if self.gone_at is None else self.gone_at
        return self.history.blocked_ms + self.waiting * max(0, end - self._known_at)

    def recent(self, now: Millis) -> tuple[int | None, ...]:
        """Return the queue length in the last 60 seconds, oldest first; None before the start."""
        past, waiting = self.history, self.waiting
        passed = max(0, now // SECOND_MS - self._known_at // SECOND_MS)
        if past.changed_at is None:
            known_s = min(WINDOW_S, passed + 1) if past.first_look else 0
            return (None,) * (WINDOW_S - known_s) + (waiting,) * known_s
        return past.minute.queue[passed:] + (waiting,) * min(WINDOW_S, passed)

    def rate(self, now: Millis) -> float | None:
        """Return requests per second over the last minute. None came after the last change."""
        past, first = self.history, self.history.first_look
        rate = past.minute.requests_per_s
        if rate is None or first is None:
            return None
        passed, window = max(0, now - past.at), min(MINUTE_MS, past.at - first.at)
        if passed >= MINUTE_MS:
            return 0.0
        return rate * window / max(1, window + passed)

    @property
    def _known_at(self) -> Millis:
        """The end of the history. Nothing has changed since then."""
        past = self.history
        first = past.first_look
        return past.at if past.changed_at is not None or first is None else first.at

    @property
    def is_unreadable(self) -> bool:
        """Whether an ACL hides it: what was known before may have changed."""
        return self.lock.error is not None and not self.lock.is_not_a_lock

    @property
    def held(self) -> Since | None:
        """The start of the oldest hold; None without a holder."""
        if self.is_unreadable:
            return UNKNOWN_SINCE
        if self._held is UNSET:
            self._held = self._oldest(self.lock.holders[:MAX_MEMBERS_DATED], holds=True)
        return self._held

    @property
    def waited(self) -> Since | None:
        """The start of the oldest wait; None without a waiter."""
        if self.is_unreadable:
            return UNKNOWN_SINCE
        if self._waited is UNSET:
            self._waited = self._oldest(self.lock.waiters[:MAX_MEMBERS_DATED], holds=False)
        return self._waited

    def _oldest(self, members: Sequence[Member], *, holds: bool) -> Since | None:
        starts = [self.history.since(member, holds=holds) for member in members]
        dated = [since for since in starts if since.at is not None]
        if not dated:
            return UNKNOWN_SINCE if starts else None
        return min(dated, key=lambda since: since.at or 0)

    @property
    def mix(self) -> str:
        """The modes of the waiters as runs: `W.R5.W.R21`."""
        waiters, lock = self.lock.waiters, self.lock
        if not waiters:
            return f"watch {self.waiting}" if self.waiting else ""
        if lock.kind != "read-write":
            return str(ModeRun(waiters[0].mode, len(waiters)))
        runs = mode_runs(waiters[:MAX_MEMBERS_MIXED])
        is_all = len(runs) <= MAX_MODE_RUNS and len(waiters) <= MAX_MEMBERS_MIXED
        return ".".join(map(str, runs[:MAX_MODE_RUNS])) + ("" if is_all else "..")

    def owners(self, owner_name: OwnerName) -> str:
        """Return the names of all holders and waiters."""
        names = (owner_name(member.owner, member.label) for member in self.lock.members)
        return " ".join(filter(None, names))

    @property
    def sessions(self) -> str:
        """The ids of the sessions of all holders and waiters."""
        owners = (member.owner for member in self.lock.members)
        return " ".join(session_text(owner) for owner in owners if owner)

    @property
    def states(self) -> str:
        """The status in words that a filter can match."""
        lock = self.lock
        return " ".join(
            (
                self.status.words,
                self.status.word,
                "waiting" if self.waiting else "",
                "held" if any(queue.holders for queue in lock.queues) else "free",
                *lock.warnings,
            )
        )


LOCK_FIELDS: Final[dict[str, Callable[[LockRow, OwnerName], str]]] = {
    "": lambda row, owner_name: f"{row.path} {row.owners(owner_name)}",
    "owner": lambda row, owner_name: row.owners(owner_name),
    "state": lambda row, _: row.states,
    "path": lambda row, _: row.path,
    "kind": lambda row, _: row.lock.kind,
    "layout": lambda row, _: row.lock.layout,
    "session": lambda row, _: row.sessions,
}

FIELDS: Final = tuple(filter(None, LOCK_FIELDS))
STATES: Final = (
    *("waiting", "held", "free", "ok", "critical", "warning", "deadlock", "error", "hidden"),
    *get_args(DeadlockKind),
    *(text for rule in RULES for text in (rule.name, rule.id)),
    *(text for code, (word, _) in WORDS.items() for text in (code, word)),
    *WARNINGS,
)


def fields_with(owner_name: OwnerName) -> dict[str, Callable[[LockRow], str]]:
    """Return functions that return the text of each field of a row, with these owner names."""

    def bound(text_of: Callable[[LockRow, OwnerName], str]) -> Callable[[LockRow], str]:
        return lambda row: text_of(row, owner_name)

    return {field: bound(text_of) for field, text_of in LOCK_FIELDS.items()}
