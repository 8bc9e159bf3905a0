"""The roots that are watched, what they cover together, and floods of their events.

Roots with the same base share its watch, and a znode may be covered by roots with different bases.
So all roots decide what is read, not only the one whose watch reported a change.
"""

from collections.abc import Callable, Iterator, Sequence

from zktop.model.facts import join
from zktop.zk.event_loop import EventLoop
from zktop.zk.watch.root_pattern import RootPattern, upwards


class WatchedRoot:
    """A base (the path before the first wildcard) with its watch, and the roots that share it."""

    def __init__(self, pattern: RootPattern, *, recursive: bool, flood_per_s: int) -> None:
        self.base = pattern.base
        self.patterns = [pattern]  # none once they are dropped
        self.contained: set[str] = set()  # bases of other roots that these cover
        self.recursive = recursive  # one persistent watch, not one for each listed znode
        self.polled = False  # after a flood, or beyond the watch budget
        self.events = 0  # since the last flood check
        self.flood_per_s = flood_per_s

    @property
    def watched_singly(self) -> bool:
        """True if each listed znode has its own one-shot watch."""
        return not self.recursive and not self.polled

    @property
    def is_exact(self) -> bool:
        """True if the base is the only path that may be a lock."""
        return all(pattern.is_exact for pattern in self.patterns)

    def covers(self, path: str) -> bool:
        return any(pattern.covers(path) for pattern in self.patterns)

    def covers_child(self, parent: str, path: str) -> bool:
        """True if one of its roots covers this child of a listed znode."""
        if len(self.patterns) == 1 and self.patterns[0].covers_children(parent):
            return True
        return self.covers(path)

    def __repr__(self) -> str:
        return f"WatchedRoot({[pattern.path for pattern in self.patterns]})"


class WatchedRoots:
    """All watched roots by base."""

    def __init__(self) -> None:
        self._by_base: dict[str, WatchedRoot] = {}

    def __len__(self) -> int:
        return len(self._by_base)

    def __iter__(self) -> Iterator[WatchedRoot]:
        return iter(tuple(self._by_base.values()))

    def __contains__(self, root: object) -> bool:
        return isinstance(root, WatchedRoot) and self._by_base.get(root.base) is root

    def at(self, base: str) -> WatchedRoot | None:
        return self._by_base.get(base)

    def add(self, root: WatchedRoot) -> None:
        self._by_base[root.base] = root

    def remove(self, root: WatchedRoot) -> None:
        del self._by_base[root.base]

    def above(self, path: str) -> Iterator[WatchedRoot]:
        """Yield the roots whose base is this path or an ancestor, the nearest first."""
        for base in upwards(path):
            root = self._by_base.get(base)
            if root is not None:
                yield root

    def within(self, base: str) -> list[WatchedRoot]:
        """Return the roots whose base is this one or below it."""
        return [root for root in self if base in upwards(root.base)]

    def containing(self, pattern: RootPattern) -> WatchedRoot | None:
        """Return a watched root that covers everything in this one."""
        for root in self.above(pattern.base):
            if any(watched.contains(pattern) for watched in root.patterns):
                return root
        return None

    def covering(self, path: str) -> list[RootPattern]:
        above = [pattern for root in self.above(path) for pattern in root.patterns]
        if len(above) == 1:  # it would not be listed otherwise
            return above
        return [pattern for pattern in above if pattern.covers(path)]


class Floods:
    """Counts the events of each watched root, and reports roots with too many in a second."""

    def __init__(
        self, loop: EventLoop, roots: WatchedRoots, on_flood: Callable[[WatchedRoot], None]
    ) -> None:
        self._loop, self._roots, self._on_flood = loop, roots, on_flood
        self._counting = False

    def count(self, root: WatchedRoot) -> None:
        """Count an event. Its root is checked within a second."""
        root.events += 1
        if not self._counting:
            self._counting = True
            self._loop.after(1.0, self._check)

    def _check(self) -> None:
        self._counting = False
        for root in self._roots:
            is_flooded, root.events = root.events > root.flood_per_s, 0
            if is_flooded and not root.polled:
                self._on_flood(root)


def covered_names(
    parent: str, names: Sequence[str], roots: Sequence[RootPattern]
) -> Sequence[str]:
    """Return the names of those children of a path that one of these roots covers."""
    if any(root.covers_children(parent) for root in roots):
        return names
    return [name for name in names if any(root.covers(join(parent, name)) for root in roots)]
