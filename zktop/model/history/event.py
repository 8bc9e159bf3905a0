"""One thing that happened to a lock, as far as two looks at it tell."""

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
    """When a state began, and what that says of how long it lasts.

    seen: we saw it begin. at-least: it has lasted at least since then. at-most: it began then at
    the earliest.
    """

    at: Millis | None
    how: How


UNKNOWN_SINCE: Final = Since(None, "unknown")


class Span(msgspec.Struct, frozen=True, gc=False):
    """A length of time that is over."""

    ms: int
    measure: Measure


class Event(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """One event; `why` is what speaks for it where that is not plain."""

    at: Millis
    event: EventKind
    lock: Text
    zxid: int | None = None
    node: Text | None = None
    session: Session | None = None
    owner: Text | None = None
    waited: Span | None = None
    held: Span | None = None
    creates: int | None = None  # of `missed`: how many nobody saw
    deletes: int | None = None
    why: Text | None = None


class Departure(msgspec.Struct, frozen=True, gc=False):
    """A place in a lock that is gone."""

    node: Text
    session: Session
    label: Text | None
    mode: str
    czxid: int
    gone_at: Millis
    ending: Ending
    held: Span | None = None
    waited: Span | None = None
