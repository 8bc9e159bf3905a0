"""What happened to a lock: its events, and its former members."""

from typing import Final, Literal

import msgspec

from zktop.model.facts import Millis, RemovalKind, Session
from zktop.model.text import Text

EventKind = Literal[
    "lock-appeared",
    "queued",
    "acquired",
    "released",
    "abandoned",
    "expired",
    "reordered",
    "missed",
    "lock-vanished",
]
# released: a holder's node was deleted, or the time of its lease was over.
# abandoned: a waiter's node was deleted before it held the lock.
# expired: the node vanished with its session. `endings.py` decides which it was.
Ending = Literal["released", "abandoned", "expired"]
SinceBound = Literal["seen", "at-least", "unknown"]
ElapsedBound = Literal["exact", "at-least"]

ENDED: Final = Text("an administrator ended its session, which was active")
MISSING: Final = Text("transactions are missing: how and when it left is unknown")
UNSEEN: Final = Text("it left while zktop saw nothing: how and when is unknown")
UNCLEAR: Final = Text("what it waited for left in the same look, so it may have held the lock")
LEASE_OVER: Final = Text("the time of its lease was over")
DELETED_IT: Final = " deleted it"  # after the name of another session


class Since(msgspec.Struct, frozen=True, gc=False):
    """When a state began.

    seen: it began at that time. at-least: it had begun by then, so it has lasted at least since
    then. unknown: no time is known.
    """

    at: Millis | None
    bound: SinceBound


UNKNOWN_SINCE: Final = Since(None, "unknown")


class Elapsed(msgspec.Struct, frozen=True, gc=False):
    """The length of a wait or hold that is over, `at-least` if its beginning was not observed."""

    ms: int
    bound: ElapsedBound


class Event(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """One event; `why` is the evidence, if it is not obvious."""

    at: Millis
    event: EventKind
    lock: Text
    zxid: int | None = None
    node: Text | None = None
    session: Session | None = None
    owner: Text | None = None
    waited: Elapsed | None = None
    held: Elapsed | None = None
    creates: int | None = None  # of `missed`: how many were not observed
    deletes: int | None = None
    why: Text | None = None

    @property
    def is_expiry(self) -> bool:
        """Whether a node vanished with a session that expired, and was not ended on purpose."""
        return self.event == "expired" and bool(self.session) and self.why != ENDED

    @property
    def is_unseen(self) -> bool:
        """Whether it is unknown how and when a node left: `event` is then a guess."""
        return self.why in (MISSING, UNSEEN)

    @property
    def may_have_held(self) -> bool:
        """Whether it is unknown if a waiter gave up or held the lock between two looks."""
        return self.why == UNCLEAR

    @property
    def is_lease_end(self) -> bool:
        """Whether the time of a lease was over: its client may not have noticed."""
        return self.why == LEASE_OVER

    @property
    def was_deleted(self) -> bool:
        """Whether another session deleted its node: its client neither released nor gave up."""
        return self.why is not None and self.why.endswith(DELETED_IT)


class FormerMember(msgspec.Struct, frozen=True, gc=False):
    """A member that has left a lock."""

    node: Text
    session: Session
    label: Text | None
    mode: str
    czxid: int
    gone_at: Millis
    ending: Ending
    held: Elapsed | None = None
    waited: Elapsed | None = None
    deleted_by: Session | None = None  # another session, if a transaction log says so
    how: RemovalKind | None = None  # as a transaction log says
    is_unseen: bool = False  # how and when it left is unknown
    held_briefly: bool = False  # it only came first during a recursive delete
    may_have_expired: bool = False  # nothing shows whether its session expired
