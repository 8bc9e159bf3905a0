"""A path that may be a lock: one znode, its children, and a few nodes around it.

A site records what it answers about other nodes, because a lock depends on these facts too.
"""

from zktop.model.facts import Stat, join, split
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.children_of_znode import Family, Znode
from zktop.model.world.world import World

Dependency = tuple[Text, bool, Family | Znode | None]


class LockSite:
    """One path of a world, seen as the root of a lock."""

    __slots__ = ("configured", "dependencies", "family", "path", "settings", "world")

    def __init__(self, path: Text, world: World, settings: Settings) -> None:
        self.path = path
        self.world = world  # direct queries are not recorded
        self.settings = settings
        # The configured root that covers this path.
        self.configured = settings.root_of(path) if settings.roots else None
        self.family = world.family(path)
        self.dependencies: list[Dependency] = []

    @property
    def stat(self) -> Stat | None:
        """The Stat of the lock's own znode: from its newest listing, or else from a read."""
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
        If the children are hidden, as far as zktop knows there are none.
        """
        below = self.below(name)
        if below.listed or below.denied or below.members:
            return not below.members
        child = self.family.members.get(Text(name))
        return child is None or child.is_leaf

    def children_of_sibling(self, ending: str) -> Family | None:
        """Return the children of the sibling whose name is this node's name plus `ending`."""
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
