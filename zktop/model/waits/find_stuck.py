"""The exact deadlock test: let every actor that can finish do so, and see which ones are left.

Whether a member is granted depends only on which earlier members are gone, and removing members
never takes a grant back. So the result does not depend on the order, for exclusive, shared and
k-of-n waits alike. A search for cycles would be wrong as soon as a pool is involved.

Queues are first reduced ("thinned") to the tangled actors, which changes no verdict: an actor with
one place leaves as soon as it is granted. So an exclusive member in effect waits for the tangled
ones before it. A pool is full if tangled members take all its room. A reader waits for the tangled
ones before the last writer ahead of it; if that writer is not tangled, a wall marks its place.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import takewhile

from msgspec import Struct

from zktop.model.waits.wait_queue import WaitQueue, WaitRequest


class ThinnedQueue(Struct, frozen=True, gc=False):
    """The tangled members of a queue.

    Member i is granted when `needs[i]` of the members before it have left; a conflict queue does
    not use this. `end` is the place after the last tangled member in the whole queue.
    """

    queue: WaitQueue
    members: tuple[WaitRequest, ...]
    needs: Sequence[int]
    end: int


def thin(queue: WaitQueue, tangled: Container[str]) -> ThinnedQueue:
    """Thin a queue to the tangled actors."""
    requests = queue.requests
    places = [place for place, request in enumerate(requests) if request.actor in tangled]
    is_all = len(places) == len(requests)  # then both share one tuple
    members = requests if is_all else tuple([requests[place] for place in places])
    walls = _walls(requests, places) if queue.kind == "read-write" else ()
    return ThinnedQueue(
        queue, members, _needs(queue, members, walls), places[-1] + 1 if places else 0
    )


def unthinned(queue: WaitQueue, members: tuple[WaitRequest, ...]) -> ThinnedQueue:
    """A queue of exactly these members, as if there were no others."""
    return ThinnedQueue(queue, members, _needs(queue, members, ()), len(members))


def _walls(requests: tuple[WaitRequest, ...], places: list[int]) -> list[int]:
    """The indexes of members that directly follow a writer that is not tangled."""
    if len(places) == len(requests):
        return []
    walls, before = [], 0
    for number, place in enumerate(places):
        between = requests[before:place]
        if any(not (other.reads or other.exempt) for other in between):
            walls.append(number)
        before = place + 1
    return walls


def _needs(
    queue: WaitQueue, members: tuple[WaitRequest, ...], walls: Sequence[int]
) -> Sequence[int]:
    if queue.kind == "single":
        is_held = bool(members) and members[0] == queue.requests[0]
        return [int(is_held and place > 0) for place in range(len(members))]
    if queue.kind == "read-write":
        return _needs_of_read_write(members, walls)
    return range(1 - queue.room, 1 - queue.room + len(members))


def _needs_of_read_write(members: tuple[WaitRequest, ...], walls: Sequence[int]) -> Sequence[int]:
    needs: list[int] = []
    before_last_writer = 0
    for place, member in enumerate(members):
        if place in walls:
            before_last_writer = place
        needs.append(before_last_writer if member.reads else place)
        if not member.reads:
            before_last_writer = place + 1
    return needs


class FifoReduction:
    """Grants members in order, each once enough earlier ones are gone."""

    __slots__ = ("_gone", "_left", "_members", "_needs", "_next")

    def __init__(self, queue: ThinnedQueue) -> None:
        self._members = queue.members
        self._needs = queue.needs
        self._left = bytearray(len(self._members))
        self._next = 0
        self._gone = 0

    def admit(self) -> list[str]:
        """Grant the next members for which enough others are gone; return their actors."""
        granted = []
        place, gone, needs, left = self._next, self._gone, self._needs, self._left
        while place < len(left) and gone >= needs[place]:
            member = self._members[place]
            if left[place]:
                gone += 1  # an exempt member that left before its turn, or one that was done
            elif not member.exempt:
                granted.append(member.actor)
            place += 1
        self._next, self._gone = place, gone
        return granted

    def leave(self, place: int) -> Sequence[str]:
        """Count the member as gone, and grant the next ones."""
        self._left[place] = 1
        if place >= self._next:
            return ()
        self._gone += 1
        return self.admit()


class ConflictReduction:
    """Grants a member when all nodes that it conflicts with are gone."""

    __slots__ = ("_behind", "_members", "_needs", "_ready")

    def __init__(self, queue: ThinnedQueue) -> None:
        self._members = queue.members
        place_of = {member.node: place for place, member in enumerate(self._members)}
        self._behind: list[list[int]] = [[] for _ in self._members]
        self._needs = [0] * len(self._members)
        conflicts = queue.queue.conflicts or {}
        for place, member in enumerate(self._members):
            for node in conflicts.get(member.node, ()):
                if node in place_of:
                    self._behind[place_of[node]].append(place)
                    self._needs[place] += 1
        self._ready = [place for place, need in enumerate(self._needs) if not need]

    def admit(self) -> list[str]:
        """Grant members without any conflict left."""
        ready, self._ready = self._ready, []
        members = [self._members[place] for place in ready]
        return [member.actor for member in members if not member.exempt]

    def leave(self, place: int) -> Sequence[str]:
        """Remove the member's conflicts, and grant those without any other."""
        for other in self._behind[place]:
            self._needs[other] -= 1
            if not self._needs[other]:
                self._ready.append(other)
        return self.admit()


