"""The wait graph: all queues, and the actors in them that can never continue.

Only tangled actors (see `actor_index`) matter for deadlocks. A change in a queue without any of
them costs only that queue's changed requests. Any other change is tested when the result is next
needed, so a burst of changes costs one test. The test uses queues thinned to the tangled actors,
and covers only actors that can no longer finish at their turn (see `finish_order`). Stuck actors
that share no queue, even through others, are explained separately, so a change in one of a
thousand deadlocks costs only as much as that one.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from zktop.model.waits.actor_index import ActorIndex
from zktop.model.waits.cores import Core, StuckSet, explain_stuck
from zktop.model.waits.find_stuck import ThinnedQueue, holding_nodes, thin
from zktop.model.waits.finish_order import FinishOrder
from zktop.model.waits.wait_queue import WaitQueue, WaitRequest

SHORT_QUEUE: Final = 16  # in a longer one, an actor's places are indexed
_ONE_HOLDER = ("exclusive", "single", "election")


class WaitGraph:
    """The newest version of each queue, and the stuck sets that follow from all of them."""

    def __init__(self, queues: Iterable[WaitQueue] = ()) -> None:
        self._queues: dict[str, WaitQueue] = {}
        self.queues: Mapping[str, WaitQueue] = MappingProxyType(self._queues)
        self._index = ActorIndex()
        self._thinned: dict[str, ThinnedQueue] = {}  # of each queue with tangled actors
        self._untested: dict[str, ThinnedQueue | None] = {}  # as they were at the last test
        self._order = FinishOrder(
            self._index.locks, self._thinned, self._index.tangled, self._index.unowned
        )
        self._stuck_sets: dict[StuckSet, None] = {}
        self._stuck_set_of: dict[str, StuckSet] = {}  # by actor
        # Cached per queue, with the version that each belongs to.
        self._granted: dict[str, tuple[WaitQueue, frozenset[str]]] = {}
        self._by_actor: dict[str, tuple[ThinnedQueue, dict[str, list[WaitRequest]]]] = {}
        for queue in queues:
            self.replace(queue, queue.requests, ())

    @property
    def tangled(self) -> AbstractSet[str]:
        """The actors that can be part of a deadlock."""
        return self._index.tangled

    def take_newcomers(self) -> AbstractSet[str]:
        """Return the tangled actors with new requests since this was last called."""
        came = self._index.tangled & self._index.came
        self._index.came.clear()
        return came

    def locks(self, actor: str) -> Collection[str]:
        """The queues in which the actor has a place that can block others, without duplicates."""
        return self._index.locks(actor)

    def count_places(self, actor: str) -> int:
        return self._index.count_places(actor)

    def places(self, actor: str) -> list[tuple[WaitQueue, WaitRequest]]:
        """The requests of an actor with their queues, by lock and in queue order."""
        places = []
        for lock in sorted(self._index.locks(actor)):
            queue = self._queues[lock]
            is_short = len(queue.requests) <= SHORT_QUEUE or actor not in self._index.tangled
            requests = queue.requests if is_short else self._members_of(lock)[actor]
            places += [(queue, request) for request in requests if request.actor == actor]
        return places

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
        """Whether this member holds the lock. This is cached for the newest version of a queue."""
        first = queue.requests[0]
        if queue.kind in _ONE_HOLDER or (queue.kind == "read-write" and not first.reads):
            return request.exempt or request.node == first.node
        known = self._granted.get(queue.lock)
        if known is None or known[0] is not queue:
            known = queue, holding_nodes(queue)
            if self._queues.get(queue.lock) is queue:
                self._granted[queue.lock] = known
        return request.node in known[1]

    def is_holder(self, actor: str) -> bool:
        """Whether the actor holds any lock."""
        queues = (self._queues[lock] for lock in self._index.locks(actor))
        return any(
            request.actor == actor and self.holds(queue, request)
            for queue in queues
            for request in queue.requests
        )

    def remove(self, lock: str) -> None:
        old = self._queues.pop(lock, None)
        if old is not None:
            self._leave(old, old.requests)
            self._touch(lock)
            self._by_actor.pop(lock, None)
            self._granted.pop(lock, None)

    def replace(
        self, queue: WaitQueue, created: Iterable[WaitRequest], deleted: Iterable[WaitRequest]
    ) -> None:
        """Add a queue, or replace the one with its name.

        A request that changed in any field must be both `created` and `deleted`.
        """
        old = self._queues.get(queue.lock)
        if old is None or old.rules != queue.rules:
            created, deleted = queue.requests, old.requests if old else ()
        self._queues[queue.lock] = queue
        if old is not None:
            self._leave(old, deleted)
        if queue.can_block:
            self._index.enter(queue, created)
        self._touch(queue.lock)

    def _leave(self, queue: WaitQueue, requests: Iterable[WaitRequest]) -> None:
        if queue.can_block:
            for request in requests:
                self._index.leave(queue, request)

    def _touch(self, lock: str) -> None:
        """Thin this queue again, if it has tangled members."""
        if lock in self._thinned:
            self._index.touched.add(lock)

    @property
    def thinned_queues(self) -> Mapping[str, ThinnedQueue]:
        """Every queue with tangled actors, thinned to them."""
        touched, tangled, thinned = self._index.touched, self._index.tangled, self._thinned
        while touched:
            lock = touched.pop()
            self._untested.setdefault(lock, thinned.pop(lock, None))
            queue = self._queues.get(lock)
            if queue is not None and queue.can_block:
                thin_queue = thin(queue, tangled)
                if thin_queue.members:
                    thinned[lock] = thin_queue
        return thinned

    @property
    def stuck_sets(self) -> Collection[StuckSet]:
        """The actors that can never continue; a set is the same object until a queue changes."""
        queues = self.thinned_queues
        if self._untested:
            changed, self._untested = self._untested, {}
            tested = self._order.update(changed)
            for lock in changed:
                for queue in filter(None, (changed[lock], queues.get(lock))):
                    tested.update([member.actor for member in queue.members])
            self._explain(tested)
        return self._stuck_sets.keys()

    @property
    def cores(self) -> tuple[Core, ...]:
        """All independent deadlocks."""
        return tuple(core for stuck_set in self.stuck_sets for core in stuck_set.cores)

    def is_stuck(self, actor: str) -> bool:
        """Whether the last test found that the actor can never continue."""
        return actor in self._order.stuck

    def finished_with(self, queues: Iterable[WaitQueue]) -> list[str]:
        """The stuck actors that could finish if these shorter queues replaced the current ones."""
        return self._order.finished_with([thin(queue, self._index.tangled) for queue in queues])

    @property
    def tested(self) -> int:
        """The number of places that the last test examined."""
        return self._order.tested

    def _explain(self, actors: Iterable[str]) -> None:
        """Recompute the stuck sets that these actors were in or are in now."""
        known: list[Core] = []
        begin: list[str] = []
        for actor in actors:
            begin += (actor, *self._forget(actor, known))
        for actor in sorted(set(filter(self._is_frozen, begin))):
            if actor not in self._stuck_set_of:
                together, locks = self._together(actor)
                for other in together:
                    self._forget(other, known)
                queues = [self._thinned[lock] for lock in sorted(locks)]
                stuck_set = explain_stuck(together, self._index.unowned, queues, known)
                self._stuck_sets[stuck_set] = None
                self._stuck_set_of.update(dict.fromkeys(together, stuck_set))

    def _forget(self, actor: str, known: list[Core]) -> Collection[str]:
        """Forget the stuck set of an actor; return its actors, and add its cores to `known`."""
        stuck_set = self._stuck_set_of.get(actor)
        if stuck_set is None:
            return ()
        del self._stuck_sets[stuck_set]
        known += stuck_set.cores
        for other in stuck_set.frozen:
            del self._stuck_set_of[other]
        return stuck_set.frozen

    def _is_frozen(self, actor: str) -> bool:
        return self.is_stuck(actor) or actor in self._index.unowned

    def _together(self, actor: str) -> tuple[frozenset[str], set[str]]:
        """The frozen actors that have queues in common with this one, and all their queues."""
        together, locks, work = {actor}, set[str](), [actor]
        while work:
            for lock in self.locks(work.pop()):
                if lock in locks:
                    continue
                locks.add(lock)
                for member in self._thinned[lock].members:
                    if member.actor not in together and self._is_frozen(member.actor):
                        together.add(member.actor)
                        work.append(member.actor)
        return frozenset(together), locks


class StuckCore(Struct, frozen=True, eq=False):
    """A core and where it is in the graph. Cores are compared by identity."""

    graph: WaitGraph
    stuck_set: StuckSet
    number: int
    is_supposed: bool = False  # elections count as waits although they may not block

    @property
    def core(self) -> Core:
        return self.stuck_set.cores[self.number]

    @property
    def size(self) -> int:
        """The number of requests that keep its actors stuck."""
        return sum(len(stuck_queue.members) for stuck_queue in self.core.queues)


def stuck_cores(graph: WaitGraph, *, is_supposed: bool = False) -> Iterator[StuckCore]:
    for stuck_set in graph.stuck_sets:
        for number in range(len(stuck_set.cores)):
            yield StuckCore(graph, stuck_set, number, is_supposed)
