"""The queues in which each actor has a place.

An actor with a single place just passes through: it can release the lock once it has it, so the
actors behind it in effect wait for those before it. Only *tangled* actors can cause deadlocks:
those with several places, and those with a place that finishing does not free.
"""

from collections.abc import Collection, Iterable

from zktop.model.waits.wait_queue import WaitQueue, WaitRequest

_STICKY_KINDS = ("election", "conflict")


def is_sticky(queue: WaitQueue, request: WaitRequest) -> bool:
    """Whether this place alone makes its actor tangled."""
    return not request.releases or queue.kind in _STICKY_KINDS


class ActorIndex:
    """Maps actors to their queues.

    `tangled` are the actors that can be part of a deadlock, `unowned` the owners of nodes that are
    never released. `touched` collects the locks whose tangled members changed, and `came` actors
    with new requests: all of them that are tangled now, and some that no longer are.
    """

    def __init__(self) -> None:
        # The number of places in each lock. Most actors have one place: storing its lock as a
        # string saves a dict per actor.
        self._locks: dict[str, str | dict[str, int]] = {}
        self._sticky: dict[str, int] = {}  # number of sticky places
        self.tangled: set[str] = set()
        self.unowned: set[str] = set()
        self.touched: set[str] = set()
        self.came: set[str] = set()

    def locks(self, actor: str) -> Collection[str]:
        """The queues in which the actor has a place, without duplicates."""
        places = self._locks.get(actor, {})
        return (places,) if isinstance(places, str) else places.keys()

    def count_places(self, actor: str) -> int:
        places = self._locks.get(actor, {})
        return 1 if isinstance(places, str) else sum(places.values())

    def enter(self, queue: WaitQueue, requests: Iterable[WaitRequest]) -> None:
        locks, lock, is_passing = self._locks, queue.lock, queue.kind not in _STICKY_KINDS
        for request in requests:
            if is_passing and request.releases and request.actor not in locks:
                locks[request.actor] = lock  # the only place, as for nearly every actor
            else:
                self._enter_tangled(queue, request)

    def _enter_tangled(self, queue: WaitQueue, request: WaitRequest) -> None:
        actor, lock = request.actor, queue.lock
        self.came.add(actor)
        if not request.releases:
            self.unowned.add(actor)
        before = self._locks.get(actor)
        if is_sticky(queue, request):
            self._sticky[actor] = self._sticky.get(actor, 0) + 1
        if before is None:
            self._locks[actor] = lock
        else:
            if isinstance(before, str):
                before = self._locks[actor] = {before: 1}
            before[lock] = before.get(lock, 0) + 1
        self._update_tangled(actor, lock)

    def leave(self, queue: WaitQueue, request: WaitRequest) -> None:
        actor, lock = request.actor, queue.lock
        if not request.releases:
            self.unowned.discard(actor)
        if is_sticky(queue, request):
            self._sticky[actor] -= 1
            if not self._sticky[actor]:
                del self._sticky[actor]
        places = self._locks[actor]
        if isinstance(places, str):
            del self._locks[actor]
        else:
            places[lock] -= 1
            if not places[lock]:
                del places[lock]
            if len(places) == 1 and 1 in places.values():
                (self._locks[actor],) = places  # one lock with one place
        self._update_tangled(actor, lock)

    def _update_tangled(self, actor: str, lock: str) -> None:
        was_tangled = actor in self.tangled
        is_tangled = isinstance(self._locks.get(actor), dict) or actor in self._sticky
        if was_tangled or is_tangled:
            self.touched.add(lock)
        if is_tangled != was_tangled:
            if is_tangled:
                self.tangled.add(actor)
            else:
                self.tangled.discard(actor)
            self.touched.update(self.locks(actor))
