"""The result of accounting, as frozen values: what a period cost by client, lock and class."""

from typing import Final

import msgspec

from zktop.model.accounting.spread import Spread
from zktop.model.facts import Millis
from zktop.model.text import Text

NO_HOLDER: Final = "no holder"  # charged with waits for locks without a visible holder
MAX_CHARGED_ACTORS: Final = 5  # per lock


class Charge(msgspec.Struct, frozen=True, gc=False):
    """The time that clients waited for locks that one actor held. Its own requests count too.

    If several actors hold a lock together, each of them may have caused all of the wait or none
    of it, so the sum is a range.
    """

    alone_ms: Millis = 0  # while it was the only holder
    shared_ms: Millis = 0  # while it was one of several
    itself_ms: Millis = 0  # the part of both during which it waited for a lock itself

    def __add__(self, other: "Charge") -> "Charge":
        return Charge(
            self.alone_ms + other.alone_ms,
            self.shared_ms + other.shared_ms,
            self.itself_ms + other.itself_ms,
        )

    @property
    def at_most_ms(self) -> Millis:
        return self.alone_ms + self.shared_ms


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures that all accounts have."""

    waits: Spread  # until the lock was acquired; lower bounds if it was not
    holds: Spread
    given_up: int  # waits that ended without the lock
    waiting: int  # requests that still wait at the end
    holding: int  # nodes that still hold at the end
    deadlocks: int
    expiries: int  # nodes that were removed with an expired session


class LockAccount(msgspec.Struct, frozen=True, kw_only=True):
    """A lock, or a class of locks that differ only in ids."""

    path: Text
    locks: int = 1
    blocked_ms: Millis  # waiters x time
    seen: int  # contenders that came
    missed: int  # contenders that only the counters of the lock's znode show
    charged: tuple[tuple[str, Charge], ...]  # the most expensive actors, each with its charge
    figures: Figures


class ActorAccount(msgspec.Struct, frozen=True, kw_only=True):
    """A client, or a node without one that is in the way."""

    actor: str
    name: Text
    client: Text  # its address; empty if unknown
    charge: Charge
    waited_ms: Millis
    worst_lock: Text | None  # the lock in which others waited longest for it
    figures: Figures


class Accounts(msgspec.Struct, frozen=True, kw_only=True):
    """The accounts of a period, the most expensive first."""

    since: Millis
    until: Millis
    unseen: tuple[tuple[Millis, Millis], ...]  # times without a connection: nothing is charged
    blocked_ms: Millis
    seen: int
    missed: int
    deadlocks: int
    expiries: int  # number of sessions that expired
    actors: tuple[ActorAccount, ...]
    locks: tuple[LockAccount, ...]
    classes: tuple[LockAccount, ...]

    @property
    def unseen_ms(self) -> Millis:
        """How long there was no connection."""
        return sum(end - begin for begin, end in self.unseen)

    @property
    def is_lower_bound(self) -> bool:
        """Whether clients may have waited longer than was seen."""
        return bool(self.unseen_ms or self.missed)
