"""Deadlocks that only watch tables show: waiters that watch each other, or a successor.

By queue order, one of them may even hold the lock. But a client that watches a node behind its own
does not know that it holds the lock, and no event will wake it. No correct recipe gets into this
state.
"""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import dropwhile

from zktop.model.waits.choose_ring import Ring, WaitEdge, best_ring, coexistence
from zktop.model.waits.confidence import Evidence
from zktop.model.waits.cores import components
from zktop.model.waits.deadlock import Deadlock, deadlock_id, deadlock_place, signature, step
from zktop.model.waits.deadlock_sentences import DisplayNames, watch_sentence
from zktop.model.waits.find_stuck import holding_nodes
from zktop.model.waits.wait_queue import WaitQueue

Watched = Mapping[str, AbstractSet[str]]


def watch_deadlocks(
    queue: WaitQueue, watched: Watched, names: DisplayNames
) -> tuple[Deadlock, ...]:
    """Find both kinds in one queue; `watched` maps an actor to the nodes that it watches.

    Actors whose watches could not be read are missing from `watched`.
    """
    here = {request.node for request in queue.requests}
    # An actor that also watches a node in another queue of the lock may be woken by it.
    only_here = {actor: nodes for actor, nodes in watched.items() if nodes <= here}
    rings = list(_rings(queue, only_here))
    in_rings = {edge.request.actor for ring in rings for edge in ring}
    others = {actor: nodes for actor, nodes in only_here.items() if actor not in in_rings}
    rings += _successors(queue, others)
    return tuple(_deadlock(queue, ring, names) for ring in rings)


def _rings(queue: WaitQueue, watched: Watched) -> Iterator[Ring]:
    """Find waiters that watch each other, in a ring."""
    by_node = {request.node: request for request in queue.requests}
    newest = {request.actor: request for request in queue.requests}
    graph: dict[str, list[WaitEdge]] = {actor: [] for actor in newest}
    for actor, request in newest.items():
        targets = [by_node[node] for node in sorted(watched.get(actor, ()))]
        # An actor that also watches a node outside the ring may be woken by it.
        if len({target.actor for target in targets}) == 1 and targets[0].actor != actor:
            graph[actor] = [WaitEdge(queue, request, targets[0], is_hard=True)]
    links = {actor: [edge.blocker.actor for edge in out] for actor, out in graph.items()}
    for group in components(links):
        if len(group) > 1:
            yield best_ring({actor: graph[actor] for actor in sorted(group)})


def _successors(queue: WaitQueue, watched: Watched) -> Iterator[Ring]:
    """Find waiters that watch only nodes behind their own in this queue."""
    place_of = {request.node: place for place, request in enumerate(queue.requests)}
    own: dict[str, int] = {request.actor: place for place, request in enumerate(queue.requests)}
    holding = holding_nodes(queue)
    for actor, nodes in sorted(watched.items()):
        place = own.get(actor)
        if place is None or not nodes:
            continue
        first_watched = min(place_of[node] for node in nodes)
        request, target = queue.requests[place], queue.requests[first_watched]
        if first_watched > place and request.node not in holding:
            yield (WaitEdge(queue, request, target, is_hard=True),)


def _deadlock(queue: WaitQueue, ring: Ring, names: DisplayNames) -> Deadlock:
    requests = [request for edge in ring for request in (edge.request, edge.blocker)]
    members = [(queue.lock, request) for request in requests]
    stamps = [request.since_ms for request in requests if request.since_ms is not None]
    holding = holding_nodes(queue)
    held = {
        request.node: (deadlock_place(queue.lock, request),) if request.node in holding else ()
        for request in requests
    }
    return Deadlock(
        id=deadlock_id("D7", ring),
        rule="D7",
        kind="watches",
        confidence="C4",
        since_ms=max(stamps, default=None),
        coexistence_proven=coexistence(members, {queue.lock: queue}).is_proven,
        actors=tuple(edge.request.actor for edge in ring),
        locks=(queue.lock,),
        steps=tuple(
            step(edge, held[edge.request.node], names, closes=edge is ring[-1]) for edge in ring
        ),
        behind=_count_behind(queue, ring),
        sentence=watch_sentence(queue, ring, names),
        ways_out=(),
        signature=signature("D7", ring, names),
        evidence=(
            Evidence(supports=True, text="the watch tables show it; no correct recipe does this"),
        ),
    )


def _count_behind(queue: WaitQueue, ring: Ring) -> int:
    sleeping = {edge.request.actor for edge in ring}
    from_first = dropwhile(lambda request: request.actor not in sleeping, queue.requests)
    return len({request.actor for request in from_first} - sleeping)
