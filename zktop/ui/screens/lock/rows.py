"""The rows of one lock's queue: single requests, and groups of them folded into one row."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Final

import msgspec

from zktop.model.facts import Session
from zktop.model.lock_view import Contender
from zktop.model.locks.lock import Member
from zktop.model.text import Text
from zktop.ui.screens.lock.lock_detail import LockDetail, ShownQueue

HEAD_ROWS: Final = 8  # positions at the front that are not folded
TAIL_ROWS: Final = 2  # positions at the end that are not folded
MAX_UNFOLDED_READERS: Final = 6  # a run of at most this many readers is not folded
MAX_SHORT_QUEUE: Final = 30  # with at most this many members, only readers are folded
MAX_RUNS: Final = 80  # if modes alternate more often, all of them fold into one group


class QueueRow(msgspec.Struct, frozen=True, eq=False, dict=True):
    """One position of the queue, or a group of neighbours."""

    detail: LockDetail
    place: int
    size: int = 1

    @property
    def name(self) -> str:
        """A name that still identifies the row after the queue has moved."""
        return self.detail.queue.name(self.place)

    @property
    def is_group(self) -> bool:
        return self.size > 1

    @property
    def member(self) -> Member | None:
        """The first member. A session that only watches has none."""
        members = self.detail.queue.members
        return members[self.place] if self.place < len(members) else None

    @property
    def members(self) -> Sequence[Member]:
        return self.detail.queue.members[self.place : self.place + self.size]

    @property
    def session(self) -> Session | None:
        """The session of a single position. A group has none."""
        if self.is_group:
            return None
        if self.member is None:
            return self.detail.queue.watchers[self.place - len(self.detail.queue.members)]
        return self.member.owner or None

    @property
    def watches_children(self) -> bool:
        """True for a waiting demo client that reports a watch on the lock's children."""
        session = self.session
        is_waiting = self.place >= self.detail.queue.holder_count
        return session is not None and is_waiting and session in self.detail.child_watchers

    @cached_property
    def contender(self) -> Contender:
        return self.detail.queue.contender(self.detail.view, self.place)


def single_rows(detail: LockDetail, places: Iterable[int]) -> list[QueueRow]:
    return [QueueRow(detail, place) for place in places]


def folded_rows(
    detail: LockDetail, shown: Iterable[Text] = (), unfolded: Iterable[Text] = ()
) -> list[QueueRow]:
    """Fold runs of requests, except the nodes in `shown` and `unfolded`."""
    queue = detail.queue
    size = len(queue.members)
    ends = {0, *range(max(0, size - TAIL_ROWS), size)} if size else set()
    alone = sorted(ends.union(queue.places_of({*shown, *unfolded})))
    rows = [QueueRow(detail, place, number) for place, number in _spans(queue, alone)]
    return [*rows, *single_rows(detail, range(size, len(queue)))]


def index_of(rows: Sequence[QueueRow], place: int) -> int | None:
    """Return the index of the row with this position; None if no row has it."""
    index = bisect_right(rows, place, key=lambda row: row.place) - 1
    is_inside = index >= 0 and place < rows[index].place + rows[index].size
    return index if is_inside else None


def _spans(queue: ShownQueue, alone: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first position and size of each row. The positions in `alone` are not folded."""
    is_short = len(queue.members) <= MAX_SHORT_QUEUE
    for first, end, mode in _alike(queue):
        at = first
        for place in alone[bisect_left(alone, first) : bisect_left(alone, end)]:
            yield from _run(at, place - at, mode, is_short=is_short)
            yield place, 1
            at = place + 1
        yield from _run(at, end - at, mode, is_short=is_short)


def _alike(queue: ShownQueue) -> Iterator[tuple[int, int, str]]:
    """Yield the first position, end and mode of each run of one mode. Too many count as one."""
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


def _run(first: int, count: int, mode: str, *, is_short: bool) -> Iterator[tuple[int, int]]:
    """Fold a run: readers anywhere, other modes only after the first rows of the queue."""
    if mode == "read":
        unfolded = 0 if count > MAX_UNFOLDED_READERS else count
    else:
        unfolded = count if is_short else min(count, max(0, HEAD_ROWS - first))
    if count - unfolded == 1:
        unfolded = count
    yield from ((first + at, 1) for at in range(unfolded))
    if count > unfolded:
        yield first + unfolded, count - unfolded


def names_of(row: QueueRow, at_most: int) -> list[str]:
    client_names = row.detail.report.client_names
    return [client_names.of(member) for member in islice(row.members, at_most)]
