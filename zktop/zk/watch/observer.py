"""Keeps the picture of an ensemble true: watches, events, and everything again after a reconnect.

A root is watched in one of two ways that give the same facts. Servers from 3.6 on keep one
persistent recursive watch that reports every single change. Elsewhere each listed znode has a
one-shot child watch, renewed by the listing that follows it, with a pause under bursts.
Never both on one path: servers before 3.9 then lose the persistent one.
"""

import time
from collections.abc import Callable, Iterable

from zktop.model.facts import Gone, Millis, Node, SourceFact, split
from zktop.model.text import Text
from zktop.zk.read.reader import Answer, Reader
from zktop.zk.read.requests import NO_AUTH, NO_NODE, AddWatch, Exists, RemoveWatches
from zktop.zk.watch.pending import Newcomers, Unconfirmed, has_many_deletions
from zktop.zk.watch.scope import Reach, Scope, upwards
from zktop.zk.watch.tree import Branch, Survey

CREATED, DELETED, CHANGED, CHILD = 1, 2, 3, 4

PAUSE_S = 0.05  # between two listings of one znode in the one-shot way
PAUSE_PER_NAME_S = 0.00001
CONFIRM_EVERY_S = 0.25
FLOOD_REST_S = 60.0


class Observer:
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
        self._clock, self._stream = reader.clock, reader.stream
        self._watch_budget, self._flood_per_s = watch_budget, flood_per_s
        self.persistent = True  # whether persistent watches are used
        self.survey = Survey(reader, emit, watch_budget)
        self.survey.on_hidden = self._hidden
        self.survey.on_listed = self._listed
        self.on_missing: Callable[[str], None] = lambda _base: None
        self.on_flood: Callable[[Reach], None] = lambda _reach: None
        self.scopes: dict[str, list[Scope]] = {}  # by base
        self._newcomers = Newcomers()
        self.unconfirmed = Unconfirmed()
        self._waking = self._confirming = self._counting = False

    # What is watched

    def all_scopes(self) -> list[Scope]:
        """Give every scope."""
        return [scope for scopes in self.scopes.values() for scope in scopes]

    def watches(self) -> int:
        """Count the watches that a server keeps for us."""
        return sum(not one.polled for one in self.all_scopes()) + len(self.survey.single_watches)

    @property
    def settled(self) -> bool:
        """Tell whether everything that was told of has been read."""
        return not self._newcomers and self._reader.idle

    def add(
        self, reach: Reach, *, start: bool = True, flood_per_s: int | None = None
    ) -> Scope | None:
        """Watch one more root, unless a scope covers it already."""
        known = (scope for base in upwards(reach.base) for scope in self.scopes.get(base, ()))
        if any(scope.reach.contains(reach) for scope in known):
            return None
        most = min(flood_per_s or self._flood_per_s, self._flood_per_s)
        scope = Scope(reach, recursive=self.persistent, flood_per_s=most)
        self.scopes.setdefault(reach.base, []).append(scope)
        if start:
            self._begin(scope, len(self.scopes))
        return scope

    def drop(self, scope: Scope) -> None:
        """Stop watching a root."""
        self.scopes[scope.base].remove(scope)
        if not self.scopes[scope.base]:
            del self.scopes[scope.base]
            self._unwatch(scope)
            self.survey.forget(scope.base)

    def connected(self) -> None:
        """Begin again on a new connection: kazoo and the servers forget every watch."""
        self._newcomers.clear()
        self.unconfirmed.clear()
        self.survey.forget_all()
        for count, scopes in enumerate(self.scopes.values(), 1):
            for scope in scopes:
                self._begin(scope, count)

    def _begin(self, scope: Scope, count: int) -> None:
        """Watch the first bases, as far as the budget goes, and poll the others."""
        scope.polled = count > self._watch_budget
        scope.recursive = self.persistent and not scope.polled
        self._start(scope)

    def _start(self, scope: Scope) -> None:
        if scope.watched_singly:
            self._watch_base(scope)
            return
        if scope.recursive:
            watch = AddWatch(self._reader.hosts.full(scope.base))
            self._reader.ask(watch, lambda answer: self._added(scope, answer))
        self.survey.open(scope, [scope.base])  # after the watch: both share one ordered stream

    def _added(self, scope: Scope, answer: Answer) -> None:
        if answer.error is not None:  # no such request, or a watch manager that cannot do it
            self.persistent = False
            self._watch_singly(scope)

    def _watch_singly(self, scope: Scope) -> None:
        scope.recursive = False
        self.survey.forget(scope.base)
        self._watch_base(scope)

    def _watch_base(self, scope: Scope) -> None:
        watch = Exists(self._reader.hosts.full(scope.base), watch=True)
        self._reader.ask(watch, lambda answer: self._base_looked_at(scope, answer))

    def _base_looked_at(self, scope: Scope, answer: Answer) -> None:
        if answer.code == NO_NODE:
            self._emit(Gone(zxid=answer.zxid, at=answer.at, path=Text(scope.base)))
            self.on_missing(scope.base)
        elif answer.code in (0, NO_AUTH):
            self.survey.open(scope, [scope.base])

    def _unwatch(self, scope: Scope) -> None:
        if scope.recursive:
            self._reader.ask(RemoveWatches(self._reader.hosts.full(scope.base)), lambda _: None)

    # What happens

    def event(self, kind: int, full: str, zxid: int, at: Millis) -> None:
        """Take a watch event, in the order of the wire."""
        path = self._reader.hosts.inside(full)
        if path is None:
            return
        bound = self._clock.happened(path, zxid, gone=kind == DELETED)
        if kind == CHILD:
            self._children_changed(path)
            return
        scope = self._scope_of(path)
        if scope is None:
            return
        scope.events += 1
        self._count()
        if kind == DELETED:
            self._deleted(path, bound, at)
        else:
            self._appeared(scope, path, bound, at, created=kind == CREATED)
        for rooted in self.scopes.get(path, ()):
            if rooted.watched_singly:
                self._watch_base(rooted)

    def _appeared(self, scope: Scope, path: str, bound: int, at: Millis, *, created: bool) -> None:
        parent, name = split(path)
        branch = self.survey.branches.get(parent)
        if created:
            self._emit(Node(zxid=bound, at=at, path=Text(path)))
            if branch is not None:
                branch.names.add(name)
                self._touch(branch)
        if branch is not None or path == scope.base:
            self._newcomers.add(path, scope)
        elif not (self.survey.pending(parent) or parent in self._newcomers):
            self.survey.open(scope, [parent])  # it was taken for a contender, and is a folder

    def _deleted(self, path: str, bound: int, at: Millis) -> None:
        self._emit(Gone(zxid=bound, at=at, path=Text(path)))
        self._newcomers.forget(path)
        self.survey.forget(path)
        parent, name = split(path)
        branch = self.survey.branches.get(parent)
        if branch is None:
            return
        branch.names.discard(name)
        branch.deletions += 1
        self._touch(branch)
        if has_many_deletions(branch):
            branch.deletions = 0
            self.survey.open(branch.scope, [parent])

    def _children_changed(self, path: str) -> None:
        self.survey.single_watches.discard(path)
        branch = self.survey.branches.get(path)
        if branch is None:
            return
        branch.scope.events += 1
        self._count()
        pause = PAUSE_S + PAUSE_PER_NAME_S * len(branch.names)
        wait = branch.listed + pause - time.monotonic()
        if wait <= 0:
            self.survey.open(branch.scope, [path])
        else:
            self._stream.after(wait, self._list_again, path, self._reader.turn)

    def relist(self, paths: Iterable[str]) -> None:
        """List these once more: a newer listing proves that everything in it is still there."""
        for path in paths:
            self._list_again(path, self._reader.turn)

    def _list_again(self, path: str, turn: int) -> None:
        branch = self.survey.branches.get(path)
        if branch is not None and turn == self._reader.turn:
            self.survey.open(branch.scope, [path])

    def _scope_of(self, path: str) -> Scope | None:
        parent = split(path)[0]
        branch = self.survey.branches.get(parent)
        if branch is not None:
            reach = branch.scope.reach
            if reach.covers_children(parent) or reach.covers(path):
                return branch.scope
        for base in upwards(path):
            for scope in self.scopes.get(base, ()):
                if scope.reach.covers(path):
                    return scope
        return None

    def _hidden(self, scope: Scope, path: str) -> None:
        """Servers that hide a znode hide its events too: look at its parent in another way."""
        parent = split(path)[0]
        branch = self.survey.branches.get(parent)
        if branch is None or not scope.recursive:
            return
        if scope.reach.exact and parent == scope.base:
            self._unwatch(scope)
            self._watch_singly(scope)
        else:
            self.survey.polled.add(parent)

    # What is done at leisure

    def after_batch(self) -> None:
        """Read the newcomers that it is time for, and come back for the others."""
        if not self._reader.is_full:  # else one request for each would never catch up
            for scope, paths in self._newcomers.grown_up().items():
                self.survey.read(scope, paths)
        self.survey.flush()
        wait = self._newcomers.wait_s()
        if wait is not None and not self._waking:
            self._waking = True
            self._stream.after(wait, self._wake)

    def _wake(self) -> None:
        self._waking = False  # a batch ends after this, and that is what it takes

    def _touch(self, branch: Branch) -> None:
        self.unconfirmed.add(branch)
        if not self._confirming:
            self._confirming = True
            self._stream.after(CONFIRM_EVERY_S, self._confirm)

    def _listed(self, branch: Branch) -> None:
        branch.listed = time.monotonic()
        self.unconfirmed.forget(branch.path)

    def _confirm(self) -> None:
        for scope, paths in self.unconfirmed.due().items():
            self.survey.open(scope, paths)
        self._confirming = bool(self.unconfirmed)
        if self._confirming:
            self._stream.after(CONFIRM_EVERY_S, self._confirm)

    def _count(self) -> None:
        if not self._counting:
            self._counting = True
            self._stream.after(1.0, self._counted)

    def _counted(self) -> None:
        """Look for what sends more events than anybody could look at."""
        self._counting = False
        for scope in self.all_scopes():
            flooded, scope.events = scope.events > scope.flood_per_s, 0
            if flooded and not scope.polled:
                self._flooded(scope)

    def _flooded(self, scope: Scope) -> None:
        """Watch only where the locks are, or poll where that is known already."""
        if scope.reach.loose:
            self.drop(scope)
            self.on_flood(scope.reach)
            return
        self._unwatch(scope)
        scope.recursive, scope.polled = False, True
        self._stream.after(FLOOD_REST_S, self._watch_again, scope, self._reader.turn)

    def _watch_again(self, scope: Scope, turn: int) -> None:
        if scope.polled and turn == self._reader.turn and scope in self.all_scopes():
            scope.recursive, scope.polled = self.persistent, False
            self.survey.forget(scope.base)
            self._start(scope)
