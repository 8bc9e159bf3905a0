"""The exact deadlock test: let everybody finish who can, and see who is left.

Granting depends only on which earlier members are gone, and removing members never takes a grant
back. So the end is the same whatever the order, for exclusive, shared and k-of-n waits alike. A
search for cycles would be wrong as soon as a pool is involved.

A queue thinned out to the members that can matter, without changing any verdict.

Passers-by (one place only) go as soon as they are granted. So an exclusive member waits, in the
end, for the tangled ones before it; a pool is full for it when its whole room is taken by tangled
ones; a reader waits for the tangled ones before the last writer ahead of it, whoever that is. The
last needs a mark where a passing writer stood: a wall.

Who holds right now, by definition.
"""

from collections.abc import Container, Iterable, Sequence
from itertools import takewhile
from typing import Protocol

from msgspec import Struct

from zktop.model.waits.state import WaitQueue, WaitRequest


class ThinnedQueue(Struct, frozen=True, gc=False):
    """The members of one queue that matter; `walls[i]`: a passing writer stood just before i."""

    queue: WaitQueue
    members: tuple[WaitRequest, ...]
    walls: bytes
    # Where in the queue the last member stands, plus one: only passers-by come after it.
    end: int


def thinned(queue: WaitQueue, tangled: Container[str]) -> ThinnedQueue:
    """Thin out the queue to the tangled actors; the others pass by."""
    requests = tuple(queue.requests)
    places = [place for place, request in enumerate(requests) if request.actor in tangled]
    members = tuple([requests[place] for place in places])
    walls = _walls(requests, places) if queue.kind == "read-write" else bytes(len(places))
    return ThinnedQueue(queue, members, walls, places[-1] + 1 if places else 0)


def _walls(requests: tuple[WaitRequest, ...], places: list[int]) -> bytes:
    marks = bytearray(len(places))
    before = 0
    for number, place in enumerate(places):
        between = requests[before:place]
        marks[number] = any(not (other.reads or other.exempt) for other in between)
        before = place + 1
    return bytes(marks)


def unthinned(queue: WaitQueue, members: tuple[WaitRequest, ...]) -> ThinnedQueue:
    """Make a strand of exactly these members: nobody else exists."""
    return ThinnedQueue(queue, members, bytes(len(members)), len(members))


class QueueReduction(Protocol):
    """One lock during one reduction."""

    members: Sequence[WaitRequest]

    def admit(self) -> list[str]:
        """Grant what has become grantable: the actors, once for each member."""

    def leave(self, place: int) -> None:
        """Take the member at this place out of the queue."""


class FifoReduction:
    """Grants members in order; a member needs so many of those before it gone."""

    __slots__ = ("_gone", "_left", "_needs", "_next", "members")

    def __init__(self, line: ThinnedQueue, only: Container[str] | None) -> None:
        """Open the strand with those actors only; everybody else is gone already."""
        self.members: Sequence[WaitRequest]
        self._needs: Sequence[int]
        self.members, self._needs = _FILL.get(line.queue.kind, _in_order)(line, only)
        self._left = bytearray(len(self.members))
        self._next = 0
        self._gone = 0

    def admit(self) -> list[str]:
        """Grant the longest admissible prefix."""
        granted = []
        place, gone, needs, left = self._next, self._gone, self._needs, self._left
        while place < len(left) and gone >= needs[place]:
            member = self.members[place]
            if left[place]:
                gone += 1  # an exempt member that went before the queue came to it
            elif not member.exempt:
                granted.append(member.actor)
            place += 1
        self._next, self._gone = place, gone
        return granted

    def leave(self, place: int) -> None:
        """Count it as gone, once."""
        self._left[place] = 1
        if place < self._next:
            self._gone += 1


Filling = tuple[Sequence[WaitRequest], Sequence[int]]


def _in_order(line: ThinnedQueue, only: Container[str] | None) -> Filling:
    members: Sequence[WaitRequest] = line.members
    # Nobody leaves an election by finishing, so those who finished still count there.
    if only is not None and line.queue.kind != "election":
        members = [member for member in members if member.actor in only]
    room = line.queue.room
    return members, range(1 - room, 1 - room + len(members))


def _single(line: ThinnedQueue, only: Container[str] | None) -> Filling:
    members, _ = _in_order(line, only)
    is_held = bool(members) and members[0] == line.queue.requests[0]
    return members, [int(is_held and place > 0) for place in range(len(members))]


