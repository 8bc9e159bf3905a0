"""The rows of one lock's queue: each is put together when it is drawn."""

from collections.abc import Sequence
from functools import cached_property
from itertools import islice
from typing import overload

import msgspec

from zktop.model.contender import Contender
from zktop.model.facts import Session
from zktop.model.locks.lock import Member
from zktop.ui.draw.folding import Folding
from zktop.ui.draw.scene import LockScene


class QueueRow(msgspec.Struct, frozen=True, eq=False, dict=True):
    """One position, or a group of them."""

    scene: LockScene
    place: int
    size: int
    name: str

    @property
    def is_group(self) -> bool:
        """Tell whether it stands for several positions."""
        return self.size > 1

    @property
    def member(self) -> Member | None:
        """The first member; None for somebody who only watches."""
        members = self.scene.lineup.members
        return members[self.place] if self.place < len(members) else None

    @property
    def members(self) -> Sequence[Member]:
        """All members that it stands for."""
        return self.scene.lineup.members[self.place : self.place + self.size]

    @property
    def session(self) -> Session | None:
        """Whose place it is, where it is one place of a session."""
        if self.is_group:
            return None
        if self.member is None:
            return self.scene.lineup.crowd[self.place - len(self.scene.lineup.members)]
        return self.member.owner or None

    @cached_property
    def contender(self) -> Contender:
        """The first contender with all that is known of it."""
        return self.scene.lineup.contender(self.scene.view, self.place)


class QueueRows(Sequence[QueueRow]):
    """The rows of a queue, folded in some way."""

    def __init__(self, scene: LockScene, folding: Folding) -> None:
        """Lay them out."""
        self.scene, self.folding = scene, folding

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.folding)

    @overload
    def __getitem__(self, index: int) -> QueueRow: ...
    @overload
    def __getitem__(self, index: slice) -> "Sequence[QueueRow]": ...
    def __getitem__(self, index: int | slice) -> "QueueRow | Sequence[QueueRow]":
        """Put a row together."""
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(index)
        place, count = self.folding.at(index)
        return QueueRow(self.scene, place, count, self.scene.lineup.name(place))

    def find(self, name: str) -> int | None:
        """Find the row of a position by its name, or of the group that it is in."""
        place = self._places_of_crowd.get(name)
        if place is None:
            place = self.scene.lineup.position.get(name)  # type: ignore[call-overload]  # a name is text
        return None if place is None else self.folding.row_of(place)

    @cached_property
    def _places_of_crowd(self) -> dict[str, int]:
        lineup = self.scene.lineup
        first = len(lineup.members)
        return {lineup.name(first + at): first + at for at in range(len(lineup.crowd))}


def names_of(row: QueueRow, at_most: int) -> list[str]:
    """Name some of those that a row stands for."""
    calling = row.scene.report.calling
    return [calling(member.owner, member.label) for member in islice(row.members, at_most)]
