"""How everybody stands: in a core, behind one, before a dead end, on standby, or free."""

from collections import Counter
from collections.abc import Iterator

from zktop.model.waits.graph import WaitGraph
from zktop.model.waits.remnant import Remnant
from zktop.model.waits.residue import Standing


def standings(graph: WaitGraph) -> dict[str, Standing]:
    """Every stuck actor (and no other), with its class."""
    residue = graph.residue
    waiting = {actor for rest in residue.remnants.values() for actor in _waiting(rest)}
    found = {a: _standing(graph, a) for a in residue.stuck | (waiting - residue.frozen)}
    found.update((actor, "core") for core in residue.cores for actor in core.actors)
    for lock in residue.remnants:
        for actor, groups in graph.crowd(lock):
            found[actor] = "behind" if groups - {residue.dead_end} else "dead-end"
    return found


def _waiting(rest: Remnant) -> Iterator[str]:
    pairs = zip(rest.members, rest.waits, strict=True)
    return (member.actor for member, waits in pairs if waits)


def _standing(graph: WaitGraph, actor: str) -> Standing:
    residue = graph.residue
    if residue.reach.get(actor, frozenset()) - {residue.dead_end}:
        return "behind"
    kinds = {graph.queues[lock].kind for lock in graph.locks(actor)}
    return "standby" if kinds == {"election"} else "dead-end"


def tally(graph: WaitGraph) -> Counter[frozenset[int]]:
    """Count the actors outside of all cores by the cores that they are behind."""
    residue = graph.residue
    in_cores = {actor for core in residue.cores for actor in core.actors}
    counts = Counter(g for actor, g in residue.reach.items() if actor not in in_cores)
    for lock in residue.remnants:
        counts.update(groups for _, groups in graph.crowd(lock))
    return counts


def behind(graph: WaitGraph, number: int) -> Iterator[str]:
    """Everybody who merely queues behind the core of this number."""
    residue = graph.residue
    in_cores = {actor for core in residue.cores for actor in core.actors}
    for actor, groups in residue.reach.items():
        if number in groups and actor not in in_cores:
            yield actor
    for lock in residue.remnants:
        yield from (actor for actor, groups in graph.crowd(lock) if number in groups)