def _read_write(line: ThinnedQueue, only: Container[str] | None) -> Filling:
    members: list[WaitRequest] = []
    needs: list[int] = []
    before_last_writer = 0
    for member, wall in zip(line.members, line.walls, strict=True):
        if wall:
            before_last_writer = len(members)
        if only is not None and member.actor not in only:
            continue
        needs.append(before_last_writer if member.reads else len(members))
        members.append(member)
        if not member.reads:
            before_last_writer = len(members)
    return members, needs


_FILL = {"single": _single, "read-write": _read_write}


class ConflictReduction:
    """Grants a member when the earlier nodes it conflicts with are gone."""

    __slots__ = ("_behind", "_needs", "_ready", "members")

    def __init__(self, line: ThinnedQueue, only: Container[str] | None) -> None:
        """Open the strand with those actors only; everybody else is gone already."""
        self.members: Sequence[WaitRequest] = _in_order(line, only)[0]
        place_of = {member.node: place for place, member in enumerate(self.members)}
        self._behind: list[list[int]] = [[] for _ in self.members]
        self._needs = [0] * len(self.members)
        conflicts = line.queue.conflicts or {}
        for place, member in enumerate(self.members):
            for node in conflicts.get(member.node, ()):
                if node in place_of:
                    self._behind[place_of[node]].append(place)
                    self._needs[place] += 1
        self._ready = [place for place, need in enumerate(self._needs) if not need]

    def admit(self) -> list[str]:
        """Grant whoever conflicts with nobody any more."""
        ready, self._ready = self._ready, []
        return [m.actor for m in (self.members[place] for place in ready) if not m.exempt]

    def leave(self, place: int) -> None:
        """Take its conflicts away."""
        for other in self._behind[place]:
            self._needs[other] -= 1
            if not self._needs[other]:
                self._ready.append(other)


def _gate(line: ThinnedQueue, only: Container[str] | None) -> QueueReduction:
    return (ConflictReduction if line.queue.kind == "conflict" else FifoReduction)(line, only)


def stuck(
    strands: Iterable[ThinnedQueue],
    only: Container[str] | None = None,
    pinned: Container[str] = (),
) -> set[str]:
    """Who can never finish, among the actors of the strands (or of `only`).

    `pinned` actors never finish, whatever they wait for; they are not in the answer.
    """
    places: dict[str, list[tuple[QueueReduction, int]]] = {}
    pending: dict[str, int] = {}
    never: set[str] = set()
    for line in strands:
        gate = _gate(line, only)
        is_released = line.queue.kind != "election"
        for place, member in enumerate(gate.members):
            spots = places.setdefault(member.actor, [])
            if not member.exempt:
                pending[member.actor] = pending.get(member.actor, 0) + 1
            if not member.releases:
                never.add(member.actor)
            elif is_released:
                spots.append((gate, place))
        for actor in gate.admit():
            pending[actor] -= 1
    never.update(actor for actor in places if actor in pinned)
    return places.keys() - _finished(places, pending, never) - never


def _finished(
    places: dict[str, list[tuple[QueueReduction, int]]], pending: dict[str, int], never: set[str]
) -> set[str]:
    work = [actor for actor in places if not pending.get(actor) and actor not in never]
    finished = set(work)
    while work:
        for gate, place in places[work.pop()]:
            gate.leave(place)
            for actor in gate.admit():
                pending[actor] -= 1
                if not pending[actor] and actor not in never:
                    finished.add(actor)
                    work.append(actor)
    return finished


def is_granted(queue: WaitQueue, request: WaitRequest) -> bool:
    """Whether nobody has to go before this member of the queue.

    >>> a, b = WaitRequest("a", "a", "read", 1), WaitRequest("b", "b", "read", 2)
    >>> is_granted(WaitQueue("/l", "read-write", (a, b)), b)
    True
    >>> is_granted(WaitQueue("/l", "exclusive", (a, b)), b)
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


def granted(queue: WaitQueue) -> frozenset[str]:
    """Name all who hold, by one walk through the queue, whatever its length.

    >>> a, b = WaitRequest("a", "a", "read", 1), WaitRequest("b", "b", "read", 2)
    >>> sorted(granted(WaitQueue("/l", "read-write", (a, b))))
    ['a', 'b']
    >>> sorted(granted(WaitQueue("/l", "exclusive", (a, b))))
    ['a']
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
