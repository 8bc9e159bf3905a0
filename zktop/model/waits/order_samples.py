"""What the lock-order graph remembers of an acquisition: who asked for what while owning what."""

from collections.abc import Callable, Mapping

from msgspec import Struct

from zktop.model.waits.graph import WaitGraph
from zktop.model.waits.order_classes import fold_path
from zktop.model.waits.state import Mode, Queue, Request

SAMPLES_AT_MOST = 4


class Asker(Struct, frozen=True, gc=False):
    """Who asks: an identity that outlives sessions, a label, and the life of the session."""

    identity: str
    owner: str
    alive_ms: tuple[int, int] | None = None
    is_concurrent: bool = False


class Owned(Struct, frozen=True, gc=False):
    """A lock that somebody owns, granted or still queued; `generation`: czxid of its root."""

    lock: str
    node: str
    mode: Mode
    generation: int = 0

    @property
    def place(self) -> tuple[str, str]:
        """Where it stands."""
        return self.lock, self.node

    @property
    def vertex(self) -> str:
        """The class of the lock; an exact path belongs to one generation of its root."""
        folded = fold_path(self.lock)
        return (
            folded
            if folded != self.lock or not self.generation
            else f"{folded}@{self.generation:x}"
        )


Gates = frozenset[tuple[str, bool]]


class Sample(Struct, eq=False):
    """One distinct way in which somebody nested two locks; updated when it happens again."""

    asker: Asker
    held: Owned
    wanted: Owned
    # Other locks owned meanwhile, each with whether it was only read.
    gates: Gates
    count: int = 0
    first_czxid: int = 0
    last_czxid: int = 0
    asked_ms: int | None = None
    ended_ms: int | None = None
    is_try: bool = False

    @property
    def key(self) -> tuple[object, ...]:
        """What makes it distinct."""
        return self.asker.identity, self.held.mode, self.wanted.mode, self.gates, self.direction

    @property
    def direction(self) -> bool:
        """Within one class: whether the locks were taken in ascending order."""
        return self.held.lock < self.wanted.lock


class OrderEdge(Struct, eq=False):
    """All that is known of `held -> wanted` between two classes of locks."""

    held: str
    wanted: str
    count: int = 0
    by_owner: dict[str, int] = {}
    samples: dict[tuple[object, ...], Sample] = {}

    def add(self, sample: Sample, czxid: int, at_ms: int | None) -> Sample | None:
        """Count an acquisition; answer with the sample when it is one not seen before."""
        self.count += 1
        owner = sample.asker.owner
        if owner in self.by_owner or len(self.by_owner) < 4 * SAMPLES_AT_MOST:
            self.by_owner[owner] = self.by_owner.get(owner, 0) + 1
        known = self.samples.get(sample.key)
        if known is None and len(self.samples) < SAMPLES_AT_MOST:
            self.samples[sample.key] = known = sample
            sample.first_czxid = czxid
        is_new = known is sample or (known is not None and known.is_try)
        if known is not None:
            known.is_try = False
            known.count += 1
            known.last_czxid = czxid
            known.held, known.wanted = sample.held, sample.wanted
            known.asked_ms, known.ended_ms = at_ms, None
        return known if is_new else None

    def take_back(self, sample: Sample) -> None:
        """Count an acquisition out again; a sample of nothing is none."""
        owner = sample.asker.owner
        self.count -= 1
        sample.count -= 1
        if owner in self.by_owner:
            self.by_owner[owner] -= 1
        if not sample.count:
            self.samples.pop(sample.key, None)


def orders(queue: Queue) -> bool:
    """Whether a lock of this kind can be part of an inversion: one holder is enough to block."""
    return queue.binds and (queue.kind != "pool" or queue.room == 1)


def owned_before(
    graph: WaitGraph, request: Request, generations: Mapping[str, int]
) -> tuple[Owned, ...]:
    """All that the actor owned when it made this request, as far as it is still there."""
    return tuple(
        Owned(queue.lock, other.node, other.mode, generations.get(queue.lock, 0))
        for queue, other in graph.places(request.actor)
        if orders(queue) and 0 < other.czxid < request.czxid
    )


AskerOf = Callable[[str], Asker]


def plain_asker(actor: str) -> Asker:
    """Take an actor for its own identity."""
    return Asker(actor, actor)
