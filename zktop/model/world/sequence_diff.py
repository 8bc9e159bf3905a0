"""Finds the stretches in which two versions of a sequence differ.

Queues and listings keep their order, so two versions have long runs in common. Runs of identical
objects are compared at C speed; the caller handles the stretches that differ.
"""

from collections.abc import Iterator, Sequence
from itertools import compress, count
from operator import is_not
from typing import Final, TypeVar

import msgspec

T = TypeVar("T")

RUN_OBJECTS: Final = 512  # objects compared at once
MAX_SKIPPED: Final = 64  # objects searched for the next common one


class Split(msgspec.Struct, frozen=True, gc=False):
    """A stretch of the earlier version that another one replaces in the later version."""

    here: int  # where it begins in the earlier version
    left: int  # how many objects it has there
    there: int  # where it begins in the later version
    joined: int  # how many objects it has there


def splits(before: Sequence[T], after: Sequence[T]) -> Iterator[Split]:
    """Yield the stretches that differ, from the front; everything between them is the same.

    An object that moved may be in both stretches.

    >>> list(splits("abcde", "acdef"))
    [Split(here=1, left=1, there=1, joined=0), Split(here=5, left=0, there=4, joined=1)]
    """
    here = there = 0
    while here < len(before) and there < len(after):
        old, new = before[here : here + RUN_OBJECTS], after[there : there + RUN_OBJECTS]
        same = min(len(old), len(new))
        if old != new:
            same = next(compress(count(), map(is_not, old, new)), same)
        here, there = here + same, there + same
        if same < len(old) and same < len(new):
            left, joined = _out_of_step(
                before[here : here + MAX_SKIPPED], after[there : there + MAX_SKIPPED]
            )
            yield Split(here, left, there, joined)
            here, there = here + left, there + joined
    if here < len(before) or there < len(after):
        yield Split(here, len(before) - here, there, len(after) - there)


def _out_of_step(old: Sequence[T], new: Sequence[T]) -> tuple[int, int]:
    """Count the objects to skip in each until both continue with the same object."""
    if len(old) > 1 and old[1] is new[0]:
        return 1, 0
    if len(new) > 1 and new[1] is old[0]:
        return 0, 1
    places = {id(one): place for place, one in enumerate(old)}
    for place, one in enumerate(new):
        if id(one) in places:
            return places[id(one)], place
    return len(old), len(new)
