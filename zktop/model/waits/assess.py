"""From a wait graph and what else is known to deadlocks, hints, and what must be read again.

The question what would be if candidates did block while they wait to lead.

Normally a candidate goes on working, so an election is no wait. But a leader that waits for a lock
whose holder waits to lead is worth a hint, and more where identities name threads.

How everybody stands: in a core, behind one, before a dead end, on standby, or free.
"""

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from zktop.model.waits.confidence import confidence
from zktop.model.waits.cores import Core, StuckClass, StuckQueue
from zktop.model.waits.deadlock import (
    Deadlock,
    deadlock_id,
    newest,
    ordered_actors,
    signature,
    steps,
)
from zktop.model.waits.graph import WaitGraph
from zktop.model.waits.ring import (
    ActorEvidence,
    Coexistence,
    Ring,
    RingCase,
    coexistence,
    edges,
    kind,
    queued,
    rings,
)
from zktop.model.waits.sentences import DisplayNames, sentence
from zktop.model.waits.state import WaitQueue, WaitRequest
from zktop.model.waits.threads import multi_threaded
from zktop.model.waits.ways_out import ways_out


def with_blocking_elections(graph: WaitGraph) -> WaitGraph | None:
    """Make a graph of all that hangs together with candidates who also want locks, if any."""
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
    """Whether a candidate holds something while another one before it waits for something."""
    actors = [request.actor for request in queue.requests]
    waits = (not graph.holds(q, r) for actor in actors[:-1] for q, r in graph.places(actor))
    return any(graph.locks(actor) for actor in actors[1:]) and any(waits)


def stuck_classes(graph: WaitGraph) -> dict[str, StuckClass]:
    """Every stuck actor (and no other), with its class."""
    stuck_set = graph.stuck_set
    waiting = {actor for rest in stuck_set.queues.values() for actor in _waiting(rest)}
    found = {a: _standing(graph, a) for a in stuck_set.actors | (waiting - stuck_set.frozen)}
    found.update((actor, "core") for core in stuck_set.cores for actor in core.actors)
    for lock in stuck_set.queues:
        for actor, groups in graph.crowd(lock):
            found[actor] = "behind" if groups - {stuck_set.dead_end} else "dead-end"
    return found


def _waiting(rest: StuckQueue) -> Iterator[str]:
    pairs = zip(rest.members, rest.waits, strict=True)
    return (member.actor for member, waits in pairs if waits)


def _standing(graph: WaitGraph, actor: str) -> StuckClass:
    stuck_set = graph.stuck_set
    if stuck_set.reach.get(actor, frozenset()) - {stuck_set.dead_end}:
        return "behind"
    kinds = {graph.queues[lock].kind for lock in graph.locks(actor)}
    return "standby" if kinds == {"election"} else "dead-end"


def count_behind(graph: WaitGraph) -> Counter[frozenset[int]]:
    """Count the actors outside of all cores by the cores that they are behind."""
    stuck_set = graph.stuck_set
    in_cores = {actor for core in stuck_set.cores for actor in core.actors}
    counts = Counter(g for actor, g in stuck_set.reach.items() if actor not in in_cores)
    for lock in stuck_set.queues:
        counts.update(groups for _, groups in graph.crowd(lock))
    return counts


def actors_behind(graph: WaitGraph, number: int) -> Iterator[str]:
    """Everybody who merely queues behind the core of this number."""
    stuck_set = graph.stuck_set
    in_cores = {actor for core in stuck_set.cores for actor in core.actors}
    for actor, groups in stuck_set.reach.items():
        if number in groups and actor not in in_cores:
            yield actor
    for lock in stuck_set.queues:
        yield from (actor for actor, groups in graph.crowd(lock) if number in groups)


class Assessment(Struct, frozen=True, gc=False):
    """Deadlocks; hints that deserve no alarm; candidates that wait for a second reading.

    `relist` names the locks to list once more: that proves a candidate or kills it.
    """

    deadlocks: tuple[Deadlock, ...]
    hints: tuple[Deadlock, ...]
    candidates: tuple[Deadlock, ...]
    relist: tuple[str, ...]


class _View(Struct, frozen=True):
    graph: WaitGraph
    known: ActorEvidence
    names: DisplayNames
    # Seen with elections as waits although nobody said that their candidates block.
    is_supposed: bool = False


