"""A deadlock as a report shows it: one frozen value with everything known about it."""

from collections.abc import Iterator
from hashlib import blake2s
from operator import attrgetter

from msgspec import Struct

from zktop.model.format import fold_name, fold_path
from zktop.model.layouts.layout import MODE_LETTERS, LockMode
from zktop.model.waits.choose_ring import DeadlockKind, DeadlockRule, Ring, WaitEdge
from zktop.model.waits.confidence import CONFIRMED, Confidence, Evidence
from zktop.model.waits.cores import Core
from zktop.model.waits.deadlock_sentences import DisplayNames
from zktop.model.waits.wait_graph import WaitGraph
from zktop.model.waits.wait_queue import WaitRequest, lock_path
from zktop.model.waits.ways_out import WayOut


class DeadlockPlace(Struct, frozen=True, gc=False):
    """A request and its lock."""

    lock: str
    node: str
    mode: LockMode


class DeadlockStep(Struct, frozen=True, gc=False, rename={"blocker": "for"}):
    """One actor of the ring: what it holds, what it waits for, and which actor blocks it."""

    actor: str
    owner: str
    holds: tuple[DeadlockPlace, ...]
    waits: DeadlockPlace
    blocker: str
    edge: str
    closing: bool
    czxid: int
    since_ms: int | None
    name: str  # unique, unlike `owner`

    @property
    def places(self) -> tuple[DeadlockPlace, ...]:
        """What it holds, then what it waits for."""
        return (*self.holds, self.waits)


class Deadlock(Struct, frozen=True, gc=False):
    """Actors that can never continue; `steps` are in the order of their requests."""

    id: str
    rule: DeadlockRule
    kind: DeadlockKind
    confidence: Confidence
    since_ms: int | None
    coexistence_proven: bool
    actors: tuple[str, ...]
    locks: tuple[str, ...]
    steps: tuple[DeadlockStep, ...]
    behind: int
    sentence: str
    ways_out: tuple[WayOut, ...]
    signature: str
    evidence: tuple[Evidence, ...]
    number: int = 0  # in the order of detection; 0: not numbered
    threaded: bool = False  # some of its sessions have several threads

    @property
    def places(self) -> Iterator[DeadlockPlace]:
        """What its actors hold and wait for, step by step."""
        return (place for step in self.steps for place in step.places)

    @property
    def is_sure(self) -> bool:
        """True if it is confirmed."""
        return self.confidence in CONFIRMED


def steps(graph: WaitGraph, ring: Ring, names: DisplayNames) -> tuple[DeadlockStep, ...]:
    """One step for each edge, oldest request first; the newest one closed the ring."""
    closing = newest_edge(ring)
    unsorted = [
        step(edge, holdings(graph, edge.request.actor), names, closes=edge is closing)
        for edge in ring
    ]
    return tuple(sorted(unsorted, key=attrgetter("closing", "czxid")))


def newest_edge(ring: Ring) -> WaitEdge:
    """The edge of the newest request: in a knot it may be in no ring."""
    # Of several edges of one transaction, this is the last in the ring.
    return max(reversed(ring), key=lambda edge: edge.request.czxid)


def step(
    edge: WaitEdge, holds: tuple[DeadlockPlace, ...], names: DisplayNames, *, closes: bool
) -> DeadlockStep:
    """The step of one edge of the ring, whose actor holds these places."""
    request = edge.request
    return DeadlockStep(
        actor=request.actor,
        owner=names.label(request.actor),
        holds=holds,
        waits=deadlock_place(edge.queue.lock, request),
        blocker=edge.blocker.actor,
        edge="hard" if edge.is_hard else "soft",
        closing=closes,
        czxid=request.czxid,
        since_ms=request.since_ms,
        name=names.owner(request.actor),
    )


def holdings(graph: WaitGraph, actor: str) -> tuple[DeadlockPlace, ...]:
    """The places where the actor holds a lock now, sorted by lock."""
    return tuple(
        deadlock_place(queue.lock, request)
        for queue, request in graph.places(actor)
        if graph.holds(queue, request)
    )


def deadlock_place(lock: str, request: WaitRequest) -> DeadlockPlace:
    return DeadlockPlace(lock, request.node, request.mode)


def deadlock_id(rule: DeadlockRule, ring: Ring) -> str:
    """An id that stays the same while the deadlock lasts, and in a replay.

    It changes only if a queue is renumbered. It depends on the ring alone, since other actors
    may join and leave the queues of the core.
    """
    actors = sorted({edge.request.actor for edge in ring})
    locks = sorted({edge.queue.lock for edge in ring})
    text = "\0".join([*actors, "", *locks])
    return f"{rule}-{blake2s(text.encode('utf-8', 'surrogatepass'), digest_size=4).hexdigest()}"


def signature(rule: DeadlockRule, ring: Ring, names: DisplayNames) -> str:
    """A text that recurring deadlocks share: rule, classes of locks, modes and owners."""
    locks = {
        f"{MODE_LETTERS[edge.request.mode]}:{fold_path(lock_path(edge.queue.lock))}"
        for edge in ring
    }
    owners = {fold_name(names.label(edge.request.actor)) for edge in ring}
    return " ".join([rule, ">".join(sorted(locks)), ",".join(sorted(owners))])


def ordered_actors(core: Core, ring: Ring) -> tuple[str, ...]:
    """The actors of the ring in its order, then the rest of the core."""
    first = dict.fromkeys(edge.request.actor for edge in ring)
    return (*first, *sorted(core.actors - first.keys()))
