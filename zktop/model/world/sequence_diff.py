"""Finds the runs of objects in which two versions of a sequence differ.

Queues and listings keep their order, so two versions have long runs in common. Identical objects
are compared at C speed; the caller handles only the runs that differ.
"""

from collections.abc import Iterator, Sequence
from itertools import compress, count
from operator import is_not
from typing import Final, TypeVar

import msgspec

T = TypeVar("T")

OBJECTS_AT_ONCE: Final = 512  # compared in one step
MAX_SKIPPED_OBJECTS: Final = 64  # before the next common one


class ChangedRun(msgspec.Struct, frozen=True, gc=False):
    """A run of objects in the old version, and the run that replaces it in the new version."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def changed_runs(before: Sequence[T], after: Sequence[T]) -> Iterator[ChangedRun]:
    """Yield the runs that differ, from the front; everything between them is the same.

    A moved object may be in both versions of a run.

    >>> [(run.old_start, run.old_end, run.new_start, run.new_end)
    ...  for run in changed_runs("abcde", "acdef")]
    [(1, 2, 1, 1), (5, 5, 4, 5)]
    """
    at, new_at = 0, 0
    while at < len(before) and new_at < len(after):
        old, new = before[at : at + OBJECTS_AT_ONCE], after[new_at : new_at + OBJECTS_AT_ONCE]
        same = min(len(old), len(new))
        if old != new:
            same = next(compress(count(), map(is_not, old, new)), same)
        at, new_at = at + same, new_at + same
        if same < len(old) and same < len(new):
            removed, added = _until_common(
                before[at : at + MAX_SKIPPED_OBJECTS], after[new_at : new_at + MAX_SKIPPED_OBJECTS]
            )
            yield ChangedRun(at, at + removed, new_at, new_at + added)
            at, new_at = at + removed, new_at + added
    if at < len(before) or new_at < len(after):
        yield ChangedRun(at, len(before), new_at, len(after))


def _until_common(old: Sequence[T], new: Sequence[T]) -> tuple[int, int]:
    """Count the objects to skip in each until both continue with the same object."""
    if len(old) > 1 and old[1] is new[0]:
        return 1, 0
    if len(new) > 1 and new[1] is old[0]:
        return 0, 1
    places = {id(item): place for place, item in enumerate(old)}
    for place, item in enumerate(new):
        if id(item) in places:
            return places[id(item)], place
    return len(old), len(new)
