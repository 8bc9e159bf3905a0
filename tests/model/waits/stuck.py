"""The class of each stuck actor, and the actors that queue behind a core, for tests."""

from collections.abc import Iterator
from typing import Literal

from zktop.model.waits.assess import Assessment, assessment, judge, with_blocking_elections
from zktop.model.waits.choose_ring import ActorEvidence
from zktop.model.waits.cores import StuckQueue, StuckSet, stuck_tail
from zktop.model.waits.deadlock_sentences import DisplayNames
from zktop.model.waits.wait_graph import StuckCore, WaitGraph, stuck_cores

IDS = DisplayNames()  # each actor and each lock is shown by its id
StuckClass = Literal["core", "behind", "dead-end", "standby"]


def stuck_classes(graph: WaitGraph) -> dict[str, StuckClass]:
    """The class of every stuck actor."""
    found: dict[str, StuckClass] = {}
    for stuck_set in graph.stuck_sets:
        waiting = {actor for rest in stuck_set.queues.values() for actor in _waiting(rest)}
        actors = stuck_set.actors | (waiting - stuck_set.frozen)
        found.update((actor, _stuck_class(graph, stuck_set, actor)) for actor in actors)
        found.update((actor, "core") for core in stuck_set.cores for actor in core.actors)
        for lock in stuck_set.queues:
            for actor, groups in stuck_tail(stuck_set, lock):
                found[actor] = "behind" if groups - {len(stuck_set.cores)} else "dead-end"
    return found


def _waiting(rest: StuckQueue) -> Iterator[str]:
    pairs = zip(rest.members, rest.waits, strict=True)
    return (member.actor for member, waits in pairs if waits)


def _stuck_class(graph: WaitGraph, stuck_set: StuckSet, actor: str) -> StuckClass:
    if stuck_set.reach.get(actor, frozenset()) - {len(stuck_set.cores)}:
        return "behind"
    kinds = {graph.queues[lock].kind for lock in graph.locks(actor)}
    return "standby" if kinds == {"election"} else "dead-end"


def actors_behind(one: StuckCore) -> Iterator[str]:
    """The actors that merely queue behind a core."""
    stuck_set, number = one.stuck_set, one.number
    in_cores = {actor for core in stuck_set.cores for actor in core.actors}
    for actor, groups in stuck_set.reach.items():
        if number in groups and actor not in in_cores:
            yield actor
    for lock in stuck_set.queues:
        tail = stuck_tail(stuck_set, lock)
        yield from (actor for actor, groups in tail if number in groups)


def assess(graph: WaitGraph, known: ActorEvidence, names: DisplayNames = IDS) -> Assessment:
    """Judge every core of a graph, and those it would have if elections blocked."""
    cores = list(stuck_cores(graph))
    supposed = with_blocking_elections(graph)
    if supposed is not None:
        cores += stuck_cores(supposed, is_supposed=True)
    return assessment(filter(None, (judge(one, known, names) for one in cores)))
