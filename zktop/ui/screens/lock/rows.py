"""The rows of one lock's queue: each is put together when it is drawn.

Which positions of a long queue are rows of their own, and which stand behind one row together.

A queue of twenty thousand is laid out as a few spans; a row is looked up in them when it is drawn.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, islice
from typing import Final, NamedTuple, overload

import msgspec

from zktop.model.facts import Session
from zktop.model.locks.lock import Member
from zktop.model.report import Contender
from zktop.model.text import Text
from zktop.ui.screens.lock.lock_detail import LockDetail, LockQueue

HEAD: Final = 8  # positions at the front that are rows of their own ...
TAIL: Final = 2  # ... and at the end
READERS: Final = 6  # so many readers in a row still are
SHORT: Final = 30  # a queue that is shown whole, but for its readers
MANY: Final = 80  # spans; where modes alternate so often, the middle is one group


class RowSpan(NamedTuple):
    """Positions from `first` on: as one row, or each as a row of its own."""

    first: int
    size: int
    is_folded: bool


class Folding(msgspec.Struct, frozen=True, eq=False, dict=True):
    """The rows of a queue."""

    spans: tuple[RowSpan, ...]

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(1 if span.is_folded else span.size for span in self.spans))

    def __len__(self) -> int:
        """Count the rows."""
        return self._ends[-1] if self.spans else 0

    def at(self, row: int) -> tuple[int, int]:
        """Give the first position of a row, and how many it stands for; 1: a place, no group."""
        index = bisect_right(self._ends, row)
        span = self.spans[index]
        if span.is_folded:
            return span.first, span.size
        return span.first + row - (self._ends[index - 1] if index else 0), 1

    def row_of(self, place: int) -> int | None:
        """Find the row of a position, be it folded or not; None where it is left out."""
        index = bisect_right(self.spans, place, key=lambda span: span.first) - 1
        if index < 0:
            return None
        span = self.spans[index]
        if place >= span.first + span.size:
            return None
        before = self._ends[index - 1] if index else 0
        return before if span.is_folded else before + place - span.first


def fold_queue(
    queue: LockQueue, shown: Collection[Text] = (), opened: Collection[Text] = ()
) -> Folding:
    """Fold a queue; `shown` are rows whatever happens, `opened` those whose group was unfolded."""
    size = len(queue.members)
    ends = {0, *range(max(0, size - TAIL), size)} if size else set()
    odd = sorted(ends.union(queue.places_of({*shown, *opened}) if shown or opened else ()))
    spans = list(_spans(queue, odd))
    if queue.watchers:
        spans.append(RowSpan(size, len(queue.watchers), is_folded=False))
    return Folding(tuple(spans))


def unfold_queue(queue: LockQueue) -> Folding:
    """Give every position a row."""
    return Folding((RowSpan(0, len(queue), is_folded=False),) if len(queue) else ())


def only_positions(places: Sequence[int]) -> Folding:
    """Give rows to these positions alone."""
    return Folding(tuple(RowSpan(place, 1, is_folded=False) for place in places))


def _spans(queue: LockQueue, odd: Sequence[int]) -> Iterator[RowSpan]:
    """Go through the runs of places that are alike, with those apart that are rows anyway."""
    is_short = len(queue.members) <= SHORT
    for first, end, mode in _alike(queue):
        at = first
        for place in odd[bisect_left(odd, first) : bisect_left(odd, end)]:
            yield from _run(at, place - at, mode, is_short=is_short)
            yield RowSpan(place, 1, is_folded=False)
            at = place + 1
        yield from _run(at, end - at, mode, is_short=is_short)


def _alike(queue: LockQueue) -> Iterator[tuple[int, int, str]]:
    """Give the runs; modes that alternate too often to be read count as alike."""
    at = 0
    for runs in (queue.held_runs, queue.waiting_runs):
        if len(runs) > MANY:
            size = sum(run.size for run in runs)
            yield at, at + size, "mixed"
            at += size
            continue
        for run in runs:
            yield at, at + run.size, run.mode
            at += run.size


def _run(first: int, count: int, mode: str, *, is_short: bool) -> Iterator[RowSpan]:
    """Fold a run: readers together wherever they stand, others behind the first few."""
    if not count:
        return
    if mode == "read":
        yield RowSpan(first, count, is_folded=count > READERS)
        return
    alone = count if is_short else min(count, max(0, HEAD - first))
    if count - alone <= 1:
        alone = count
    if alone:
        yield RowSpan(first, alone, is_folded=False)
    if count > alone:
        yield RowSpan(first + alone, count - alone, is_folded=True)


class QueueRow(msgspec.Struct, frozen=True, eq=False, dict=True):
    """One position, or a group of them."""

    detail: LockDetail
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
        members = self.detail.queue.members
        return members[self.place] if self.place < len(members) else None

    @property
    def members(self) -> Sequence[Member]:
        """All members that it stands for."""
        return self.detail.queue.members[self.place : self.place + self.size]

    @property
    def session(self) -> Session | None:
        """Whose place it is, where it is one place of a session."""
        if self.is_group:
            return None
        if self.member is None:
            return self.detail.queue.watchers[self.place - len(self.detail.queue.members)]
        return self.member.owner or None

    @cached_property
    def contender(self) -> Contender:
        """The first contender with all that is known of it."""
        return self.detail.queue.contender(self.detail.view, self.place)


class QueueRows(Sequence[QueueRow]):
    """The rows of a queue, folded in some way."""

    def __init__(self, detail: LockDetail, folding: Folding) -> None:
        """Lay them out."""
        self.detail, self.folding = detail, folding

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
        return QueueRow(self.detail, place, count, self.detail.queue.name(place))

    def find(self, name: str) -> int | None:
        """Find the row of a position by its name, or of the group that it is in."""
        place = self._places_of_crowd.get(name)
        if place is None:
            place = self.detail.queue.position.get(name)  # type: ignore[call-overload]  # a name is text
        return None if place is None else self.folding.row_of(place)

    @cached_property
    def _places_of_crowd(self) -> dict[str, int]:
        queue = self.detail.queue
        first = len(queue.members)
        return {queue.name(first + at): first + at for at in range(len(queue.watchers))}


def names_of(row: QueueRow, at_most: int) -> list[str]:
    """Name some of those that a row stands for."""
    client_names = row.detail.report.client_names
    return [client_names(member.owner, member.label) for member in islice(row.members, at_most)]
