"""Reads trees of znodes and turns the answers into facts.

A znode that is listed is a branch; its names are remembered, so that a later listing tells which
znodes are new. Contenders are read once and never listed: what has children, or could be a folder,
is. On a server with persistent watches a branch costs nothing; elsewhere it costs one watch.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import cast

from zktop.model.facts import AnyFact, Children, Denied, Gone, Node, Stat, join, split
from zktop.model.text import Text
from zktop.zk.reach import Scope, looks_like_a_place
from zktop.zk.reader import BATCH, Answer, Item, Reader, Result
from zktop.zk.requests import (
    GET_CHILDREN,
    GET_DATA,
    NO_AUTH,
    NO_NODE,
    Exists,
    ListChildren,
    children,
    stat,
)

LONGEST_DATA = 4096  # bytes kept of a znode's data: enough for every label and every lease count


class Branch:
    """A znode whose children are followed."""

    __slots__ = ("_names", "changed", "deletions", "listed", "path", "scope", "stat", "touched")

    def __init__(self, path: str, scope: Scope) -> None:
        self.path, self.scope = path, scope
        self._names: tuple[str, ...] | set[str] = ()
        self.stat: Stat | None = None  # by the newest listing
        self.deletions = 0  # told by events since then
        self.changed = self.touched = 0.0  # when the first and the last event since then came
        self.listed = 0.0

    @property
    def names(self) -> set[str]:
        """The children, by the newest listing and the events since; whoever hears one adds it.

        Until somebody asks they are kept as they were listed: a set takes ten times the room.
        """
        if isinstance(self._names, tuple):
            self._names = set(self._names)
        return self._names

    def relisted(self, names: tuple[str, ...]) -> set[str]:
        """Take the names of a new listing; give the known ones."""
        known = self.names if self._names else set()
        self._names = names
        return known


class Survey:
    """What is read of the ensemble, by the roots' scopes."""

    def __init__(self, reader: Reader, emit: Callable[[AnyFact], None], watch_budget: int) -> None:
        self._reader, self._emit, self._watch_budget = reader, emit, watch_budget
        self._clock = reader.clock
        self.branches: dict[str, Branch] = {}
        self.denied: dict[str, Scope] = {}  # whose children we may not list
        self.single_watches: set[str] = set()
        self.polled: set[str] = set()  # whose watch does not tell everything, or is not there
        self.on_hidden: Callable[[Scope, str], None] = lambda _scope, _parent: None
        self.on_listed: Callable[[Branch], None] = lambda _branch: None
        self._to_open: dict[Scope, list[str]] = {}
        self._to_read: dict[Scope, list[str]] = {}
        self._opening: set[str] = set()
        self._reading: set[str] = set()

    def forget_all(self) -> None:
        """Start over, on a new connection."""
        self.branches.clear()
        self.denied.clear()
        self.single_watches.clear()
        self.polled.clear()
        self._to_open.clear()
        self._to_read.clear()
        self._opening.clear()
        self._reading.clear()

    def pending(self, path: str) -> bool:
        """Tell whether an answer about this znode is under way."""
        return path in self._opening or path in self._reading

    def forget(self, path: str) -> None:
        """Let go of a branch and of all below it: the znode is gone."""
        branch = self.branches.pop(path, None)
        self.denied.pop(path, None)
        self.single_watches.discard(path)
        self.polled.discard(path)
        for name in branch.names if branch else ():
            self.forget(join(path, name))

    def open(self, scope: Scope, paths: Iterable[str]) -> None:
        """List znodes and read what is new in them."""
        wanted = [path for path in paths if path not in self._opening]
        self._opening.update(wanted)
        if scope.watched_singly or not self._reader.batches:
            for path in wanted:
                self._list_singly(scope, path)
        else:
            self._to_open.setdefault(scope, []).extend(wanted)

    def read(self, scope: Scope, paths: Iterable[str]) -> None:
        """Read znodes, and list those that turn out to be folders."""
        wanted = [path for path in paths if path not in self._reading]
        self._reading.update(wanted)
        queue = self._to_read.setdefault(scope, [])
        queue.extend(wanted)
        if len(queue) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Send what was asked for: many small questions make one large one."""
        to_open, self._to_open = self._to_open, {}
        for scope, paths in to_open.items():
            both = [(operation, path) for path in paths for operation in (GET_DATA, GET_CHILDREN)]
            self._reader.read(both, partial(self._opened, scope))
        to_read, self._to_read = self._to_read, {}
        for scope, paths in to_read.items():
            self._reader.read(
                [(GET_DATA, path) for path in paths], partial(self._were_read, scope)
            )

    def _list_singly(self, scope: Scope, path: str) -> None:
        within = path in self.single_watches or len(self.single_watches) < self._watch_budget
        armed = scope.watched_singly and within
        if armed:
            self.single_watches.add(path)
        question = ListChildren(self._reader.hosts.full(path), armed)
        self._reader.ask(
            question, lambda answer: self._listed_singly(scope, path, answer, armed=armed)
        )

    def _listed_singly(self, scope: Scope, path: str, answer: Answer, *, armed: bool) -> None:
        self._opening.discard(path)
        if answer.error is not None:
            self.single_watches.discard(path)
            self._no_list(scope, path, answer.code, answer)
            return
        names, found = children(answer.value)
        if found.data_length == 0:  # then the data is known as well
            self._seen(path, (b"", found), answer)
        elif _changed(self.branches.get(path), found):
            self.read(scope, [path])
        self._listing(scope, path, names, found, answer)
        if armed:
            self.polled.discard(path)
        else:
            self.polled.add(path)

    def _opened(
        self, scope: Scope, batch: Sequence[Item], results: list[Result], answer: Answer
    ) -> None:
        paths = [path for _, path in batch[::2]]
        _take(self._opening, paths)
        for path, node, names in zip(paths, results[::2], results[1::2], strict=True):
            if isinstance(node, int):
                self._no_list(scope, path, node, answer)
                continue
            self._seen(path, node, answer)
            if isinstance(names, int):
                self._no_list(scope, path, names, answer)
            elif names or self._is_folder(path, node[1]):
                self._listing(scope, path, names, node[1], answer)

    def _listing(
        self, scope: Scope, path: str, names: tuple[str, ...], found: Stat, answer: Answer
    ) -> None:
        zxid = self._clock.present((join(path, name) for name in names), answer.zxid)
        self._emit(
            Children(
                zxid=zxid,
                at=answer.at,
                path=Text(path),
                names=cast(tuple[Text, ...], names),
                stat=found,
            )
        )
        self.denied.pop(path, None)
        branch = self.branches.get(path) or Branch(path, scope)
        self.branches[path] = branch
        known = branch.relisted(names)
        fresh = self._fresh(branch, names, known, found) if known else names
        branch.stat, branch.deletions = found, 0
        self.on_listed(branch)
        below = path if path != "/" else ""
        fresh = [f"{below}/{name}" for name in fresh]
        if not scope.reach.covers_below(path):
            fresh = [one for one in fresh if scope.reach.covers(one)]
        if scope.reach.leads_on(path):
            self.open(scope, fresh)
        else:
            self.read(scope, fresh)

    def _fresh(
        self, branch: Branch, names: Sequence[str], known: set[str], found: Stat
    ) -> Sequence[str]:
        """Give the names that are new since the listing before; let go of those that are gone."""
        again = _created_again(branch, known, found)
        for name in known - branch.names:
            self.forget(join(branch.path, name))
        return [name for name in names if name not in known or name in again]

    def _were_read(
        self, scope: Scope, batch: Sequence[Item], results: list[Result], answer: Answer
    ) -> None:
        folders: list[str] = []
        _take(self._reading, [path for _, path in batch])
        for (_, path), result in zip(batch, results, strict=True):
            if isinstance(result, int):
                self._unread(scope, path, result, answer)
                continue
            self._seen(path, result, answer)
            if result[1].owner or path in self.branches or not self._is_folder(path, result[1]):
                continue
            if scope.recursive and result[1].num_children == 0:
                self._listing(scope, path, (), result[1], answer)  # events tell of the first one
            else:
                folders.append(path)
        self.open(scope, folders)

    def _seen(self, path: str, read: tuple[bytes | None, Stat], answer: Answer) -> None:
        content, found = read
        content = content[:LONGEST_DATA] if content else b""
        zxid = self._clock.present((path,), answer.zxid)
        self._emit(Node(zxid=zxid, at=answer.at, path=Text(path), stat=found, data=content))

    def _is_folder(self, path: str, found: Stat) -> bool:
        if found.owner:
            return False  # an ephemeral znode has no children
        return found.num_children > 0 or not looks_like_a_place(split(path)[1])

    def _no_list(self, scope: Scope, path: str, code: int, answer: Answer) -> None:
        if code == NO_AUTH:
            self.denied[path] = scope
            self._emit(Denied(zxid=answer.zxid, at=answer.at, path=Text(path), what="list"))
            self._hidden(scope, path)
        else:
            self._unread(scope, path, code, answer)

    def _unread(self, scope: Scope, path: str, code: int, answer: Answer) -> None:
        if code == NO_NODE:
            self._emit(Gone(zxid=answer.zxid, at=answer.at, path=Text(path)))
            self.forget(path)
        elif code == NO_AUTH:
            self._hidden(scope, path)

    def _hidden(self, scope: Scope, path: str) -> None:
        """Try for the Stat alone, which some servers give to everybody: it names the owner."""
        question = Exists(self._reader.hosts.full(path))
        self._reader.ask(question, lambda answer: self._hidden_stat(scope, path, answer))

    def _hidden_stat(self, scope: Scope, path: str, answer: Answer) -> None:
        if answer.error is None:
            found = stat(answer.value)
            self._emit(Node(zxid=answer.zxid, at=answer.at, path=Text(path), stat=found))
        elif answer.code == NO_AUTH:
            self._emit(Denied(zxid=answer.zxid, at=answer.at, path=Text(path), what="read"))
        else:
            self._unread(scope, path, answer.code, answer)
            return
        self.on_hidden(scope, path)


def _take(from_all: set[str], paths: Iterable[str]) -> None:
    """Take these out; a set that was large once gives its room back only when it is cleared."""
    from_all.difference_update(paths)
    if not from_all:
        from_all.clear()


def _changed(branch: Branch | None, found: Stat) -> bool:
    return branch is None or branch.stat is None or branch.stat.mzxid != found.mzxid


def _created_again(branch: Branch, known: set[str], found: Stat) -> set[str]:
    """Give the names that may stand for another znode than before.

    A place in a queue never gets the same name twice, but a lock that is one znode does. The
    parent counts what was created in it: more than the new names, and some may have come back.
    """
    if branch.stat is None:
        return set()
    created = found.next_sequence - branch.stat.next_sequence
    if created <= len(branch.names - known):
        return set()
    return {name for name in known & branch.names if not looks_like_a_place(name)}
