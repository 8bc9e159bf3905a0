"""One lock at one moment, with all that the drawings of its places need to know of it.

Everybody who has to do with one lock, by position: holders first, then who waits, in order.

A queue of any length in one line: its modes as runs, and where in it the old waits are.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, groupby, pairwise
from operator import attrgetter
from typing import Final, NamedTuple

import msgspec

from zktop.model.actors import Actors
from zktop.model.facts import Millis, Session
from zktop.model.findings.finding import Finding
from zktop.model.layouts.layout import LockMode
from zktop.model.locks.lock import Lock, Member
from zktop.model.report import Contender, LockView, Report
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock
from zktop.ui.screens.common.format import elapsed, with_spaces
from zktop.ui.screens.locks.row import MODE_LETTERS
from zktop.ui.styled_text import Line, Run, line

SHADES: Final = "░▒▓█"
MIXED: Final = "*"
MOST: Final = 200  # runs that are ever tried to be written in one line
_mode: Final = attrgetter("mode")
_size: Final = attrgetter("size")


class ModeRun(NamedTuple):
    """So many in a row want the same."""

    mode: LockMode
    size: int

    def __str__(self) -> str:
        """Write it as in `R5`."""
        return f"{MODE_LETTERS[self.mode]}{self.size if self.size > 1 else ''}"


def mode_runs(members: Iterable[Member]) -> list[ModeRun]:
    """Give the runs of a queue, in its order."""
    return [ModeRun(mode, len(list(run))) for mode, run in groupby(members, key=_mode)]


def run_line(runs: Sequence[ModeRun], width: int) -> str:
    """Write runs in so many cells; what does not fit is left out of the middle, and counted.

    >>> run_line([ModeRun("write", 1), ModeRun("read", 5), ModeRun("write", 1)], 20)
    'W · R5 · W'
    >>> run_line([ModeRun("write", 1), ModeRun("read", 5)] * 40, 40)
    'W · R5 · … 223 more … · R5 · W · R5'
    """
    if len(runs) <= MOST:
        whole = " · ".join(map(str, runs))
        if len(whole) <= width or len(runs) < 4:  # noqa: PLR2004  nothing to leave out
            return whole
    kept = 1
    while 2 * kept + 2 < len(runs) and len(_without_middle(runs, kept + 1)) <= width:
        kept += 1
    return _without_middle(runs, kept)


def _without_middle(runs: Sequence[ModeRun], kept: int) -> str:
    first, last = runs[:kept], runs[len(runs) - kept - 1 :]
    hidden = sum(map(_size, runs)) - sum(map(_size, (*first, *last)))
    return " · ".join([*map(str, first), f"… {with_spaces(hidden)} more …", *map(str, last)])


def density(
    members: Sequence[Member], runs: Sequence[ModeRun], now: Millis, width: int
) -> tuple[Line, Line]:
    """Draw a long queue in so many columns: what each part wants, and the darker the older."""
    columns = min(width, len(members))
    ends = list(accumulate(run.size for run in runs))
    bounds = [len(members) * column // columns for column in range(columns + 1)]
    letters = _letters(runs, ends, bounds)
    ages = [_age(members[begin], now) for begin in bounds[:-1]]
    oldest = max((age for age in ages if age is not None), default=0)
    shades = "".join(" " if age is None else _shade(age, oldest) for age in ages)
    told = f"  █ waits for {elapsed(oldest)}" if oldest else ""
    return line((letters, "plain")), (Run(shades, "waits"), Run(told, "dim"))


def _letters(runs: Sequence[ModeRun], ends: Sequence[int], bounds: Sequence[int]) -> str:
    letters, at = [], 0
    for begin, end in pairwise(bounds):
        while ends[at] <= begin:
            at += 1
        is_one = ends[at] >= end
        letters.append(MODE_LETTERS[runs[at].mode] if is_one else MIXED)
    return "".join(letters)


def _age(member: Member, now: Millis) -> Millis | None:
    return None if member.ctime is None else max(0, now - member.ctime)


def _shade(age: Millis, oldest: Millis) -> str:
    return SHADES[min(len(SHADES) - 1, age * len(SHADES) // max(1, oldest))]


class LockQueue(msgspec.Struct, frozen=True, eq=False, dict=True):
    """Positions of a lock; behind the members come those who only watch it, in no order."""

    lock: Lock
    members: Sequence[Member]
    holding: int  # so many of the first members hold
    watchers: tuple[Session, ...] = ()

    @classmethod
    def of(cls, view: LockView) -> "LockQueue":
        """Line up the members of a lock."""
        holders, waiters = view.lock.holders, view.lock.waiters
        return cls(view.lock, (*holders, *waiters), len(holders), view.watch_check.crowd)

    def __len__(self) -> int:
        """Count all of them."""
        return len(self.members) + len(self.watchers)

    @cached_property
    def position(self) -> dict[Text, int]:
        """Where each node is."""
        return {member.node: place for place, member in enumerate(self.members)}

    @cached_property
    def held_runs(self) -> list[ModeRun]:
        """What those who hold have, as runs."""
        return mode_runs(self.members[: self.holding])

    @cached_property
    def waiting_runs(self) -> list[ModeRun]:
        """What those who wait want, as runs."""
        return mode_runs(self.members[self.holding :])

    def places_of(self, nodes: Iterable[Text]) -> list[int]:
        """Give the positions of some nodes, in order."""
        known = self.position
        return sorted(known[node] for node in nodes if node in known)

    def contender(self, view: LockView, place: int) -> Contender:
        """Give the contender at a position."""
        if place < len(self.members):
            return view.contender(self.members[place])
        return view.watcher(self.watchers[place - len(self.members)])

    def name(self, place: int) -> str:
        """Name a position so that it can be found again when the queue has moved on."""
        if place < len(self.members):
            return self.members[place].node
        return f"session {self.watchers[place - len(self.members)]}"


def ranged(places: Iterable[int]) -> str:
    """Write positions briefly.

    >>> ranged([1, 2, 3, 7]), ranged([0, 1]), ranged([])
    ('1..3 7', '0 1', '')
    """
    return " ".join(_runs(sorted(places)))


def _runs(places: Sequence[int]) -> Iterator[str]:
    starts = [at for at, (one, next_) in enumerate(pairwise(places), 1) if next_ != one + 1]
    for begin, end in pairwise([0, *starts, len(places)]):
        run = places[begin:end]
        if len(run) > 2:  # noqa: PLR2004  two are shorter by themselves
            yield f"{run[0]}..{run[-1]}"
        else:
            yield from map(str, run)


class LockDeadlock(NamedTuple):
    """A deadlock that goes through the lock, and the first position that belongs to it."""

    deadlock: Deadlock
    first: int


class LockDetail(msgspec.Struct, frozen=True, eq=False, dict=True):
    """A lock in a report."""

    report: Report
    view: LockView
    queue: LockQueue
    actors: Actors
    is_ascii: bool = False

    @classmethod
    def of(cls, report: Report, path: str, *, is_ascii: bool = False) -> "LockDetail | None":
        """Look at a lock of a report, if it is there."""
        view = report.view(path)
        if view is None:
            return None
        return cls(report, view, LockQueue.of(view), Actors(report.settings), is_ascii)

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
    def rings(self) -> tuple[LockDeadlock, ...]:
        """The deadlocks that go through the lock."""
        return tuple(self._rings())

    def _rings(self) -> Iterator[LockDeadlock]:
        position = self.queue.position
        for deadlock in self.report.deadlocks:
            nodes = [place.node for place in places_in(deadlock, self.path)]
            places = [position[Text(node)] for node in nodes if node in position]
            if places:
                yield LockDeadlock(deadlock, min(places))

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


class DeadlockPlace(NamedTuple):
    """A place of a deadlock in one lock."""

    node: str
    actor: str


def places_in(deadlock: Deadlock, path: str) -> Iterable[DeadlockPlace]:
    """Give the places of a deadlock's actors in one lock."""
    for step in deadlock.steps:
        for place in (*step.holds, step.waits):
            if place.lock == path:
                yield DeadlockPlace(place.node, step.actor)
