"""The one cycle that shows a core best: short, of plain waits, of hard edges where there is one.

A hard edge ends at somebody who holds, a soft one at somebody who queues. "Holds" is meant once
all have gone on who can: that picture stays the same for as long as the deadlock lives.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache

from msgspec import Struct

from zktop.model.waits.cores import Core
from zktop.model.waits.remnant import Remnant, blockers, sparse_edges
from zktop.model.waits.residue import Residue
from zktop.model.waits.state import Queue, Request

_PAIRS_AT_MOST = 2_000
_STEPS_AT_MOST = 20_000


class Edge(Struct, frozen=True, gc=False):
    """A request that cannot go on before another one is gone."""

    queue: Queue
    request: Request
    blocker: Request
    is_hard: bool

    @property
    def is_self(self) -> bool:
        """Whether an actor waits for itself."""
        return self.request.actor == self.blocker.actor

    @property
    def is_plain(self) -> bool:
        """Whether this one blocker alone is enough to stop the request."""
        return self.queue.kind != "pool" or self.queue.room == 1


Graph = dict[str, list[Edge]]
Ring = tuple[Edge, ...]


def passes_by(edge: Edge, before: Edge) -> bool:
    """Whether the actor blocks by the very request with which it waits: it merely queues."""
    return edge.request == before.blocker and edge.queue.lock == before.queue.lock


def queued(found: Ring) -> frozenset[str]:
    """Name those of a ring that merely queue between the others."""
    pairs = zip((found[-1], *found), found, strict=False)
    return frozenset(edge.request.actor for before, edge in pairs if passes_by(edge, before))


def edges(core: Core) -> Graph:
    """All edges of the core by waiter; of a crowded one those that keep it connected."""
    full = sum(len(rest.members) ** 2 for rest in core.remnants) <= 2 * _PAIRS_AT_MOST
    graph: Graph = {actor: [] for actor in sorted(core.actors)}
    for rest in core.remnants:
        for place, other in sorted(_pairs(rest, full=full)):
            request, blocker = rest.members[place], rest.members[other]
            graph[request.actor].append(
                Edge(rest.queue, request, blocker, is_hard=not rest.waits[other])
            )
    return graph


def _pairs(rest: Remnant, *, full: bool) -> set[tuple[int, int]]:
    waiting = [place for place, is_waiting in enumerate(rest.waits) if is_waiting]
    if full:
        return {(p, other) for p in waiting for other in blockers(rest.queue, rest.members, p)}
    nearest_holder = ((p, next(blockers(rest.queue, rest.members, p))) for p in waiting)
    return {*sparse_edges(rest), *nearest_holder}


def ring(graph: Graph) -> Ring:
    """Choose the cycle to show, ending with the newest request: the one that closed it."""
    for accepts in _PREFERENCES:
        found = _shortest(graph, accepts)
        if found:
            newest = max(range(len(found)), key=lambda i: (found[i].request.czxid, i))
            return found[newest + 1 :] + found[: newest + 1]
    message = "a core without a cycle cannot be"
    raise AssertionError(message)


@lru_cache(maxsize=4)
def rings(residue: Residue) -> tuple[Ring, ...]:
    """Find the cycle to show for each core."""
    return tuple(ring(edges(core)) for core in residue.cores)


_PREFERENCES: tuple[Callable[[Edge], bool], ...] = (
    lambda edge: edge.is_plain and edge.is_hard and not edge.is_self,
    lambda edge: edge.is_plain and edge.is_hard and edge.is_self,
    lambda edge: edge.is_plain and not edge.is_self,
    lambda edge: not edge.is_self,
    lambda edge: edge is not None,
)


def _shortest(graph: Graph, accepts: Callable[[Edge], bool]) -> Ring:
    rings = [found for start in _starts(graph) if (found := _through(start, graph, accepts))]
    return min(rings, key=_rank, default=())


def _starts(graph: Graph) -> Iterator[str]:
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


def _through(start: str, graph: Graph, accepts: Callable[[Edge], bool]) -> Ring:
    """Find a shortest cycle through this actor, breadth first."""
    came_by: dict[str, Edge] = {}
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


def _back(last: Edge, start: str, came_by: dict[str, Edge]) -> Ring:
    path = [last]
    while path[-1].request.actor != start:
        path.append(came_by[path[-1].request.actor])
    return tuple(reversed(path))
