"""One lock as a row of the table: what is needed to sort it, filter it and find it.

A row is made once for each change of its lock. What few readers need is worked out when somebody
asks, and kept: a row that is never looked at costs a few numbers.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby, islice
from typing import Final

import msgspec

from zktop.model.facts import Millis, session_text
from zktop.model.history.events import UNKNOWN_SINCE, Since
from zktop.model.history.lock_history import MINUTE_MS, SECOND_MS, SECONDS, LockHistory
from zktop.model.locks.lock import Lock, Member
from zktop.model.report import OwnerName
from zktop.model.text import Text
from zktop.ui.screens.common.status_codes import QUIET_RANK, LockStatus

MAX_MEMBERS_DATED: Final = 64  # contenders among whom the oldest is looked for; they come in order
MIXED_AT: Final = 2_000  # places whose modes are told apart
RUNS: Final = 8
RANKED: Final = 10**16  # more milliseconds than any queue ever waits together
MODE_LETTERS: Final = {"exclusive": "X", "read": "R", "write": "W", "lease": "S", "candidate": "C"}
Queue = tuple[int | None, ...]


class LockRow(msgspec.Struct, frozen=True, eq=False, dict=True, kw_only=True):
    """One lock, its state, and how many wait for it: None where that cannot be told."""

    lock: Lock
    history: LockHistory
    mark: LockStatus
    waiting: int | None
    gone_at: Millis | None = None  # it was there a moment ago
    urgent: int = 0  # how much it wants to be seen, at the beginning of time
    urges: int = 0  # ... and how much more with every millisecond
    is_calm: bool = False  # nothing is known to be wrong, and nobody waits

    @property
    def path(self) -> Text:
        """The name of the row."""
        return self.lock.path

    def blocked_ms(self, now: Millis) -> int | None:
        """Add up all waiting since we look; candidates of an election wait for nothing."""
        if self.waiting is None or self.lock.kind == "election":
            return None
        end = now if self.gone_at is None else self.gone_at
        return self.history.blocked_ms + self.waiting * max(0, end - self._known_at)

    def recent(self, now: Millis) -> Queue:
        """Give the queue of the last sixty seconds, oldest first; None where we did not look."""
        past, waiting = self.history, self.waiting
        passed = max(0, now // SECOND_MS - self._known_at // SECOND_MS)
        if past.changed_at is None:
            known = min(SECONDS, passed + 1) if past.first_look else 0
            return (None,) * (SECONDS - known) + (waiting,) * known
        return past.queue[passed:] + (waiting,) * min(SECONDS, passed)

    def rate(self, now: Millis) -> float | None:
        """Say how many a second asked for it in the last minute: nobody since the last change."""
        past, first = self.history, self.history.first_look
        if past.requests_per_s is None or first is None:
            return None
        passed, window = max(0, now - past.at), min(MINUTE_MS, past.at - first.at)
        if passed >= MINUTE_MS:
            return 0.0
        return past.requests_per_s * window / max(1, window + passed)

    @property
    def _known_at(self) -> Millis:
        """When the history ends; from then on nothing has changed."""
        return _end_of(self.history)

    @cached_property
    def held(self) -> Since | None:
        """Since when the oldest of the holders holds; None when nobody does."""
        return self._oldest(self.lock.holders[:MAX_MEMBERS_DATED], holds=True)

    @cached_property
    def waited(self) -> Since | None:
        """Since when the oldest of the waiters waits; None when nobody does."""
        return self._oldest(self.lock.waiters[:MAX_MEMBERS_DATED], holds=False)

    def _oldest(self, members: Sequence[Member], *, holds: bool) -> Since | None:
        since = [self.history.since(member, holds=holds) for member in members]
        known = [one for one in since if one.at is not None]
        if not known:
            return UNKNOWN_SINCE if since else None
        return min(known, key=lambda one: one.at or 0)

    @cached_property
    def mix(self) -> str:
        """Write the modes of the queue as runs: `W.R5.W.R21`."""
        waiters, lock = self.lock.waiters, self.lock
        if not waiters:
            return f"watch {self.waiting}" if self.waiting else ""
        if lock.kind != "read-write":
            return _run(waiters[0].mode, len(waiters))
        runs = groupby(member.mode for member in waiters[:MIXED_AT])
        told = [_run(mode, sum(1 for _ in run)) for mode, run in islice(runs, RUNS)]
        is_all = len(told) < RUNS and len(waiters) <= MIXED_AT
        return ".".join(told) + ("" if is_all else "..")

    def owners(self, naming: OwnerName) -> str:
        """Name all who have a place, for a filter; kept, because names hardly ever change."""
        known = self._names
        if not known:
            members = self.lock.members
            known.append(" ".join(filter(None, (naming(m.owner, m.label) for m in members))))
        return known[0]

    @cached_property
    def _names(self) -> list[str]:
        return []

    @property
    def states(self) -> str:
        """Say what it is like, in words that a filter may ask for."""
        lock = self.lock
        return " ".join(
            (
                self.mark.words,
                "waiting" if self.waiting else "",
                "held" if any(line.holders for line in lock.queues) else "free",
                *lock.warnings,
            )
        )


def row_of(
    lock: Lock,
    history: LockHistory,
    mark: LockStatus,
    waiting: int | None,
    gone_at: Millis | None = None,
) -> LockRow:
    """Make the row of a lock.

    All rows are compared many times: who is worse comes first, then who has blocked longer. That
    is one number for each, and it grows evenly for as long as the row is the same.
    """
    is_election = lock.kind == "election"
    if waiting is None or is_election:
        blocked, urges = -1, 0
    elif gone_at is not None:
        blocked, urges = history.blocked_ms + waiting * max(0, gone_at - _end_of(history)), 0
    else:
        blocked, urges = history.blocked_ms - waiting * _end_of(history), waiting
    return LockRow(
        lock=lock,
        history=history,
        mark=mark,
        waiting=waiting,
        gone_at=gone_at,
        urgent=blocked - mark.rank * RANKED,
        urges=urges,
        is_calm=gone_at is None and mark.rank == QUIET_RANK and (not waiting or is_election),
    )


def _end_of(past: LockHistory) -> Millis:
    first = past.first_look
    return past.at if past.changed_at is not None or first is None else first.at


class LockFields(Mapping[str, str]):
    """What a filter may look at in a row; each field is made when it is asked for."""

    def __init__(self, row: LockRow, naming: OwnerName) -> None:
        """Look at this row."""
        self._row, self._naming = row, naming

    def __getitem__(self, name: str) -> str:
        """Give one field."""
        return _FIELDS[name](self._row, self._naming)

    def __iter__(self) -> Iterator[str]:
        """Name the fields."""
        return iter(_FIELDS)

    def __len__(self) -> int:
        """Count them."""
        return len(_FIELDS)


_FIELDS: Final[dict[str, Callable[[LockRow, OwnerName], str]]] = {
    "": lambda row, naming: f"{row.path} {row.owners(naming)}",
    "owner": lambda row, naming: row.owners(naming),
    "state": lambda row, _: row.states,
    "path": lambda row, _: row.path,
    "kind": lambda row, _: row.lock.kind,
    "layout": lambda row, _: row.lock.layout,
    "session": lambda row, _: " ".join(session_text(m.owner) for m in row.lock.members if m.owner),
}

FIELDS: Final = tuple(filter(None, _FIELDS))


def _run(mode: str, number: int) -> str:
    return f"{MODE_LETTERS[mode]}{number if number > 1 else ''}"
