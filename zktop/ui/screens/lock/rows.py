"""The rows of one lock's queue: single requests, and groups of them folded into one row.

A queue of twenty thousand is a few spans; a row is made when it is drawn.
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
from zktop.ui.screens.lock.lock_detail import LockDetail, ShownQueue

HEAD_ROWS: Final = 8  # positions at the front with rows of their own ...
TAIL_ROWS: Final = 2  # ... and at the end
MAX_UNFOLDED_READERS: Final = 6  # a run of at most this many readers is not folded
MAX_SHORT_QUEUE: Final = 30  # members; a queue this short folds only readers
MAX_RUNS: Final = 80  # runs; modes that alternate more often are one group


class RowSpan(NamedTuple):
    """Positions from `first` on, as one row or as a row each."""

    first: int
    size: int
    is_folded: bool


class Folding(msgspec.Struct, frozen=True, eq=False, dict=True):
    """Which positions of a queue share a row."""

    spans: tuple[RowSpan, ...]

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(1 if span.is_folded else span.size for span in self.spans))

    def __len__(self) -> int:
        return self._ends[-1] if self.spans else 0

    def at(self, row: int) -> tuple[int, int]:
        """First position of a row, and the number of positions that it stands for."""
        index = bisect_right(self._ends, row)
        span = self.spans[index]
        if span.is_folded:
            return span.first, span.size
        return span.first + row - (self._ends[index - 1] if index else 0), 1

    def row_of(self, place: int) -> int | None:
        """Row of a position; None when the position has no row."""
        index = bisect_right(self.spans, place, key=lambda span: span.first) - 1
        if index < 0:
            return None
        span = self.spans[index]
        if place >= span.first + span.size:
            return None
        before = self._ends[index - 1] if index else 0
        return before if span.is_folded else before + place - span.first


def fold_queue(
    queue: ShownQueue, shown: Collection[Text] = (), opened: Collection[Text] = ()
) -> Folding:
    """Fold runs of requests; the nodes in `shown` and `opened` keep rows of their own."""
    size = len(queue.members)
    ends = {0, *range(max(0, size - TAIL_ROWS), size)} if size else set()
    odd = sorted(ends.union(queue.places_of({*shown, *opened}) if shown or opened else ()))
    spans = list(_spans(queue, odd))
    if queue.watchers:
        spans.append(RowSpan(size, len(queue.watchers), is_folded=False))
    return Folding(tuple(spans))


def unfold_queue(queue: ShownQueue) -> Folding:
    """A row for every position."""
    return Folding((RowSpan(0, len(queue), is_folded=False),) if len(queue) else ())


def only_positions(places: Sequence[int]) -> Folding:
    """Rows for these positions only."""
    return Folding(tuple(RowSpan(place, 1, is_folded=False) for place in places))


def _spans(queue: ShownQueue, odd: Sequence[int]) -> Iterator[RowSpan]:
    """Spans of a queue, cut at the positions that keep rows of their own."""
    is_short = len(queue.members) <= MAX_SHORT_QUEUE
    for first, end, mode in _alike(queue):
        at = first
        for place in odd[bisect_left(odd, first) : bisect_left(odd, end)]:
            yield from _run(at, place - at, mode, is_short=is_short)
            yield RowSpan(place, 1, is_folded=False)
            at = place + 1
        yield from _run(at, end - at, mode, is_short=is_short)


def _alike(queue: ShownQueue) -> Iterator[tuple[int, int, str]]:
    """Runs of the same mode; modes that alternate too often to be read count as one."""
    at = 0
    for runs in (queue.held_runs, queue.waiting_runs):
        if len(runs) > MAX_RUNS:
            size = sum(run.size for run in runs)
            yield at, at + size, "mixed"
            at += size
            continue
        for run in runs:
            yield at, at + run.size, run.mode
            at += run.size


def _run(first: int, count: int, mode: str, *, is_short: bool) -> Iterator[RowSpan]:
    """Fold a run: readers anywhere, others behind the first few of the queue."""
    if not count:
        return
    if mode == "read":
        yield RowSpan(first, count, is_folded=count > MAX_UNFOLDED_READERS)
        return
    alone = count if is_short else min(count, max(0, HEAD_ROWS - first))
    if count - alone <= 1:
        alone = count
    if alone:
        yield RowSpan(first, alone, is_folded=False)
    if count > alone:
        yield RowSpan(first + alone, count - alone, is_folded=True)


class QueueRow(msgspec.Struct, frozen=True, eq=False, dict=True):
    """One position of the queue, or a group of neighbours."""

    detail: LockDetail
    place: int
    size: int
    name: str

    @property
    def is_group(self) -> bool:
        return self.size > 1

    @property
    def member(self) -> Member | None:
        """The first member; None for a session that only watches."""
        members = self.detail.queue.members
        return members[self.place] if self.place < len(members) else None

    @property
    def members(self) -> Sequence[Member]:
        """All members in this row."""
        return self.detail.queue.members[self.place : self.place + self.size]

    @property
    def session(self) -> Session | None:
        """The session of a single position; None for a group."""
        if self.is_group:
            return None
        if self.member is None:
            return self.detail.queue.watchers[self.place - len(self.detail.queue.members)]
        return self.member.owner or None

    @cached_property
    def contender(self) -> Contender:
        """The first contender of the row."""
        return self.detail.queue.contender(self.detail.view, self.place)


class QueueRows(Sequence[QueueRow]):
    """The rows of a folded queue, made on demand."""

    def __init__(self, detail: LockDetail, folding: Folding) -> None:
        self.detail, self.folding = detail, folding

    def __len__(self) -> int:
        return len(self.folding)

    @overload
    def __getitem__(self, index: int) -> QueueRow: ...
    @overload
    def __getitem__(self, index: slice) -> "Sequence[QueueRow]": ...
    def __getitem__(self, index: int | slice) -> "QueueRow | Sequence[QueueRow]":
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(index)
        place, count = self.folding.at(index)
        return QueueRow(self.detail, place, count, self.detail.queue.name(place))

    def find(self, name: str) -> int | None:
        """Row of the position with this name, or of its group."""
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
    """Names of the first clients in a row."""
    client_names = row.detail.report.client_names
    return [client_names(member.owner, member.label) for member in islice(row.members, at_most)]
