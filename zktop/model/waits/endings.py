"""Why a deadlock is gone: refuted (it never was one), resolved, or a phantom."""

from collections.abc import Set as AbstractSet
from typing import Literal

from msgspec import Struct

from zktop.model.waits.assess import Assessment
from zktop.model.waits.deadlock import Deadlock, Place, Step
from zktop.model.waits.graph import WaitGraph

Outcome = Literal["refuted", "resolved"]


class Ending(Struct, frozen=True, gc=False):
    """How it ended, by whose doing, in words."""

    outcome: Outcome
    actor: str | None
    why: str


def ending(was: Deadlock, graph: WaitGraph, concurrent: AbstractSet[str] = frozenset()) -> Ending:
    """Say why a deadlock that was there is not there any more."""
    for step in was.steps:
        if step.actor in concurrent or _released_while_waiting(step, graph):
            why = f"{step.owner} released or took a lock while it waited: it was not blocked"
            return Ending("refuted", step.actor, why)
    for step in was.steps:
        if not _is_there(step.waits, graph):
            held = [place for place in step.holds if _is_there(place, graph)]
            if step.holds and not held:
                return Ending("resolved", step.actor, f"session ended: {step.owner}")
            return Ending("resolved", step.actor, f"wait abandoned: {step.owner}")
    return Ending("resolved", None, "the rules changed: actors, capacity or kind of a lock")


def _is_there(place: Place, graph: WaitGraph) -> bool:
    queue = graph.queues.get(place.lock)
    return queue is not None and any(r.node == place.node for r in queue.requests)


def _released_while_waiting(step: Step, graph: WaitGraph) -> bool:
    """Whether a held node is gone, and the wait was seen in a look that is not older."""
    if not _is_there(step.waits, graph):
        return False
    seen = graph.queues[step.waits.lock].seen_zxid
    gone = [place for place in step.holds if not _is_there(place, graph)]
    looks = [graph.queues[p.lock].seen_zxid for p in gone if p.lock in graph.queues]
    return any(look <= seen for look in looks)


class Phantoms:
    """A fold: counts candidates that a second reading killed, as a check on the engine itself."""

    def __init__(self) -> None:
        """Start at none."""
        self.count = 0
        self._open: frozenset[str] = frozenset()

    def look(self, now: Assessment) -> None:
        """Compare with the candidates of the assessment before."""
        waiting = frozenset(made.id for made in now.candidates)
        proven = {made.id for made in (*now.deadlocks, *now.hints)}
        self.count += len(self._open - waiting - proven)
        self._open = waiting
