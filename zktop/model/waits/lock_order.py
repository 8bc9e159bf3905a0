"""Lock-order inversions: deadlocks that have not happened yet.

`LockOrderGraph` learns from every acquisition which class of locks an actor owned when it asked
for another one. Almost every acquisition repeats one seen before; only a new way of nesting two
locks starts a search for a cycle. Paths are folded (`/user/42` to `/user/*`), so that locks of one
kind count as one class. If an actor owned many locks of one class, the one it got last represents
them all.

A cycle is dangerous if each actor wants what the next one owns, if the actors differ, and if they
do not all own another lock at that time (a gate) that keeps them apart.

Nothing is learned from an actor that waits in two places at once or has more than MAX_PLACES
places. It is a service with many threads and one session: the order of its locks means nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from hashlib import blake2s
from itertools import islice
from typing import Final

from msgspec import Struct

from zktop.model.facts import Millis
from zktop.model.format import fold_path
from zktop.model.layouts.layout import LockMode
from zktop.model.waits.concurrent_actors import waiting_requests
from zktop.model.waits.wait_graph import WaitGraph
from zktop.model.waits.wait_queue import WaitQueue, WaitRequest

MAX_SAMPLES = 4
MAX_LABELS: Final = 4_096  # and as many actors


class OrderActor(Struct, frozen=True, gc=False):
    """An actor that takes locks: `identity` is by default its session, `owner` its label."""

    identity: str
    owner: str
    is_concurrent: bool = False


class Restarts:
    """The identities of clients whose sessions follow one another under one label.

    A restarted client counts as one actor: its old and its new order cannot collide. Clients that
    run side by side may also share a label: that of their host.
    """

    def __init__(self) -> None:
        self._known: dict[str, str] = {}  # actor -> identity, which never changes
        self._newest: dict[str, tuple[str, Millis]] = {}  # label -> newest actor; when it asked

    def identity(
        self, actor: str, label: str, asked_ms: Millis, follows: Callable[[str, Millis], bool]
    ) -> str:
        """The identity of an actor that last asked for a lock at that time.

        `follows` says whether an earlier actor's session is over, and this one connected after the
        earlier one's last request.
        """
        identity = self._known.pop(actor, None)
        if identity is None:
            earlier, at_ms = self._newest.get(label, (actor, 0))
            is_same = earlier in self._known and follows(earlier, at_ms)
            identity = self._known[earlier] if is_same else actor
        self._known[actor] = identity
        self._newest.pop(label, None)
        self._newest[label] = actor, asked_ms
        for bounded in (self._known, self._newest):
            if len(bounded) > MAX_LABELS:
                del bounded[next(iter(bounded))]
        return identity


class NestedLock(Struct, frozen=True, gc=False):
    """One of two nested locks, with the actor's node in it; `vertex` is the class of the lock."""

    lock: str
    node: str
    mode: LockMode
    vertex: str

    @property
    def place(self) -> tuple[str, str]:
        return self.lock, self.node


def vertex_of(lock: str, generation: int) -> str:
    """The class of a lock. An exact path belongs to one generation of its root, given as a czxid.

    >>> vertex_of("/user/42", 0x1F), vertex_of("/orders", 0x1F)
    ('/user/*', '/orders@1f')
    """
    folded = fold_path(lock)
    return folded if folded != lock or not generation else f"{folded}@{generation:x}"


Gates = frozenset[tuple[str, bool]]


class OrderSample(Struct, eq=False):
    """One distinct way in which an actor nested two locks. It is updated when it happens again."""

    asker: OrderActor
    held: NestedLock
    wanted: NestedLock
    gates: Gates  # other locks owned at that time, each with whether it was only read
    count: int = 0
    asked_ms: int | None = None
    ended_ms: int | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """Samples with the same key are counted as one."""
        return self.asker.identity, self.held.mode, self.wanted.mode, self.gates, self.direction

    @property
    def direction(self) -> bool:
        """Whether two locks of one class were taken in ascending order."""
        return self.held.lock < self.wanted.lock


