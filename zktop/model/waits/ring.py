"""The one cycle that shows a core best: short, of plain waits, of hard edges where there is one.

A hard edge ends at somebody who holds, a soft one at somebody who queues. "Holds" is meant once
all have gone on who can: that picture stays the same for as long as the deadlock lives.

Which kind of deadlock a core is, and by which rule.

What is known beside the queues, and a deadlock before the judge.

The test whether all of a ring existed at one moment, or was stitched together.

Queues are read at different times. But a node never changes and never comes back: it existed from
its czxid to the zxid of a listing that shows it. If the newest of the nodes is not younger than
the oldest of the looks, there was a moment with all of them.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from zktop.model.waits.cores import Core, StuckQueue, StuckSet, blockers, components, sparse_edges
from zktop.model.waits.state import WaitQueue, WaitRequest

_PAIRS_AT_MOST = 2_000
_STEPS_AT_MOST = 20_000


class WaitEdge(Struct, frozen=True, gc=False):
    """A request that cannot go on before another one is gone."""

    queue: WaitQueue
    request: WaitRequest
    blocker: WaitRequest
    is_hard: bool

    @property
    def is_self(self) -> bool:
        """Whether an actor waits for itself."""
        return self.request.actor == self.blocker.actor

    @property
    def is_plain(self) -> bool:
        """Whether this one blocker alone is enough to stop the request."""
        return self.queue.kind != "pool" or self.queue.room == 1


EdgesByWaiter = dict[str, list[WaitEdge]]
Ring = tuple[WaitEdge, ...]


def passes_by(edge: WaitEdge, before: WaitEdge) -> bool:
    """Whether the actor blocks by the very request with which it waits: it merely queues."""
    return edge.request == before.blocker and edge.queue.lock == before.queue.lock


def queued(found: Ring) -> frozenset[str]:
    """Name those of a ring that merely queue between the others."""
    pairs = zip((found[-1], *found), found, strict=False)
    return frozenset(edge.request.actor for before, edge in pairs if passes_by(edge, before))


def edges(core: Core) -> EdgesByWaiter:
    """All edges of the core by waiter; of a crowded one those that keep it connected."""
    full = sum(len(rest.members) ** 2 for rest in core.queues) <= 2 * _PAIRS_AT_MOST
    graph: EdgesByWaiter = {actor: [] for actor in sorted(core.actors)}
    for rest in core.queues:
        for place, other in sorted(_pairs(rest, full=full)):
            request, blocker = rest.members[place], rest.members[other]
            graph[request.actor].append(
                WaitEdge(rest.queue, request, blocker, is_hard=not rest.waits[other])
            )
    return graph


def _pairs(rest: StuckQueue, *, full: bool) -> set[tuple[int, int]]:
    waiting = [place for place, is_waiting in enumerate(rest.waits) if is_waiting]
    if full:
        return {(p, other) for p in waiting for other in blockers(rest.queue, rest.members, p)}
    nearest_holder = ((p, next(blockers(rest.queue, rest.members, p))) for p in waiting)
    return {*sparse_edges(rest), *nearest_holder}


def ring(graph: EdgesByWaiter) -> Ring:
    """Choose the cycle to show, ending with the newest request: the one that closed it.

    Empty if there is none; a core always has one.
    """
    for accepts in _PREFERENCES:
        found = _shortest(graph, accepts)
        if found:
            newest = max(range(len(found)), key=lambda i: (found[i].request.czxid, i))
            return found[newest + 1 :] + found[: newest + 1]
    return ()


def first_closed(graph: EdgesByWaiter) -> Ring:
    """The cycle that was closed before all others."""
    stamps = sorted({edge.request.czxid for out in graph.values() for edge in out})
    first = bisect_left(stamps, 1, key=lambda stamp: _has_cycle(_until(graph, stamp)))
    return ring(_until(graph, stamps[first])) if first < len(stamps) else ()


def _until(graph: EdgesByWaiter, czxid: int) -> EdgesByWaiter:
    return {a: [edge for edge in out if edge.request.czxid <= czxid] for a, out in graph.items()}


def _has_cycle(graph: EdgesByWaiter) -> bool:
    links = {
        a: [e.blocker.actor for e in out if e.blocker.actor in graph] for a, out in graph.items()
    }
    return any(len(group) > 1 or group[0] in links[group[0]] for group in components(links))


@lru_cache(maxsize=4)
def rings(stuck_set: StuckSet) -> tuple[Ring, ...]:
    """Find the cycle to show for each core."""
    return tuple(ring(edges(core)) for core in stuck_set.cores)


_PREFERENCES: tuple[Callable[[WaitEdge], bool], ...] = (
    lambda edge: edge.is_plain and edge.is_hard and not edge.is_self,
    lambda edge: edge.is_plain and edge.is_hard and edge.is_self,
    lambda edge: edge.is_plain and not edge.is_self,
    lambda edge: not edge.is_self,
    lambda edge: edge is not None,
)


def _shortest(graph: EdgesByWaiter, accepts: Callable[[WaitEdge], bool]) -> Ring:
    rings = [found for start in _starts(graph) if (found := _through(start, graph, accepts))]
    return min(rings, key=_rank, default=())


def _starts(graph: EdgesByWaiter) -> Iterator[str]:
    """Every actor; in a big core the one that asked last, for it is on a cycle as well."""
    if len(graph) * sum(map(len, graph.values())) <= _STEPS_AT_MOST:
        yield from graph
    else:
        newest = max((edge.request.czxid, actor) for actor in graph for edge in graph[actor])
        yield newest[1]
        yield next(iter(graph))


def _rank(found: Ring) -> tuple[int, ...]:
    """Shorter first, then several locks, then fewer queued blockers, then the one closed first."""
    is_local = len({edge.queue.lock for edge in found}) == 1
    soft = sum(not edge.is_hard for edge in found)
    return len(found), is_local, soft, max(edge.request.czxid for edge in found)


def _through(start: str, graph: EdgesByWaiter, accepts: Callable[[WaitEdge], bool]) -> Ring:
    """Find a shortest cycle through this actor, breadth first."""
    came_by: dict[str, WaitEdge] = {}
    level = [start]
    while level:
        following: list[str] = []
        for actor in level:
            for edge in filter(accepts, graph[actor]):
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


def kind(core: Core, ring: Ring) -> tuple[DeadlockRule, DeadlockKind]:
    """Rule and kind of the core that shows itself by this ring."""
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
    """Who of the ring's first queue reads it and wants to write it, when there are several."""
    lock = ring[0].queue.lock
    found = sorted({a for rest in core.queues if rest.queue.lock == lock for a in _upgrades(rest)})
    return found if len(found) > 1 else []


