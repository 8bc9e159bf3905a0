"""What remains of one queue when everybody has gone on who can, and who waits for whom in it.

Sparse edges have the same closure as all edges at a fraction of their number; a drawing takes the
full ones. A member that neither waits nor leaves relays nothing, so the search goes past it.
"""

from collections.abc import Container, Iterable, Iterator

from msgspec import Struct

from zktop.model.waits.state import Queue, Request


class Remnant(Struct, frozen=True, gc=False):
    """The members left in one queue, in its order, and which of them wait."""

    queue: Queue
    members: tuple[Request, ...]
    waits: tuple[bool, ...]

    def only(self, actors: frozenset[str] | set[str]) -> "Remnant":
        """Look at those actors alone in the world."""
        members = [member for member in self.members if member.actor in actors]
        if len(members) == len(self.members):
            return self
        return remnant(self.queue, members, actors)


def remnant(queue: Queue, requests: Iterable[Request], frozen: Container[str]) -> Remnant:
    """Keep the members of frozen actors, and passers-by whom those stop.

    A leader never hands over by itself, so in an election everybody stays.
    """
    is_election = queue.kind == "election"
    members: list[Request] = []
    waits: list[bool] = []
    writers: list[Request] = []
    for request in requests:
        ahead = writers if request.reads else members
        can_wait = request.releases and not request.exempt
        is_waiting = can_wait and _is_stopped(queue, ahead, request)
        if is_waiting or is_election or request.actor in frozen:
            members.append(request)
            waits.append(is_waiting)
            if not request.reads:
                writers.append(request)
    return Remnant(queue, tuple(members), tuple(waits))


def _is_stopped(queue: Queue, ahead: list[Request], request: Request) -> bool:
    if queue.kind == "single":
        return ahead[:1] == list(queue.requests[:1])
    if queue.kind == "conflict":
        names = (queue.conflicts or {}).get(request.node, ())
        return any(other.node in names for other in ahead)
    return len(ahead) >= queue.room


def blockers(queue: Queue, members: tuple[Request, ...], place: int) -> Iterator[int]:
    """All places before this one that it has to wait for, or may have to (pool).

    >>> a, b, c = (Request(n, n, m, 1) for n, m in (("a", "read"), ("b", "write"), ("c", "read")))
    >>> queue = Queue("/l", "read-write", (a, b, c))
    >>> list(blockers(queue, queue.requests, 2))
    [1]
    """
    request = members[place]
    earlier = range(place)
    if queue.kind == "single":
        earlier = range(min(place, int(members[:1] == queue.requests[:1])))
    elif queue.kind == "conflict":
        names = (queue.conflicts or {}).get(request.node, ())
        return (other for other in earlier if members[other].node in names)
    elif queue.kind == "read-write" and request.reads:
        return (other for other in earlier if not members[other].reads)
    return iter(earlier)


def sparse_edges(rest: Remnant) -> Iterator[tuple[int, int]]:
    """Edges between places, waiter first, with the closure of all of them."""
    if rest.queue.kind not in ("single", "conflict"):
        yield from _chained_edges(rest)
        return
    for place, is_waiting in enumerate(rest.waits):
        if is_waiting:
            for other in blockers(rest.queue, rest.members, place):
                yield place, other


def _chained_edges(rest: Remnant) -> Iterator[tuple[int, int]]:
    """Stop at the nearest member that itself waits for everything further on."""
    ahead: list[int] = []
    writers_ahead: list[int] = []
    shares = rest.queue.kind == "read-write"
    for place, is_waiting in enumerate(rest.waits):
        member = rest.members[place]
        is_reader = shares and member.reads
        if is_waiting:
            for other in writers_ahead if is_reader else ahead:
                yield place, other
        if is_waiting and not is_reader:
            ahead, writers_ahead = [], []
        ahead.append(place)
        if not is_reader:
            writers_ahead.append(place)
