"""The class of each stuck actor, and the actors that queue behind a core, for tests."""

from collections.abc import Iterator
from typing import Literal

from zktop.model.waits.cores import StuckQueue
from zktop.model.waits.graph import WaitGraph

StuckClass = Literal["core", "behind", "dead-end", "standby"]


def stuck_classes(graph: WaitGraph) -> dict[str, StuckClass]:
    """The class of every stuck actor."""
    stuck_set = graph.stuck_set
    waiting = {actor for rest in stuck_set.queues.values() for actor in _waiting(rest)}
    found = {a: _stuck_class(graph, a) for a in stuck_set.actors | (waiting - stuck_set.frozen)}
    found.update((actor, "core") for core in stuck_set.cores for actor in core.actors)
    for lock in stuck_set.queues:
        for actor, groups in graph.stuck_tail(lock):
            found[actor] = "behind" if groups - {len(stuck_set.cores)} else "dead-end"
    return found


def _waiting(rest: StuckQueue) -> Iterator[str]:
    pairs = zip(rest.members, rest.waits, strict=True)
    return (member.actor for member, waits in pairs if waits)


def _stuck_class(graph: WaitGraph, actor: str) -> StuckClass:
    stuck_set = graph.stuck_set
    if stuck_set.reach.get(actor, frozenset()) - {len(stuck_set.cores)}:
        return "behind"
    kinds = {graph.queues[lock].kind for lock in graph.locks(actor)}
    return "standby" if kinds == {"election"} else "dead-end"


def actors_behind(graph: WaitGraph, number: int) -> Iterator[str]:
    """The actors that merely queue behind the core of this number."""
    stuck_set = graph.stuck_set
    in_cores = {actor for core in stuck_set.cores for actor in core.actors}
    for actor, groups in stuck_set.reach.items():
        if number in groups and actor not in in_cores:
            yield actor
    for lock in stuck_set.queues:
        yield from (actor for actor, groups in graph.stuck_tail(lock) if number in groups)
