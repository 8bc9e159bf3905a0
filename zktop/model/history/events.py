"""What happened to a lock: its events, and the nodes that have left it."""

from typing import Final, Literal

import msgspec

from zktop.model.facts import Millis, Session
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
Ending = Literal["released", "abandoned", "expired"]
How = Literal["seen", "at-least", "at-most", "unknown"]
Measure = Literal["exact", "at-least"]


class Since(msgspec.Struct, frozen=True, gc=False):
    """When a state began, and how exactly that is known.

    seen: the beginning was observed. at-least: it has lasted at least since then. at-most: it
    began then at the earliest.
    """

    at: Millis | None
    how: How


UNKNOWN_SINCE: Final = Since(None, "unknown")


class Elapsed(msgspec.Struct, frozen=True, gc=False):
    """The length of a wait or hold that is over."""

    ms: int
    measure: Measure


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


class Departure(msgspec.Struct, frozen=True, gc=False):
    """A node that has left a lock."""

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
