"""Independent deadlocks inside the stuck set.

A strongly connected component is only a candidate. It is a core when it stays stuck with nobody
else in the world; with pools that is not the same, and what stays may be less.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from zktop.model.waits.components import components
from zktop.model.waits.reduction import stuck
from zktop.model.waits.remnant import Remnant, sparse_edges
from zktop.model.waits.strand import alone


class Core(Struct, frozen=True, gc=False):
    """Actors that keep each other stuck, and the queues in which they do, alone in the world."""

    actors: frozenset[str]
    remnants: tuple[Remnant, ...]


def edges(remnants: Iterable[Remnant]) -> dict[str, list[str]]:
    """Who waits for whom, sparse, over several queues."""
    graph: dict[str, list[str]] = {}
    for rest in remnants:
        for member in rest.members:
            if member.actor not in graph:
                graph[member.actor] = []
        for waiter, other in sparse_edges(rest):
            graph[rest.members[waiter].actor].append(rest.members[other].actor)
    return graph


def cores(remnants: Iterable[Remnant], graph: dict[str, list[str]]) -> Iterator[Core]:
    """Every independent deadlock."""
    found = [
        frozenset(group)
        for group in components(graph)
        if len(group) > 1 or group[0] in graph[group[0]]
    ]
    for group, rests in zip(found, _shares(remnants, found), strict=True):
        left = _left_alone(rests) if _has_choice(rests) else group
        if left == group:
            yield Core(group, tuple(rest for rest in rests if any(rest.waits)))
        elif left:
            smaller = [rest.only(left) for rest in rests]
            yield from cores(smaller, edges(smaller))


def _has_choice(rests: list[Remnant]) -> bool:
    """Whether somebody may wait for any of several; plain waits make every ring a core."""
    return any(rest.queue.room > 1 for rest in rests)


def _left_alone(rests: list[Remnant]) -> frozenset[str]:
    return frozenset(stuck([alone(rest.queue, rest.members) for rest in rests]))


def _shares(remnants: Iterable[Remnant], groups: list[frozenset[str]]) -> list[list[Remnant]]:
    """For each group the queues in which it stands, with nobody else left in them."""
    group_of = {actor: number for number, group in enumerate(groups) for actor in group}
    shares: list[list[Remnant]] = [[] for _ in groups]
    for rest in remnants:
        present = {group_of[m.actor] for m in rest.members if m.actor in group_of}
        for number in sorted(present):
            shares[number].append(rest.only(groups[number]))
    return shares
