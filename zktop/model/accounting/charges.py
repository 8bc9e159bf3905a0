"""Charges the time that clients wait for a lock to its holders.

The cost of a change of a lock does not depend on the length of its queue. If a holder starts or
stops waiting for another lock itself, the locks that it holds are brought up to date.
"""

from bisect import bisect_right
from collections import Counter
from operator import attrgetter
from typing import NamedTuple

from zktop.model.accounting.accounts import NO_HOLDER, Charge
from zktop.model.actors import UNKNOWN, Actors
from zktop.model.facts import Millis
from zktop.model.history.lock_change import LockChange
from zktop.model.locks.lock import Lock, Member
from zktop.model.locks.semaphore_queue import LeasePool
from zktop.model.text import Text


class LockCharges:
    """The members of one lock, and what their waits have cost so far."""

    __slots__ = ("at", "blocked_ms", "by_actor", "holders", "lock", "members", "served", "waiting")

    def __init__(self, at: Millis) -> None:
        self.lock: Lock | None = None
        self.members: dict[Text, str] = {}  # node -> actor
        self.holders: set[Text] = set()  # nodes
        self.served: frozenset[Text] = frozenset()  # nodes at gates whose clients have a lease
        self.waiting = 0
        self.at = at
        self.blocked_ms: Millis = 0
        self.by_actor: dict[str, Charge] = {}

    @property
    def blocks(self) -> bool:
        """Whether a member that does not hold the lock is blocked."""
        lock = self.lock
        return lock is not None and not lock.has_standbys


class ActorTime:
    """The locks that an actor holds, and the time it has waited for others."""

    __slots__ = ("at", "held", "waited_ms", "waits")

    def __init__(self, at: Millis) -> None:
        self.held: Counter[Text] = Counter()  # path -> nodes
        self.waits = 0
        self.waited_ms: Millis = 0
        self.at = at


class _Outage(NamedTuple):
    """A time without a connection."""

    since: Millis
    until: Millis
    lost_before: Millis  # the length of all earlier outages


