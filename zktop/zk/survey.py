"""Reads trees of znodes and turns the answers into facts.

A znode that is listed is a branch; its names are remembered, so that a later listing tells which
znodes are new. Contenders are read once and never listed: what has children, or could be a folder,
is. On a server with persistent watches a branch costs nothing; elsewhere it costs one watch.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, cast

from zktop.model.facts import AnyFact, Children, Denied, Gone, Node, Stat, join, split
from zktop.model.text import Text
from zktop.zk.branch import Branch, created_again, differs
from zktop.zk.reach import Scope, looks_like_a_place
from zktop.zk.reader import BATCH, Answer, Item, Reader, Result
from zktop.zk.requests import (
    GET_CHILDREN,
    GET_DATA,
    NO_AUTH,
    NO_NODE,
    Exists,
    ListChildren,
    Read,
    children,
    stat,
)

LONGEST_DATA = 4096  # bytes kept of a znode's data: enough for every label and every lease count


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
        """Send what was asked for: many small questions make one large one.

        Who was listed is read before others are listed: it is quicker to learn of all at once.
        """
        to_open, self._to_open = self._to_open, {}
        for scope, paths in to_open.items():
            both = [(operation, path) for path in paths for operation in (GET_DATA, GET_CHILDREN)]
            self._reader.read(both, partial(self._opened, scope))
        to_read, self._to_read = self._to_read, {}
        for scope, paths in to_read.items():
            items = [(GET_DATA, path) for path in paths]
            self._reader.read(items, partial(self._were_read, scope), first=True)

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
            self._seen([(path, (b"", found))], answer)
        elif differs(self.branches.get(path), found):
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
        found = list(zip(paths, results[::2], results[1::2], strict=True))
        self._seen([(path, node) for path, node, _ in found if not isinstance(node, int)], answer)
        for path, node, names in found:
            if isinstance(node, int):
                self._no_list(scope, path, node, answer)
            elif isinstance(names, int):
                self._no_list(scope, path, names, answer)
            elif names or self._is_folder(path, node[1]):
                self._listing(scope, path, names, node[1], answer)

    def _listing(
        self, scope: Scope, path: str, names: tuple[str, ...], found: Stat, answer: Answer
    ) -> None:
        zxid = answer.zxid
        if not self._clock.is_plain:
            zxid = self._clock.present((join(path, name) for name in names), zxid)
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
        if not scope.reach.covers_children(path):
            fresh = [one for one in fresh if scope.reach.covers(one)]
        if scope.reach.leads_on(path):
            self.open(scope, sorted(fresh))
        else:
            self.read(scope, fresh)

    def _fresh(
        self, branch: Branch, names: Sequence[str], known: set[str], found: Stat
    ) -> Sequence[str]:
        """Give the names that are new since the listing before; let go of those that are gone."""
        again = created_again(branch, known, found)
        for name in known - branch.names:
            self.forget(join(branch.path, name))
        return [name for name in names if name not in known or name in again]

    def _were_read(
        self, scope: Scope, batch: Sequence[Item], results: list[Result], answer: Answer
    ) -> None:
        paths = [path for _, path in batch]
        _take(self._reading, paths)
        found = list(zip(paths, results, strict=True))
        self._seen([(path, read) for path, read in found if not isinstance(read, int)], answer)
        folders: list[str] = []
        for path, result in found:
            if isinstance(result, int):
                self._unread(scope, path, result, answer)
                continue
            stat = result[1]
            if stat.owner or path in self.branches or not self._is_folder(path, stat):
                continue
            if scope.recursive and stat.num_children == 0:
                self._listing(scope, path, (), stat, answer)  # events tell of the first one
            else:
                folders.append(path)
        self.open(scope, folders)

    def _seen(self, reads: Iterable[tuple[Any, Read]], answer: Answer) -> None:
        """Tell what these paths hold; what several hold is kept once, as labels often are."""
        clock, emit, zxid, at = self._clock, self._emit, answer.zxid, answer.at
        is_plain = clock.is_plain
        labels: dict[bytes, bytes] = {}
        for path, (content, found) in reads:
            if not is_plain:
                zxid = clock.present((path,), answer.zxid)
            data = content[:LONGEST_DATA] if content else b""
            data = labels.setdefault(data, data)
            emit(Node(zxid=zxid, at=at, path=path, stat=found, data=data))

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
