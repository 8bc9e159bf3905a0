"""The deadlock test on the scale case: in full, and after single events."""

from collections.abc import Iterator
from functools import partial
from statistics import median

from msgspec.structs import replace

from bench.figure import Figure, milliseconds
from tests.model.waits.scale_case import longer, scale_case, shorter
from tests.model.waits.stuck import assess, stuck_classes
from zktop.model.waits.choose_ring import ActorEvidence
from zktop.model.waits.root_blockers import ranking
from zktop.model.waits.wait_graph import WaitGraph
from zktop.model.waits.wait_queue import WaitQueue

_FULL_MS = 100
_EVENT_MS = 50
_TENFOLD_MS = 1_000


def figures() -> Iterator[Figure]:
    """Measure the full pass with cores, and the cost of one change."""
    queues = scale_case()
    floor = milliseconds(partial(_touch, queues))
    full = milliseconds(lambda: stuck_classes(WaitGraph(queues)))
    yield Figure("waits full", full, "ms", floor, "one touch a member", _FULL_MS)
    many = list(_tenfold(queues))
    floor_of_many = milliseconds(partial(_touch, many), 1)
    full = milliseconds(lambda: stuck_classes(WaitGraph(many)), 1)
    name = "waits full, 100,000 actors"
    yield Figure(name, full, "ms", floor_of_many, "one touch a member", _TENFOLD_MS)
    nested = _event(WaitGraph(many), "/0/chain/1500", "0chain1000")
    name = "waits nested request, 100,000 actors"
    yield Figure(name, nested, "ms", floor_of_many, "one touch a member", _EVENT_MS)
    graph = WaitGraph(queues)
    for name, lock, actor in _EVENTS:
        yield Figure(
            name, _event(graph, lock, actor), "ms", floor, "one touch a member", _EVENT_MS
        )
    forming = _event(graph, "/chain/0", "chain1999")
    yield Figure(
        "waits ring of 2000 closes", forming, "ms", floor, "one touch a member", _EVENT_MS
    )
    judged = milliseconds(lambda: assess(graph, ActorEvidence(now_ms=60_000)))
    yield Figure("waits assess again", judged, "ms", floor, "one touch a member")
    roots = milliseconds(lambda: list(ranking(graph, 60_000, {})))
    yield Figure("waits root blockers", roots, "ms", floor, "one touch a member")


_EVENTS = (
    ("waits newcomer in a convoy", "/convoy", "fresh"),
    ("waits newcomer behind a ring", "/ring0/0", "fresh"),
    ("waits nested request, big lock", "/rw", "chain1000"),
    ("waits nested request, long chain", "/chain/1500", "chain1000"),
)


def _tenfold(queues: list[WaitQueue]) -> Iterator[WaitQueue]:
    """Ten copies of the queues, side by side."""
    for copy in range(10):
        for queue in queues:
            requests = (replace(one, actor=f"{copy}{one.actor}") for one in queue.requests)
            yield replace(queue, lock=f"/{copy}{queue.lock}", requests=tuple(requests))


def _touch(queues: list[WaitQueue]) -> int:
    return sum(request.czxid for queue in queues for request in queue.requests)


def _event(graph: WaitGraph, lock: str, actor: str) -> float:
    """Add and remove one request; return the slower time."""
    came, request = longer(graph.queues[lock], actor)
    went = shorter(came, request)

    def come() -> None:
        graph.replace(came, created=(request,), deleted=())
        len(graph.cores)

    def go() -> None:
        graph.replace(went, created=(), deleted=(request,))
        len(graph.cores)

    return median(max(milliseconds(come, 1), milliseconds(go, 1)) for _ in range(9))
