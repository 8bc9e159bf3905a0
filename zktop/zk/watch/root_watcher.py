"""Watches roots and turns events into facts. After a reconnect it starts over.

A root is watched in one of two ways that give the same facts. Servers from 3.6 on keep one
persistent recursive watch that reports every change. On older ones each listed znode has a
one-shot child watch. After its event, the next listing sets the watch again, with a pause during
bursts. No path has both: servers before 3.9 would drop the persistent one.
"""

import time
from collections.abc import Callable, Iterable

from zktop.model.facts import Gone, Millis, Node, SourceFact, split
from zktop.model.text import Text
from zktop.model.world.tables_of_one_server import MARK
from zktop.zk.read.requests import NO_AUTH, NO_NODE, AddWatch, Exists, RemoveWatches
from zktop.zk.read.requests_in_flight import Answer, Reader
from zktop.zk.watch.list_again import ChangedFolders, has_many_deletions, pause_left_s
from zktop.zk.watch.pending_reads import UnreadZnodes
from zktop.zk.watch.root_pattern import RootPattern
from zktop.zk.watch.tree_reader import ListedZnode, TreeReader
from zktop.zk.watch.watched_roots import Floods, WatchedRoot, WatchedRoots

CREATED, DELETED, CHANGED, CHILD = 1, 2, 3, 4

FLOOD_REST_S = 60.0  # from a flood until the root is watched again
CONFIRM_EVERY_S = 0.25  # between two checks for changed folders that are due for a listing


