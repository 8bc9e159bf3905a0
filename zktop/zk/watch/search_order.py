"""The order in which a search visits the znodes of a large tree.

Znodes that lead to ephemeral znodes come first, then folders named like locks, then small folders.
The children of a large folder are visited in chunks. Each chunk is an even sample of them, so the
first one shows what the folder holds, and the others wait until nothing smaller is left.
"""

import heapq
import itertools
from collections.abc import Iterable, Sequence
from math import ceil

import msgspec

from zktop.model.facts import split
from zktop.model.layouts.lock_names import sounds_like_lock
from zktop.zk.watch.root_pattern import upwards

CHUNK_ZNODES = 500
BUSY, LOCKISH, OTHER, REST = range(4)  # ranks


class Siblings:
    """The children of one znode, and which of them are still to be visited."""

    __slots__ = (
        "_early",
        "_next",
        "_stride",
        "busy",
        "has_locks",
        "is_all",
        "is_closed",
        "names",
        "parent",
    )

    def __init__(
        self, parent: str, names: Sequence[str], busy: Iterable[str] = (), *, is_all: bool = True
    ) -> None:
        self.parent, self.names = parent, names
        self.busy = [*busy]  # lead to ephemeral znodes, and are not yet visited
        self.is_all = is_all  # all children, not a few of them
        self.has_locks = False
        self.is_closed = False  # the rest is skipped
        self._early: set[str] = set()  # busy names that were visited before their chunk
        self._stride = ceil(len(names) / CHUNK_ZNODES)
        self._next = 0

    @property
    def is_large(self) -> bool:
        """True if they fill more than one chunk."""
        return self._stride > 1

    @property
    def may_be_watched(self) -> bool:
        """True if one watch may be set for all of them."""
        return self.is_all and self.parent != "/"

    @property
    def is_begun(self) -> bool:
        return self._next > 0

    @property
    def is_over(self) -> bool:
        """True if nothing is left to visit."""
        return self.is_closed or (self._next >= self._stride and not self.busy)

    def close(self) -> int:
        """Skip the rest. Return how many znodes that is."""
        rest = range(self._next, self._stride)
        self.is_closed = True
        return sum(len(self.names[start :: self._stride]) for start in rest)

    def take(self) -> "Chunk":
        """Return the next chunk that has unvisited names, with all busy names."""
        sample: Sequence[str] = ()
        while not sample and self._next < self._stride:
            sample = self.names[self._next :: self._stride]
            self._next += 1
            if self._early:
                sample = [name for name in sample if name not in self._early]
        busy, self.busy = set(self.busy).difference(sample, self._early), []
        self._early |= busy
        return Chunk(self, sample, (*sample, *busy))


class Chunk(msgspec.Struct, frozen=True):
    """Some siblings to visit: an even sample of all, and names that are known to be busy."""

    siblings: Siblings
    sample: Sequence[str]
    names: Sequence[str]

    @property
    def parent(self) -> str:
        return self.siblings.parent


class SearchOrder:
    """The siblings that are still to be visited."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, int, Siblings]] = []
        self._order = itertools.count(0, -1)  # of one rank, the newest goes first: fewer wait
        self._waiting: dict[str, Siblings] = {}  # by parent
        self._busy: dict[str, set[str]] = {}  # names by parent

    def add(self, parent: str, names: Sequence[str], *, is_all: bool = True) -> None:
        """Visit these children of a znode."""
        if not names:
            return
        busy = self._busy.get(parent)
        busy_names = busy.intersection(names) if busy else ()
        siblings = Siblings(parent, names, busy_names, is_all=is_all)
        self._waiting[parent] = siblings
        self._push(siblings)

    def prefer(self, paths: Iterable[str]) -> None:
        """Visit these znodes, and those on the way to them, before all others."""
        for path in paths:
            for above, name in map(split, upwards(path)[:-1]):
                names = self._busy.setdefault(above, set())
                if name in names:
                    break
                names.add(name)
                siblings = self._waiting.get(above)
                if siblings is not None:
                    siblings.busy.append(name)
                    self._push(siblings)

    def take(self, znodes: int) -> list[Chunk]:
        """Remove and return about `znodes` znodes, at most one chunk of each parent."""
        taken: dict[str, Chunk] = {}
        unfinished: dict[Siblings, None] = {}  # once each, although `prefer` pushes them again
        while self._heap and znodes > 0:
            siblings = heapq.heappop(self._heap)[-1]
            if siblings.parent in taken:
                unfinished[siblings] = None
            elif not siblings.is_over:
                chunk = siblings.take()
                unfinished[siblings] = None
                if chunk.names:  # else all the others were visited early
                    taken[siblings.parent] = chunk
                    znodes -= len(chunk.names)
        for siblings in unfinished:
            if not siblings.is_over:
                self._push(siblings)
            elif self._waiting.get(siblings.parent) is siblings:
                del self._waiting[siblings.parent]
        return [*taken.values()]

    def _push(self, siblings: Siblings) -> None:
        size = len(siblings.names)
        heapq.heappush(self._heap, (_rank(siblings), size, next(self._order), siblings))


def _rank(siblings: Siblings) -> int:
    if siblings.busy:
        return BUSY
    if siblings.is_begun:
        return REST
    return LOCKISH if sounds_like_lock(siblings.parent) else OTHER