QueueReduction = FifoReduction | ConflictReduction  # of one queue


class Reduction:
    """Lets every actor that can finish do so, in some order.

    The actors in `done` are gone from the start. It reads only the queues of the actors that it
    tests: those it starts with, and those that are granted a place.
    """

    def __init__(
        self,
        locks: Callable[[str], Iterable[str]],
        queues: Mapping[str, ThinnedQueue],
        done: Container[str] = (),
    ) -> None:
        self._locks, self._queues, self._done = locks, queues, done
        self.tested = 0  # places in the queues that it read
        self.never_releasing: set[str] = set()  # actors that never release some place
        # The places that each actor releases when it finishes.
        self._places: dict[str, list[tuple[QueueReduction, int]]] = {}
        self._pending: dict[str, int] = {}  # requests of each actor that are not granted yet
        self._to_read: list[str] = []  # actors whose queues are to be read
        self._fully_read: set[str] = set()  # actors all of whose queues were read
        self._locks_read: set[str] = set()
        self._ready: list[str] = []  # actors that hold all that they asked for

    def run(self, actors: Iterable[str]) -> list[str]:
        """Return the actors that finish, in the order in which they do."""
        self._to_read.extend(actors)
        finished: list[str] = []
        while self._to_read or self._ready:
            if self._to_read:
                self._read_queues_of(self._to_read.pop())
                continue
            actor = self._ready.pop()
            finished.append(actor)
            for reduction, place in self._places.get(actor, ()):
                self._grant(reduction.leave(place))
        return finished

    def _read_queues_of(self, actor: str) -> None:
        if actor in self._fully_read:
            return
        for lock in self._locks(actor):
            if lock not in self._locks_read:
                self._locks_read.add(lock)
                self._read_queue(self._queues[lock])
        self._fully_read.add(actor)
        if not self._pending.get(actor) and actor not in self.never_releasing:
            self._ready.append(actor)

    def _read_queue(self, queue: ThinnedQueue) -> None:
        is_conflict = queue.queue.kind == "conflict"
        reduction = ConflictReduction(queue) if is_conflict else FifoReduction(queue)
        is_released = queue.queue.kind != "election"  # finishing does not end a leadership
        places, pending, done = self._places, self._pending, self._done
        self.tested += len(queue.members)
        gone = []
        for place, member in enumerate(queue.members):
            actor = member.actor
            if actor in done:
                if is_released and member.releases:
                    gone.append(place)
                continue
            if not member.exempt:
                pending[actor] = pending.get(actor, 0) + 1
            if not member.releases:
                self.never_releasing.add(actor)
            elif is_released:
                places.setdefault(actor, []).append((reduction, place))
        for place in gone:
            self._grant(reduction.leave(place))
        self._grant(reduction.admit())

    def _grant(self, actors: Iterable[str]) -> None:
        for actor in actors:
            if actor in self._done:
                continue
            self._pending[actor] -= 1
            if actor not in self._fully_read:
                self._to_read.append(actor)
            elif not self._pending[actor] and actor not in self.never_releasing:
                self._ready.append(actor)


def stuck_actors(queues: Iterable[ThinnedQueue]) -> set[str]:
    """The actors of these queues that can never finish.

    Actors that never release anything are left out: they block, but wait for nothing.
    """
    by_lock = {queue.queue.lock: queue for queue in queues}
    locks: dict[str, dict[str, None]] = {}
    for lock, queue in by_lock.items():
        for member in queue.members:
            locks.setdefault(member.actor, {})[lock] = None
    reduction = Reduction(locks.__getitem__, by_lock)
    return locks.keys() - set(reduction.run(locks)) - reduction.never_releasing


def holding_nodes(queue: WaitQueue) -> frozenset[str]:
    """The nodes of all holders, by one pass over the queue.

    >>> a, b = WaitRequest("a", "a", "read", 1), WaitRequest("b", "b", "read", 2)
    >>> sorted(holding_nodes(WaitQueue("/l", "read-write", (a, b))))
    ['a', 'b']
    >>> sorted(holding_nodes(WaitQueue("/l", "exclusive", (a, b))))
    ['a']
    """
    requests = queue.requests
    first = requests[: queue.room]
    if queue.kind == "pool" and not queue.capacity:
        first = requests
    elif queue.kind == "read-write":
        first = tuple(takewhile(lambda request: request.reads, requests)) or first
    elif queue.kind == "conflict":
        nodes, conflicts = {request.node for request in requests}, queue.conflicts or {}
        first = tuple(
            request for request in requests if nodes.isdisjoint(conflicts.get(request.node, ()))
        )
    exempt = (request.node for request in requests if request.exempt)
    return frozenset((*(request.node for request in first), *exempt))
