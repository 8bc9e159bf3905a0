"""The history of one lock, as it is handed out: frozen, and complete in itself."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from zktop.model.facts import Millis
from zktop.model.history.durations import NO_DURATIONS, Durations
from zktop.model.history.event import UNKNOWN_SINCE, Departure, Since
from zktop.model.locks.lock import Member
from zktop.model.shelf import Shelf
from zktop.model.text import Text

if TYPE_CHECKING:  # where nothing has happened yet, there is none
    from zktop.model.history.attempts import Attempts, Identity

SECONDS: Final = 60  # of which the longest queue of each is told


class Stay(msgspec.Struct, frozen=True, gc=False):
    """One place whose beginning, or whose grant, was seen."""

    queued: Since
    granted: Since | None = None


class FirstLook(msgspec.Struct, frozen=True, gc=False):
    """When a lock was first looked at, and since when whoever held it then has held it."""

    at: Millis
    held_since: Millis


class Origin(msgspec.Struct, frozen=True, gc=False):
    """What is known of the root's earlier lives."""

    generation: int = 0
    recreated_at: Millis | None = None
    reaped_at: Millis | None = None
    fell_at: tuple[Millis, int] | None = None


class LockHistory(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """What happened at one lock, up to one moment."""

    at: Millis = 0
    first_look: FirstLook | None = None
    changed_at: Millis | None = None  # when something last happened; None: not since we look
    stays: Shelf[Text, Stay] = Shelf()
    holds: Durations = NO_DURATIONS
    waits: Durations = NO_DURATIONS
    departures: tuple[Departure, ...] = ()  # the newest, oldest first
    attempts: "Mapping[Identity, Attempts]" = {}
    queue: tuple[int | None, ...] = (None,) * SECONDS  # the longest queue of each second
    requests_per_s: float | None = None
    releases_per_s: float | None = None
    busy: float | None = None  # which part of the last minute it was held
    blocked_ms: int = 0  # waiters x time, since the first look
    missed_creates: int = 0
    missed_deletes: int = 0
    coverage: float | None = None  # which part of the creations was seen
    generation: int = 0  # how often the root was found to be another node
    recreated_at: Millis | None = None
    reaped_at: Millis | None = None  # when the root vanished while it was empty
    fell_at: tuple[Millis, int] | None = None  # ... together with its members: when, how many

    def granted(self, node: Text) -> Since:
        """Tell since when a holder holds."""
        stay = self.stays.get(node)
        if stay is not None:
            return stay.granted or UNKNOWN_SINCE
        first = self.first_look
        return Since(first.held_since, "at-least") if first else UNKNOWN_SINCE

    def queued(self, member: Member) -> Since:
        """Tell since when somebody stands in the queue."""
        stay = self.stays.get(member.node)
        if stay is not None and stay.queued.at is not None:
            return stay.queued
        if self.first_look is None:
            return UNKNOWN_SINCE
        created = self.first_look.at if member.ctime is None else member.ctime
        return Since(min(created, self.first_look.at), "at-least")

    def since(self, member: Member, *, holds: bool) -> Since:
        """Tell since when a contender is in its state."""
        return self.granted(member.node) if holds else self.queued(member)

    @property
    def usual_hold(self) -> tuple[int, int] | None:
        """Median and 99th percentile of finished holds; None while too few were seen."""
        h50, h99 = self.holds.h50, self.holds.h99
        return None if h50 is None or h99 is None else (h50, h99)

    @property
    def queue_before(self) -> int | None:
        """How many waited a minute ago; None while that is not known."""
        return self.queue[0]


NO_HISTORY: Final = LockHistory()