def assess(
    graph: WaitGraph, known: ActorEvidence, names: DisplayNames | None = None
) -> Assessment:
    """Judge every core of the graph, and those that there would be if elections blocked."""
    names = names or DisplayNames()
    found = list(_judged(_View(graph, known, names)))
    supposed = with_blocking_elections(graph)
    if supposed is not None:
        view = _View(supposed, known, names, is_supposed=True)
        found += [pair for pair in _judged(view) if pair[0].rule == "D8"]
    found.sort(key=lambda pair: (pair[0].since_ms or 0, pair[0].id))
    certain = [
        made for made, together in found if not together.relist and not _goes_on(made, known)
    ]
    return Assessment(
        tuple(made for made in certain if not _is_hint(made)),
        tuple(made for made in certain if _is_hint(made)),
        tuple(made for made, together in found if together.relist),
        tuple(sorted({lock for _, together in found for lock in together.relist})),
    )


def _is_hint(made: Deadlock) -> bool:
    """Sessions with several threads, or a candidate that need not block: no alarm."""
    return made.confidence == "C1" and (made.threaded or made.rule in ("D6", "D8"))


def _goes_on(made: Deadlock, known: ActorEvidence) -> bool:
    """Tell whether somebody with several threads worked on after the ring was closed."""
    closed = max((step.czxid for step in made.steps), default=0)
    return made.threaded and any(known.released.get(a, 0) > closed for a in made.actors)


def _judged(view: _View) -> Iterator[tuple[Deadlock, Coexistence]]:
    counts = count_behind(view.graph)
    for number, found in enumerate(rings(view.graph.stuck_set)):
        core = view.graph.stuck_set.cores[number]
        if not _is_closed(view.graph, found):
            continue
        together = coexistence(_members(core, found), view.graph.queues)
        yield _deadlock(view, number, together, counts), together


def _is_closed(graph: WaitGraph, found: Ring) -> bool:
    """Tell whether whoever stops somebody holds, or merely queues in between.

    Of a session with several threads it may also be a request that is not served yet.
    """
    between = queued(found)
    return all(
        edge.blocker.actor in between or graph.holds(edge.queue, edge.blocker) for edge in found
    )


def _members(core: Core, found: Ring) -> list[tuple[str, WaitRequest]]:
    """List what must have existed at one moment: the ring, or all of a knot."""
    if all(edge.is_plain for edge in found):
        return [(e.queue.lock, r) for e in found for r in (e.request, e.blocker)]
    return [(rest.queue.lock, member) for rest in core.queues for member in rest.members]


def _deadlock(
    view: _View, number: int, together: Coexistence, counts: Counter[frozenset[int]]
) -> Deadlock:
    graph, names = view.graph, view.names
    core, found = graph.stuck_set.cores[number], rings(graph.stuck_set)[number]
    rule, sort = kind(core, found)
    shown = _shown(core, found)
    closing = newest(shown)
    actors = core.actors if rule == "D3" else core.actors & _owners(found)
    case = RingCase(
        rule=rule,
        ring=found,
        closing=closing,
        actors=actors,
        coexistence=together,
        owner=names.owner,
        several=multi_threaded(graph, actors, view.known.threads),
        is_supposed=view.is_supposed,
    )
    level, clues = confidence(case, view.known)
    return Deadlock(
        id=deadlock_id(rule, found),
        rule=rule,
        kind=sort,
        confidence=level,
        since_ms=closing.request.since_ms,
        coexistence_proven=together.is_proven,
        actors=ordered_actors(core, found),
        locks=tuple(sorted({edge.queue.lock for edge in found})),
        steps=steps(graph, shown, names),
        behind=sum(many for groups, many in counts.items() if number in groups),
        sentence=sentence(rule, found, core, names, view.known.now_ms),
        ways_out=ways_out(graph, number, counts, names),
        signature=signature(rule, found, names),
        evidence=clues,
        threaded=case.is_threaded(view.known),
    )


def _owners(found: Ring) -> frozenset[str]:
    """Name those of a ring who hold something; the others merely queue in between."""
    return frozenset(edge.request.actor for edge in found) - queued(found)


def _shown(core: Core, found: Ring) -> Ring:
    """Add to a knot one edge of everybody else in it."""
    if all(edge.is_plain for edge in found):
        return found
    shown = {edge.request.actor for edge in found}
    others = tuple(outs[0] for actor, outs in edges(core).items() if actor not in shown)
    return (*others, *found)