class OrderEdge(Struct, eq=False):
    """The requests seen for class `wanted` by actors that owned a lock of class `held`."""

    held: str
    wanted: str
    count: int = 0
    by_owner: dict[str, int] = {}
    samples: dict[tuple[object, ...], OrderSample] = {}

    def add(self, sample: OrderSample, at_ms: int | None) -> OrderSample | None:
        """Count an acquisition; return the sample if its key is new."""
        self.count += 1
        owner = sample.asker.owner
        if owner in self.by_owner or len(self.by_owner) < 4 * MAX_SAMPLES:
            self.by_owner[owner] = self.by_owner.get(owner, 0) + 1
        known = self.samples.get(sample.key)
        if known is None and len(self.samples) < MAX_SAMPLES:
            self.samples[sample.key] = known = sample
        if known is not None:
            known.count += 1
            known.asker, known.held, known.wanted = sample.asker, sample.held, sample.wanted
            known.asked_ms, known.ended_ms = at_ms, None
        return known if known is sample else None

    def take_back(self, owner: str, sample: OrderSample | None) -> None:
        """Subtract an acquisition, and drop its sample when no acquisition is left."""
        self.count -= 1
        if owner in self.by_owner:
            self.by_owner[owner] -= 1
            if not self.by_owner[owner]:
                del self.by_owner[owner]
        if sample is not None:
            sample.count -= 1
            if not sample.count:
                self.samples.pop(sample.key, None)


class _Learned(Struct, frozen=True, eq=False, gc=False):
    """One acquisition that was counted, with its sample if the edge keeps it."""

    edge: OrderEdge
    owner: str
    sample: OrderSample | None


def can_invert(queue: WaitQueue) -> bool:
    """Whether one holder is enough to block: only such a lock can be part of an inversion."""
    return queue.can_block and (queue.kind != "pool" or queue.room == 1)


_MAX_LENGTH = 4
_MAX_STEPS = 2_000

Cycle = tuple[OrderSample, ...]
Out = Mapping[str, Mapping[str, OrderEdge]]


def closed_by(first: OrderSample, out: Out) -> Cycle:
    """The shortest cycle that this sample closes, if any."""
    if first.held.vertex == first.wanted.vertex:
        return _against(first, out)
    steps = iter(range(_MAX_STEPS))
    for length in range(2, _MAX_LENGTH + 1):
        cycle = next(_extend((first,), length, out, steps), ())
        if cycle:
            return cycle
    return ()


def _against(first: OrderSample, out: Out) -> Cycle:
    """Find an actor that takes locks of the same class in the opposite order."""
    for other in _samples(first.wanted.vertex, out):
        is_same_class = other.wanted.vertex == first.held.vertex
        if is_same_class and other.direction != first.direction and _fits((first,), other):
            return (first, other)
    return ()


def _extend(path: Cycle, length: int, out: Out, steps: Iterator[int]) -> Iterator[Cycle]:
    """Yield the cycles of this length that begin with a path, while there are steps left."""
    for sample in _samples(path[-1].wanted.vertex, out):
        if next(steps, None) is None:
            return
        if not _fits(path, sample):
            continue
        closes = sample.wanted.vertex == path[0].held.vertex
        if closes and len(path) + 1 == length:
            yield (*path, sample)
        elif not closes and len(path) + 1 < length:
            yield from _extend((*path, sample), length, out, steps)


def _samples(vertex: str, out: Out) -> Iterator[OrderSample]:
    return (sample for edge in out.get(vertex, {}).values() for sample in edge.samples.values())


def _fits(path: Cycle, sample: OrderSample) -> bool:
    """Whether a sample may be in a deadlock with all samples of a path."""
    return all(
        other.asker.identity != sample.asker.identity and not _is_gated(other, sample)
        for other in path
    )


def _is_gated(first: OrderSample, second: OrderSample) -> bool:
    """Whether a lock that both own, at least one of them exclusively, keeps them apart."""
    return any(
        lock == other_lock and not (reads and other_reads)
        for lock, reads in first.gates
        for other_lock, other_reads in second.gates
    )


