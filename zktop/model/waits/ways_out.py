"""Ways out of a deadlock: which actor to stop, what that costs, and how many it frees."""

from collections import Counter
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from operator import itemgetter

from msgspec import Struct
from msgspec.structs import replace

from zktop.model.actors import session_of
from zktop.model.waits.choose_ring import Ring, ring_of
from zktop.model.waits.cores import Core, StuckSet, keep_stuck, once_for_each
from zktop.model.waits.deadlock_sentences import DisplayNames
from zktop.model.waits.find_stuck import stuck_actors, unthinned
from zktop.model.waits.wait_graph import StuckCore, WaitGraph
from zktop.model.waits.wait_queue import WaitQueue

_MAX_TRIED = 6
_NOT_PLAIN = ("pool", "election")
_EXPIRES = "is disconnected and expires by itself"


# Whether it fails to break the core, whether it has a connection, the number of locks lost, of
# actors freed (negative), the transaction of its wait (negative), and the actor.
_WayRank = tuple[bool, bool, int, int, int, str]


class WayOut(Struct, frozen=True, gc=False):
    """Stopping this actor's process frees `frees` actors, itself included."""

    actor: str
    owner: str
    why: str
    frees: int
    client: str | None = None  # its address
    server: str | None = None

    @property
    def process(self) -> str:
        """The process to stop."""
        return process(self.owner, self.actor, self.client)


def kill_or_wait(why: str) -> str:
    """What to do to resolve a deadlock, by the reason why this client was chosen."""
    return "wait for" if why == _EXPIRES else "kill"


def process(name: str, actor: str, client: str | None) -> str:
    """Name a process with its address and session, to help find it.

    >>> process("bob", "0x1000", "10.0.4.31:38110"), process("0x1000", "0x1000", None)
    ('bob (10.0.4.31:38110, session 0x1000)', '0x1000')
    """
    session = f"session {actor}" if session_of(actor) else None
    details = [text for text in (client, session) if text and not text.endswith(name)]
    return f"{name} ({', '.join(details)})" if details else name


def ways_out(
    stuck_core: StuckCore,
    counts: Counter[frozenset[int]],
    names: DisplayNames,
    cut_off: AbstractSet[str],
) -> tuple[WayOut, ...]:
    """Return all, cheapest first: no connection, fewest locks lost, most freed, youngest wait."""
    core = stuck_core.core
    tried = {**breakers(core), **_cut_off_breakers(core, cut_off)}
    youngest = _newest_waiter(core) if len(core.actors) > 1 else None
    ways: dict[str, tuple[_WayRank, WayOut]] = {}
    for (actor, czxid), breaks in tried.items():
        held = _held(stuck_core.graph, actor)
        frees = _freed(stuck_core, actor, counts, breaks=breaks)
        is_cut_off = actor in cut_off
        why = _EXPIRES if is_cut_off else _why(held, is_youngest=actor == youngest)
        rank = not breaks, not is_cut_off, held, -frees, -czxid, actor
        ways[actor] = rank, _way(actor, names, why, frees)
    return tuple(way for _, way in sorted(ways.values(), key=itemgetter(0)))


def _newest_waiter(core: Core) -> str:
    """The actor with the shortest wait in a core."""
    waits = (
        (-member.czxid, member.actor)
        for queue in core.queues
        for member, is_waiting in zip(queue.members, queue.waits, strict=True)
        if is_waiting
    )
    return min(waits)[1]  # of several in one transaction, the one that is ranked first


def _way(actor: str, names: DisplayNames, why: str, frees: int) -> WayOut:
    at = names.presences.get(actor)
    client, server = (at.client, at.server) if at else (None, None)
    return WayOut(actor, names.owner(actor), why, frees, client, server)


@once_for_each
def breakers(core: Core) -> dict[tuple[str, int], bool]:
    """Whether stopping an actor breaks a core, tried for some of its actors (and their waits).

    These are actors that block without holding, then those with the newest requests.
    """
    ring = ring_of(core)
    soft = {edge.blocker.actor for edge in ring if not edge.is_hard}
    asked = sorted(_asked(ring), key=lambda pair: (pair[0] not in soft, -pair[1]))
    return _try(core, asked)


