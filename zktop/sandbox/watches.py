"""The tables of data watches and of child watches, and the watches that a change fires.

The tables copy the quirks of ZooKeeper 3.8: a persistent watch is in both, a plain watch on the
same path replaces it, and a watcher stays listed after its last watch has fired.
"""

from collections.abc import Iterator
from enum import IntEnum
from typing import Generic, TypeVar

from zktop.sandbox.protocol import EventType

Watcher = TypeVar("Watcher")
Receivers = dict[Watcher, str]  # watcher -> the path in its notification
Notifications = tuple[EventType, Receivers[Watcher]]


class WatchMode(IntEnum):
    """The modes of addWatch, and -1 for a one-shot watch."""

    ONCE = -1
    PERSISTENT = 0
    RECURSIVE = 1


class WatchesByPath(Generic[Watcher]):
    """Watches of one kind, by path and by watcher."""

    def __init__(self, *, names_watched: bool = False) -> None:
        self._names_watched = names_watched
        self.by_path: dict[str, dict[Watcher, WatchMode]] = {}
        self.by_watcher: dict[Watcher, dict[str, None]] = {}
        self._recursive = 0

    def __len__(self) -> int:
        return sum(map(len, self.by_path.values()))

    def add(self, path: str, watcher: Watcher, mode: WatchMode = WatchMode.ONCE) -> None:
        """Add a watch, which replaces the watcher's earlier one on this path."""
        watchers = self.by_path.setdefault(path, {})
        self._recursive -= watchers.get(watcher) is WatchMode.RECURSIVE
        self._recursive += mode is WatchMode.RECURSIVE
        watchers[watcher] = mode
        self.by_watcher.setdefault(watcher, {})[path] = None

    def has(self, path: str, watcher: Watcher) -> bool:
        """True if the watcher has a watch on exactly this path."""
        return watcher in self.by_path.get(path, ())

    def remove(self, path: str, watcher: Watcher) -> bool:
        """Remove a watch. Return False if there was none."""
        if path not in self.by_watcher.get(watcher, ()):
            return False
        del self.by_watcher[watcher][path]
        self._drop(path, watcher)
        return True

    def forget(self, watcher: Watcher) -> None:
        for path in self.by_watcher.pop(watcher, {}):
            self._drop(path, watcher)

    def fire(self, path: str, event: EventType) -> Receivers[Watcher]:
        """Return the watchers to notify, and remove one-shot watches."""
        receivers = dict.fromkeys(self._fire_here(path, event), path)
        if self._recursive and event is not EventType.CHILDREN:
            for ancestor in _ancestors(path):
                for watcher, mode in self.by_path.get(ancestor, {}).items():
                    if mode is WatchMode.RECURSIVE:
                        receivers[watcher] = ancestor if self._names_watched else path
        return receivers

    def _fire_here(self, path: str, event: EventType) -> Iterator[Watcher]:
        for watcher, mode in list(self.by_path.get(path, {}).items()):
            if mode is WatchMode.ONCE:
                self.remove(path, watcher)
            if mode is not WatchMode.RECURSIVE or event is not EventType.CHILDREN:
                yield watcher

    def _drop(self, path: str, watcher: Watcher) -> None:
        watchers = self.by_path[path]
        self._recursive -= watchers.pop(watcher) is WatchMode.RECURSIVE
        if not watchers:
            del self.by_path[path]


class ServerWatches(Generic[Watcher]):
    """Both tables, and the watches that each change of the tree fires."""

    def __init__(self, *, names_watched: bool = False) -> None:
        """With `names_watched`, recursive watches report the watched path, not the changed one."""
        self.data: WatchesByPath[Watcher] = WatchesByPath(names_watched=names_watched)
        self.child: WatchesByPath[Watcher] = WatchesByPath(names_watched=names_watched)

    def __len__(self) -> int:
        """The number of watches. A persistent one counts in both tables."""
        return len(self.data) + len(self.child)

    def add(self, path: str, watcher: Watcher, mode: WatchMode) -> None:
        """Add a persistent watch to both tables."""
        self.data.add(path, watcher, mode)
        self.child.add(path, watcher, mode)

    def forget(self, watcher: Watcher) -> None:
        self.data.forget(watcher)
        self.child.forget(watcher)

    def created(self, path: str) -> Iterator[Notifications[Watcher]]:
        yield EventType.CREATED, self.data.fire(path, EventType.CREATED)
        yield self._children_changed(path)

    def deleted(self, path: str) -> Iterator[Notifications[Watcher]]:
        """A watcher of both data and children is notified of a delete only once."""
        receivers = self.data.fire(path, EventType.DELETED)
        yield EventType.DELETED, receivers
        of_children = self.child.fire(path, EventType.DELETED)
        others = {
            watcher: named for watcher, named in of_children.items() if watcher not in receivers
        }
        yield EventType.DELETED, others
        yield self._children_changed(path)

    def changed(self, path: str) -> Iterator[Notifications[Watcher]]:
        yield EventType.CHANGED, self.data.fire(path, EventType.CHANGED)

    def _children_changed(self, path: str) -> Notifications[Watcher]:
        parent = path.rpartition("/")[0] or "/"
        return EventType.CHILDREN, self.child.fire(parent, EventType.CHILDREN)


def _ancestors(path: str) -> Iterator[str]:
    while path != "/":
        path = path.rpartition("/")[0] or "/"
        yield path
