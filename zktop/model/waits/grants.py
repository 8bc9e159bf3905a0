"""Who holds right now, by definition."""

from itertools import takewhile

from zktop.model.waits.state import Queue, Request


def is_granted(queue: Queue, request: Request) -> bool:
    """Whether nobody has to go before this member of the queue.

    >>> a, b = Request("a", "a", "read", 1), Request("b", "b", "read", 2)
    >>> is_granted(Queue("/l", "read-write", (a, b)), b)
    True
    >>> is_granted(Queue("/l", "exclusive", (a, b)), b)
    False
    """
    if request.exempt or (queue.kind == "pool" and not queue.capacity):
        return True
    if queue.kind == "read-write" and request.reads:
        first_writer = next((r for r in queue.requests if r == request or not r.reads), request)
        return first_writer == request
    if queue.kind == "conflict":
        names = (queue.conflicts or {}).get(request.node, ())
        return not any(other.node in names for other in queue.requests)
    return request in queue.requests[: queue.room]


def granted(queue: Queue) -> frozenset[str]:
    """Name all who hold, by one walk through the queue, whatever its length.

    >>> a, b = Request("a", "a", "read", 1), Request("b", "b", "read", 2)
    >>> sorted(granted(Queue("/l", "read-write", (a, b)))), granted(Queue("/l", "pool", (a,)))
    (['a', 'b'], frozenset({'a'}))
    """
    requests = queue.requests
    first = requests[: queue.room]
    if queue.kind == "pool" and not queue.capacity:
        first = requests
    elif queue.kind == "read-write":
        first = tuple(takewhile(lambda request: request.reads, requests)) or first
    elif queue.kind == "conflict":
        there, conflicts = {request.node for request in requests}, queue.conflicts or {}
        first = tuple(one for one in requests if there.isdisjoint(conflicts.get(one.node, ())))
    exempt = (request.node for request in requests if request.exempt)
    return frozenset((*(request.node for request in first), *exempt))
