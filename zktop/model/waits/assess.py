"""Judges every core of the wait graph: finds deadlocks, hints, and locks to list again.

It also judges the graph as if election candidates blocked while they wait to lead. Normally they
continue to work, so an election is not a wait. But a leader that waits for a lock whose holder
waits to lead deserves a hint, and more than a hint if actor names identify threads.
"""

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from zktop.model.waits.choose_ring import (
    ActorEvidence,
    Ring,
    RingCase,
    WaitEdge,
    coexistence,
    edges,
    first_closed,
    queuing_actors,
    ring_of,
    rule_and_kind,
)
from zktop.model.waits.concurrent_actors import multi_threaded
from zktop.model.waits.confidence import WORKING_RING_MS, confidence
from zktop.model.waits.cores import Core, StuckSet, once_for_each, stuck_tail
from zktop.model.waits.deadlock import (
    Deadlock,
    deadlock_id,
    newest_edge,
    ordered_actors,
    signature,
    steps,
)
from zktop.model.waits.deadlock_sentences import DisplayNames, sentence
from zktop.model.waits.wait_graph import StuckCore, WaitGraph
from zktop.model.waits.wait_queue import WaitQueue, WaitRequest
from zktop.model.waits.ways_out import ways_out


def with_blocking_elections(graph: WaitGraph) -> WaitGraph | None:
    """The graph with elections counted as waits; None if no candidate also wants locks."""
    elections = [
        queue
        for queue in graph.queues.values()
        if queue.kind == "election" and not queue.blocking and _may_entangle(graph, queue)
    ]
    work = [request.actor for queue in elections for request in queue.requests]
    if not work:
        return None
    locks: set[str] = set()
    in_elections = {request.actor for queue in elections for request in queue.requests}
    while work:
        for lock in set(graph.locks(work.pop())) - locks:
            locks.add(lock)
            actors = {request.actor for request in graph.queues[lock].requests}
            work += actors & (graph.tangled | in_elections)
    blocking = [replace(queue, blocking=True) for queue in elections]
    return WaitGraph([*blocking, *(graph.queues[lock] for lock in sorted(locks))])


def _may_entangle(graph: WaitGraph, queue: WaitQueue) -> bool:
    """Whether a later candidate has a place in a lock, and an earlier one waits for a lock."""
    actors = [request.actor for request in queue.requests]
    is_waiting = (
        not graph.holds(place_queue, request)
        for actor in actors[:-1]
        for place_queue, request in graph.places(actor)
    )
    return any(graph.locks(actor) for actor in actors[1:]) and any(is_waiting)


@once_for_each
def count_behind(stuck_set: StuckSet) -> Counter[frozenset[int]]:
    """Count the actors outside all cores of a stuck set, by the cores they are behind."""
    in_cores = {actor for core in stuck_set.cores for actor in core.actors}
    counts = Counter(
        numbers for actor, numbers in stuck_set.reach.items() if actor not in in_cores
    )
    for lock in stuck_set.queues:
        counts.update(numbers for _, numbers in stuck_tail(stuck_set, lock))
    return counts


class Assessment(Struct, frozen=True, gc=False):
    """Deadlocks, hints that deserve no alarm, and locks to list again to decide other cases."""

    deadlocks: tuple[Deadlock, ...]
    hints: tuple[Deadlock, ...]
    relist: tuple[str, ...]


class Judgement(Struct, frozen=True, gc=False):
    """The verdict on one core: a deadlock, and the locks that may prove it if listed again."""

    deadlock: Deadlock
    relist: tuple[str, ...]


class _View(Struct, frozen=True):
    """A core, with everything that is known about its actors."""

    stuck_core: StuckCore
    known: ActorEvidence
    names: DisplayNames

    @property
    def graph(self) -> WaitGraph:
        return self.stuck_core.graph


def assessment(judgements: Iterable[Judgement]) -> Assessment:
    """Join the verdicts on all cores."""
    judgements = list(judgements)
    certain = sorted(
        (judgement.deadlock for judgement in judgements if not judgement.relist),
        key=lambda deadlock: (deadlock.since_ms or 0, deadlock.id),
    )
    return Assessment(
        tuple(deadlock for deadlock in certain if not _is_hint(deadlock)),
        tuple(deadlock for deadlock in certain if _is_hint(deadlock)),
        tuple(sorted({lock for judgement in judgements for lock in judgement.relist})),
    )


def _is_hint(deadlock: Deadlock) -> bool:
    """Whether it deserves no alarm: threads of one session, or a candidate that may not block."""
    return deadlock.confidence == "C1" and (deadlock.threaded or deadlock.rule in ("D6", "D8"))


