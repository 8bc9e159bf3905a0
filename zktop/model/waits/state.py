"""The input of the wait engine: requests in their queues, as plain frozen values.

Neither value can be part of a reference cycle, so the garbage collector need not track them:
tens of thousands of requests then cost it nothing.

What changed between two states of one queue.
"""

from abc import abstractmethod
from collections.abc import Container, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from zktop.model.world.sequence_diff import splits

Mode = Literal["exclusive", "read", "write", "lease", "candidate"]
QueueKind = Literal["exclusive", "read-write", "pool", "single", "election", "conflict"]


class WaitRequest(Struct, frozen=True, gc=False):
    """One place in a queue.

    `node` is unique in its queue. A request without a znode (somebody known only by a watch) has
    czxid 0. `exempt` is granted at once, wherever it stands, and still blocks those behind it (a
    re-entrant read, a lease seen taken); no writer among readers may be.
    `releases=False` belongs to nobody who could ever remove it; give each its own pseudo actor.
    `session` is the owner before a configuration merged or split sessions into actors.
    """

    node: str
    actor: str
    mode: Mode
    czxid: int
    since_ms: int | None = None
    exempt: bool = False
    releases: bool = True
    session: str | None = None

    @property
    def reads(self) -> bool:
        """Whether it can share the lock with other readers."""
        return self.mode == "read"


class Passing(Sequence[WaitRequest]):
    """The requests of a queue of sessions, none of which reads; made when somebody looks at them.

    Nearly all queues are such ones, and nearly nobody in them stands elsewhere too: of those the
    graph needs the sessions alone.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def sessions(self) -> Sequence[int]:
        """Whose they are, in queue order; each releases, none is exempt."""

    @property
    @abstractmethod
    def actor(self) -> str:
        """Who stands first."""

    @abstractmethod
    def waited_since_ms(self) -> Sequence[int]:
        """Since when each of them stands there, without the first."""


class WaitQueue(Struct, frozen=True, gc=False):
    """One lock at one moment: its requests in queue order and what decides between them.

    pool: `capacity` requests hold at once; when it is unknown (None or 0) nobody is known to wait.
    single: the first request holds, the others wait for it in no order; empty when nobody holds.
    election: the first leads for good; followers wait only where the root is `blocking`.
    conflict: a request waits for the earlier nodes that `conflicts` names for it.
    `seen_zxid` is the zxid of the header of the listing all this was read from (0: not known).
    `guessed` says that the layout of the lock, and so the order, is only a guess.
    """

    lock: str
    kind: QueueKind
    requests: tuple[WaitRequest, ...] | Passing
    capacity: int | None = None
    capacity_is: Literal["known", "inferred"] = "known"
    blocking: bool = False
    seen_zxid: int = 0
    conflicts: Mapping[str, tuple[str, ...]] | None = None
    guessed: bool = False

    @property
    def binds(self) -> bool:
        """Whether a place in this queue can stop anybody."""
        if self.kind == "election":
            return self.blocking
        return self.kind != "pool" or bool(self.capacity)

    @property
    def rules(self) -> tuple[object, ...]:
        """What decides between requests, apart from the requests."""
        return self.kind, self.capacity, self.blocking

    @property
    def room(self) -> int:
        """How many requests can hold at once, where that is a number."""
        return self.capacity or 1 if self.kind == "pool" else 1


Requests = tuple[WaitRequest, ...]


def changed_requests(old: Requests, new: Requests) -> tuple[Requests, Requests]:
    """Tell created and deleted requests; all of them when the rest did not keep its order.

    Only where the two are out of step is anybody compared: a queue may have ten thousand.
    """
    created: list[WaitRequest] = []
    deleted: list[WaitRequest] = []
    for part in splits(old, new):
        was = old[part.here : part.here + part.left]
        now = new[part.there : part.there + part.joined]
        before = {request.node: request for request in was}
        kept = {request.node for request in now if before.get(request.node) == request}
        order = [request.node for request in now if request.node in kept]
        if order != [request.node for request in was if request.node in kept]:
            return new, old
        created += [request for request in now if request.node not in kept]
        deleted += [request for request in was if request.node not in kept]
    if not set(created).isdisjoint(deleted):
        return new, old  # who is as before stands somewhere else now
    return tuple(created), tuple(deleted)


def is_tail(requests: Requests, created: Requests, tangled: Container[str]) -> bool:
    """Whether the created requests stand behind all others that matter to somebody else.

    Passers-by may follow: a place whose owner is read later than it was heard of is created once
    more, before those who came since.
    """
    left = {request.node for request in created}
    for request in reversed(requests):
        if not left:
            break
        if request.node in left:
            left.remove(request.node)
        elif request.actor in tangled:
            return False
    return not left