class Charges:
    """The charges of a period, updated with each change of a lock."""

    def __init__(self, actors: Actors, since: Millis) -> None:
        self.locks: dict[Text, LockCharges] = {}
        self.actors: dict[str, ActorTime] = {}
        self._since = since
        self.actor_finder = actors
        self.identified: list[tuple[str, str]] = []  # unknown actors, each with its true actor
        self._left: dict[tuple[Text, Text], str] = {}  # members that left in this look
        self._unseen: list[_Outage] = []

    def unseen(self, since: Millis, until: Millis) -> None:
        """Charge nothing for this time; call it in order, before charging anything later."""
        self._unseen.append(_Outage(since, until, self._lost(since)))

    def change(self, path: Text, after: Lock | None, waiting: int, at: Millis) -> None:
        """Record the new version of a lock, and how many clients wait for it."""
        charges = self.locks.get(path)
        if charges is None:
            charges = self.locks[path] = LockCharges(max(at, self._since))
        self._settle(charges, at)
        before = charges.lock
        if before is not None and after is not None and _kind(before) != _kind(after):
            self._replace(path, charges, None, at)
        self._replace(path, charges, after, at)
        charges.waiting = waiting

    def add_earlier_wait(self, path: Text, node: Text, since: Millis) -> None:
        """Charge the wait of a member from its arrival to the recorded change of its lock.

        It arrived earlier if several members arrived in one look, and nothing else changed.
        """
        charges = self.locks.get(path)
        if charges is None or not charges.blocks:
            return
        if node not in charges.members or node in charges.holders:
            return
        ms = self.elapsed(since, charges.at)
        self.actors[charges.members[node]].waited_ms += ms
        self._charge(charges, ms)

    def settle(self, until: Millis) -> None:
        """Charge everything up to this time."""
        for lock in self.locks.values():
            self._settle(lock, until)
        for actor in self.actors.values():
            self._wait(actor, 0, until)

    def actor_of(self, path: Text, node: Text) -> str | None:
        """The actor of a node that is a member, or that has left in this look."""
        charges = self.locks.get(path)
        member_actor = charges.members.get(node) if charges else None
        return member_actor or self.left_actor(path, node)

    def left_actor(self, path: Text, node: Text) -> str | None:
        """The actor of a node that has left in this look; a new node may have the same name."""
        return self._left.get((path, node))

    def end_look(self) -> None:
        """Forget which members have left, and which actors were identified."""
        self._left.clear()
        self.identified.clear()

    def elapsed(self, since: Millis, until: Millis) -> Millis:
        """How much of this time is in the period and was observed."""
        since = max(since, self._since)
        return max(0, until - since - (self._lost(until) - self._lost(since)))

    def _lost(self, until: Millis) -> Millis:
        """How long there was no connection before this time."""
        place = bisect_right(self._unseen, until, key=attrgetter("since")) - 1
        if place < 0:
            return 0
        newest = self._unseen[place]
        return newest.lost_before + min(until, newest.until) - newest.since

    def _replace(self, path: Text, charges: LockCharges, after: Lock | None, at: Millis) -> None:
        if charges.lock is None and after is None:
            return
        change = LockChange.between(path, charges.lock, after)
        held = charges.holders.intersection(member.node for member in change.read)
        for member in (*change.deleted, *change.dismissed, *change.read):
            self._leave(path, charges, member.node, at)
        charges.lock = after
        for member in (*change.created, *change.admitted, *change.read):
            self._enter(charges, member, at)
        for member in change.read:
            self._identify(path, charges, member.node)
        for member in change.demoted:
            self._move(path, charges, member.node, at, holds=False)
        for node in (*held, *(member.node for member in change.granted)):
            self._move(path, charges, node, at, holds=True)
        self._serve(charges, _served(after) & charges.members.keys(), at)

    def _enter(self, charges: LockCharges, member: Member, at: Millis) -> None:
        """Add a member as a waiter; `_move` turns it into a holder."""
        assert charges.lock is not None  # noqa: S101  it has a member
        charges.members[member.node] = actor = self.actor_finder.of(charges.lock, member)
        time = self.actors.setdefault(actor, ActorTime(at))
        if charges.blocks:
            self._wait(time, 1, at)

    def _leave(self, path: Text, charges: LockCharges, node: Text, at: Millis) -> None:
        actor = charges.members.get(node)
        if actor is None:
            return
        self._serve(charges, charges.served - {node}, at)
        self._move(path, charges, node, at, holds=False)
        if charges.blocks:
            self._wait(self.actors[actor], -1, at)
        del charges.members[node]
        self._left[path, node] = actor

    def _identify(self, path: Text, charges: LockCharges, node: Text) -> None:
        """Transfer the charges of an unread node to its client, once the node was read."""
        unknown, actor = self._left.get((path, node)), charges.members[node]
        if unknown is None or unknown == actor or not unknown.startswith(UNKNOWN):
            return
        self.actors[actor].waited_ms += self.actors.pop(unknown).waited_ms
        self.identified.append((unknown, actor))
        charge = charges.by_actor.pop(unknown, None)
        if charge is not None:
            charges.by_actor[actor] = charges.by_actor.get(actor, Charge()) + charge

    def _serve(self, charges: LockCharges, served: frozenset[Text], at: Millis) -> None:
        """Set the nodes that do not count as waiting."""
        if charges.blocks:
            for node in served ^ charges.served:
                self._wait(self.actors[charges.members[node]], -1 if node in served else 1, at)
        charges.served = served

    def _move(
        self, path: Text, charges: LockCharges, node: Text, at: Millis, *, holds: bool
    ) -> None:
        """Record that a member got the lock, or no longer holds it."""
        if node not in charges.members or (node in charges.holders) == holds:
            return
        actor = self.actors[charges.members[node]]
        if holds:
            charges.holders.add(node)
            actor.held[path] += 1
        else:
            charges.holders.discard(node)
            actor.held[path] -= 1
            if not actor.held[path]:
                del actor.held[path]
        if charges.blocks:
            self._wait(actor, -1 if holds else 1, at)

    def _wait(self, actor: ActorTime, change: int, at: Millis) -> None:
        """Add the time that an actor has waited, and change the number of its waiting nodes."""
        waits = actor.waits + change
        if bool(waits) != bool(actor.waits):
            for path in actor.held:
                self._settle(self.locks[path], at)
        if at > actor.at:
            actor.waited_ms += actor.waits * self.elapsed(actor.at, at)
            actor.at = at
        actor.waits = waits

    def _settle(self, charges: LockCharges, at: Millis) -> None:
        """Charge the time since the last change of a lock."""
        ms = charges.waiting * self.elapsed(charges.at, at) if charges.waiting else 0
        charges.at = max(charges.at, at)
        if ms:
            self._charge(charges, ms)

    def _charge(self, charges: LockCharges, ms: Millis) -> None:
        charges.blocked_ms += ms
        holders = {charges.members[node] for node in charges.holders} or {NO_HOLDER}
        for actor in holders:
            time = self.actors.get(actor)
            charge = Charge(
                alone_ms=ms if len(holders) == 1 else 0,
                shared_ms=ms if len(holders) > 1 else 0,
                itself_ms=ms if time is not None and time.waits else 0,
            )
            charges.by_actor[actor] = charges.by_actor.get(actor, Charge()) + charge


def _served(lock: Lock | None) -> frozenset[Text]:
    """The nodes at gates whose clients already have a lease."""
    pools = (queue for queue in lock.queues if isinstance(queue, LeasePool)) if lock else ()
    return frozenset(pool.hidden.node for pool in pools if pool.hidden is not None)


def _kind(lock: Lock) -> tuple[str, bool]:
    return lock.kind, lock.blocking
