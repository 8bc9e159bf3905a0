"""One lock of a report, with the positions, findings and deadlocks that its drawings share."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple

import msgspec

from zktop.demo_types.contender_state import Watched
from zktop.model.actors import Actors
from zktop.model.facts import Session
from zktop.model.findings.finding import Finding
from zktop.model.format import fold_name, several
from zktop.model.lock_view import Contender, LockView
from zktop.model.locks.lock import Lock, Member
from zktop.model.report import Report
from zktop.model.session_ids import session_text
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock
from zktop.ui.screens.common.short_ids import ShortIds
from zktop.ui.screens.lock.queue_summary import ModeRun, mode_runs
from zktop.ui.view_state import ViewState

MAX_MAPPED_MEMBERS: Final = 400  # in a longer queue, who wakes whom is computed for some only


class ShownQueue(msgspec.Struct, frozen=True, eq=False, dict=True):
    """A lock's members by position: holders, waiters, then sessions that wait only by a watch."""

    lock: Lock
    members: Sequence[Member]
    holder_count: int  # the first members hold the lock
    watchers: tuple[Session, ...] = ()

    @classmethod
    def of(cls, view: LockView) -> "ShownQueue":
        holders, waiters = view.lock.holders, view.lock.waiters
        return cls(
            view.lock, (*holders, *waiters), len(holders), view.watch_check.watchers_waiting
        )

    def __len__(self) -> int:
        return len(self.members) + len(self.watchers)

    @property
    def holders(self) -> Sequence[Member]:
        return self.members[: self.holder_count]

    @property
    def waiters(self) -> Sequence[Member]:
        return self.members[self.holder_count :]

    @cached_property
    def position(self) -> dict[str, int]:
        """Position of each node, and of each session that only watches, by `name`."""
        return {self.name(place): place for place in range(len(self))}

    @cached_property
    def short_ids(self) -> ShortIds:
        """The ids of its sessions as tables show them."""
        owners = (member.owner for member in self.members)
        return ShortIds((*filter(None, owners), *self.watchers))

    @cached_property
    def held_runs(self) -> list[ModeRun]:
        return mode_runs(self.holders)

    @cached_property
    def waiting_runs(self) -> list[ModeRun]:
        return mode_runs(self.waiters)

    def places_of(self, nodes: Iterable[Text]) -> list[int]:
        """Return the positions of these nodes, sorted. Unknown nodes are left out."""
        position = self.position
        return sorted(position[node] for node in nodes if node in position)

    def contender(self, view: LockView, place: int) -> Contender:
        if place < len(self.members):
            return view.contender(self.members[place])
        return view.watcher(self.watchers[place - len(self.members)])

    def name(self, place: int) -> str:
        """Return a name that still identifies the row after the queue has moved."""
        if place < len(self.members):
            return self.members[place].node
        return f"session {self.watchers[place - len(self.members)]}"


class LockDeadlock(NamedTuple):
    """A deadlock that includes this lock, and the positions that belong to it."""

    deadlock: Deadlock
    places: list[int]


class LockDetail(msgspec.Struct, frozen=True, eq=False, dict=True):
    """One lock of a report."""

    report: Report
    view: LockView
    queue: ShownQueue
    is_ascii: bool = False
    child_watchers: frozenset[Session] = frozenset()  # demo clients that watch the children

    @classmethod
    def of(
        cls,
        report: Report,
        path: str,
        *,
        is_ascii: bool = False,
        child_watchers: frozenset[Session] = frozenset(),
    ) -> "LockDetail | None":
        """Return the lock at this path; None if the report has none there."""
        view = report.view(path)
        if view is None:
            return None
        return cls(report, view, ShownQueue.of(view), is_ascii, child_watchers)

    @property
    def path(self) -> Text:
        return self.view.lock.path

    def names_of(self, members: Iterable[Member]) -> str:
        """Return the owners of some members in one phrase."""
        return several(map(self.report.client_names.of, members))

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Findings about the lock, worst first, without its deadlocks."""
        deadlock_ids = {deadlock.id for deadlock in self.report.deadlocks}
        return tuple(
            finding
            for finding in self.report.findings
            if self.path in (finding.lock, *finding.locks) and finding.id not in deadlock_ids
        )

    @cached_property
    def marks(self) -> dict[Text, Finding]:
        """The worst finding of each node, without notes."""
        marks: dict[Text, Finding] = {}
        problems = (finding for finding in self.findings if finding.severity != "info")
        for finding in problems:
            for node in finding.nodes_in(self.path):
                marks.setdefault(node, finding)
        return marks

    @cached_property
    def waiters_by_name(self) -> dict[str, list[Member]]:
        """The waiters, in order. Names that differ only in numbers count as one."""
        by_name: dict[str, list[Member]] = {}
        for member in self.queue.waiters:
            name = self.report.owner_name(member.owner, member.label)
            group = fold_name(name or session_text(member.owner))
            by_name.setdefault(group, []).append(member)
        return by_name

    @cached_property
    def rings(self) -> tuple[LockDeadlock, ...]:
        all_deadlocks = (
            LockDeadlock(deadlock, self.queue.places_of(nodes_in(deadlock, self.path)))
            for deadlock in self.report.deadlocks
        )
        return tuple(ring for ring in all_deadlocks if ring.places)

    @property
    def unfolded_nodes(self) -> frozenset[Text]:
        """Nodes that keep a separate row in a folded queue."""
        stuck = (node for ring in self.rings for node in nodes_in(ring.deadlock, self.path))
        return frozenset((*stuck, *self.marks))

    def ring_of(self, member: Member) -> Deadlock | None:
        """Return the deadlock that the member's actor is in."""
        if not self.rings:
            return None
        actor = Actors(self.report.settings).of(self.view.lock, member)
        return next((ring.deadlock for ring in self.rings if actor in ring.deadlock.actors), None)

    def ring_before(self, place: int) -> Deadlock | None:
        """Return the deadlock that a position waits behind."""
        for ring in self.rings:
            if any(first < place and self._are_in_line(first, place) for first in ring.places):
                return ring.deadlock
        return None

    def _are_in_line(self, first: int, place: int) -> bool:
        """Return whether two positions are in queues that depend on each other."""
        lock, members = self.view.lock, self.queue.members
        if not lock.has_separate_queues:
            return True
        return lock.queue_of(members[first]) is lock.queue_of(members[place])

    @cached_property
    def is_stuck(self) -> bool:
        """Whether all waiters are in a deadlock or behind one."""
        places = range(self.queue.holder_count, len(self.queue.members))
        return bool(self.rings) and (
            not self.view.lock.has_separate_queues
            or all(self.ring_before(at) or self.ring_of(self.queue.members[at]) for at in places)
        )


def nodes_in(deadlock: Deadlock, path: str) -> Iterator[Text]:
    """Yield the nodes of this lock that belong to a deadlock."""
    for step in deadlock.steps:
        for place in (*step.holds, step.waits):
            if place.lock == path:
                yield Text(place.node)


def child_watchers(state: ViewState, path: str) -> frozenset[Session]:
    """Return sessions of demo clients that report a watch on the children of this lock."""
    if state.contenders is None or not state.is_newest:
        return frozenset()
    watched = Watched(Text(path), "children")
    sessions = (
        contender.session for contender in state.contenders.states if contender.watches == watched
    )
    return frozenset(session for session in sessions if session is not None)
