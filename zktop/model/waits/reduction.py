"""The exact deadlock test: let everybody finish who can, and see who is left.

Granting depends only on which earlier members are gone, and removing members never takes a grant
back. So the end is the same whatever the order, for exclusive, shared and k-of-n waits alike. A
search for cycles would be wrong as soon as a pool is involved.
"""

from collections.abc import Container, Iterable, Sequence
from typing import Protocol

from zktop.model.waits.state import Request
from zktop.model.waits.strand import Strand


class Gate(Protocol):
    """One lock during one reduction."""

    members: Sequence[Request]

    def admit(self) -> list[str]:
        """Grant what has become grantable: the actors, once for each member."""

    def leave(self, place: int) -> None:
        """Take the member at this place out of the queue."""


class FifoGate:
    """Grants members in order; a member needs so many of those before it gone."""

    __slots__ = ("_gone", "_left", "_needs", "_next", "members")

    def __init__(self, line: Strand, only: Container[str] | None) -> None:
        """Open the strand with those actors only; everybody else is gone already."""
        self.members: Sequence[Request]
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


Filling = tuple[Sequence[Request], Sequence[int]]


def _in_order(line: Strand, only: Container[str] | None) -> Filling:
    members: Sequence[Request] = line.members
    # Nobody leaves an election by finishing, so those who finished still count there.
    if only is not None and line.queue.kind != "election":
        members = [member for member in members if member.actor in only]
    room = line.queue.room
    return members, range(1 - room, 1 - room + len(members))


def _single(line: Strand, only: Container[str] | None) -> Filling:
    members, _ = _in_order(line, only)
    is_held = bool(members) and members[0] == line.queue.requests[0]
    return members, [int(is_held and place > 0) for place in range(len(members))]


def _read_write(line: Strand, only: Container[str] | None) -> Filling:
    members: list[Request] = []
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


class ConflictGate:
    """Grants a member when the earlier nodes it conflicts with are gone."""

    __slots__ = ("_behind", "_needs", "_ready", "members")

    def __init__(self, line: Strand, only: Container[str] | None) -> None:
        """Open the strand with those actors only; everybody else is gone already."""
        self.members: Sequence[Request] = _in_order(line, only)[0]
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


def _gate(line: Strand, only: Container[str] | None) -> Gate:
    return (ConflictGate if line.queue.kind == "conflict" else FifoGate)(line, only)


def stuck(
    strands: Iterable[Strand],
    only: Container[str] | None = None,
    pinned: Container[str] = (),
) -> set[str]:
    """Who can never finish, among the actors of the strands (or of `only`).

    `pinned` actors never finish, whatever they wait for; they are not in the answer.
    """
    places: dict[str, list[tuple[Gate, int]]] = {}
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
    places: dict[str, list[tuple[Gate, int]]], pending: dict[str, int], never: set[str]
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
