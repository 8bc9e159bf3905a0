"""Everybody who has to do with one lock, by position: holders first, then who waits, in order."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

import msgspec

from zktop.model.contender import Contender, View
from zktop.model.facts import Session
from zktop.model.locks.lock import Lock, Member
from zktop.model.text import Text
from zktop.ui.draw.runs import ModeRun, mode_runs


class Lineup(msgspec.Struct, frozen=True, eq=False, dict=True):
    """Positions of a lock; behind the members come those who only watch it, in no order."""

    lock: Lock
    members: Sequence[Member]
    holding: int  # so many of the first members hold
    crowd: tuple[Session, ...] = ()

    @classmethod
    def of(cls, view: View) -> "Lineup":
        """Line up the members of a lock."""
        holders, waiters = view.lock.holders, view.lock.waiters
        return cls(view.lock, (*holders, *waiters), len(holders), view.lookout.crowd)

    def __len__(self) -> int:
        """Count all of them."""
        return len(self.members) + len(self.crowd)

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

    def contender(self, view: View, place: int) -> Contender:
        """Give the contender at a position."""
        if place < len(self.members):
            return view.contender(self.members[place])
        return view.watcher(self.crowd[place - len(self.members)])

    def name(self, place: int) -> str:
        """Name a position so that it can be found again when the queue has moved on."""
        if place < len(self.members):
            return self.members[place].node
        return f"session {self.crowd[place - len(self.members)]}"


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