def is_soft(cycle: Cycle) -> bool:
    """Whether two actors only read some lock: then a deadlock needs a writer between them."""
    return any(
        sample.wanted.mode == "read" and following.held.mode == "read"
        for sample, following in zip(cycle, (*cycle[1:], cycle[0]), strict=True)
    )


MAX_PLACES: Final = 32
MAX_CLASSES: Final = 4_096
MAX_EDGES: Final = 20_000

Place = tuple[str, str]  # a lock and a node in it


class LockOrderGraph:
    """All lock orders seen, bounded in number: the least recently confirmed is dropped first."""

    def __init__(self) -> None:
        self._edges: dict[tuple[str, str], OrderEdge] = {}  # by the classes held and wanted
        self._out: dict[str, dict[str, OrderEdge]] = {}  # the same: by held, then by wanted
        self.cycles: dict[str, Cycle] = {}  # all potential deadlocks, by a stable id
        self._running: dict[Place, dict[OrderSample, None]] = {}  # samples of places not left yet
        self._learned: dict[Place, dict[Place, _Learned]] = {}  # by wanted place

    def edge(self, held: str, wanted: str) -> OrderEdge | None:
        """The acquisitions seen in one order of two classes."""
        return self._edges.get((held, wanted))

    def __len__(self) -> int:
        return len(self._edges)

    def learn(
        self,
        graph: WaitGraph,
        actors: Iterable[str],
        order_actor: Callable[[str], OrderActor],
        created_at: Callable[[str], int],
    ) -> None:
        """Learn from the places of these actors; `created_at` is the czxid of a lock's root.

        Repeating what was learned before changes nothing. Call it when the graph is complete: a
        lock that is added later may be the gate that keeps two orders apart.
        """
        for actor in sorted(filter(partial(_is_nesting, graph), actors)):
            places = graph.places(actor)
            if len(waiting_requests(graph, places)) > 1:
                self._unlearn(places)
            else:
                self._learn_places(graph, places, order_actor(actor), created_at)

    def _unlearn(self, places: Iterable[tuple[WaitQueue, WaitRequest]]) -> None:
        """Undo what was learned from these places: their actor has several threads."""
        for queue, request in places:
            self._take_back(self._learned.pop((queue.lock, request.node), {}).values())

    def _learn_places(
        self,
        graph: WaitGraph,
        places: Iterable[tuple[WaitQueue, WaitRequest]],
        asker: OrderActor,
        created_at: Callable[[str], int],
    ) -> None:
        owned: list[tuple[int, NestedLock]] = []
        for queue, request in sorted(places, key=lambda place: place[1].czxid):
            if can_invert(queue) and request.czxid:
                vertex = vertex_of(queue.lock, created_at(queue.lock))
                wanted = NestedLock(queue.lock, request.node, request.mode, vertex)
                if not request.exempt:
                    others = [
                        held
                        for czxid, held in owned
                        if czxid < request.czxid and held.lock != queue.lock
                    ]
                    self._learn_request(others, wanted, request, asker)
                if graph.holds(queue, request):  # what another thread waits for is not owned
                    owned.append((request.czxid, wanted))

    def _learn_request(
        self, others: list[NestedLock], wanted: NestedLock, request: WaitRequest, asker: OrderActor
    ) -> None:
        """Learn from one request; `others` are the locks owned at that time, the oldest first."""
        learned = self._learned.get(wanted.place, {})
        if all(held.place in learned for held in others):
            return
        if learned:  # this happened before all places of its actor were known
            self._take_back(learned[held.place] for held in others if held.place in learned)
        gates = frozenset((held.lock, held.mode == "read") for held in others)
        added: dict[tuple[str, LockMode, bool], _Learned] = {}
        for held in reversed(others):
            alike = held.vertex, held.mode, held.lock < wanted.lock
            if alike not in added:
                gates_here = gates - {(held.lock, True), (held.lock, False)}
                added[alike] = self._add(OrderSample(asker, held, wanted, gates_here), request)
            learned[held.place] = added[alike]
        self._learned[wanted.place] = learned
        self._drop_excess()

    def _take_back(self, learned: Iterable[_Learned]) -> None:
        """Undo what was learned from a request."""
        for acquisition in dict.fromkeys(learned):
            edge, sample = acquisition.edge, acquisition.sample
            if self._edges.get((edge.held, edge.wanted)) is edge:  # not forgotten meanwhile
                edge.take_back(acquisition.owner, sample)
                if sample is not None and not sample.count:
                    self._drop_cycles_with(sample)

    def ended(self, lock: str, node: str, at_ms: int | None) -> None:
        """Record that a member is gone, and when, if known."""
        self._learned.pop((lock, node), None)
        for sample in self._running.pop((lock, node), ()):
            if at_ms is not None:
                sample.ended_ms = at_ms if sample.ended_ms is None else min(at_ms, sample.ended_ms)

    def gave_up(self, lock: str, node: str) -> None:
        """Forget a request that was only a try: it gave up at once, so it cannot block."""
        self._take_back(self._learned.pop((lock, node), {}).values())

    def _add(self, sample: OrderSample, request: WaitRequest) -> _Learned:
        """Count one acquisition, and look for a cycle if its way of nesting is new."""
        key = sample.held.vertex, sample.wanted.vertex
        edge = self._edges.pop(key, None) or OrderEdge(*key)
        self._edges[key] = edge  # the most recently confirmed edge goes to the end
        self._out.setdefault(key[0], {})[key[1]] = edge
        added = edge.add(sample, request.since_ms)
        current = added or edge.samples.get(sample.key)
        if current is not None:
            for lock in (sample.held, sample.wanted):
                self._running.setdefault(lock.place, {})[current] = None
        if added is not None:
            self._note_cycle(closed_by(added, self._out))
        return _Learned(edge, sample.asker.owner, current)

    def _note_cycle(self, cycle: Cycle) -> None:
        """Store a cycle if it is new, or if its roots were created again."""
        if cycle:
            name = _name(cycle)
            if _vertices(self.cycles.get(name, ())) != _vertices(cycle):
                self.cycles[name] = cycle

    def _drop_excess(self) -> None:
        """Drop the least recently confirmed orders and the oldest places above the limits."""
        while len(self._edges) > MAX_EDGES or len(self._out) > MAX_CLASSES:
            held, wanted = next(iter(self._edges))
            edge = self._edges.pop((held, wanted))
            del self._out[held][wanted]
            if not self._out[held]:
                del self._out[held]
            for sample in edge.samples.values():
                self._drop_cycles_with(sample)
        for bounded in (self._running, self._learned):
            if len(bounded) > 2 * MAX_EDGES:
                for place in tuple(islice(bounded, MAX_EDGES)):
                    del bounded[place]

    def _drop_cycles_with(self, sample: OrderSample) -> None:
        self.cycles = {name: cycle for name, cycle in self.cycles.items() if sample not in cycle}


def _is_nesting(graph: WaitGraph, actor: str) -> bool:
    """Whether the actor has places in several locks, yet few enough to be one thread."""
    return 1 < len(graph.locks(actor)) <= graph.count_places(actor) <= MAX_PLACES


def _vertices(cycle: Cycle) -> set[str]:
    return {sample.held.vertex for sample in cycle}


def _name(cycle: Cycle) -> str:
    """Name a potential deadlock by its lock classes, whatever the generation of their roots."""
    edges = sorted(
        f"{fold_path(sample.held.lock)}>{fold_path(sample.wanted.lock)}" for sample in cycle
    )
    is_one_class = all(sample.held.vertex == sample.wanted.vertex for sample in cycle)
    rule = "D10" if is_one_class else "D9"
    text = "\0".join(edges).encode("utf-8", "surrogatepass")
    return f"{rule}-{blake2s(text, digest_size=4).hexdigest()}"
