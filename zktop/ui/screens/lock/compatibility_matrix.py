"""Compatibility matrix: which modes can be granted together with those held and those queued.

It shows at a glance why a reader waits while only readers hold the lock: a writer is ahead of it.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from zktop.model.layouts.layout import LockMode
from zktop.model.locks.lock import Lock, Member
from zktop.model.locks.queue import RankedQueue
from zktop.ui.inks import Ink
from zktop.ui.screens.lock.lock_detail import ShownQueue
from zktop.ui.styled_text import Line, Run, fitted, line

WORDS: Final[dict[LockMode, str]] = {
    "exclusive": "exclusive",
    "read": "read",
    "write": "write",
    "lease": "a lease",
    "candidate": "to lead",
}
SHORT_WORDS: Final[dict[LockMode, str]] = {  # empty: the only mode of its locks
    "exclusive": "",
    "read": "read",
    "write": "write",
    "lease": "lease",
    "candidate": "",
}
ORDER: Final[tuple[LockMode, ...]] = ("write", "exclusive", "read", "lease", "candidate")
YES: Final[tuple[str, Ink]] = (" yes ", "allowed")
HELD: Final[tuple[str, Ink]] = (" no ", "alarm")  # the holder must release first
QUEUED: Final[tuple[str, Ink]] = (" no ", "caution")  # only a queued client comes first
CELL_WIDTH: Final = 13
NARROW_CELL_WIDTH: Final = 10
LABEL_WIDTH: Final = 18
KILO: Final = 1000
MAX_AHEAD_SEARCHED: Final = 1000  # positions ahead of the selected member


class MatrixColumn(NamedTuple):
    """A mode that is held, or that is queued."""

    is_held: bool
    mode: LockMode


def compatibility_matrix(queue: ShownQueue, chosen: Member | None) -> list[Line]:
    """Draw the matrix. Highlight the selected member's row and mark what it waits for."""
    lock, modes = queue.lock, modes_of(queue)
    if not modes or lock.kind == "single":  # no queue
        return []
    columns = [MatrixColumn(is_held, mode) for is_held in (True, False) for mode in modes]
    heads = [f"{'held' if held else 'queued'} {SHORT_WORDS[mode]}" for held, mode in columns]
    title = line(("COMPATIBLE WITH", "title"))
    lines = [_row(title, [line((head, "strong")) for head in heads], CELL_WIDTH)]
    counts, blocking = _counts(queue), _blocking(queue, chosen)
    for mode in modes:
        is_chosen = chosen is not None and chosen.mode == mode
        ink: Ink = "selected" if is_chosen else "plain"
        mark = "▶ " if is_chosen else "  "
        tiles = []
        for column in columns:
            arrow = Run(" ◀" if is_chosen and column in blocking else "", "selected")
            tiles.append((*_tile(lock, mode, column, counts[column]), arrow))
        lines.append(_row(line((f"{mark}wants {WORDS[mode]}", ink)), tiles, CELL_WIDTH))
    return lines


def may_enter(queue: ShownQueue) -> list[Line]:
    """Return the narrow form of the matrix: only the held modes."""
    lock, modes = queue.lock, modes_of(queue)
    if not modes or lock.kind in ("single", "election"):
        return []
    heads = [line((SHORT_WORDS[mode] or "holder", "dim")) for mode in modes]
    lines = [_row(line((" compatible with", "dim")), heads, NARROW_CELL_WIDTH)]
    counts, columns = _counts(queue), [MatrixColumn(is_held=True, mode=mode) for mode in modes]
    for mode in modes:
        tiles = [_tile(lock, mode, column, counts[column]) for column in columns]
        lines.append(_row(line(f" wants {WORDS[mode]}"), tiles, NARROW_CELL_WIDTH))
    return lines


def _row(label: Line, cells: Sequence[Line], width: int) -> Line:
    """Align a label and cells of this width."""
    runs = [run for cell in cells for run in fitted(cell, width)]
    return (*fitted(label, LABEL_WIDTH), *runs)


def modes_of(queue: ShownQueue) -> Sequence[LockMode]:
    """Return the modes in use. For a read/write lock, return both."""
    used = {run.mode for run in (*queue.held_runs, *queue.waiting_runs)}
    if queue.lock.kind == "read-write":
        used |= {"read"} if "exclusive" in used else {"read", "write"}
    return [mode for mode in ORDER if mode in used]


def _counts(queue: ShownQueue) -> Counter[MatrixColumn]:
    counts: Counter[MatrixColumn] = Counter()
    for is_held, runs in ((True, queue.held_runs), (False, queue.waiting_runs)):
        for run in runs:
            counts[MatrixColumn(is_held, run.mode)] += run.size
    return counts


def _brief(number: int) -> str:
    """Return a number in at most three cells.

    >>> _brief(42), _brief(3_999)
    ('42', '4k')
    """
    return str(number) if number < KILO else f"{number / KILO:.0f}k"


def _tile(lock: Lock, mode: LockMode, column: MatrixColumn, number: int) -> Line:
    """Return yes or no, and the number of clients unless a tile about leases has it already."""
    needs_number = number > 0 and not (lock.kind == "semaphore" and column.is_held)
    text = f" {_brief(number)}" if needs_number else ""
    return line(verdict(lock, mode, column), (text, "dim"))


def verdict(lock: Lock, mode: LockMode, column: MatrixColumn) -> tuple[str, Ink]:
    """Return whether a mode can be granted together with another one."""
    if lock.kind == "semaphore":
        return _lease(lock) if column.is_held else QUEUED
    if not conflicts(lock, mode, column.mode):
        return YES
    return HELD if column.is_held else QUEUED


def _lease(lock: Lock) -> tuple[str, Ink]:
    """Return whether a lease is free, and how many are held."""
    held = len(lock.holders)
    if lock.leases is None:
        return f"{held} of ?", "unknown"
    is_free = held < lock.leases
    word, ink = YES if is_free else HELD
    return f"{word.rstrip()} {held}/{lock.leases} ", ink


def conflicts(lock: Lock, mine: LockMode, theirs: LockMode) -> bool:
    """Return whether one mode waits for the other, by the rules of this lock's client library."""
    if mine != "read":
        return True
    for queue in lock.queues:
        if isinstance(queue, RankedQueue):
            for member in queue.members:
                if member.mode == theirs:
                    return queue.bars_readers(member)
    return theirs != "read"


def _blocking(queue: ShownQueue, chosen: Member | None) -> set[MatrixColumn]:
    """Return the columns that block the selected member. Only 1,000 positions are searched."""
    if chosen is None:
        return set()
    lock, position = queue.lock, queue.position
    before = {
        MatrixColumn(position[other.node] < queue.holder_count, other.mode)
        for other in (*lock.members_before(chosen)[:MAX_AHEAD_SEARCHED], *lock.blocked_by(chosen))
        if other.node in position  # foreign children are in no queue
    }
    return {column for column in before if conflicts(lock, chosen.mode, column.mode)}
