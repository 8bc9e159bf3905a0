"""The known past of one lock, as a frozen value made by `derive_events`.

`FirstLook` is what a single look proves: how long, at least, the lock has had its holders.
"""

from collections.abc import Mapping
from operator import attrgetter
from typing import Final, NamedTuple

import msgspec

from zktop.model.facts import Millis, Session
from zktop.model.history.attempts import Attempts, Identity
from zktop.model.history.duration_samples import NO_DURATIONS, Durations
from zktop.model.history.events import UNKNOWN_SINCE, FormerMember, Since
from zktop.model.history.lock_change import all_members, count_direct
from zktop.model.history.lock_load import NO_MINUTE, MinuteStats
from zktop.model.locks.lock import Lock, Member
from zktop.model.locks.queue import HERE
from zktop.model.text import Text
from zktop.model.world.persistent_map import PersistentMap

# Layouts whose clients create a node only when they acquire, so each holder is dated by its own.
CREATED_ON_ACQUIRING: Final = frozenset(("kazoo-semaphore", "kazoo-lease"))


class Stay(msgspec.Struct, frozen=True, gc=False):
    """When a member joined the queue and was granted the lock, as far as that was observed."""

    queued: Since
    granted: Since | None = None


class FirstLook(msgspec.Struct, frozen=True, gc=False):
    """When a lock was first examined, and from when its holders are known to have held it."""

    at: Millis
    held_since: Millis


class VanishedQueue(NamedTuple):
    """The queue with which the znode of a lock vanished."""

    at: Millis
    members: int
    is_all: bool = True  # if not, it had at least this many members
    is_certain: bool = True  # if not, all of them left just before, and may have given up
    waiters: tuple[Session, ...] = ()  # some: if all of them ended, their nodes went with them


class RootHistory(msgspec.Struct, frozen=True, gc=False):
    """Earlier znodes at the path of a lock."""

    generation: int = 0  # how often the root was replaced by another znode
    recreated_at: Millis | None = None
    reaped_at: Millis | None = None  # when the root vanished while it was empty
    removed_by: Session | None = None  # the session that deleted it, if a transaction log says so
    earlier_members: tuple[FormerMember, ...] = ()  # the last that left the previous znode


class UsualHold(NamedTuple):
    """The median and the 99th percentile of finished holds."""

    median_ms: Millis
    p99_ms: Millis


class LockHistory(RootHistory, frozen=True, eq=False, gc=True, kw_only=True):
    """The past of one lock, up to a given time."""

    at: Millis = 0
    first_look: FirstLook | None = None
    changed_at: Millis | None = None  # time of the last change since the first look; None: none
    stays: PersistentMap[Text, Stay] = PersistentMap()
    holds: Durations = NO_DURATIONS
    waits: Durations = NO_DURATIONS
    former_members: tuple[FormerMember, ...] = ()  # the last few, oldest first
    forgotten_at: Millis | None = None  # when the last member left that is not listed here
    attempts: Mapping[Identity, Attempts] = {}
    minute: MinuteStats = NO_MINUTE
    blocked_ms: int = 0  # waiters x time, since the first look
    missed_creates: int = 0
    coverage: float | None = None  # share of the creations that was observed

    def granted(self, holder: Member) -> Since:
        """Return the time from which this member has held the lock."""
        stay = self.stays.get(holder.node)
        if stay is not None:
            return stay.granted or UNKNOWN_SINCE
        first = self.first_look
        if first is None:
            return UNKNOWN_SINCE
        if holder.layout in CREATED_ON_ACQUIRING and holder.ctime is not None:
            return Since(min(holder.ctime, first.at), "at-least")
        return Since(first.held_since, "at-least")

    def queued(self, member: Member) -> Since:
        """Return the time from which a member has been in the queue."""
        stay = self.stays.get(member.node)
        if stay is not None and stay.queued.at is not None:
            return stay.queued
        if self.first_look is None:
            return UNKNOWN_SINCE
        created = self.first_look.at if member.ctime is None else member.ctime
        return Since(min(created, self.first_look.at), "at-least")

    def since(self, member: Member, *, holds: bool) -> Since:
        """Return the time from which a member has held the lock or waited for it."""
        return self.granted(member) if holds else self.queued(member)

    @property
    def all_former_members(self) -> tuple[FormerMember, ...]:
        """The last that left this znode, or the previous one at its path, oldest first."""
        return (*self.earlier_members, *self.former_members)

    @property
    def usual_hold(self) -> UsualHold | None:
        """How long holds usually last; None while too few were seen."""
        median, p99 = self.holds.median, self.holds.p99
        return None if median is None or p99 is None else UsualHold(median, p99)

    @property
    def waiters_a_minute_ago(self) -> int | None:
        """The number of waiters a minute ago; None if unknown."""
        return self.minute.queue[0]


NO_HISTORY: Final = LockHistory()


def first_look_at(lock: Lock | None, now_ms: Millis) -> FirstLook:
    """Return the first look at a lock, with a lower bound for how long it has been held.

    If nothing has been deleted since the newest member was created, the present holders have held
    the lock since then. A node that is the lock itself has been held since its creation.
    """
    newest = max(all_members(lock), key=attrgetter("czxid"), default=None)
    if lock is None or lock.stat is None or newest is None or newest.znode.stat is None:
        return FirstLook(now_ms, now_ms)
    is_itself = newest.owner and newest.node == HERE
    is_last_change = newest.czxid == lock.stat.pzxid and (
        count_direct(member.node for member in lock.members) == lock.size
    )
    created = newest.znode.stat.ctime
    is_proof = (is_itself or is_last_change) and created <= now_ms
    return FirstLook(now_ms, created if is_proof else now_ms)