class RootWatcher:
    """Everything that is watched through one client."""

    def __init__(
        self,
        reader: Reader,
        emit: Callable[[SourceFact], None],
        *,
        watch_budget: int,
        flood_per_s: int,
    ) -> None:
        self._reader, self._emit = reader, emit
        self._clock, self._loop = reader.clock, reader.loop
        self._watch_budget, self._flood_per_s = watch_budget, flood_per_s
        self.persistent = True  # whether persistent watches are used
        self.roots = WatchedRoots()
        self.tree = TreeReader(reader, emit, watch_budget, self.roots)
        self.tree.on_hidden = self._on_hidden
        self.tree.on_listed = self._on_listed
        self.on_missing: Callable[[str], None] = lambda _base: None
        self.on_flood: Callable[[RootPattern], None] = lambda _pattern: None
        self._unread = UnreadZnodes()
        self.unconfirmed = ChangedFolders()
        self._waking = self._confirming = False
        self._floods = Floods(self._loop, self.roots, self._on_flood)

    def watches(self) -> int:
        """The number of watches of znodes that the server keeps for zktop, without `MARK`."""
        return sum(not root.polled for root in self.roots) + len(self.tree.single_watches)

    @property
    def settled(self) -> bool:
        """True when everything that events announced has been read."""
        return not self._unread and self._reader.idle

    def add(
        self, pattern: RootPattern, *, start: bool = True, flood_per_s: int | None = None
    ) -> bool:
        """Watch another root. Return False if a root that is already watched covers it."""
        container = self.roots.containing(pattern)
        if container is not None:
            container.contained.add(pattern.base)
            return False
        root = self.roots.at(pattern.base)
        if root is not None:
            root.patterns.append(pattern)
            if start:
                self._start(root)
            return True
        limit = min(flood_per_s or self._flood_per_s, self._flood_per_s)
        root = WatchedRoot(pattern, recursive=self.persistent, flood_per_s=limit)
        self.roots.add(root)
        if start:
            self._watch_or_poll(root, len(self.roots))
        return True

    def drop(self, pattern: RootPattern) -> None:
        root = self.roots.at(pattern.base)
        if root is None or pattern not in root.patterns:
            return
        root.patterns.remove(pattern)
        if root.patterns:
            self._restart_below(root.base)
        else:
            self.roots.remove(root)
            self._unwatch(root)
            self.tree.forget(root.base)
            self._restart_below(root.base)

    def _restart_below(self, base: str) -> None:
        """Restart all roots at or below a path: forgetting its tree forgets theirs."""
        for root in self.roots.within(base):
            self._start(root)

    def connected(self) -> None:
        """Start over: kazoo and the servers forget every watch."""
        self._unread.clear()
        self.unconfirmed.clear()
        self.tree.forget_all()
        self._watch_mark()
        for count, root in enumerate(self.roots, 1):
            self._watch_or_poll(root, count)

    def _watch_mark(self) -> None:
        """Set the watch by which other zktops know this session."""
        self._reader.ask(Exists(MARK, watch=True), lambda _answer: None)

    def _watch_or_poll(self, root: WatchedRoot, count: int) -> None:
        """Watch a root if the budget allows this many watches, otherwise poll it."""
        root.polled = count > self._watch_budget
        root.recursive = self.persistent and not root.polled
        self._start(root)

    def _start(self, root: WatchedRoot) -> None:
        """Watch a root and read everything below it, because it may cover more than before."""
        self.tree.forget(root.base)
        if root.watched_singly:
            self._watch_base(root)
            return
        if root.recursive:
            watch = AddWatch(self._reader.hosts.full(root.base))
            self._reader.ask(watch, lambda answer: self._on_watch_added(root, answer))
        self.tree.open(root, [root.base])  # after the watch, in the same ordered stream

    def _on_watch_added(self, root: WatchedRoot, answer: Answer) -> None:
        if root not in self.roots:  # it was dropped in the meantime
            return
        if answer.error is not None:  # an old server, or one without recursive watches
            self.persistent = False
            self._watch_singly(root)

    def _watch_singly(self, root: WatchedRoot) -> None:
        root.recursive = False
        self.tree.forget(root.base)
        self._watch_base(root)

    def _watch_base(self, root: WatchedRoot) -> None:
        watch = Exists(self._reader.hosts.full(root.base), watch=True)
        self._reader.ask(watch, lambda answer: self._on_base_stat(root, answer))

    def _on_base_stat(self, root: WatchedRoot, answer: Answer) -> None:
        if root not in self.roots:  # it was dropped in the meantime
            return
        if answer.code == NO_NODE:
            self._emit(Gone(zxid=answer.zxid, at=answer.at, path=Text(root.base)))
            self.on_missing(root.base)
        elif answer.code in (0, NO_AUTH):
            self.tree.open(root, [root.base])

    def _unwatch(self, root: WatchedRoot) -> None:
        if root.recursive:
            self._reader.ask(RemoveWatches(self._reader.hosts.full(root.base)), lambda _: None)

    def event(self, kind: int, full: str, zxid: int, at: Millis) -> None:
        """Handle one watch event. Events come in wire order."""
        if full == MARK:  # a client has changed the node, and a watch fires once
            self._watch_mark()
        path = self._reader.hosts.inside(full)
        if path is None:
            return
        bound = self._clock.happened(path, zxid, gone=kind == DELETED)
        if kind == CHILD:
            self._on_children_changed(path)
            return
        root = self._root_of(path)
        if root is None:
            return
        self._floods.count(root)
        if kind == DELETED:
            self._on_deleted(path, bound, at)
        else:
            self._on_created_or_changed(root, path, bound, at, created=kind == CREATED)
        root_here = self.roots.at(path)
        if root_here is not None and root_here.watched_singly:
            self._watch_base(root_here)

    def _on_created_or_changed(
        self, root: WatchedRoot, path: str, bound: int, at: Millis, *, created: bool
    ) -> None:
        parent, name = split(path)
        folder = self.tree.folders.get(parent)
        if created:
            self._emit(Node(zxid=bound, at=at, path=Text(path)))
            if folder is not None:
                folder.created(name)
                self._touch(folder)
        elif path in self.tree.folders:
            self._touch(self.tree.folders[path])  # its listing has the previous Stat
        if folder is not None or path == root.base:
            self._unread.add(path, root)
        elif not (self.tree.pending(parent) or parent in self._unread):
            self.tree.open(root, [parent])  # the parent looked like a member, but is a folder

    def _on_deleted(self, path: str, bound: int, at: Millis) -> None:
        self._emit(Gone(zxid=bound, at=at, path=Text(path)))
        self._unread.forget(path)
        self.unconfirmed.forget(path)
        self.tree.forget(path)
        parent, name = split(path)
        folder = self.tree.folders.get(parent)
        if folder is None:
            return
        folder.names.discard(name)
        folder.deletions += 1
        self._touch(folder)
        if has_many_deletions(folder):
            folder.deletions = 0
            self.tree.open(folder.root, [parent])

    def _on_children_changed(self, path: str) -> None:
        self.tree.single_watches.discard(path)
        folder = self.tree.folders.get(path)
        if folder is None:
            return
        self._floods.count(folder.root)
        wait = pause_left_s(folder)
        if wait <= 0:
            self.tree.open(folder.root, [path])
        else:
            self._loop.after(wait, self._list_again, path, self._reader.connection_number)

    def relist(self, paths: Iterable[str]) -> None:
        """List these paths again: a newer listing proves that everything in it still exists."""
        for path in paths:
            self._list_again(path, self._reader.connection_number)

    def _list_again(self, path: str, connection_number: int) -> None:
        folder = self.tree.folders.get(path)
        if folder is not None and connection_number == self._reader.connection_number:
            self.tree.open(folder.root, [path])

    def _root_of(self, path: str) -> WatchedRoot | None:
        parent = split(path)[0]
        folder = self.tree.folders.get(parent)
        if folder is not None and folder.root.covers_child(parent, path):
            return folder.root
        return next((root for root in self.roots.above(path) if root.covers(path)), None)

    def _on_hidden(self, root: WatchedRoot, path: str) -> None:
        """Watch or poll the parent of a hidden znode: the server hides its events too."""
        parent = split(path)[0]
        folder = self.tree.folders.get(parent)
        if folder is None or not root.recursive:
            return
        if root.is_exact and parent == root.base:
            self._unwatch(root)
            self._watch_singly(root)
        else:
            self.tree.polled.add(parent)

    def after_batch(self) -> None:
        """Read pending znodes that are due, and set a timer for the others."""
        if not self._reader.is_full:  # if it is full, they wait and share a larger request
            for root, paths in self._unread.take_due().items():
                self.tree.read(root, paths)
        self.tree.flush()
        wait = self._unread.wait_s()
        if wait is not None and not self._waking:
            self._waking = True
            self._loop.after(wait, self._wake)

    def _wake(self) -> None:
        self._waking = False  # after_batch runs next

    def _touch(self, folder: ListedZnode) -> None:
        """Schedule another listing of the folder for when it is quiet."""
        self.unconfirmed.add(folder)
        if not self._confirming:
            self._confirming = True
            self._loop.after(CONFIRM_EVERY_S, self._confirm)

    def _on_listed(self, folder: ListedZnode) -> None:
        folder.listed_at = time.monotonic()
        self.unconfirmed.forget(folder.path)

    def _confirm(self) -> None:
        for root, paths in self.unconfirmed.take_due().items():
            self.tree.open(root, paths)
        self._confirming = bool(self.unconfirmed)
        if self._confirming:
            self._loop.after(CONFIRM_EVERY_S, self._confirm)

    def _on_flood(self, root: WatchedRoot) -> None:
        """Leave roots of any depth to discovery. If there are none, poll the root."""
        searched = [pattern for pattern in root.patterns if pattern.is_any_depth]
        for pattern in searched:
            self.drop(pattern)
            self.on_flood(pattern)
        if searched:
            return
        self._unwatch(root)
        root.recursive, root.polled = False, True
        self._loop.after(FLOOD_REST_S, self._watch_again, root, self._reader.connection_number)

    def _watch_again(self, root: WatchedRoot, connection_number: int) -> None:
        if (
            root.polled
            and connection_number == self._reader.connection_number
            and root in self.roots
        ):
            root.recursive, root.polled = self.persistent, False
            self._start(root)
