"""Lock-order inversions: deadlocks that have not happened yet.

Fed with acquisitions, from a snapshot or one by one, of bounded size. Almost every acquisition
repeats one seen before; only a new way of nesting two locks starts a search for a cycle.

Nothing is learned from an actor with more than `PLACES_AT_MOST` places. Whoever owns so many locks
at once is a service of many threads behind one session: which of them took which lock, nobody can
tell, so its order says nothing, and all pairs of ten thousand locks would take minutes.
"""

from collections.abc import Mapping
from functools import partial
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


class OrderGraph:
    """A fold over acquisitions. What was confirmed longest ago is forgotten first."""

    def __init__(self, classes_at_most: int = 4_096, edges_at_most: int = 20_000) -> None:
        """Start with no order known."""
        self._classes_at_most = classes_at_most
        self._edges_at_most = edges_at_most
        self._edges: dict[tuple[str, str], OrderEdge] = {}
        self._out: dict[str, dict[str, OrderEdge]] = {}
        self._cycles: dict[str, Cycle] = {}
        self._running: dict[tuple[str, str], dict[Sample, None]] = {}

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
    ) -> None:
        """Learn from one snapshot: who owns several locks took them in some order."""
        for actor in sorted(filter(partial(tells_order, graph), graph.tangled)):
            by_age = sorted(graph.places(actor), key=lambda place: place[1].czxid)
            for queue, request in by_age:
                self.asked(graph, queue, request, asker_of(actor), generations)

    def asked(
        self,
        graph: WaitGraph,
        queue: Queue,
        request: Request,
        asker: Asker,
        generations: Mapping[str, int] | None = None,
    ) -> None:
        """Learn from one new request; call it when the graph has it."""
        generations = generations or {}
        if not tells_order(graph, request.actor) or not orders(queue) or request.exempt:
            return
        if any(
            s.wanted.node == request.node
            for s in self._running.get((queue.lock, request.node), ())
        ):
            return  # learned before: a snapshot repeats what events told
        wanted = Owned(queue.lock, request.node, request.mode, generations.get(queue.lock, 0))
        owned = owned_before(graph, request, generations)
        others = [o for o in owned if o.lock != wanted.lock]
        gates = frozenset((o.lock, o.mode == "read") for o in others)
        for held in others:
            gates_here = gates - {(held.lock, True), (held.lock, False)}
            self._add(Sample(asker, held, wanted, gates_here), request)

    def ended(self, lock: str, node: str, at_ms: int, *, is_try: bool = False) -> None:
        """Take note that a member is gone; a try gave up at once and so can block nobody."""
        for sample in self._running.pop((lock, node), ()):
            sample.ended_ms = at_ms if sample.ended_ms is None else min(at_ms, sample.ended_ms)
            if is_try and sample.wanted.node == node:
                sample.is_try = True
                self._drop(sample)

    def _add(self, sample: Sample, request: Request) -> None:
        key = sample.held.vertex, sample.wanted.vertex
        edge = self._edges.pop(key, None) or OrderEdge(*key)
        self._edges[key] = edge  # the newest confirmed stands last
        self._out.setdefault(key[0], {})[key[1]] = edge
        added = edge.add(sample, request.czxid, request.since_ms)
        current = added or edge.samples.get(sample.key)
        if current is not None:
            for place in (sample.held, sample.wanted):
                self._running.setdefault((place.lock, place.node), {})[current] = None
        if added is not None:
            found = closed_by(added, self._out)
            if found:
                self._cycles.setdefault(_name(found), found)
        self._forget()

    def _forget(self) -> None:
        while len(self._edges) > self._edges_at_most or len(self._out) > self._classes_at_most:
            held, wanted = next(iter(self._edges))
            edge = self._edges.pop((held, wanted))
            del self._out[held][wanted]
            if not self._out[held]:
                del self._out[held]
            for sample in edge.samples.values():
                self._drop(sample)
        while len(self._running) > 2 * self._edges_at_most:
            del self._running[next(iter(self._running))]

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
