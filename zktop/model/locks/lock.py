"""A lock at one moment: its holders and waiters, in the order that its own clients use."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from heapq import merge
from typing import Final, Literal, Protocol

import msgspec

from zktop.model.facts import Millis, Session, Stat, join, prefix_below, split
from zktop.model.layouts.layout import LARGEST, LockKind, LockMode, WatchKind
from zktop.model.layouts.lock_site import Dependency
from zktop.model.layouts.owner_labels import label_of
from zktop.model.text import Text
from zktop.model.world.children_of_znode import Family, Znode

MemberState = Literal["holds", "waits", "standby", "pending"]

WatchLookup = Callable[["Member", Text], bool | None]  # whether its client watches; None: unknown

_ONLY_WATCHED_LAYOUTS: Final = ("single-node", "hadoop-elector", "patroni")

FOREIGN: Final = ""  # the layout of a child that is not a contender


class Target(msgspec.Struct, frozen=True, gc=False):
    """A watch that a waiter's recipe sets; the path is relative to the lock."""

    path: Text
    how: WatchKind


class Member(msgspec.Struct, frozen=True, gc=False):
    """One contender: a znode that holds or waits for a lock."""

    node: Text  # relative to the lock's path: "x", "leases/x", "../sem-__lock__/x" or "."
    mode: LockMode
    sequence: int | None
    layout: str  # the layout whose rules it follows; a mixed root has several
    named: Text | None  # the label from its name, if its data has none
    token_at: slice | None  # position of the token in the name, by which its client recognises it
    znode: Znode
    releases: bool = True  # False: persistent, so it outlives its client

    @property
    def label(self) -> Text | None:
        """The label of its client, from the node's name or data. It is parsed on each access."""
        return client_label(self.named, self.znode.data, self.layout)

    @property
    def token(self) -> Text | None:
        """The part of the name by which its client recognises it, usually a UUID."""
        return None if self.token_at is None else Text(self.node[self.token_at])

    @property
    def owner(self) -> Session:
        """The session that owns the node, or 0 if there is none or the node has not been read."""
        return self.znode.stat.owner if self.znode.stat else 0

    @property
    def czxid(self) -> int:
        """The transaction that created it: the true order of arrival."""
        return self.znode.stat.czxid if self.znode.stat else 0

    @property
    def ctime(self) -> Millis | None:
        """When it was created, by the clock of the leader at that time."""
        return self.znode.stat.ctime if self.znode.stat else None


def client_label(named: Text | None, data: bytes | None, layout: str) -> Text | None:
    """Return the label of a client from the name of its node, or else from the data."""
    if named is not None or not data:
        return named
    return label_of(data, layout)


class LockQueue(Protocol):
    """One queue of a lock and the rule of its clients. A mixed root has one per layout."""

    @property
    def members(self) -> Sequence[Member]:
        """All members, in queue order."""

    @property
    def holders(self) -> Sequence[Member]:
        """The members whose clients own the lock, by their own rule."""

    @property
    def waiters(self) -> Sequence[Member]:
        """The other members, in queue order."""

    @property
    def warnings(self) -> Sequence[str]:
        """The ids of warnings about it."""

    @property
    def may_watch_children(self) -> bool:
        """Whether the recipe of a waiter may watch the children of the lock."""

    @property
    def counts_others(self) -> bool:
        """Whether its clients wait for members of another queue."""

    def find(self, node: str) -> Member | None:
        """Return the member with this name."""

    def holds(self, member: Member) -> bool:
        """Return whether this member is among the holders."""

    def is_pending(self, member: Member) -> bool:
        """Return whether a member is about to join or leave, neither holder nor waiter."""

    def is_exempt(self, member: Member) -> bool:
        """Return whether a member holds despite others before it: a re-entrant read."""

    def blocked_by(self, member: Member) -> tuple[Member, ...]:
        """Return members that must go first; their own blockers lead to the rest."""

    def members_before(self, member: Member) -> Sequence[Member]:
        """Return all members that must go first, holders included."""

    def count_before(self, member: Member) -> int:
        """Return the number of members that must go first."""

    def expected(self, member: Member) -> tuple[Target, ...]:
        """Return the watches that the recipe of this waiter sets."""


