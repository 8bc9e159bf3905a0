"""Was a blocked actor really blocked? Whoever acts while it waits is more than one thread.

Taking a lock, or giving one up, after a wait began and before it ended proves that; and so does a
second wait at the same moment. Who was seen to have several threads has them for good.
"""

from bisect import bisect_right
from collections.abc import Callable
from collections.abc import Set as AbstractSet

from msgspec import Struct

from zktop.model.waits.graph import WaitGraph
from zktop.model.waits.residue import NOTHING_STUCK, Residue
from zktop.model.waits.state import Queue, Request
from zktop.model.waits.threads import waits


class _Gone(Struct, frozen=True, gc=False):
    """A member that was still there at one zxid and not any more at the other."""

    actor: str
    lock: str
    there: int
    gone: int


class Activity:
    """A fold: remembers, by identity, who was seen to act while it waited."""

    def __init__(self, identity: Callable[[str], str] = str) -> None:
        """Remember by what `identity` says of an actor; by default by the actor itself."""
        self._identity = identity
        self._concurrent: set[str] = set()
        self._gone: list[_Gone] = []
        self._released: dict[str, int] = {}  # who is stuck and released something nevertheless
        self._looked_at: _Stuck = NOTHING_STUCK, []

    def is_concurrent(self, actor: str) -> bool:
        """Whether somebody of this identity was seen to be more than one thread."""
        return self._identity(actor) in self._concurrent

    def released(self, actor: str) -> int:
        """Give the zxid of its last release while it was stuck; 0 when it released nothing."""
        return self._released.get(actor, 0)

    def deleted(self, request: Request, lock: str, *, there: int, gone: int) -> None:
        """Take note of a member listed at zxid `there` and missing at zxid `gone`."""
        self._gone.append(_Gone(request.actor, lock, there, gone))

    def look(self, graph: WaitGraph) -> tuple[str, ...]:
        """Draw conclusions; answer with the locks to list again before more can be drawn.

        A session that ended takes all its nodes along. So a deletion counts only when the wait is
        seen in a listing that is not older.
        """
        relist: list[str] = []
        rest: list[_Gone] = []
        self._note_releases(graph.residue.stuck)
        # Once an actor: a service may give up thousands of its places between two looks.
        asked = [gone for gone in self._gone if not self.is_concurrent(gone.actor)]
        actors = {gone.actor for gone in asked}
        waiting = {actor: waits(graph, actor) for actor in actors}
        for gone in asked:
            queues = [q for q, r in waiting[gone.actor] if 0 < r.czxid <= gone.there]
            if any(queue.seen_zxid >= gone.gone for queue in queues):
                self._concurrent.add(self._identity(gone.actor))
            elif queues:
                rest.append(gone)
                relist += [queue.lock for queue in queues]
        self._gone = rest
        self._note_takers(graph)
        return tuple(sorted(set(relist)))

    def _note_releases(self, stuck: AbstractSet[str]) -> None:
        """Remember of who is stuck when it last released something."""
        kept = {actor: zxid for actor, zxid in self._released.items() if actor in stuck}
        for gone in self._gone:
            if gone.actor in stuck:
                kept[gone.actor] = max(gone.gone, kept.get(gone.actor, 0))
        self._released = kept

    def _note_takers(self, graph: WaitGraph) -> None:
        """Find who holds a node that is younger than a wait of its own, and who waits twice."""
        residue = graph.residue
        looked_at = residue, [graph.queues[lock] for lock in sorted(residue.locks)]
        if _is_same(looked_at, self._looked_at):
            return
        self._looked_at = looked_at
        for actor in residue.stuck:
            waiting = waits(graph, actor)
            holds = (r for q, r in graph.places(actor) if graph.holds(q, r) and not r.exempt)
            taken = sorted(request.czxid for request in holds)
            takes = any(_is_any_between(taken, r.czxid, q.seen_zxid) for q, r in waiting)
            if takes or _are_together(waiting):
                self._concurrent.add(self._identity(actor))


_Stuck = tuple[Residue, list[Queue]]


def _is_same(one: _Stuck, other: _Stuck) -> bool:
    """Tell whether the same are stuck in the same versions of the same queues."""
    return one[0] is other[0] and all(a is b for a, b in zip(one[1], other[1], strict=True))


def _are_together(waits: list[tuple[Queue, Request]]) -> bool:
    """Tell whether two waits were there at one moment; by the two newest listings."""
    if len(waits) < 2:  # noqa: PLR2004  one wait is what one thread does
        return False
    (_, newest), (queue, _) = sorted(waits, key=lambda wait: wait[0].seen_zxid, reverse=True)[:2]
    return 0 < newest.czxid <= queue.seen_zxid


def _is_any_between(taken: list[int], wait: int, seen: int) -> bool:
    """Tell whether anything was taken after the wait began, up to what was seen of that queue."""
    place = bisect_right(taken, wait)
    return place < len(taken) and taken[place] <= seen
