"""Random small states and events for the properties, and a simulator to compare results with."""

import random
from collections.abc import Iterator

from hypothesis import strategies as st
from msgspec.structs import replace

from zktop.model.layouts.layout import LockMode
from zktop.model.waits.wait_queue import WaitQueue, WaitRequest

ACTORS = "ABCDEFGH"
KINDS = ("exclusive", "read-write", "pool", "single", "election", "conflict")
MODES: dict[str, tuple[LockMode, ...]] = {
    "read-write": ("read", "write"),
    "pool": ("lease",),
    "election": ("candidate",),
}


@st.composite
def worlds(
    draw: st.DrawFn, kinds: tuple[str, ...] = KINDS, *, odd: bool = True
) -> list[WaitQueue]:
    """One to five queues of a few actors; odd ones have orphans and exempt members too."""
    count = draw(st.integers(1, 5))
    actors = ACTORS[: draw(st.integers(2, 8))]
    return [
        _queue(draw, f"/l{n}", draw(st.sampled_from(kinds)), actors, odd=odd) for n in range(count)
    ]


def _queue(draw: st.DrawFn, lock: str, kind: str, actors: str, *, odd: bool) -> WaitQueue:
    names = draw(st.lists(st.sampled_from(actors), max_size=6))
    requests = tuple(
        request(draw, lock, kind, actor, number, odd=odd) for number, actor in enumerate(names)
    )
    queue = WaitQueue(
        lock,
        kind,
        requests,
        draw(st.sampled_from((1, 2, 3, None))) if kind == "pool" else None,
        blocking=draw(st.booleans()) if kind == "election" else False,
    )
    return with_conflicts(queue) if kind == "conflict" else queue


def with_conflicts(queue: WaitQueue) -> WaitQueue:
    """A member conflicts with the earlier ones whose numbers share a factor with its own."""
    numbers = {r.node: int(r.node.rsplit("-", 1)[1]) for r in queue.requests}
    conflicts = {
        r.node: tuple(
            o.node for o in queue.requests[:place] if numbers[o.node] % 2 == numbers[r.node] % 2
        )
        for place, r in enumerate(queue.requests)
    }
    return replace(queue, conflicts=conflicts)


def request(
    draw: st.DrawFn, lock: str, kind: str, actor: str, number: int, *, odd: bool = True
) -> WaitRequest:
    """One member of a queue of that kind."""
    is_orphan = odd and draw(st.integers(0, 11)) == 0
    mode = draw(st.sampled_from(MODES.get(kind, ("exclusive",))))
    return WaitRequest(
        node=f"n-{number}",
        actor=f"nobody:{lock}/{number}" if is_orphan else actor,
        mode=mode,
        czxid=number + 1,
        exempt=odd and mode != "write" and draw(st.integers(0, 9)) == 0,
        releases=not is_orphan,
    )


def changed(
    queue: WaitQueue, number: int, chance: random.Random
) -> tuple[WaitQueue, tuple[WaitRequest, ...], tuple[WaitRequest, ...]]:
    """Remove some members and add some, mostly at the end; sometimes change the capacity.

    A member whose znode is read late appears between members that are known already.
    """
    gone = {r.node for r in queue.requests if chance.random() < 0.2}
    created = tuple(
        _newcomer(queue, number * 10 + place, chance)
        for place in range(chance.choice((0, 1, 1, 2)))
    )
    kept = tuple(request for request in queue.requests if request.node not in gone)
    deleted = tuple(request for request in queue.requests if request.node in gone)
    place = chance.randint(0, len(kept)) if chance.random() < 0.3 else len(kept)
    after = replace(queue, requests=kept[:place] + created + kept[place:])
    if queue.kind == "pool" and chance.random() < 0.1:
        after = replace(after, capacity=chance.choice((1, 2, None)))
    return with_conflicts(after) if queue.kind == "conflict" else after, created, deleted


def _newcomer(queue: WaitQueue, number: int, chance: random.Random) -> WaitRequest:
    is_orphan = chance.random() < 0.06
    mode = chance.choice(MODES.get(queue.kind, ("exclusive",)))
    return WaitRequest(
        node=f"n-{number}",
        actor=f"nobody:{queue.lock}/{number}" if is_orphan else chance.choice(ACTORS),
        mode=mode,
        czxid=number + 1,
        exempt=mode != "write" and chance.random() < 0.06,
        releases=not is_orphan,
    )


def is_granted(queue: WaitQueue, live: tuple[WaitRequest, ...], place: int) -> bool:
    """By definition, from the members that are still there."""
    member, earlier = live[place], live[:place]
    if member.exempt or not queue.can_block:
        return True
    if queue.kind == "pool":
        return len(earlier) < queue.capacity
    if queue.kind == "single":
        return place == 0 or live[0] != queue.requests[0]
    if queue.kind == "conflict":
        return not {m.node for m in earlier} & set(queue.conflicts[member.node])
    if queue.kind == "read-write" and member.mode == "read":
        return all(m.mode == "read" for m in earlier)
    return not earlier


def simulate(queues: list[WaitQueue], chance: random.Random) -> set[str]:
    """Let random actors that wait for nothing finish; returns those that are left."""
    live = {queue.lock: queue.requests for queue in queues}
    actors = {m.actor for queue in queues for m in queue.requests if m.releases}
    left = set(actors)
    while runnable := sorted(left - set(_waiting(queues, live))):
        actor = chance.choice(runnable)
        left.discard(actor)
        for queue in queues:
            if queue.kind != "election":
                rest = tuple(m for m in live[queue.lock] if m.actor != actor)
                live[queue.lock] = rest
    return left


def _waiting(queues: list[WaitQueue], live: dict[str, tuple[WaitRequest, ...]]) -> Iterator[str]:
    for queue in queues:
        members = live[queue.lock]
        for place, member in enumerate(members):
            if not is_granted(queue, members, place):
                yield member.actor


def full_edges(queues: list[WaitQueue]) -> set[tuple[str, str]]:
    """Every edge waiter to blocker of queues in which all waits are plain (no pool)."""
    edges = set()
    for queue in queues:
        for place, member in enumerate(queue.requests):
            for other in queue.requests[:place]:
                if queue.kind != "read-write" or "write" in (member.mode, other.mode):
                    edges.add((member.actor, other.actor))
    return edges


def has_cycle(edges: set[tuple[str, str]]) -> bool:
    """Whether some vertex leads back to itself."""
    return any(start in reachable(edges, start) for start, _ in edges)


def reachable(edges: set[tuple[str, str]], start: str) -> set[str]:
    """Everything that the vertex leads to."""
    found: set[str] = set()
    work = [start]
    while work:
        vertex = work.pop()
        fresh = {b for a, b in edges if a == vertex} - found
        found |= fresh
        work += fresh
    return found