def _cut_off_breakers(core: Core, cut_off: AbstractSet[str]) -> dict[tuple[str, int], bool]:
    """Also try actors without a connection: in a large ring, others have newer requests."""
    if cut_off.isdisjoint(core.actors):
        return {}
    return _try(core, [pair for pair in _asked(ring_of(core)) if pair[0] in cut_off])


def _asked(ring: Ring) -> list[tuple[str, int]]:
    """The actors of a ring, each with the transaction of its wait."""
    return [(edge.request.actor, edge.request.czxid) for edge in ring]


def _try(core: Core, asked: list[tuple[str, int]]) -> dict[tuple[str, int], bool]:
    """Whether stopping an actor breaks the core, for the first of these actors."""
    return {(actor, czxid): _breaks(core, actor) for actor, czxid in asked[:_MAX_TRIED]}


def _held(graph: WaitGraph, actor: str) -> int:
    return sum(graph.holds(queue, request) for queue, request in graph.places(actor))


def _why(held: int, *, is_youngest: bool) -> str:
    locks = {0: "holds nothing", 1: "holds one lock"}.get(held, f"holds {held} locks")
    return f"{locks} and has waited the least" if is_youngest else locks


@once_for_each
def _tried(_core: Core) -> dict[str, bool]:
    """Whether stopping an actor breaks a core. It is filled as actors are tried, which is slow."""
    return {}


def _breaks(core: Core, actor: str) -> bool:
    known = _tried(core)
    if actor not in known:
        others = core.actors - {actor}
        smaller = [stuck_queue.only(others) for stuck_queue in core.queues]
        queues = [unthinned(stuck_queue.queue, stuck_queue.members) for stuck_queue in smaller]
        known[actor] = not stuck_actors(queues)
    return known[actor]


def _freed(
    stuck_core: StuckCore, actor: str, counts: Counter[frozenset[int]], *, breaks: bool
) -> int:
    """The number of actors that can continue once this one is gone, itself included."""
    stuck_set, only = stuck_core.stuck_set, frozenset({stuck_core.number})
    stands_alone = all(stuck_set.reach[other] == only for other in stuck_core.core.actors)
    if not _is_plain(stuck_set) or not stands_alone or not breaks:
        return _freed_by_reduction(stuck_core.graph, stuck_set, actor)
    # With plain waits, this frees the actors that wait for this core and nothing else.
    return len(stuck_core.core.actors) + counts[only]


@once_for_each
def _is_plain(stuck_set: StuckSet) -> bool:
    """Whether no request is stuck in a pool or an election."""
    return not any(
        stuck_queue.queue.kind in _NOT_PLAIN
        and (any(stuck_queue.waits) or stuck_set.tails[stuck_queue.queue.lock])
        for stuck_queue in stuck_set.queues.values()
    )


def _freed_by_reduction(graph: WaitGraph, stuck_set: StuckSet, actor: str) -> int:
    """Test without this actor. Only queues of actors that can then finish can change."""
    without = {lock: _without(graph.queues[lock], actor) for lock in graph.locks(actor)}
    left = stuck_set.actors.difference(graph.finished_with(without.values()), {actor})
    finished = stuck_set.actors.union({actor}) - left  # also one that waits in a single lock
    locks = {lock for other in finished for lock in graph.locks(other)} & stuck_set.locks
    before = [stuck_set.queues[lock].queue for lock in locks]
    after = [without.get(queue.lock, queue) for queue in before]
    frozen = left | (stuck_set.frozen - stuck_set.actors - {actor})
    waited = finished.union(_stuck_in(before, stuck_set.frozen))
    return len(waited.difference(_stuck_in(after, frozen), left))


def _without(queue: WaitQueue, actor: str) -> WaitQueue:
    kept = tuple(request for request in queue.requests if request.actor != actor)
    is_let_go = queue.kind == "single" and kept[:1] != queue.requests[:1]
    return replace(queue, requests=() if is_let_go else kept)


def _stuck_in(queues: Iterable[WaitQueue], frozen: AbstractSet[str]) -> Iterator[str]:
    """Yield the actors that wait in these queues for what will never be released."""
    for queue in queues:
        stuck = keep_stuck(queue, queue.requests, frozen)
        members = zip(stuck.members, stuck.waits, strict=True)
        yield from (member.actor for member, is_waiting in members if is_waiting)
