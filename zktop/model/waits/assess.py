"""From a wait graph and what else is known to deadlocks, hints, and what must be read again."""

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from zktop.model.waits.coexistence import Coexistence, coexistence
from zktop.model.waits.confidence import confidence
from zktop.model.waits.cores import Core
from zktop.model.waits.deadlock import (
    Deadlock,
    identity,
    newest,
    ordered_actors,
    signature,
    steps,
)
from zktop.model.waits.elections import entangled
from zktop.model.waits.evidence import Case, Evidence
from zktop.model.waits.exits import ways_out
from zktop.model.waits.graph import WaitGraph
from zktop.model.waits.kinds import kind
from zktop.model.waits.names import Names
from zktop.model.waits.ring import Ring, edges, queued, rings
from zktop.model.waits.sentences import sentence
from zktop.model.waits.standing import tally
from zktop.model.waits.state import Request
from zktop.model.waits.threads import several


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
    known: Evidence
    names: Names
    # Seen with elections as waits although nobody said that their candidates block.
    is_supposed: bool = False


def assess(graph: WaitGraph, known: Evidence, names: Names | None = None) -> Assessment:
    """Judge every core of the graph, and those that there would be if elections blocked."""
    names = names or Names()
    found = list(_judged(_View(graph, known, names)))
    supposed = entangled(graph)
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


def _goes_on(made: Deadlock, known: Evidence) -> bool:
    """Tell whether somebody with several threads worked on after the ring was closed."""
    closed = max((step.czxid for step in made.steps), default=0)
    return made.threaded and any(known.released.get(a, 0) > closed for a in made.actors)


def _judged(view: _View) -> Iterator[tuple[Deadlock, Coexistence]]:
    counts = tally(view.graph)
    for number, found in enumerate(rings(view.graph.residue)):
        core = view.graph.residue.cores[number]
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


def _members(core: Core, found: Ring) -> list[tuple[str, Request]]:
    """List what must have existed at one moment: the ring, or all of a knot."""
    if all(edge.is_plain for edge in found):
        return [(e.queue.lock, r) for e in found for r in (e.request, e.blocker)]
    return [(rest.queue.lock, member) for rest in core.remnants for member in rest.members]


def _deadlock(
    view: _View, number: int, together: Coexistence, counts: Counter[frozenset[int]]
) -> Deadlock:
    graph, names = view.graph, view.names
    core, found = graph.residue.cores[number], rings(graph.residue)[number]
    rule, sort = kind(core, found)
    shown = _shown(core, found)
    closing = newest(shown)
    actors = core.actors if rule == "D3" else core.actors & _owners(found)
    case = Case(
        rule=rule,
        ring=found,
        closing=closing,
        actors=actors,
        coexistence=together,
        owner=names.owner,
        several=several(graph, actors, view.known.threads),
        is_supposed=view.is_supposed,
    )
    level, clues = confidence(case, view.known)
    return Deadlock(
        id=identity(rule, found),
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
