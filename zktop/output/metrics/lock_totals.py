"""Counts of locks, contenders and lock folders by root.

`LockTotals.look` updates them with the locks that changed, so its cost does not depend on the
number of locks.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from heapq import nlargest, nsmallest
from typing import Final, Literal, NamedTuple, get_args

import msgspec

from zktop.model.accounting.member_counts import member_counts
from zktop.model.layouts.layout import LARGEST
from zktop.model.lock_view import LockView
from zktop.model.locks.lock import Lock, MemberState
from zktop.model.locks.semaphore_queue import LeasePool
from zktop.model.report import Report
from zktop.model.settings import Settings
from zktop.model.text import Text

EVERYWHERE: Final = "/**"  # the root label of locks found without a configured root

LockState = Literal["free", "held", "contended", "unreadable"]
LOCK_STATES: Final[tuple[LockState, ...]] = get_args(LockState)
MEMBER_STATES: Final[tuple[MemberState, ...]] = get_args(MemberState)


class LockFigures(msgspec.Struct, frozen=True, gc=False):
    """The figures of one lock that the metrics use."""

    root: str
    state: LockState
    members: tuple[tuple[MemberState, int], ...]
    waiting: int  # without candidates of an election that do not block
    numbers_left: int | None  # sequence numbers, or None if not numbered or unknown
    is_empty_folder: bool | None  # None if it is not a folder, or cannot be read


class NamedLock(NamedTuple):
    """A lock whose path is a label, and one of its figures."""

    root: str
    path: Text
    value: int


class LockTotals:
    """A fold over reports: the figures of all locks, and their sums by root."""

    def __init__(self) -> None:
        self.locks: Counter[tuple[str, LockState]] = Counter()
        self.members: Counter[tuple[str, MemberState]] = Counter()
        self.folders: Counter[tuple[str, bool]] = Counter()  # by root and whether it is empty
        self._figures: dict[Text, LockFigures] = {}
        self._report: Report | None = None

    def look(self, report: Report) -> None:
        """Recount the locks that changed since the previous report."""
        previous_report, self._report = self._report, report
        for path in report.changed_since(previous_report):
            if (figures := self._figures.pop(path, None)) is not None:
                self._count(figures, -1)
            if (view := report.view(path)) is not None:
                self._figures[path] = figures = lock_figures(view, report.settings)
                self._count(figures, 1)

    def longest_queues(self, most: int, always: Collection[str]) -> Iterator[NamedLock]:
        """Yield the locks with the most waiters, and those with the paths in `always`."""
        locks = [
            NamedLock(figures.root, path, figures.waiting)
            for path, figures in self._figures.items()
            if (figures.waiting or path in always) and figures.state != "unreadable"
        ]
        yield from _worst_and_always(locks, nlargest(most, locks, key=_value), always)

    def fewest_numbers(self, most: int, always: Collection[str]) -> Iterator[NamedLock]:
        """Yield the locks with the fewest sequence numbers left, and those in `always`."""
        locks = [
            NamedLock(figures.root, path, figures.numbers_left)
            for path, figures in self._figures.items()
            if figures.numbers_left is not None
        ]
        yield from _worst_and_always(locks, nsmallest(most, locks, key=_value), always)

    def _count(self, figures: LockFigures, sign: int) -> None:
        self.locks[figures.root, figures.state] += sign
        for state, number in figures.members:
            self.members[figures.root, state] += sign * number
        if figures.is_empty_folder is not None:
            self.folders[figures.root, figures.is_empty_folder] += sign


def lock_figures(view: LockView, settings: Settings) -> LockFigures:
    lock = view.lock
    members = member_counts(view)
    is_folder = lock.kind not in ("single", "lease") and lock.error is None
    return LockFigures(
        root=root_label(lock.path, settings),
        state=_state(lock, members),
        members=tuple(members.items()),
        waiting=members["waits"],
        numbers_left=_numbers_left(lock),
        is_empty_folder=not lock.family.members if is_folder else None,
    )


def root_label(path: str, settings: Settings) -> str:
    root = settings.root_of(path)
    return EVERYWHERE if root is None else root.path


def _state(lock: Lock, members: dict[MemberState, int]) -> LockState:
    if lock.error is not None:
        return "unreadable"
    if members["waits"]:
        return "contended"
    return "held" if members["holds"] else "free"


def _numbers_left(lock: Lock) -> int | None:
    """Return how many sequence numbers a lock has left, or None if unknown or not numbered.

    Only the two ends of each queue are examined, because one of them is the newest member.
    """
    queues = [queue.members for queue in lock.queues if queue.members]
    ends = [members[end] for members in queues for end in (0, -1)]
    numbers = [
        member.sequence
        for member in ends
        if member.sequence is not None and "/" not in member.node
    ]
    following = lock.stat.next_sequence if lock.stat else None
    has_unnumbered_leases = any(isinstance(queue, LeasePool) for queue in lock.queues)
    if following is None or (lock.size and not numbers) or has_unnumbered_leases:
        return None
    if min(numbers, default=0) < 0:
        return 0
    newest = max([lock.family.removed_number, *numbers])
    return max(0, LARGEST - max(following, newest + 1))


def _value(lock: NamedLock) -> int:
    return lock.value


def _worst_and_always(
    locks: list[NamedLock], worst: list[NamedLock], always: Collection[str]
) -> Iterator[NamedLock]:
    yield from dict.fromkeys((*worst, *(lock for lock in locks if lock.path in always)))
