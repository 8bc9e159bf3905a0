"""A path that may be a lock: one znode, its children, and a few nodes around it.

A site records what it answers about other nodes: a lock depends on these facts, too.
"""

import re
from typing import Final

from zktop.model.facts import Stat, join, split
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.children_of_znode import Family, Znode
from zktop.model.world.world import World

_LOCKISH_PARTS: Final = (
    "lock",
    "mutex",
    "leader",
    "elect",
    "latch",
    "master",
    "owner",
    "running",
    "active",
    "controller",
    "sem",
    "lease",
)
# Not a block, clock, leaderboard, selection, electronics, release or assembly. The words of the
# fourth line stand alone, also in camel case; those of the last may end a word, as in jobmaster.
_LOCKISH: Final = re.compile(
    r"(?<![bcBC])(?i:lock)|Lock|(?i:joblock|dblock|mutex|latch|semaphore|leader(?!board))"
    r"|(?:(?<![sS])(?i:elect)|Elect)(?![rR])"
    r"|(?:(?<![a-zA-Z])|(?<=[a-z])(?=[A-Z]))"
    r"(?i:(?:sem|master(?![-_.]?data)|owner|running|active|controller|lease)s?)(?![a-z])"
    r"|(?i:(?:master(?![-_.]?data)|owner|leaseholder)(?![a-z]))"
)
# The last is the default folder of zktop's own demos.
_LOCK_FOLDER: Final = re.compile(
    r"(?i:(?:.*[-_.])?(?:locks|mutexes))|.*[a-z](?:Locks|Mutexes)|zktop-demo"
)
_LOCK_FOLDER_ENDINGS: Final = ("locks", "mutexes", "zktop-demo")

Dependency = tuple[Text, bool, Family | Znode | None]


def sounds_like_lock(name: str) -> bool:
    """Return whether a name sounds like a lock or an election.

    >>> [sounds_like_lock(name) for name in ("ordersLock", "block-7", "release-service")]
    [True, False, False]
    """
    lowered = name.lower()  # faster than the pattern for a million names
    return any(sign in lowered for sign in _LOCKISH_PARTS) and _LOCKISH.search(name) is not None


def is_folder_of_locks(path: str) -> bool:
    """Return whether a folder's name says that it holds several locks: locks, db-mutexes."""
    if not path.casefold().endswith(_LOCK_FOLDER_ENDINGS):  # faster than the pattern
        return False
    return _LOCK_FOLDER.fullmatch(path[path.rfind("/") + 1 :]) is not None


def sounds_like_one_lock(path: str) -> bool:
    """Return whether the name at the end of a path says that it is a lock, and holds no others.

    >>> sounds_like_one_lock("/app/lock"), sounds_like_one_lock("/app/locks")
    (True, False)
    """
    return sounds_like_lock(path.rpartition("/")[2]) and not is_folder_of_locks(path)


class LockSite:
    """One path of a world, seen as the root of a lock."""

    __slots__ = ("configured", "dependencies", "family", "path", "settings", "world")

    def __init__(self, path: Text, world: World, settings: Settings) -> None:
        self.path = path
        self.world = world  # direct queries are not recorded
        self.settings = settings
        self.configured = settings.root_of(path) if settings.roots else None  # covers this path
        self.family = world.family(path)
        self.dependencies: list[Dependency] = []

    @property
    def stat(self) -> Stat | None:
        """The Stat of the lock's own znode: from its newest listing, else from a read."""
        if self.family.stat is not None:
            return self.family.stat
        node = self.itself()
        return node.stat if node else None

    def itself(self) -> Znode | None:
        """Return the lock's own znode, with its data if that was read."""
        return self._node(self.path)

    def below(self, name: str) -> Family:
        return self._family(join(self.path, name))

    def is_empty(self, name: str) -> bool:
        """Return whether a child has no children or is missing.

        The child's Stat may be older than its children, so it decides only until they are listed.
        """
        below = self.below(name)
        if below.listed or below.denied or below.members:
            return not below.members
        child = self.family.members.get(Text(name))
        return child is None or child.is_leaf

    def beside(self, ending: str) -> Family | None:
        """Return the children of the sibling with this node's name and an ending, if it exists."""
        sibling = Text(self.path + ending)
        family = self._family(sibling)
        return family if family.listed or self._node(sibling) is not None else None

    def knows(self, path: Text) -> bool:
        """Return whether a node is known to exist."""
        return self._family(path).listed or self._node(path) is not None

    def above(self) -> "LockSite | None":
        parent = split(self.path)[0]
        return LockSite(parent, self.world, self.settings) if parent else None

    def still_hold(self, dependencies: tuple[Dependency, ...]) -> bool:
        """Return whether earlier answers are still the same objects."""
        return all(
            (self.world.node(path) if is_node else self.world.family(path)) is answer
            for path, is_node, answer in dependencies
        )

    def _family(self, path: Text) -> Family:
        answer = self.world.family(path)
        self.dependencies.append((path, False, answer))
        return answer

    def _node(self, path: Text) -> Znode | None:
        answer = self.world.node(path)
        self.dependencies.append((path, True, answer))
        return answer
