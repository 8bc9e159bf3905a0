"""The part of the world that can never go on, explained: cores, and who leads to them."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from zktop.model.waits.state import Request
from zktop.model.waits.strand import Strand

if TYPE_CHECKING:  # most ensembles have none of them
    from zktop.model.waits.cores import Core
    from zktop.model.waits.remnant import Remnant

Standing = Literal["free", "core", "behind", "dead-end", "standby"]


class Residue(Struct, frozen=True, eq=False):
    """Who is stuck among the tangled actors, and why; compared by identity.

    `reach` names for an actor the numbers of the cores that it is in or behind; one more number,
    `dead_end`, stands for what will never leave without being in a core.
    """

    stuck: frozenset[str]
    frozen: frozenset[str]
    remnants: "Mapping[str, Remnant]"
    edges: Mapping[str, list[str]]
    cores: "tuple[Core, ...]"
    reach: Mapping[str, frozenset[int]]

    @property
    def locks(self) -> AbstractSet[str]:
        """The queues in which somebody stands who will never leave."""
        return self.remnants.keys()

    @property
    def dead_end(self) -> int:
        """The number of those who never leave: nobody's nodes, and leaders."""
        return len(self.cores)

    def may_open(self, lock: str, request: Request) -> bool:
        """Whether somebody may be able to go on when this request is gone."""
        is_seen = request.actor in self.edges or not request.releases
        return is_seen and lock in self.remnants


NOTHING_STUCK = Residue(frozenset(), frozenset(), {}, {}, (), {})


def residue(stuck: set[str], nobody: set[str], lines: Iterable[Strand]) -> Residue:
    """Explain why these tangled actors are stuck, from all the queues that they stand in."""
    if not stuck and not nobody:
        return NOTHING_STUCK
    from zktop.model.waits.behind import reach  # noqa: PLC0415  mostly nobody is stuck
    from zktop.model.waits.cores import cores, edges  # noqa: PLC0415
    from zktop.model.waits.remnant import remnant  # noqa: PLC0415

    frozen = frozenset(stuck | nobody)
    remnants = {
        line.queue.lock: remnant(line.queue, line.queue.requests[: line.end], frozen)
        for line in lines
    }
    graph = edges(remnants.values())
    found = tuple(sorted(cores(remnants.values(), graph), key=lambda core: min(core.actors)))
    dead_ends = [actor for actor, others in graph.items() if not others]
    reached = reach(graph, [*(core.actors for core in found), dead_ends])
    return Residue(frozenset(stuck), frozen, remnants, graph, found, reached)
