"""Which watches a waiter's recipe keeps: one small rule per way to watch."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from zktop.model.locks.lock import Member, Target
from zktop.model.text import Text

if TYPE_CHECKING:
    from zktop.model.locks.queue import Queue

HERE: Final = Text(".")


def targets(queue: "Queue", member: Member) -> tuple[Target, ...]:
    """Give the watches of a waiter, relative to the lock."""
    layout = queue.layout
    if layout.watch == "none":
        return ()
    if layout.watch == "children":
        return (Target(HERE, "children"),)
    if layout.watch == "marker":
        return _marker(queue, member)
    watched = _WATCHED[layout.watch](queue, member, queue.ahead(member))
    if not layout.watches_negative:
        watched = [other for other in watched if (other.sequence or 0) >= 0]
    also = [Target(Text(node), "exists") for node in layout.also_watches]
    return (*(Target(other.node, layout.how) for other in watched), *also)


def _predecessor(queue: "Queue", _: Member, ahead: int) -> Sequence[Member]:
    back = (queue.leases or 1) if queue.rule == "first-n" else 1
    return queue.seen[ahead - back :][:1] if ahead >= back else ()


def _adjacent(queue: "Queue", _: Member, ahead: int) -> Sequence[Member]:
    return queue.seen[ahead - 1 : ahead] if ahead else ()


def _nearest(queue: "Queue", member: Member, ahead: int) -> Sequence[Member]:
    if queue.rule == "first-n":
        return queue.seen[max(0, ahead - (queue.leases or 1)) : ahead]
    if queue.rule == "read-write" and member.mode == "read":
        ahead = queue.wall_before(ahead)
    return queue.seen[ahead - 1 : ahead] if ahead else ()


def _first_writer(queue: "Queue", member: Member, ahead: int) -> Sequence[Member]:
    if member.mode != "read":
        return _adjacent(queue, member, ahead)
    first = queue.walls[0] if queue.walls else 0
    return queue.seen[first : first + 1]


def _holder(queue: "Queue", _: Member, __: int) -> Sequence[Member]:
    return queue.seen[:1]


def _run(queue: "Queue", _: Member, ahead: int) -> Sequence[Member]:
    """Give the lowest of the nodes of one client right ahead: that client cleans up the others."""
    if not ahead:
        return ()
    first = ahead - 1
    token = queue.seen[first].token
    while first > 0 and token is not None and queue.seen[first - 1].token == token:
        first -= 1
    return queue.seen[first : first + 1]


def _marker(queue: "Queue", member: Member) -> tuple[Target, ...]:
    ahead = queue.ahead(member)
    previous = queue.seen[ahead - 1 : ahead] if ahead else ()
    if not previous or queue.holds(previous[0]):
        return (Target(HERE, "children"),)
    return (Target(previous[0].node, "data"),)


_WATCHED: Final[dict[str, Callable[["Queue", Member, int], Sequence[Member]]]] = {
    "predecessor": _predecessor,
    "adjacent": _adjacent,
    "nearest": _nearest,
    "first-writer": _first_writer,
    "holder": _holder,
    "run": _run,
}
