"""What changed between two states of one queue."""

from collections.abc import Container

from zktop.model.waits.state import Request

Requests = tuple[Request, ...]


def difference(old: Requests, new: Requests) -> tuple[Requests, Requests]:
    """Tell created and deleted requests; all of them when the rest did not keep its order."""
    before = {request.node: request for request in old}
    kept = {request.node for request in new if before.get(request.node) == request}
    order = [request.node for request in new if request.node in kept]
    if order != [request.node for request in old if request.node in kept]:
        return new, old
    created = tuple(request for request in new if request.node not in kept)
    return created, tuple(request for request in old if request.node not in kept)


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
