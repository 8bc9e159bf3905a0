"""Decides whether a place holds locks or data: by its names, then by the Stats of a few znodes.

Names alone are not enough: queues and tables have numbered znodes, too. Contenders of nearly all
libraries are ephemeral, and the folder of an unused lock is empty.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from zktop.model.facts import Stat
from zktop.model.layouts.lock_names import is_folder_of_locks, sounds_like_lock
from zktop.zk.read.batch import child_prefix
from zktop.zk.watch.root_pattern import looks_like_a_member
from zktop.zk.watch.search_order import Chunk

MEMBERS_READ = 10  # of a possible lock
LEAVES_READ = 20  # of a chunk of siblings
_LAST_DIGITS = 9  # of a sequence number, after a 0 or a minus sign
_NONZERO_DIGITS = frozenset("123456789")
_ENTRY = r"entry-\d{3}-"  # of kazoo's LockingQueue
_UUID_LENGTH = 32

T = TypeVar("T")
LooksLikeALock = Callable[[str, Sequence[str]], bool]

Content = Literal[
    "lock",  # a session owns a child, or the znode itself
    "folder",  # children with children of their own
    "unowned",  # nothing but znodes without children that no session owns
]


def might_be_a_lock(path: str, names: Sequence[str]) -> bool:
    """True if a znode is worth a closer look: its children or its own name suggest a lock.

    >>> might_be_a_lock("/app/leader", ()), might_be_a_lock("/app/config", ("a", "b"))
    (True, False)
    """
    return any(map(looks_like_a_member, names)) or sounds_like_lock(path[path.rfind("/") + 1 :])


def places_of(ephemerals: Iterable[str]) -> set[str]:
    """The parents of ephemeral znodes, and the ephemeral znodes that are named like locks.

    >>> sorted(places_of(["/locks/a/x-lock-0000000001", "/app/leader"]))
    ['/app', '/app/leader', '/locks/a']
    """
    places: set[str] = set()
    for path in ephemerals:
        parent, _, name = path.rpartition("/")
        places.add(parent or "/")
        is_lock_name = sounds_like_lock(name) or is_folder_of_locks(parent)
        if is_lock_name and not is_numbered(name) and len(name) < _UUID_LENGTH:
            places.add(path)
    return places


def content_of(stats: Iterable[Stat]) -> Content:
    """What a possible lock holds, from the Stats of some children, or its own if it has none."""
    read = list(stats)
    if any(stat.owner for stat in read):
        return "lock"
    return "folder" if any(stat.num_children for stat in read) else "unowned"


def needs_no_owner(path: str, names: Sequence[str]) -> bool:
    """True for a place that may be a lock although no session owns a znode there.

    A few libraries write locks that outlive sessions. Other numbered znodes without owners are
    data, such as the items of a queue.
    """
    members = even_sample(names, MEMBERS_READ)
    has_entry = any(re.match(_ENTRY, name) for name in members)
    return has_entry or any(map(sounds_like_lock, (path, *members)))


def is_numbered(name: str) -> bool:
    """True if a name ends with a sequence number: without children it is not a lock itself.

    Few counters reach ten digits: such a number is more likely an id of the application.

    >>> is_numbered("lock-0000000007"), is_numbered("lockKey_1234567890")
    (True, False)
    """
    preceding = name[-_LAST_DIGITS - 1 : -_LAST_DIGITS]
    return name[-_LAST_DIGITS:].isdigit() and preceding not in _NONZERO_DIGITS


def is_empty_lock_folder(name: str, stat: Stat, *, is_among_many: bool) -> bool:
    """True for a znode that may be the folder of an unused lock.

    Either clients have already queued in it, or it has no data and its name or the number of its
    siblings suggests a lock folder.
    """
    if stat.owner or stat.num_children or is_numbered(name):
        return False
    if stat.cversion:
        return True
    return not stat.data_length and (is_among_many or sounds_like_lock(name))


def even_sample(items: Sequence[T], most: int) -> Sequence[T]:
    """Return at most `most` of the items, evenly spaced.

    >>> even_sample("abcdefgh", 3)
    'adg'
    """
    return items[:: max(1, -(-len(items) // most))]


class ChunkContents:
    """What one chunk of siblings holds."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.children: dict[str, Any] = {}  # of each znode by name, or the error code
        self.possible: list[str] = []  # possible locks
        self.leaves: list[str] = []  # others without children
        self.watched = 0  # locks that are watched already
        self.folders = 0

    def path(self, name: str) -> str:
        return child_prefix(self.chunk.parent) + name

    def members(self, name: str) -> Sequence[str]:
        """The znodes whose Stats show what a possible lock is."""
        path = self.path(name)
        names = even_sample(self.children[name], MEMBERS_READ)
        return [child_prefix(path) + child for child in names] or [path]

    @property
    def some_leaves(self) -> Sequence[str]:
        """A sample of the leaves to judge by their Stats, or none if nothing suggests locks."""
        siblings = self.chunk.siblings
        are_locks_near = self.possible or self.watched or siblings.has_locks
        if are_locks_near or siblings.is_large or is_folder_of_locks(siblings.parent):
            return even_sample(self.leaves, LEAVES_READ)
        return ()

    def held_leaves(self, stats: Mapping[str, Stat]) -> list[str]:
        """The leaves that are locks themselves: ephemeral, in a folder of locks."""
        if not is_folder_of_locks(self.chunk.siblings.parent):
            return []
        leaves = [name for name in self.some_leaves if not is_numbered(name)]
        return [name for name in leaves if (stat := stats.get(self.path(name))) and stat.owner]

    def unused(self, stats: Mapping[str, Stat]) -> float:
        """Estimate how many leaves are folders of currently unused locks."""
        siblings, leaves = self.chunk.siblings, self.some_leaves
        read = [(name, stats[path]) for name in leaves if (path := self.path(name)) in stats]
        had_clients = any(stat.cversion for _, stat in read)
        may_be_unused = had_clients or siblings.has_locks or sounds_like_lock(siblings.parent)
        if not (read and may_be_unused):
            return 0.0
        empty = sum(
            is_empty_lock_folder(name, stat, is_among_many=siblings.is_large)
            for name, stat in read
        )
        return empty / len(read) * len(self.leaves)
