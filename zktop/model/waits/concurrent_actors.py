"""Finds sessions that must have several threads: a cycle of waits through one proves no deadlock.

One thread waits in one place at a time, so a session that waits in two has at least two threads.
The same is true of a session that owns a lock and waits for it again: no library asks twice for
one thread, except for a reader, which may ask to write or to read once more, and for a thread that
takes several leases of a pool. `multi_threaded` finds these sessions at one moment.

`ConcurrencyDetector` finds others over time. An actor that takes or releases a lock while it waits
is more than one thread, and so is one with two waits at the same moment. It counts as concurrent
from then on.
"""

from bisect import bisect_right
from collections.abc import Container, Iterable, Mapping
from collections.abc import Set as AbstractSet
from operator import attrgetter

from msgspec import Struct

from zktop.model.waits.cores import StuckSet
from zktop.model.waits.wait_graph import WaitGraph
from zktop.model.waits.wait_queue import WaitQueue, WaitRequest

_ONE_OWNER = ("exclusive", "read-write", "conflict")


def multi_threaded(
    graph: WaitGraph, actors: Iterable[str], threads: Container[str]
) -> Mapping[str, str]:
    """The actors that cannot be one thread, each with the reason.

    An actor that is named as one thread may ask for a lock that it holds.
    """
    found = {actor: _waits_twice(graph, actor) for actor in actors}
    found |= {a: _asks_again(graph, a) for a in actors if not found[a] and a not in threads}
    return {actor: shown for actor, shown in found.items() if shown}


def waiting_places(graph: WaitGraph, actor: str) -> list[tuple[WaitQueue, WaitRequest]]:
    return waiting_requests(graph, graph.places(actor))


def waiting_requests(
    graph: WaitGraph, places: Iterable[tuple[WaitQueue, WaitRequest]]
) -> list[tuple[WaitQueue, WaitRequest]]:
    """The waiting requests among these places."""
    return [(q, r) for q, r in places if r.releases and not graph.holds(q, r)]


def _waits_twice(graph: WaitGraph, actor: str) -> str:
    waiting = waiting_places(graph, actor)
    locks = {queue.lock for queue, _ in waiting}
    if len(waiting) < 2:  # noqa: PLR2004  one thread waits in one place
        return ""
    where = f"{len(locks)} locks at once" if len(locks) > 1 else "one queue twice"
    return f"waits in {where}"


def _asks_again(graph: WaitGraph, actor: str) -> str:
    owned = {q.lock for q, r in graph.places(actor) if not r.reads and graph.holds(q, r)}
    again = any(q.kind in _ONE_OWNER and q.lock in owned for q, _ in waiting_places(graph, actor))
    return "asks for a lock that it holds" if again else ""


class _Deletion(Struct, frozen=True, gc=False):
    """A member that was present at one zxid and gone at another."""

    actor: str
    there: int
    gone: int


_there = attrgetter("there")


class ConcurrencyDetector:
    """Remembers which actors acted while they waited."""

    def __init__(self) -> None:
        self._concurrent: set[str] = set()
        self._deletions: list[_Deletion] = []
        self._released: dict[str, int] = {}  # last release of each stuck actor
        self._seen: AbstractSet[StuckSet] = frozenset()
        self._complete_to = 0

    def is_concurrent(self, actor: str) -> bool:
        """Whether the actor was seen to be more than one thread."""
        return actor in self._concurrent

    def released(self, actor: str) -> int:
        """The zxid of its last release while it was stuck; 0 if it released nothing."""
        return self._released.get(actor, 0)

    def deleted(self, request: WaitRequest, *, there: int, gone: int) -> None:
        """Record a member listed at zxid `there` and missing at zxid `gone`."""
        there = max(there, self._complete_to)
        self._deletions.append(_Deletion(request.actor, there, gone))

    def look(self, graph: WaitGraph, complete_to: int = 0) -> tuple[str, ...]:
        """Find concurrent actors; return the locks to list again to decide about others.

        The end of a session deletes all its nodes, so a deletion proves something only if a
        listing at least as new still shows the wait. No change up to `complete_to` is missing.
        Of an actor's undecided deletions only the newest is kept: any later listing decides all.
        """
        self._complete_to = complete_to
        relist: set[str] = set()
        undecided: dict[str, _Deletion] = {}
        self._note_releases(graph)
        # Once per actor: a service may give up thousands of its places between two looks.
        deletions = [one for one in self._deletions if not self.is_concurrent(one.actor)]
        waits = {actor: waiting_places(graph, actor) for actor in {d.actor for d in deletions}}
        for one in deletions:
            queues = [q for q, r in waits[one.actor] if 0 < r.czxid <= one.there]
            if any(self._seen_at(queue) >= one.gone for queue in queues):
                self._concurrent.add(one.actor)
            elif queues:
                undecided[one.actor] = max(one, undecided.get(one.actor, one), key=_there)
                relist.update(queue.lock for queue in queues)
        self._deletions = list(undecided.values())
        self._note_takers(graph)
        return tuple(sorted(relist))

    def _note_releases(self, graph: WaitGraph) -> None:
        kept = {a: zxid for a, zxid in self._released.items() if graph.is_stuck(a)}
        for one in self._deletions:
            if graph.is_stuck(one.actor):
                kept[one.actor] = max(one.gone, kept.get(one.actor, 0))
        self._released = kept

    def _note_takers(self, graph: WaitGraph) -> None:
        """Find actors that hold a node newer than their own wait, or that wait twice.

        A stuck set stays the same object until one of its queues changes.
        """
        before, self._seen = self._seen, frozenset(graph.stuck_sets)
        for actor in (actor for one in self._seen - before for actor in one.actors):
            if self.is_concurrent(actor):
                continue
            places = graph.places(actor)
            waits = waiting_requests(graph, places)
            holds = (r for q, r in places if graph.holds(q, r) and not r.exempt)
            taken = sorted(request.czxid for request in holds)
            takes = any(_is_any_between(taken, r.czxid, self._seen_at(q)) for q, r in waits)
            if takes or self._are_together(waits):
                self._concurrent.add(actor)

    def _seen_at(self, queue: WaitQueue) -> int:
        return max(queue.seen_zxid, self._complete_to)

    def _are_together(self, waits: list[tuple[WaitQueue, WaitRequest]]) -> bool:
        """Whether two waits existed at the same time, by the two newest listings."""
        if len(waits) < 2:  # noqa: PLR2004  one thread waits in one place
            return False
        (_, newest), (queue, _) = sorted(waits, key=lambda w: w[0].seen_zxid, reverse=True)[:2]
        return 0 < newest.czxid <= self._seen_at(queue)


def _is_any_between(taken: list[int], wait: int, seen: int) -> bool:
    """Whether anything was taken after the wait began and before its last listing."""
    place = bisect_right(taken, wait)
    return place < len(taken) and taken[place] <= seen
