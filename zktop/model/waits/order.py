"""Lock-order inversions: deadlocks that have not happened yet.

Fed with acquisitions, from a snapshot or one by one, of bounded size. Almost every acquisition
repeats one seen before; only a new way of nesting two locks starts a search for a cycle.

Nothing is learned from an actor with more than `PLACES_AT_MOST` places. Whoever owns so many locks
at once is a service of many threads behind one session: which of them took which lock, nobody can
tell, so its order says nothing, and all pairs of ten thousand locks would take minutes.
"""

from collections.abc import Iterable, Mapping
from hashlib import blake2s
from typing import Final

from zktop.model.waits.graph import WaitGraph
from zktop.model.waits.order_cycles import Cycle, closed_by
from zktop.model.waits.order_samples import (
    Asker,
    AskerOf,
    OrderEdge,
    Owned,
    Sample,
    orders,
    owned_before,
    plain_asker,
)
from zktop.model.waits.state import Queue, Request

PLACES_AT_MOST: Final = 32

Place = tuple[str, str]  # a lock, and a node in it


class OrderGraph:
    """A fold over acquisitions. What was confirmed longest ago is forgotten first."""

    def __init__(self, classes_at_most: int = 4_096, edges_at_most: int = 20_000) -> None:
        """Start with no order known."""
        self._classes_at_most = classes_at_most
        self._edges_at_most = edges_at_most
        self._edges: dict[tuple[str, str], OrderEdge] = {}
        self._out: dict[str, dict[str, OrderEdge]] = {}
        self._cycles: dict[str, Cycle] = {}
        self._running: dict[Place, dict[Sample, None]] = {}
        self._learned: dict[Place, dict[Place, Sample | None]] = {}  # by who was asked for

    @property
    def cycles(self) -> Mapping[str, Cycle]:
        """All valid potential cycles, by a stable name."""
        return self._cycles

    def edge(self, held: str, wanted: str) -> OrderEdge | None:
        """Everything known about one order of two classes."""
        return self._edges.get((held, wanted))

    def __len__(self) -> int:
        """How many orders are known."""
        return len(self._edges)

    def harvest(
        self,
        graph: WaitGraph,
        asker_of: AskerOf = plain_asker,
        generations: Mapping[str, int] | None = None,
        actors: Iterable[str] | None = None,
    ) -> None:
        """Learn from where these actors stand, or all: who owns several locks has some order.

        What was learned before is known. Call it when the graph has all that is known at this
        moment: a lock that is seen later may be the gate that keeps two orders apart.
        """
        for actor in sorted(graph.tangled if actors is None else actors):
            if tells_order(graph, actor):
                by_age = sorted(graph.places(actor), key=lambda place: place[1].czxid)
                for queue, request in by_age:
                    self._asked(graph, queue, request, asker_of(actor), generations or {})

    def _asked(
        self,
        graph: WaitGraph,
        queue: Queue,
        request: Request,
        asker: Asker,
        generations: Mapping[str, int],
    ) -> None:
        """Learn from one request of somebody who has other places."""
        if not orders(queue) or request.exempt:
            return
        wanted = Owned(queue.lock, request.node, request.mode, generations.get(queue.lock, 0))
        others = [o for o in owned_before(graph, request, generations) if o.lock != wanted.lock]
        learned = self._learned.get(wanted.place, {})
        if all(held.place in learned for held in others):
            return
        self._take_back(learned.get(held.place) for held in others)
        gates = frozenset((o.lock, o.mode == "read") for o in others)
        for held in others:
            gates_here = gates - {(held.lock, True), (held.lock, False)}
            learned[held.place] = self._add(Sample(asker, held, wanted, gates_here), request)
        self._learned[wanted.place] = learned
        self._forget()

    def _take_back(self, samples: Iterable[Sample | None]) -> None:
        """Undo what was learned of a request before all was seen that its actor owned."""
        for sample in filter(None, samples):
            self._edges[sample.held.vertex, sample.wanted.vertex].take_back(sample)
            if not sample.count:
                self._drop(sample)

    def ended(self, lock: str, node: str, at_ms: int | None, *, is_try: bool = False) -> None:
        """Take note that a member is gone; a try gave up at once and so can block nobody."""
        self._learned.pop((lock, node), None)
        for sample in self._running.pop((lock, node), ()):
            if at_ms is not None:
                sample.ended_ms = at_ms if sample.ended_ms is None else min(at_ms, sample.ended_ms)
            if is_try and sample.wanted.node == node:
                sample.is_try = True
                self._drop(sample)

    def _add(self, sample: Sample, request: Request) -> Sample | None:
        key = sample.held.vertex, sample.wanted.vertex
        edge = self._edges.pop(key, None) or OrderEdge(*key)
        self._edges[key] = edge  # the newest confirmed stands last
        self._out.setdefault(key[0], {})[key[1]] = edge
        added = edge.add(sample, request.czxid, request.since_ms)
        current = added or edge.samples.get(sample.key)
        if current is not None:
            for place in (sample.held, sample.wanted):
                self._running.setdefault(place.place, {})[current] = None
        if added is not None:
            found = closed_by(added, self._out)
            if found:
                self._cycles.setdefault(_name(found), found)
        return current

    def _forget(self) -> None:
        while len(self._edges) > self._edges_at_most or len(self._out) > self._classes_at_most:
            held, wanted = next(iter(self._edges))
            edge = self._edges.pop((held, wanted))
            del self._out[held][wanted]
            if not self._out[held]:
                del self._out[held]
            for sample in edge.samples.values():
                self._drop(sample)
        for bounded in (self._running, self._learned):
            while len(bounded) > 2 * self._edges_at_most:
                del bounded[next(iter(bounded))]

    def _drop(self, sample: Sample) -> None:
        self._cycles = {name: c for name, c in self._cycles.items() if sample not in c}


def tells_order(graph: WaitGraph, actor: str) -> bool:
    """Tell whether the actor owns several locks, yet so few that it is one thread of work."""
    is_nesting = actor in graph.tangled and 1 < len(graph.locks(actor)) <= PLACES_AT_MOST
    return is_nesting and graph.number(actor) <= PLACES_AT_MOST


def _name(cycle: Cycle) -> str:
    edges = sorted(f"{sample.held.vertex}>{sample.wanted.vertex}" for sample in cycle)
    rule = "D10" if all(s.held.vertex == s.wanted.vertex for s in cycle) else "D9"
    text = "\0".join(edges).encode("utf-8", "surrogatepass")
    return f"{rule}-{blake2s(text, digest_size=4).hexdigest()}"