def _upgrades(rest: StuckQueue) -> Iterator[str]:
    pairs = list(zip(rest.members, rest.waits, strict=True))
    reading = {member.actor for member, waits in pairs if member.reads and not waits}
    if rest.queue.kind == "read-write":
        yield from (m.actor for m, waits in pairs if waits and not m.reads and m.actor in reading)


def doubles(ring: Ring) -> Counter[str]:
    """Actors that a ring needs twice in one queue.

    One session with several threads does that all day, so such a ring proves little.
    """
    roles = {(e.queue.lock, r.node, r.actor) for e in ring for r in (e.request, e.blocker)}
    places = Counter((lock, actor) for lock, _, actor in roles)
    return Counter(actor for (_, actor), number in places.items() if number > 1)


class Coexistence(Struct, frozen=True, gc=False):
    """Newest czxid, oldest look, and the locks that must be listed again to prove it."""

    newest: int
    oldest_look: int
    relist: tuple[str, ...]
    is_proven: bool


def coexistence(
    members: Iterable[tuple[str, WaitRequest]], queues: Mapping[str, WaitQueue]
) -> Coexistence:
    """Test the members (lock path, request) against the newest looks at their locks.

    Nothing to list again and yet not proven: a zxid is not known, or a waiter has no node.
    """
    members = list(members)
    newest = max(request.czxid for _, request in members)
    looks = {lock: queues[lock].seen_zxid for lock, _ in members}
    is_known = all(looks.values()) and all(request.czxid > 0 for _, request in members)
    late = tuple(sorted(lock for lock, zxid in looks.items() if 0 < zxid < newest))
    return Coexistence(newest, min(looks.values()), late, is_proven=is_known and not late)


class ActorEvidence(Struct, frozen=True, kw_only=True):
    """Facts about actors, as far as they are known; what is absent is unknown.

    `concurrent`: seen to act while they should have been blocked. `threads`: the identity names a
    thread. `released`: the zxid at which who is stuck last released something. `still_since_ms`:
    when it sent its last request but pings. `quiet_ms`: for so long it has been watched to send
    none. `watched` and `astray`: (lock, node) of requests whose watch is where it should be, or
    is not. `usual_hold_ms`: the 99th percentile by lock. `patience_ms`: after how long an actor
    gave up before.
    """

    now_ms: int
    settle_ms: int = 2_000
    concurrent: AbstractSet[str] = frozenset()
    threads: AbstractSet[str] = frozenset()
    released: Mapping[str, int] = {}
    still_since_ms: Mapping[str, int] = {}
    quiet_ms: Mapping[str, int] = {}
    watched: AbstractSet[tuple[str, str]] = frozenset()
    astray: AbstractSet[tuple[str, str]] = frozenset()
    usual_hold_ms: Mapping[str, int] = {}
    patience_ms: Mapping[str, int] = {}


class Clue(Struct, frozen=True, gc=False):
    """One line of evidence: it supports the verdict, speaks against it, or (None) is assumed."""

    supports: bool | None
    text: str


class RingCase(Struct, frozen=True, kw_only=True):
    """A ring before the judge."""

    rule: DeadlockRule
    ring: Ring
    closing: WaitEdge  # the request since which nobody can go on
    actors: AbstractSet[str]
    coexistence: Coexistence
    owner: Callable[[str], str]
    several: Mapping[str, str] = {}  # who has several threads, by what shows that
    is_supposed: bool = False

    def is_threaded(self, known: ActorEvidence) -> bool:
        """Whether some of its actors are known to have several threads."""
        return bool(self.several or self.actors & known.concurrent)

    @property
    def requests(self) -> Iterator[WaitRequest]:
        """Everything that waits or blocks in the ring."""
        return (request for edge in self.ring for request in (edge.request, edge.blocker))
