"""What changed between two states of one queue."""

from collections.abc import Container

from zktop.model.strides import splits
from zktop.model.waits.state import Request

Requests = tuple[Request, ...]


def difference(old: Requests, new: Requests) -> tuple[Requests, Requests]:
    """Tell created and deleted requests; all of them when the rest did not keep its order.

    Only where the two are out of step is anybody compared: a queue may have ten thousand.
    """
    created: list[Request] = []
    deleted: list[Request] = []
    for part in splits(old, new):
        was = old[part.here : part.here + part.left]
        now = new[part.there : part.there + part.joined]
        before = {request.node: request for request in was}
        kept = {request.node for request in now if before.get(request.node) == request}
        order = [request.node for request in now if request.node in kept]
        if order != [request.node for request in was if request.node in kept]:
            return new, old
        created += [request for request in now if request.node not in kept]
        deleted += [request for request in was if request.node not in kept]
    if not set(created).isdisjoint(deleted):
        return new, old  # who is as before stands somewhere else now
    return tuple(created), tuple(deleted)


def is_tail(requests: Requests, created: Requests, tangled: Container[str]) -> bool:
    """Whether the created requests stand behind all others that matter to somebody else.

    Passers-by may follow: a place whose owner is read later than it was heard of is created once
    more, before those who came since.
    """
    left = {request.node for request in created}
    for request in reversed(requests):
        if not left:
            break
        if request.node in left:
            left.remove(request.node)
        elif request.actor in tangled:
            return False
    return not left