def judge(stuck_core: StuckCore, known: ActorEvidence, names: DisplayNames) -> Judgement | None:
    """Judge one core, or return None if it proves nothing."""
    view = _View(stuck_core, known, names)
    case = _case(view, ring_of(stuck_core.core))
    if case is not None and case.is_threaded(known):
        old_case = _case(view, _old_ring(view))
        case = old_case or _unless_working(case, known)
    if case is None:
        return None
    deadlock = _deadlock(view, case)
    if stuck_core.is_supposed and deadlock.rule != "D8":
        return None  # also judged without elections as waits
    return Judgement(deadlock, case.coexistence.relist)


def _unless_working(case: RingCase, known: ActorEvidence) -> RingCase | None:
    """The case, unless one of its actors released something after the ring closed.

    A ring through clients that still work may open at any moment.
    """
    closed = case.closing.request.czxid
    is_working = any(known.released.get(actor, 0) > closed for actor in case.actors)
    return None if is_working else case


def _is_old(edge: WaitEdge, now_ms: int) -> bool:
    since = edge.request.since_ms
    return since is not None and now_ms - since >= WORKING_RING_MS


def _old_ring(view: _View) -> Ring:
    """The first ring that old requests formed, each behind a holder, or () if there is none.

    It stays the same until it opens, even if other rings form in the meantime.
    """
    graph, now_ms = view.graph, view.known.now_ms
    return first_closed(
        {
            actor: [
                edge
                for edge in out
                if _is_old(edge, now_ms) and graph.holds(edge.queue, edge.blocker)
            ]
            for actor, out in edges(view.stuck_core.core).items()
        }
    )


def _is_closed(graph: WaitGraph, ring: Ring) -> bool:
    """Whether each blocker of the ring holds, or just queues in between.

    False if a blocker is another waiting request of a session with several threads.
    """
    between = queuing_actors(ring)
    return all(
        edge.blocker.actor in between or graph.holds(edge.queue, edge.blocker) for edge in ring
    )


def _members(core: Core, ring: Ring) -> list[tuple[str, WaitRequest]]:
    """The requests that must have existed at the same time: of the ring, or of the whole knot."""
    if all(edge.is_plain for edge in ring):
        return [
            (edge.queue.lock, request) for edge in ring for request in (edge.request, edge.blocker)
        ]
    return [
        (stuck_queue.queue.lock, member)
        for stuck_queue in core.queues
        for member in stuck_queue.members
    ]


def _case(view: _View, ring: Ring) -> RingCase | None:
    """A ring with everything needed to judge it; None if it is not closed."""
    graph = view.graph
    if not ring or not _is_closed(graph, ring):
        return None
    core = view.stuck_core.core
    rule, _ = rule_and_kind(core, ring)
    actors = core.actors if rule == "D3" else core.actors & _owners(ring)
    return RingCase(
        rule=rule,
        ring=ring,
        closing=newest_edge(_shown(core, ring)),
        actors=actors,
        coexistence=coexistence(_members(core, ring), graph.queues, view.known.complete_to),
        owner=view.names.owner,
        several=multi_threaded(graph, actors, view.known.threads),
        is_supposed=view.stuck_core.is_supposed,
    )


def _deadlock(view: _View, case: RingCase) -> Deadlock:
    stuck_core, names, known = view.stuck_core, view.names, view.known
    core, ring, number = stuck_core.core, case.ring, stuck_core.number
    counts = count_behind(stuck_core.stuck_set)
    rule, kind = rule_and_kind(core, ring)
    level, clues = confidence(case, known)
    return Deadlock(
        id=deadlock_id(rule, ring),
        rule=rule,
        kind=kind,
        confidence=level,
        since_ms=case.closing.request.since_ms,
        coexistence_proven=case.coexistence.is_proven,
        actors=ordered_actors(core, ring),
        locks=tuple(sorted({edge.queue.lock for edge in ring})),
        steps=steps(stuck_core.graph, _shown(core, ring), names),
        behind=sum(count for numbers, count in counts.items() if number in numbers),
        sentence=sentence(rule, ring, core, names, known.now_ms),
        ways_out=ways_out(stuck_core, counts, names, known.cut_off),
        signature=signature(rule, ring, names),
        evidence=clues,
        threaded=case.is_threaded(known),
    )


def _owners(ring: Ring) -> frozenset[str]:
    """The actors of a ring that hold something; the others just queue in between."""
    return frozenset(edge.request.actor for edge in ring) - queuing_actors(ring)


def _shown(core: Core, ring: Ring) -> Ring:
    """The ring, and for a knot one edge of every other actor in it."""
    if all(edge.is_plain for edge in ring):
        return ring
    shown = {edge.request.actor for edge in ring}
    others = tuple(out[0] for actor, out in edges(core).items() if actor not in shown)
    return (*others, *ring)
