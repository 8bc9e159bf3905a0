"""The wait graph: all queues, and the actors in them that can never continue.

Only tangled actors (see `actor_index`) matter for deadlocks. A change in a queue without any of
them costs only that queue's changed requests. After any other change, the exact test runs again on
all queues, thinned to the tangled actors, when its result is next needed: 10,000 actors in 2,200
locks take about 30 ms, and a burst of changes costs one test.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from operator import is_
from types import MappingProxyType
from typing import Final

from zktop.model.waits.actor_index import ActorIndex
from zktop.model.waits.cores import NOTHING_STUCK, StuckSet, explain_stuck, stuck_tail
from zktop.model.waits.find_stuck import ThinnedQueue, granted, stuck, thin
from zktop.model.waits.wait_queue import WaitQueue, WaitRequest

SHORT_QUEUE: Final = 16  # in a longer one, the places of an actor are looked up, not searched
_ONE_HOLDER = ("exclusive", "single", "election")


class WaitGraph:
    """The newest version of each queue, and the stuck set that follows from all of them."""

    def __init__(self, queues: Iterable[WaitQueue] = ()) -> None:
        self._queues: dict[str, WaitQueue] = {}
        self.queues: Mapping[str, WaitQueue] = MappingProxyType(self._queues)
        self._index = ActorIndex()
        self._thinned: dict[str, ThinnedQueue] = {}  # of each queue with tangled actors
        self._is_changed = False
        self._stuck_set = NOTHING_STUCK
        self._stuck_in: Sequence[ThinnedQueue] = ()  # the queues of that stuck set
        self._tested: Mapping[str, ThinnedQueue] = self._thinned
        # Cached per queue, with the version that each belongs to.
        self._granted: dict[str, tuple[WaitQueue, frozenset[str]]] = {}
        self._by_actor: dict[str, tuple[ThinnedQueue, dict[str, list[WaitRequest]]]] = {}
        for queue in queues:
            self.replace(queue)

    @property
    def tangled(self) -> AbstractSet[str]:
        """The actors that can be part of a deadlock."""
        return self._index.tangled

    def locks(self, actor: str) -> Collection[str]:
        """The queues in which the actor has a place that can block others, each once."""
        return self._index.locks(actor)

    def number(self, actor: str) -> int:
        """The number of places that the actor has."""
        return self._index.number(actor)

    def places(self, actor: str) -> list[tuple[WaitQueue, WaitRequest]]:
        """The requests of an actor with their queues, by lock and in queue order."""
        found = []
        for lock in sorted(self._index.locks(actor)):
            queue = self._queues[lock]
            is_short = len(queue.requests) <= SHORT_QUEUE or actor not in self._index.tangled
            requests = queue.requests if is_short else self._members_of(lock)[actor]
            found += [(queue, request) for request in requests if request.actor == actor]
        return found

    def _members_of(self, lock: str) -> Mapping[str, list[WaitRequest]]:
        """The tangled members of a long queue by actor."""
        queue = self.thinned_queues[lock]
        known = self._by_actor.get(lock)
        if known is None or known[0] is not queue:
            by_actor: dict[str, list[WaitRequest]] = {}
            for member in queue.members:
                by_actor.setdefault(member.actor, []).append(member)
            known = self._by_actor[lock] = queue, by_actor
        return known[1]

    def holds(self, queue: WaitQueue, request: WaitRequest) -> bool:
        """Whether this member of one of the graph's queues holds the lock."""
        if queue.kind in _ONE_HOLDER:
            return request.exempt or request.node == queue.requests[0].node
        known = self._granted.get(queue.lock)
        if known is None or known[0] is not queue:
            known = self._granted[queue.lock] = queue, granted(queue)
        return request.node in known[1]

    def is_holder(self, actor: str) -> bool:
        """Whether the actor holds any lock."""
        queues = (self._queues[lock] for lock in self._index.locks(actor))
        places = ((queue, one) for queue in queues for one in queue.requests)
        return any(one.actor == actor and self.holds(queue, one) for queue, one in places)

    def remove(self, lock: str) -> None:
        """Remove a queue."""
        old = self._queues.pop(lock, None)
        if old is not None:
            self._leave(old, old.requests)
            self._drop_thinned(lock)
            self._by_actor.pop(lock, None)
            self._granted.pop(lock, None)

    def replace(
        self,
        queue: WaitQueue,
        created: Iterable[WaitRequest] | None = None,
        deleted: Iterable[WaitRequest] | None = None,
    ) -> None:
        """Add a queue, or replace the one with its name.

        `created` and `deleted` spare a comparison of the queues; a request that changed in any
        field must be in both.
        """
        old = self._queues.get(queue.lock)
        if old is None or old.rules != queue.rules:
            created, deleted = queue.requests, old.requests if old else ()
        elif created is None or deleted is None:
            before, after = set(old.requests), set(queue.requests)
            created, deleted = after - before, before - after
        self._queues[queue.lock] = queue
        if old is not None:
            self._leave(old, deleted)
        if queue.binds:
            self._index.enter(queue, created)
        self._drop_thinned(queue.lock)

    def _leave(self, queue: WaitQueue, requests: Iterable[WaitRequest]) -> None:
        if queue.binds:
            for request in requests:
                self._index.leave(queue, request)

    def _drop_thinned(self, lock: str) -> None:
        """Drop the thinned queue of this lock, and those whose tangled members changed."""
        touched = self._index.touched
        if lock in self._thinned:
            touched.add(lock)
        if touched:
            self._is_changed = True
            for each in touched:
                self._thinned.pop(each, None)
            touched.clear()

    @property
    def thinned_queues(self) -> Mapping[str, ThinnedQueue]:
        """Every queue with tangled actors, thinned to them; the same object while unchanged."""
        if self._is_changed:
            known, tangled = self._thinned, self._index.tangled
            self._thinned = {
                lock: known.get(lock) or thin(self._queues[lock], tangled)
                for lock in {lock for actor in tangled for lock in self._index.locks(actor)}
            }
            self._is_changed = False
        return self._thinned

    @property
    def stuck_set(self) -> StuckSet:
        """The actors that can never continue; the same object while they stay the same."""
        queues = self.thinned_queues
        if self._tested is not queues:
            self._tested = queues
            self._explain(stuck(queues.values()))
        return self._stuck_set

    def _explain(self, left: set[str]) -> None:
        unowned, was = self._index.unowned, self._stuck_set
        locks = sorted({lock for actor in left | unowned for lock in self.locks(actor)})
        queues = [self._thinned[lock] for lock in locks]
        is_same = len(queues) == len(self._stuck_in) and all(map(is_, queues, self._stuck_in))
        if is_same and left == was.actors and was.frozen == left | unowned:
            return
        self._stuck_set, self._stuck_in = explain_stuck(left, unowned, queues), queues

    def stuck_tail(self, lock: str) -> Iterator[tuple[str, frozenset[int]]]:
        """Actors with one place that are stuck in this queue, and the cores they are behind."""
        stuck_set, queue = self.stuck_set, self._queues[lock]
        tail = queue.requests[self._thinned[lock].end :]
        return stuck_tail(stuck_set.queues[lock], tail, stuck_set.reach)
