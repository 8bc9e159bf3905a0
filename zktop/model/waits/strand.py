"""A queue thinned out to the members that can matter, without changing any verdict.

Passers-by (one place only) go as soon as they are granted. So an exclusive member waits, in the
end, for the tangled ones before it; a pool is full for it when its whole room is taken by tangled
ones; a reader waits for the tangled ones before the last writer ahead of it, whoever that is. The
last needs a mark where a passing writer stood: a wall.
"""

from collections.abc import Container

from msgspec import Struct

from zktop.model.waits.state import Queue, Request


class Strand(Struct, frozen=True, gc=False):
    """The members of one queue that matter; `walls[i]`: a passing writer stood just before i."""

    queue: Queue
    members: tuple[Request, ...]
    walls: bytes
    # Where in the queue the last member stands, plus one: only passers-by come after it.
    end: int


def strand(queue: Queue, tangled: Container[str]) -> Strand:
    """Thin out the queue to the tangled actors; the others pass by."""
    requests = tuple(queue.requests)
    places = [place for place, request in enumerate(requests) if request.actor in tangled]
    members = tuple([requests[place] for place in places])
    walls = _walls(requests, places) if queue.kind == "read-write" else bytes(len(places))
    return Strand(queue, members, walls, places[-1] + 1 if places else 0)


def _walls(requests: tuple[Request, ...], places: list[int]) -> bytes:
    marks = bytearray(len(places))
    before = 0
    for number, place in enumerate(places):
        between = requests[before:place]
        marks[number] = any(not (other.reads or other.exempt) for other in between)
        before = place + 1
    return bytes(marks)


def alone(queue: Queue, members: tuple[Request, ...]) -> Strand:
    """Make a strand of exactly these members: nobody else exists."""
    return Strand(queue, members, bytes(len(members)), len(members))
