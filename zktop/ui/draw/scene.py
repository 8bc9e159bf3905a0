"""One lock at one moment, with all that the drawings of its places need to know of it."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

import msgspec

from zktop.model.actors import Actors
from zktop.model.contender import View
from zktop.model.findings.finding import Finding
from zktop.model.locks.lock import Member
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock
from zktop.ui.draw.lineup import Lineup


class Ring(NamedTuple):
    """A deadlock that goes through the lock, and the first position that belongs to it."""

    deadlock: Deadlock
    first: int


class LockScene(msgspec.Struct, frozen=True, eq=False, dict=True):
    """A lock in a report."""

    report: Report
    view: View
    lineup: Lineup
    actors: Actors
    is_ascii: bool = False

    @classmethod
    def of(cls, report: Report, path: str, *, is_ascii: bool = False) -> "LockScene | None":
        """Look at a lock of a report, if it is there."""
        view = report.view(path)
        if view is None:
            return None
        return cls(report, view, Lineup.of(view), Actors(report.settings), is_ascii)

    @property
    def path(self) -> Text:
        """The lock's path."""
        return self.view.lock.path

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong with the lock, the worst first; deadlocks are told by themselves."""
        dead = {deadlock.id for deadlock in self.report.deadlocks}
        return tuple(
            finding
            for finding in self.report.findings
            if (finding.lock == self.path or self.path in finding.locks) and finding.id not in dead
        )

    @cached_property
    def marks(self) -> dict[Text, Finding]:
        """The worst finding of each node; news mark nothing."""
        marks: dict[Text, Finding] = {}
        for finding in (one for one in self.findings if one.severity != "info"):
            for node in finding.nodes:
                marks.setdefault(node, finding)
        return marks

    @cached_property
    def rings(self) -> tuple[Ring, ...]:
        """The deadlocks that go through the lock."""
        return tuple(self._rings())

    def _rings(self) -> Iterator[Ring]:
        position = self.lineup.position
        for deadlock in self.report.deadlocks:
            nodes = [place.node for place in places_in(deadlock, self.path)]
            places = [position[Text(node)] for node in nodes if node in position]
            if places:
                yield Ring(deadlock, min(places))

    @cached_property
    def ring_nodes(self) -> frozenset[Text]:
        """The nodes that a deadlock goes through."""
        deadlocks = (ring.deadlock for ring in self.rings)
        return frozenset(Text(p.node) for one in deadlocks for p in places_in(one, self.path))

    @property
    def odd(self) -> frozenset[Text]:
        """Nodes that are worth a row of their own in any queue."""
        return self.ring_nodes | self.marks.keys()

    def ring_of(self, member: Member) -> Deadlock | None:
        """Give the deadlock that a member's actor is in."""
        if not self.rings:
            return None
        actor = self.actors.of(self.view.lock, member)
        return next((one.deadlock for one in self.rings if actor in one.deadlock.actors), None)

    def ring_before(self, place: int) -> Deadlock | None:
        """Give the deadlock that a position is behind."""
        return next((ring.deadlock for ring in self.rings if ring.first < place), None)


class RingPlace(NamedTuple):
    """A place of a deadlock in one lock."""

    node: str
    actor: str


def places_in(deadlock: Deadlock, path: str) -> Iterable[RingPlace]:
    """Give the places of a deadlock's actors in one lock."""
    for step in deadlock.steps:
        for place in (*step.holds, step.waits):
            if place.lock == path:
                yield RingPlace(place.node, step.actor)
