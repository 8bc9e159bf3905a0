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
    reasons: dict[str, str] = {}
    for actor in actors:
        reason = _waits_twice(graph, actor)
        if not reason and actor not in threads:
            reason = _asks_again(graph, actor)
        if reason:
            reasons[actor] = reason
    return reasons


def waiting_places(graph: WaitGraph, actor: str) -> list[tuple[WaitQueue, WaitRequest]]:
    return waiting_requests(graph, graph.places(actor))


def waiting_requests(
    graph: WaitGraph, places: Iterable[tuple[WaitQueue, WaitRequest]]
) -> list[tuple[WaitQueue, WaitRequest]]:
    """The waiting requests among these places."""
    return [
        (queue, request)
        for queue, request in places
        if request.releases and not graph.holds(queue, request)
    ]


def _waits_twice(graph: WaitGraph, actor: str) -> str:
    """The reason if the actor waits in two places, else an empty text."""
    waiting = waiting_places(graph, actor)
    if len(waiting) < 2:  # noqa: PLR2004  one thread waits in one place
        return ""
    locks = {queue.lock for queue, _ in waiting}
    where = f"{len(locks)} locks at once" if len(locks) > 1 else "one queue twice"
    return f"waits in {where}"


def _asks_again(graph: WaitGraph, actor: str) -> str:
    """The reason if the actor waits for a lock that it owns, else an empty text."""
    owned = {
        queue.lock
        for queue, request in graph.places(actor)
        if not request.reads and graph.holds(queue, request)
    }
    wanted = {queue.lock for queue, _ in waiting_places(graph, actor) if queue.kind in _ONE_OWNER}
    return "asks for a lock that it holds" if owned & wanted else ""


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
        self._released: dict[str, int] = {}  # zxid of the last release of each stuck actor
        self._stuck_sets: AbstractSet[StuckSet] = frozenset()  # those of the previous look
        self._complete_to = 0

    def is_concurrent(self, actor: str) -> bool:
        """Whether the actor was seen to be more than one thread."""
        return actor in self._concurrent

    def released(self, actor: str) -> int:
        """The zxid of its last release while it was stuck, or 0 if it released nothing."""
        return self._released.get(actor, 0)

    def note_deletion(self, request: WaitRequest, *, there: int, gone: int) -> None:
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
        deletions = [
            deletion for deletion in self._deletions if not self.is_concurrent(deletion.actor)
        ]
        actors = {deletion.actor for deletion in deletions}
        waits = {actor: waiting_places(graph, actor) for actor in actors}
        for deletion in deletions:
            actor = deletion.actor
            queues = [
                queue for queue, request in waits[actor] if 0 < request.czxid <= deletion.there
            ]
            if any(self._known_to(queue) >= deletion.gone for queue in queues):
                self._concurrent.add(actor)
            elif queues:
                newest = undecided.get(actor, deletion)
                undecided[actor] = max(deletion, newest, key=_there)
                relist.update(queue.lock for queue in queues)
        self._deletions = list(undecided.values())
        self._note_takers(graph)
        return tuple(sorted(relist))

    def _note_releases(self, graph: WaitGraph) -> None:
        released = {actor: zxid for actor, zxid in self._released.items() if graph.is_stuck(actor)}
        for deletion in self._deletions:
            if graph.is_stuck(deletion.actor):
                released[deletion.actor] = max(deletion.gone, released.get(deletion.actor, 0))
        self._released = released

    def _note_takers(self, graph: WaitGraph) -> None:
        """Find actors that hold a node newer than their own wait, or that wait twice.

        A stuck set stays the same object until one of its queues changes.
        """
        before, self._stuck_sets = self._stuck_sets, frozenset(graph.stuck_sets)
        new_sets = self._stuck_sets - before
        for actor in (actor for stuck_set in new_sets for actor in stuck_set.actors):
            if self.is_concurrent(actor):
                continue
            places = graph.places(actor)
            waits = waiting_requests(graph, places)
            taken = sorted(
                request.czxid
                for queue, request in places
                if graph.holds(queue, request) and not request.exempt
            )
            took_while_waiting = any(
                _is_any_between(taken, request.czxid, self._known_to(queue))
                for queue, request in waits
            )
            if took_while_waiting or self._are_together(waits):
                self._concurrent.add(actor)

    def _known_to(self, queue: WaitQueue) -> int:
        """The transaction up to which all requests of a queue are known."""
        return max(queue.seen_zxid, self._complete_to)

    def _are_together(self, waits: list[tuple[WaitQueue, WaitRequest]]) -> bool:
        """Whether two waits existed at the same time, by the two newest listings."""
        if len(waits) < 2:  # noqa: PLR2004  one thread waits in one place
            return False
        by_listing = sorted(waits, key=lambda wait: wait[0].seen_zxid, reverse=True)
        (_, newest), (queue, _) = by_listing[:2]
        return 0 < newest.czxid <= self._known_to(queue)


def _is_any_between(taken: list[int], began: int, listed: int) -> bool:
    """Whether anything was taken after a wait began, up to the last listing that shows it."""
    place = bisect_right(taken, began)
    return place < len(taken) and taken[place] <= listed
