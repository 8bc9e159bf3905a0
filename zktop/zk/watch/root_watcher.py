"""Watches roots and turns events into facts; starts over after a reconnect.

A root is watched in one of two ways that give the same facts. Servers from 3.6 on keep one
persistent recursive watch that reports every change. On older ones each listed znode has a
one-shot child watch, renewed by the listing that follows it, with a pause during bursts. No path
has both: servers before 3.9 would drop the persistent one.
"""

import time
from collections.abc import Callable, Iterable

from zktop.model.facts import Gone, Millis, Node, SourceFact, split
from zktop.model.text import Text
from zktop.zk.read.requests import NO_AUTH, NO_NODE, AddWatch, Exists, RemoveWatches
from zktop.zk.read.requests_in_flight import Answer, Reader
from zktop.zk.watch.pending import ChangedFolders, UnreadZnodes, has_many_deletions
from zktop.zk.watch.root_pattern import RootPattern, WatchedRoot, upwards
from zktop.zk.watch.tree_reader import ListedZnode, TreeReader

CREATED, DELETED, CHANGED, CHILD = 1, 2, 3, 4

PAUSE_S = 0.05  # between two listings of one znode, with one-shot watches
PAUSE_PER_NAME_S = 0.00001
CONFIRM_EVERY_S = 0.25
FLOOD_REST_S = 60.0


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
        self.tree = TreeReader(reader, emit, watch_budget)
        self.tree.on_hidden = self._on_hidden
        self.tree.on_listed = self._on_listed
        self.on_missing: Callable[[str], None] = lambda _base: None
        self.on_flood: Callable[[RootPattern], None] = lambda _pattern: None
        self.scopes: dict[str, list[WatchedRoot]] = {}  # by base
        self._unread = UnreadZnodes()
        self.unconfirmed = ChangedFolders()
        self._waking = self._confirming = self._counting = False

    def all_scopes(self) -> list[WatchedRoot]:
        return [scope for scopes in self.scopes.values() for scope in scopes]

    def watches(self) -> int:
        """The number of watches that the server keeps for zktop."""
        return sum(not one.polled for one in self.all_scopes()) + len(self.tree.single_watches)

    @property
    def settled(self) -> bool:
        """True when everything that events announced has been read."""
        return not self._unread and self._reader.idle

    def add(
        self, pattern: RootPattern, *, start: bool = True, flood_per_s: int | None = None
    ) -> WatchedRoot | None:
        """Watch another root, unless a watched one covers it."""
        known = (scope for base in upwards(pattern.base) for scope in self.scopes.get(base, ()))
        if any(scope.pattern.contains(pattern) for scope in known):
            return None
        most = min(flood_per_s or self._flood_per_s, self._flood_per_s)
        scope = WatchedRoot(pattern, recursive=self.persistent, flood_per_s=most)
        self.scopes.setdefault(pattern.base, []).append(scope)
        if start:
            self._begin(scope, len(self.scopes))
        return scope

    def drop(self, scope: WatchedRoot) -> None:
        """Stop watching a root."""
        self.scopes[scope.base].remove(scope)
        if not self.scopes[scope.base]:
            del self.scopes[scope.base]
            self._unwatch(scope)
            self.tree.forget(scope.base)

    def connected(self) -> None:
        """Start over: kazoo and the servers forget every watch."""
        self._unread.clear()
        self.unconfirmed.clear()
        self.tree.forget_all()
        for count, scopes in enumerate(self.scopes.values(), 1):
            for scope in scopes:
                self._begin(scope, count)

    def _begin(self, scope: WatchedRoot, count: int) -> None:
        """Watch the root if the budget allows, else poll it."""
        scope.polled = count > self._watch_budget
        scope.recursive = self.persistent and not scope.polled
        self._start(scope)

    def _start(self, scope: WatchedRoot) -> None:
        if scope.watched_singly:
            self._watch_base(scope)
            return
        if scope.recursive:
            watch = AddWatch(self._reader.hosts.full(scope.base))
            self._reader.ask(watch, lambda answer: self._on_watch_added(scope, answer))
        self.tree.open(scope, [scope.base])  # after the watch, in the same ordered stream

    def _on_watch_added(self, scope: WatchedRoot, answer: Answer) -> None:
        if answer.error is not None:  # an old server, or a watch manager without it
            self.persistent = False
            self._watch_singly(scope)

    def _watch_singly(self, scope: WatchedRoot) -> None:
        scope.recursive = False
        self.tree.forget(scope.base)
        self._watch_base(scope)

    def _watch_base(self, scope: WatchedRoot) -> None:
        watch = Exists(self._reader.hosts.full(scope.base), watch=True)
        self._reader.ask(watch, lambda answer: self._on_base_stat(scope, answer))

    def _on_base_stat(self, scope: WatchedRoot, answer: Answer) -> None:
        if answer.code == NO_NODE:
            self._emit(Gone(zxid=answer.zxid, at=answer.at, path=Text(scope.base)))
            self.on_missing(scope.base)
        elif answer.code in (0, NO_AUTH):
            self.tree.open(scope, [scope.base])

    def _unwatch(self, scope: WatchedRoot) -> None:
        if scope.recursive:
            self._reader.ask(RemoveWatches(self._reader.hosts.full(scope.base)), lambda _: None)

    def event(self, kind: int, full: str, zxid: int, at: Millis) -> None:
        """Handle a watch event, in wire order."""
        path = self._reader.hosts.inside(full)
        if path is None:
            return
        bound = self._clock.happened(path, zxid, gone=kind == DELETED)
        if kind == CHILD:
            self._on_children_changed(path)
            return
        scope = self._scope_of(path)
        if scope is None:
            return
        scope.events += 1
        self._count_events()
        if kind == DELETED:
            self._on_deleted(path, bound, at)
        else:
            self._on_created_or_changed(scope, path, bound, at, created=kind == CREATED)
        for rooted in self.scopes.get(path, ()):
            if rooted.watched_singly:
                self._watch_base(rooted)

    def _on_created_or_changed(
        self, scope: WatchedRoot, path: str, bound: int, at: Millis, *, created: bool
    ) -> None:
        parent, name = split(path)
        folder = self.tree.folders.get(parent)
        if created:
            self._emit(Node(zxid=bound, at=at, path=Text(path)))
            if folder is not None:
                folder.names.add(name)
                self._touch(folder)
        if folder is not None or path == scope.base:
            self._unread.add(path, scope)
        elif not (self.tree.pending(parent) or parent in self._unread):
            self.tree.open(scope, [parent])  # taken for a contender, but it is a folder

    def _on_deleted(self, path: str, bound: int, at: Millis) -> None:
        self._emit(Gone(zxid=bound, at=at, path=Text(path)))
        self._unread.forget(path)
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
            self.tree.open(folder.scope, [parent])

    def _on_children_changed(self, path: str) -> None:
        self.tree.single_watches.discard(path)
        folder = self.tree.folders.get(path)
        if folder is None:
            return
        folder.scope.events += 1
        self._count_events()
        pause = PAUSE_S + PAUSE_PER_NAME_S * len(folder.names)
        wait = folder.listed + pause - time.monotonic()
        if wait <= 0:
            self.tree.open(folder.scope, [path])
        else:
            self._loop.after(wait, self._list_again, path, self._reader.turn)

    def relist(self, paths: Iterable[str]) -> None:
        """List these again: a newer listing proves that everything in it still exists."""
        for path in paths:
            self._list_again(path, self._reader.turn)

    def _list_again(self, path: str, turn: int) -> None:
        folder = self.tree.folders.get(path)
        if folder is not None and turn == self._reader.turn:
            self.tree.open(folder.scope, [path])

    def _scope_of(self, path: str) -> WatchedRoot | None:
        parent = split(path)[0]
        folder = self.tree.folders.get(parent)
        if folder is not None:
            pattern = folder.scope.pattern
            if pattern.covers_children(parent) or pattern.covers(path):
                return folder.scope
        for base in upwards(path):
            for scope in self.scopes.get(base, ()):
                if scope.pattern.covers(path):
                    return scope
        return None

    def _on_hidden(self, scope: WatchedRoot, path: str) -> None:
        """Watch or poll the parent of a hidden znode: the server hides its events too."""
        parent = split(path)[0]
        folder = self.tree.folders.get(parent)
        if folder is None or not scope.recursive:
            return
        if scope.pattern.exact and parent == scope.base:
            self._unwatch(scope)
            self._watch_singly(scope)
        else:
            self.tree.polled.add(parent)

    def after_batch(self) -> None:
        """Read pending znodes that are due, and set a timer for the others."""
        if not self._reader.is_full:  # else single requests would never catch up
            for scope, paths in self._unread.take_due().items():
                self.tree.read(scope, paths)
        self.tree.flush()
        wait = self._unread.wait_s()
        if wait is not None and not self._waking:
            self._waking = True
            self._loop.after(wait, self._wake)

    def _wake(self) -> None:
        self._waking = False  # after_batch runs next

    def _touch(self, folder: ListedZnode) -> None:
        self.unconfirmed.add(folder)
        if not self._confirming:
            self._confirming = True
            self._loop.after(CONFIRM_EVERY_S, self._confirm)

    def _on_listed(self, folder: ListedZnode) -> None:
        folder.listed = time.monotonic()
        self.unconfirmed.forget(folder.path)

    def _confirm(self) -> None:
        for scope, paths in self.unconfirmed.take_due().items():
            self.tree.open(scope, paths)
        self._confirming = bool(self.unconfirmed)
        if self._confirming:
            self._loop.after(CONFIRM_EVERY_S, self._confirm)

    def _count_events(self) -> None:
        if not self._counting:
            self._counting = True
            self._loop.after(1.0, self._check_floods)

    def _check_floods(self) -> None:
        """Look for roots with more events than can be processed."""
        self._counting = False
        for scope in self.all_scopes():
            flooded, scope.events = scope.events > scope.flood_per_s, 0
            if flooded and not scope.polled:
                self._on_flood(scope)

    def _on_flood(self, scope: WatchedRoot) -> None:
        """Watch only known lock folders, or poll if those are watched already."""
        if scope.pattern.loose:
            self.drop(scope)
            self.on_flood(scope.pattern)
            return
        self._unwatch(scope)
        scope.recursive, scope.polled = False, True
        self._loop.after(FLOOD_REST_S, self._watch_again, scope, self._reader.turn)

    def _watch_again(self, scope: WatchedRoot, turn: int) -> None:
        if scope.polled and turn == self._reader.turn and scope in self.all_scopes():
            scope.recursive, scope.polled = self.persistent, False
            self.tree.forget(scope.base)
            self._start(scope)