class QueueDefaults:
    """Default methods for queues with few members, all of which hold or wait in order."""

    __slots__ = ()

    @property
    def may_watch_children(self) -> bool:
        return True

    @property
    def counts_others(self) -> bool:
        return False

    def find(self: LockQueue, node: str) -> Member | None:
        return next((member for member in self.members if member.node == node), None)

    def holds(self: LockQueue, member: Member) -> bool:
        return member.node in [holder.node for holder in self.holders]

    def is_pending(self, member: Member) -> bool:
        return False

    def is_exempt(self, member: Member) -> bool:
        return False

    def members_before(self: LockQueue, member: Member) -> Sequence[Member]:
        return self.blocked_by(member)

    def count_before(self: LockQueue, member: Member) -> int:
        return len(self.members_before(member))


def only_watched(kind: LockKind, layout: str) -> bool:
    """Whether clients wait for a lock without their own znode: only their watches show it."""
    return kind == "single" or layout in _ONLY_WATCHED_LAYOUTS


class Lock(msgspec.Struct, frozen=True, eq=False, dict=True):
    """One lock: compared by identity, because an unchanged lock is the same object."""

    path: Text
    layout: str
    kind: LockKind
    queues: tuple[LockQueue, ...]
    stat: Stat | None  # of the root
    seen_zxid: int  # the transaction of its latest listing
    at: Millis
    leases: int | None = None
    leases_are: Literal["known", "inferred"] | None = None
    foreign: tuple[Text, ...] = ()
    obstacles: tuple[Member, ...] = ()  # foreign children that block members
    stranded: frozenset[Text] = frozenset()  # nodes that failed clients left behind
    warnings: tuple[str, ...] = ()
    error: str | None = None
    unrecognised: bool = False  # the user named this path, but no lock is recognised there
    blocking: bool = False  # configured: followers of this election wait
    until: Millis | None = None  # when the next lease ends, without any event
    asks_watches: bool = False  # watch tables can change the answer
    family: Family = Family()
    dependencies: tuple[Dependency, ...] = ()  # the facts outside `family` that it depends on

    @property
    def is_not_a_lock(self) -> bool:
        """Whether the user named a path with children that are not a lock's; `error` says so."""
        return self.unrecognised and self.error is not None and not self.family.denied

    @property
    def holders(self) -> Sequence[Member]:
        """The members that own the lock, in queue order."""
        return self._in_order([queue.holders for queue in self.queues])

    @property
    def waiters(self) -> Sequence[Member]:
        """The members that do not own it yet, in queue order."""
        return self._in_order([queue.waiters for queue in self.queues])

    @property
    def members(self) -> Iterator[Member]:
        """All members, queue by queue."""
        return (member for queue in self.queues for member in queue.members)

    @property
    def has_standbys(self) -> bool:
        """Whether members that do not hold it stand by instead of waiting."""
        return self.kind == "election" and not self.blocking

    @property
    def changed_at(self) -> Millis:
        """When the newest fact about its children, or the children of its parts, arrived."""
        parts = (answer for _, _, answer in self.dependencies if isinstance(answer, Family))
        return max([self.at, *(part.arrived_at for part in parts)])

    @property
    def is_only_watched(self) -> bool:
        return only_watched(self.kind, self.layout)

    @property
    def size(self) -> int:
        return sum(len(queue.members) for queue in self.queues)

    @property
    def next_sequence(self) -> int | None:
        """The number of the next member, or None if it is unknown or members have no numbers.

        The root's counter may have been read before the newest members were created, so their
        numbers count, as do those of members that have left. After the largest number, the
        counter turns negative, and the members' numbers no longer show anything.
        """
        known = [
            member.sequence
            for member in self.members
            if member.sequence is not None and "/" not in member.node
        ]
        counter = self.stat.next_sequence if self.stat else None
        if counter is None or not (known or self._may_number_members):
            return None
        newest = max([*known, self.family.removed_number])
        is_wrapped = newest >= LARGEST or min(known, default=0) < 0
        return counter if is_wrapped else max(counter, newest + 1)

    @property
    def _may_number_members(self) -> bool:
        """Whether the counter of an empty lock may number its members: not those in folders."""
        return not self.size and self.kind not in ("semaphore", "single", "lease")

    def member(self, node: str) -> Member | None:
        """Return the member with this name, relative to the lock's path."""
        queue = self.queue_with(node)
        return None if queue is None else queue.find(node)

    def queue_with(self, node: str) -> LockQueue | None:
        """Return the queue that has a member with this name."""
        if len(self.queues) == 1:
            return self.queues[0] if self.queues[0].find(node) is not None else None
        return self._queue_by_node.get(Text(node))

    def state(self, member: Member) -> MemberState:
        queue = self.queue_of(member)
        if queue.holds(member):
            return "holds"
        if queue.is_pending(member):
            return "pending"
        if member.node in self.stranded:
            return "waits"
        return "standby" if self.has_standbys else "waits"

    def blocked_by(self, member: Member) -> tuple[Member, ...]:
        """Return members that must go first; their own blockers lead to the rest."""
        return self.queue_of(member).blocked_by(member)

    def members_before(self, member: Member) -> Sequence[Member]:
        """Return all members that must go first, holders included."""
        return self.queue_of(member).members_before(member)

    def count_before(self, member: Member) -> int:
        """Return the number of members that must go first, without listing them."""
        return self.queue_of(member).count_before(member)

    def expected(self, member: Member) -> tuple[Target, ...]:
        """Return the watches that the recipe of this member sets."""
        return self.queue_of(member).expected(member)

    def is_exempt(self, member: Member) -> bool:
        """Return whether it holds despite others before it: a re-entrant read."""
        return self.queue_of(member).is_exempt(member)

    def queue_of(self, member: Member) -> LockQueue:
        return self.queues[0] if len(self.queues) == 1 else self._queue_by_node[member.node]

    @cached_property
    def has_separate_queues(self) -> bool:
        """Whether it has several queues that do not affect each other."""
        several = len(self.queues) > 1 and self.kind != "semaphore"
        return several and not any(queue.counts_others for queue in self.queues)

    @cached_property
    def _queue_by_node(self) -> dict[Text, LockQueue]:
        """An index for folders with thousands of locks that share the parent."""
        return {member.node: queue for queue in self.queues for member in queue.members}

    def _in_order(self, queues: list[Sequence[Member]]) -> Sequence[Member]:
        if len(queues) == 1:
            return queues[0]
        if "kazoo-semaphore" in self.layout or "curator-semaphore" in self.layout:
            return tuple(member for queue in queues for member in queue)
        return tuple(merge(*queues, key=_number))


