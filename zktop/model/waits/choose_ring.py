"""Chooses the ring that shows a deadlock best, and prepares it for judgement.

The best ring is short, of plain waits, with a hard edge if there is one. A hard edge ends at a
holder, a soft one at a member that is itself queued. Both describe the state after every actor
that can finish has finished, which stays the same while the deadlock lasts.

Before it is judged, a ring gets its kind and rule, the evidence about its actors, and a test of
whether all its nodes existed at one moment, because queues are read at different times. A node
never changes and never comes back, so it existed from its czxid to the zxid of a listing that
shows it. If the newest node is no newer than the oldest listing, all nodes existed at once.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Literal

from msgspec import Struct

from zktop.model.waits.cores import (
    Core,
    StuckQueue,
    blockers,
    components,
    once_for_each,
    sparse_edges,
)
from zktop.model.waits.wait_queue import WaitQueue, WaitRequest

_MAX_PAIRS = 2_000
_MAX_STEPS = 20_000


class WaitEdge(Struct, frozen=True, gc=False):
    """A request that has to wait until another one is gone."""

    queue: WaitQueue
    request: WaitRequest
    blocker: WaitRequest
    is_hard: bool

    @property
    def is_self(self) -> bool:
        return self.request.actor == self.blocker.actor

    @property
    def is_plain(self) -> bool:
        """Whether this one blocker is enough to stop the request."""
        return self.queue.kind != "pool" or self.queue.room == 1


EdgesByWaiter = dict[str, list[WaitEdge]]
Ring = tuple[WaitEdge, ...]


def passes_by(edge: WaitEdge, before: WaitEdge) -> bool:
    """Whether the actor blocks with the same request that waits: it just queues."""
    return edge.request == before.blocker and edge.queue.lock == before.queue.lock


def queuing_actors(ring: Ring) -> frozenset[str]:
    """The actors of a ring that just queue between the others."""
    pairs = zip((ring[-1], *ring), ring, strict=False)
    return frozenset(edge.request.actor for before, edge in pairs if passes_by(edge, before))


def edges(core: Core) -> EdgesByWaiter:
    """The edges of a core by waiter. A large core has only those that keep it connected."""
    full = sum(len(stuck_queue.members) ** 2 for stuck_queue in core.queues) <= 2 * _MAX_PAIRS
    graph: EdgesByWaiter = {actor: [] for actor in sorted(core.actors)}
    for stuck_queue in core.queues:
        for place, other in sorted(_pairs(stuck_queue, full=full)):
            request, blocker = stuck_queue.members[place], stuck_queue.members[other]
            graph[request.actor].append(
                WaitEdge(stuck_queue.queue, request, blocker, is_hard=not stuck_queue.waits[other])
            )
    return graph


def _pairs(stuck_queue: StuckQueue, *, full: bool) -> set[tuple[int, int]]:
    """Places that wait, each with one that blocks it: all if `full`, or just enough of them."""
    waiting = [place for place, is_waiting in enumerate(stuck_queue.waits) if is_waiting]
    if full:
        return {(place, other) for place in waiting for other in blockers(stuck_queue, place)}
    first_blockers = ((place, next(blockers(stuck_queue, place))) for place in waiting)
    return {*sparse_edges(stuck_queue), *first_blockers}  # the first is usually a holder


def best_ring(graph: EdgesByWaiter) -> Ring:
    """The cycle to show, ending with the newest request: the one that closed it.

    The result is empty if there is no cycle. A core always has one.
    """
    for accepts in _PREFERENCES:
        ring = _shortest(graph, accepts)
        if ring:
            newest = max(range(len(ring)), key=lambda place: (ring[place].request.czxid, place))
            return ring[newest + 1 :] + ring[: newest + 1]
    return ()


def first_closed(graph: EdgesByWaiter) -> Ring:
    """The cycle that closed first."""
    stamps = sorted({edge.request.czxid for out in graph.values() for edge in out})
    closed = bisect_left(stamps, 1, key=lambda stamp: int(_has_cycle(_until(graph, stamp))))
    return best_ring(_until(graph, stamps[closed])) if closed < len(stamps) else ()


def _until(graph: EdgesByWaiter, czxid: int) -> EdgesByWaiter:
    """The edges of the requests that existed at this transaction."""
    return {
        actor: [edge for edge in out if edge.request.czxid <= czxid]
        for actor, out in graph.items()
    }


def _has_cycle(graph: EdgesByWaiter) -> bool:
    links = {
        actor: [edge.blocker.actor for edge in out if edge.blocker.actor in graph]
        for actor, out in graph.items()
    }
    return any(len(group) > 1 or group[0] in links[group[0]] for group in components(links))


@once_for_each  # most cores stay unchanged
def ring_of(core: Core) -> Ring:
    """The cycle to show for one core."""
    return best_ring(edges(core))


_PREFERENCES: tuple[Callable[[WaitEdge], bool], ...] = (
    lambda edge: edge.is_plain and edge.is_hard and not edge.is_self,
    lambda edge: edge.is_plain and edge.is_hard and edge.is_self,
    lambda edge: edge.is_plain and not edge.is_self,
    lambda edge: not edge.is_self,
    lambda _: True,
)


def _shortest(graph: EdgesByWaiter, accepts: Callable[[WaitEdge], bool]) -> Ring:
    rings: list[Ring] = []
    ahead: dict[str, list[WaitEdge]] = {}
    done: set[str] = set()  # their only way is a ring already found
    for start in _starts(graph):
        if start not in done and (ring := _through(start, graph, accepts, ahead)):
            rings.append(ring)
            actors = [edge.request.actor for edge in ring]
            if all(len(ahead[actor]) == 1 for actor in actors):
                done.update(actors)
    return min(rings, key=_rank, default=())


def _starts(graph: EdgesByWaiter) -> Iterator[str]:
    """The actors to search from: all, or two of a large core, newest request first."""
    if len(graph) * sum(map(len, graph.values())) <= _MAX_STEPS:
        yield from graph
    else:
        newest = max((edge.request.czxid, actor) for actor in graph for edge in graph[actor])
        yield newest[1]
        yield next(iter(graph))


def _rank(ring: Ring) -> tuple[int, ...]:
    """Rank rings: short ones first, then several locks, few queued blockers, the first closed."""
    is_local = len({edge.queue.lock for edge in ring}) == 1
    soft = sum(not edge.is_hard for edge in ring)
    return len(ring), is_local, soft, max(edge.request.czxid for edge in ring)


def _through(
    start: str,
    graph: EdgesByWaiter,
    accepts: Callable[[WaitEdge], bool],
    ahead: EdgesByWaiter,
) -> Ring:
    """A shortest cycle through this actor, breadth first; `ahead` caches the accepted edges."""
    came_by: dict[str, WaitEdge] = {}
    level = [start]
    while level:
        following: list[str] = []
        for actor in level:
            if actor not in ahead:
                ahead[actor] = list(filter(accepts, graph[actor]))
            for edge in ahead[actor]:
                target = edge.blocker.actor
                if target == start:
                    return _back(edge, start, came_by)
                if target in graph and target not in came_by:
                    came_by[target] = edge
                    following.append(target)
        level = following
    return ()


def _back(last: WaitEdge, start: str, came_by: dict[str, WaitEdge]) -> Ring:
    path = [last]
    while path[-1].request.actor != start:
        path.append(came_by[path[-1].request.actor])
    return tuple(reversed(path))


DeadlockKind = Literal["cycle", "fairness", "knot", "upgrade", "upgraders", "watches", "election"]
DeadlockRule = Literal["D1", "D2", "D3", "D4", "D5", "D6", "D7", "D8"]


def rule_and_kind(core: Core, ring: Ring) -> tuple[DeadlockRule, DeadlockKind]:
    if any(edge.queue.kind == "election" for edge in ring):
        return "D8", "election"
    if not all(edge.is_plain for edge in ring):
        return "D3", "knot"
    if any(edge.is_self for edge in ring):
        is_upgrade = ring[0].blocker.reads and not ring[0].request.reads
        return ("D4", "upgrade") if is_upgrade else ("D6", "cycle")
    if len({edge.queue.lock for edge in ring}) == 1 and upgraders(core, ring):
        return "D5", "upgraders"
    return ("D1", "cycle") if all(edge.is_hard for edge in ring) else ("D2", "fairness")


def upgraders(core: Core, ring: Ring) -> list[str]:
    """The actors that read the first queue of the ring and wait to write it, if several do."""
    lock = ring[0].queue.lock
    actors = sorted(
        {
            actor
            for stuck_queue in core.queues
            if stuck_queue.queue.lock == lock
            for actor in _upgrades(stuck_queue)
        }
    )
    return actors if len(actors) > 1 else []


def _upgrades(stuck_queue: StuckQueue) -> Iterator[str]:
    pairs = list(zip(stuck_queue.members, stuck_queue.waits, strict=True))
    reading = {member.actor for member, waits in pairs if member.reads and not waits}
    if stuck_queue.queue.kind == "read-write":
        yield from (
            member.actor
            for member, waits in pairs
            if waits and not member.reads and member.actor in reading
        )


def twice_queued(ring: Ring) -> Counter[str]:
    """Actors that have two places of the ring in one queue.

    Sessions with several threads often do, so such a ring proves little.
    """
    roles = {
        (edge.queue.lock, request.node, request.actor)
        for edge in ring
        for request in (edge.request, edge.blocker)
    }
    places = Counter((lock, actor) for lock, _, actor in roles)
    return Counter(actor for (_, actor), number in places.items() if number > 1)


class Coexistence(Struct, frozen=True, gc=False):
    """Newest czxid, zxid of the oldest listing, and the locks to list again to prove the ring."""

    newest: int
    oldest_listing: int
    relist: tuple[str, ...]
    is_proven: bool


def coexistence(
    members: Iterable[tuple[str, WaitRequest]],
    queues: Mapping[str, WaitQueue],
    complete_to: int = 0,
) -> Coexistence:
    """Compare the members (queue, request) with the newest listings of their locks.

    Up to `complete_to`, no change is missing: that is as good as a listing of everything. If it is
    not proven and nothing is to be listed again, the zxid of a listing or of a znode is unknown.
    """
    members = list(members)
    newest = max(request.czxid for _, request in members)
    looks = {lock: max(queues[lock].seen_zxid, complete_to) for lock, _ in members}
    is_known = all(looks.values()) and all(request.czxid > 0 for _, request in members)
    late = tuple(sorted(lock for lock, zxid in looks.items() if 0 < zxid < newest))
    return Coexistence(newest, min(looks.values()), late, is_proven=is_known and not late)


class ActorEvidence(Struct, frozen=True, kw_only=True):
    """Facts about actors. A fact that is absent is unknown.

    `concurrent`: seen to act while they should have been blocked. `threads`: a rule in the
    config names it, usually as one thread. `released`: zxid of the last release by a stuck actor.
    `still_since_ms`: time of its last request other than pings and those around a new connection.
    `moved_ms`: time of its last new connection. `quiet_ms`: how long it was observed to send none.
    `watched` and `astray`: (lock, node) of requests whose watch is where it should be, or is not.
    `usual_hold_ms`: 99th percentile by lock. `patience_ms`: how long an actor waited before it
    gave up. `cut_off`: has sessions, but no connection.
    """

    now_ms: int
    settle_ms: int = 2_000
    complete_to: int = 0  # the transaction up to which no change is missing; 0: not known
    concurrent: AbstractSet[str] = frozenset()
    threads: AbstractSet[str] = frozenset()
    released: Mapping[str, int] = {}
    still_since_ms: Mapping[str, int] = {}
    moved_ms: Mapping[str, int] = {}
    quiet_ms: Mapping[str, int] = {}
    watched: AbstractSet[tuple[str, str]] = frozenset()
    astray: AbstractSet[tuple[str, str]] = frozenset()
    usual_hold_ms: Mapping[str, int] = {}
    patience_ms: Mapping[str, int] = {}
    cut_off: AbstractSet[str] = frozenset()


class RingCase(Struct, frozen=True, kw_only=True):
    """A ring, with everything that its confidence depends on."""

    rule: DeadlockRule
    ring: Ring
    closing: WaitEdge  # of the newest request
    actors: AbstractSet[str]
    coexistence: Coexistence
    owner: Callable[[str], str]
    several: Mapping[str, str] = {}  # actors with several threads, and what shows it
    is_supposed: bool = False

    def is_threaded(self, known: ActorEvidence) -> bool:
        """Whether some of its actors are known to have several threads."""
        return bool(self.several or self.actors & known.concurrent)

    @property
    def requests(self) -> Iterator[WaitRequest]:
        """All requests that wait or block in the ring."""
        return (request for edge in self.ring for request in (edge.request, edge.blocker))
