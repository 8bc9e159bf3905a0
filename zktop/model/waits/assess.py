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
    elections = [q for q in graph.queues.values() if q.kind == "election" and not q.blocking]
    elections = [queue for queue in elections if _may_entangle(graph, queue)]
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
    waits = (not graph.holds(q, r) for actor in actors[:-1] for q, r in graph.places(actor))
    return any(graph.locks(actor) for actor in actors[1:]) and any(waits)


@once_for_each
def count_behind(stuck_set: StuckSet) -> Counter[frozenset[int]]:
    """Count the actors outside all cores of a stuck set, by the cores they are behind."""
    in_cores = {actor for core in stuck_set.cores for actor in core.actors}
    counts = Counter(g for actor, g in stuck_set.reach.items() if actor not in in_cores)
    for lock in stuck_set.queues:
        counts.update(groups for _, groups in stuck_tail(stuck_set, lock))
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
    stuck_core: StuckCore
    known: ActorEvidence
    names: DisplayNames

    @property
    def graph(self) -> WaitGraph:
        return self.stuck_core.graph


def assessment(judgements: Iterable[Judgement]) -> Assessment:
    """Join the verdicts on all cores."""
    found = sorted(judgements, key=lambda one: (one.deadlock.since_ms or 0, one.deadlock.id))
    certain = [one.deadlock for one in found if not one.relist]
    return Assessment(
        tuple(deadlock for deadlock in certain if not _is_hint(deadlock)),
        tuple(deadlock for deadlock in certain if _is_hint(deadlock)),
        tuple(sorted({lock for one in found for lock in one.relist})),
    )


def _is_hint(deadlock: Deadlock) -> bool:
    """Whether it deserves no alarm: threads of one session, or a candidate that may not block."""
    return deadlock.confidence == "C1" and (deadlock.threaded or deadlock.rule in ("D6", "D8"))


def judge(stuck_core: StuckCore, known: ActorEvidence, names: DisplayNames) -> Judgement | None:
    """Judge one core; None if it proves nothing."""
    view = _View(stuck_core, known, names)
    case = _case(view, ring_of(stuck_core.core))
    if case is not None and case.is_threaded(known):
        lasting = _case(view, _old_ring(view))
        case = lasting or _unless_working(case, known)
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
    return None if any(known.released.get(a, 0) > closed for a in case.actors) else case


def _is_old(edge: WaitEdge, now_ms: int) -> bool:
    since = edge.request.since_ms
    return since is not None and now_ms - since >= WORKING_RING_MS


def _old_ring(view: _View) -> Ring:
    """The first ring that old requests formed, each behind a holder; empty if there is none.

    It stays the same until it opens, even if other rings form in the meantime.
    """
    graph, now_ms = view.graph, view.known.now_ms
    return first_closed(
        {
            actor: [e for e in out if _is_old(e, now_ms) and graph.holds(e.queue, e.blocker)]
            for actor, out in edges(view.stuck_core.core).items()
        }
    )


def _is_closed(graph: WaitGraph, found: Ring) -> bool:
    """Whether each blocker of the ring holds, or just queues in between.

    False if a blocker is another waiting request of a session with several threads.
    """
    between = queuing_actors(found)
    return all(
        edge.blocker.actor in between or graph.holds(edge.queue, edge.blocker) for edge in found
    )


def _members(core: Core, found: Ring) -> list[tuple[str, WaitRequest]]:
    """The requests that must have existed at the same time: of the ring, or of the whole knot."""
    if all(edge.is_plain for edge in found):
        return [(e.queue.lock, r) for e in found for r in (e.request, e.blocker)]
    return [(queue.queue.lock, member) for queue in core.queues for member in queue.members]


def _case(view: _View, found: Ring) -> RingCase | None:
    """A ring with everything needed to judge it; None if it is not closed."""
    graph = view.graph
    if not found or not _is_closed(graph, found):
        return None
    core = view.stuck_core.core
    rule, _ = rule_and_kind(core, found)
    actors = core.actors if rule == "D3" else core.actors & _owners(found)
    return RingCase(
        rule=rule,
        ring=found,
        closing=newest_edge(_shown(core, found)),
        actors=actors,
        coexistence=coexistence(_members(core, found), graph.queues, view.known.complete_to),
        owner=view.names.owner,
        several=multi_threaded(graph, actors, view.known.threads),
        is_supposed=view.stuck_core.is_supposed,
    )


def _deadlock(view: _View, case: RingCase) -> Deadlock:
    stuck_core, names, known = view.stuck_core, view.names, view.known
    core, found, number = stuck_core.core, case.ring, stuck_core.number
    counts = count_behind(stuck_core.stuck_set)
    rule, sort = rule_and_kind(core, found)
    level, clues = confidence(case, known)
    return Deadlock(
        id=deadlock_id(rule, found),
        rule=rule,
        kind=sort,
        confidence=level,
        since_ms=case.closing.request.since_ms,
        coexistence_proven=case.coexistence.is_proven,
        actors=ordered_actors(core, found),
        locks=tuple(sorted({edge.queue.lock for edge in found})),
        steps=steps(stuck_core.graph, _shown(core, found), names),
        behind=sum(many for groups, many in counts.items() if number in groups),
        sentence=sentence(rule, found, core, names, known.now_ms),
        ways_out=ways_out(stuck_core, counts, names, known.cut_off),
        signature=signature(rule, found, names),
        evidence=clues,
        threaded=case.is_threaded(known),
    )


def _owners(found: Ring) -> frozenset[str]:
    """The actors of a ring that hold something; the others just queue in between."""
    return frozenset(edge.request.actor for edge in found) - queuing_actors(found)


def _shown(core: Core, found: Ring) -> Ring:
    """The ring, and for a knot one edge of every other actor in it."""
    if all(edge.is_plain for edge in found):
        return found
    shown = {edge.request.actor for edge in found}
    others = tuple(outs[0] for actor, outs in edges(core).items() if actor not in shown)
    return (*others, *found)