class NotALock(msgspec.Struct, frozen=True):
    """A path that is not a lock, and its kind."""

    path: Text
    kind: str
    foreign: tuple[Text, ...] = ()
    error: str | None = None
    asks_watches: bool = False  # watch tables can change the answer


def _number(member: Member) -> int:
    return -1 if member.sequence is None else member.sequence


def absolute_path(lock: str, node: str) -> Text:
    """Return the path of a node that is named relative to a lock.

    >>> absolute_path("/locks/a", "."), absolute_path("/locks/a", "leases/x")
    ('/locks/a', '/locks/a/leases/x')
    >>> absolute_path("/locks/a", "../a-__lock__/x")
    '/locks/a-__lock__/x'
    """
    base = Text(lock)
    if node == ".":
        return base
    while node.startswith("../"):
        base, node = split(base)[0], node[3:]
    return join(base, node)


def relative_path(lock: str, path: str) -> Text:
    """Return a path relative to a lock; the inverse of `absolute_path`.

    >>> relative_path("/locks/a", "/locks/a"), relative_path("/locks/a", "/locks/a/leases/x")
    ('.', 'leases/x')
    >>> relative_path("/locks/a", "/locks/a-__lock__/x")
    '../a-__lock__/x'
    """
    if path == lock:
        return Text(".")
    base, up = lock, ""
    while not path.startswith(prefix_below(base)):
        base, up = split(base)[0], f"../{up}"
    return Text(up + path[len(base) :].lstrip("/"))
