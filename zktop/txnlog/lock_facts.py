"""Turns the changes of a replayed tree into the facts that a live run would read.

Only folders that may hold locks are reported, as in live discovery: a folder that has contenders
or is named like a lock, and the folders in it. At the first sign of a lock, the folder is
reported with everything in it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Protocol

from zktop.model.facts import (
    MAX_DATA_BYTES,
    AnyFact,
    Children,
    Connections,
    Expiry,
    Gone,
    Millis,
    Node,
    RemovalKind,
    Session,
    Stat,
    Watches,
)
from zktop.model.locks.shapes import is_part_by_name
from zktop.model.text import Text
from zktop.model.world.tables_of_all_servers import MANY_NODES
from zktop.model.world.tables_of_one_server import LOGS
from zktop.txnlog.transactions import CLOSE_SESSION, OPEN_SESSION, Transaction
from zktop.txnlog.znode_tree import Effect, StoredZnode, ZnodeTree

WHY_BLIND: Final = Text("ZooKeeper's files have none")
WHY_NO_EXPIRY: Final = Text("ZooKeeper does not write pings to disk")
SHORT_DATA_BYTES: Final = 256  # data of this size is never shortened
SEQUENCE_DIGITS: Final = 10  # of a number that has not overflowed
MIN_DELETIONS: Final = 256  # list a folder again after more, if also twice its children
_LISTED, _REPORTED = 1, 2

_Removal = tuple[Session | None, RemovalKind]  # by which session, and how


class LockDiscovery(Protocol):
    """Decides which znodes may be locks, by the same rules as for a live ensemble."""

    def is_contender(self, name: str) -> bool:
        """Return whether a name looks like that of a contender."""

    def is_folder_name(self, name: str) -> bool:
        """Return whether a znode of this name may be a folder of contenders."""

    def lists(self, path: str, names: Sequence[str]) -> bool:
        """Return whether to report the children of a path, given the names of some of them."""


class _Folder:
    """A reported folder, and the number of deletions since its newest listing."""

    __slots__ = ("creations", "deletions", "known_at", "node")

    def __init__(self, node: StoredZnode, zxid: int) -> None:
        self.node = node
        self.known_at = zxid  # of the first listing
        self.creations = node.cversion  # the number of all creations so far
        self.deletions = 0

    def has_skipped(self) -> bool:
        """Note a creation. Return whether its number shows that earlier ones are missing."""
        previous, self.creations = self.creations, self.node.cversion
        return self.creations > previous + 1

    def is_due_after_deletion(self) -> bool:
        """Count a deletion. Return whether to list again, so that readers can forget old ones."""
        self.deletions += 1
        if self.deletions <= MIN_DELETIONS:
            return False
        return self.deletions > 2 * len(self.node.children or ())


class LockFacts:
    """A fold over the effects of transactions."""

    def __init__(
        self,
        tree: ZnodeTree,
        discovery: LockDiscovery,
        chroot: str = "",
        shorten: Callable[[bytes], bytes] = bytes,
    ) -> None:
        """Read a tree below `chroot`. Facts have paths without it."""
        self._tree, self._discovery, self._chroot, self._shorten = tree, discovery, chroot, shorten
        self._folders: dict[str, _Folder] = {}
        self._single: dict[str, StoredZnode] = {}  # znodes reported without their folder
        self._timeouts_ms: dict[Session, int] = {}  # of the live sessions
        self._last_heard: dict[Session, Millis] = {}  # by the clock of one leader
        self._last: Transaction | None = None
        self._has_new_sessions = True
        self._large_nodes = 0  # nodes of large sessions in the last report of sessions
        self._size_steps: dict[Session, int] = {}  # nodes of each session // MANY_NODES
        self._sessions_at: Millis | None = None
        self.changed_folders: set[str] = set()  # by the last transaction
        self._just_removed: set[str] = set()  # by the transaction whose facts are being made

    @property
    def has_chroot(self) -> bool:
        """Whether the znode below which it reports exists now."""
        return not self._chroot or self._chroot in self._tree.nodes

    def begin(self, zxid: int, at: Millis) -> Iterator[AnyFact]:
        """Yield facts about the whole tree, and about the tables that files do not have."""
        yield Connections(zxid=zxid, at=at, server=LOGS, why=WHY_BLIND)
        yield Watches(zxid=zxid, at=at, server=LOGS, why=WHY_BLIND)
        self._timeouts_ms = dict(self._tree.timeouts_ms)
        for node in self._tree.nodes.values():
            node.mark = 0
        for path, node in list(self._tree.nodes.items()):
            is_news = node.mark == 0 and path.rpartition("/")[0] not in self._folders
            if is_news and self._is_in_chroot(path):
                yield from self._discover(path, node, tuple(node.children or ()), zxid, at)

    def after(
        self, transaction: Transaction, effects: Sequence[Effect], at: Millis
    ) -> list[AnyFact]:
        """Return the facts of one transaction, and set `changed_folders`."""
        self.changed_folders = changed_folders = set[str]()
        self._note_contact(transaction)
        if transaction.kind in (OPEN_SESSION, CLOSE_SESSION):
            self._note_session(transaction.session)
        elif not effects:
            return []
        facts: list[AnyFact] = []
        zxid, removal = transaction.zxid, self._removal(transaction)
        for effect in effects:
            _, above, _, _ = effect
            folder = self._folders.get(above)
            if folder is None:
                facts += self._facts_elsewhere(effect, removal, zxid, at)
            else:
                changed_folders.add(above)
                facts += self._facts_in_folder(effect, folder, removal, zxid, at)
        self._just_removed.clear()
        return facts

    def are_arrivals(self, effects: Iterable[Effect]) -> bool:
        """Return whether the last transaction only added contenders behind others."""
        for kind, above, path, node in effects:
            if kind != "created" or not node.session:
                return False
            folder = self._folders.get(above)
            if folder is None or self._last is None or folder.known_at == self._last.zxid:
                return False
            is_behind = len(folder.node.children or ()) > 1
            if not is_behind or not path[-SEQUENCE_DIGITS:].isdecimal():
                return False
        return True

    def sessions(self, zxid: int, at: Millis) -> Iterator[Expiry]:
        """Yield the live sessions, if they have changed and were not reported a moment ago."""
        # Long reports are made less often.
        interval_ms = max(1_000, 2 * len(self._timeouts_ms), self._large_nodes)
        is_due = self._sessions_at is None or at - self._sessions_at >= interval_ms
        if self._has_new_sessions and is_due:
            self._has_new_sessions, self._sessions_at = False, at
            yield self._expiry(zxid, at)

    def state(self, zxid: int, at: Millis) -> Iterator[AnyFact]:
        """Yield facts with the current state of everything reported so far."""
        yield Connections(zxid=zxid, at=at, server=LOGS, why=WHY_BLIND)
        yield Watches(zxid=zxid, at=at, server=LOGS, why=WHY_BLIND)
        yield self._expiry(zxid, at)
        for path, folder in self._folders.items():
            yield self._listing(path, folder.node, zxid, at)
            for name in sorted(folder.node.children or ()):
                child = self._tree.nodes.get(f"{path}/{name}")
                if child is not None:
                    known_at = max(child.mzxid, folder.known_at)
                    yield self._node(f"{path}/{name}", child, known_at, at)
        for path, node in self._single.items():
            yield self._node(path, node, node.mzxid, at)

    def reported(self) -> Iterator[str]:
        """Yield the paths of all folders, and of all znodes reported without their folder."""
        yield from self._folders
        yield from self._single

    # Discovery

    def _is_in_chroot(self, path: str) -> bool:
        """Return whether a path is the chroot or below it, but never the root of the tree."""
        if self._chroot and not (path == self._chroot or path.startswith(f"{self._chroot}/")):
            return False
        return bool(path)

    def _discover(
        self, path: str, node: StoredZnode, names: Sequence[str], zxid: int, at: Millis
    ) -> Iterator[AnyFact]:
        """Yield the facts of a znode if it may be a lock, with everything in it."""
        if not self._discovery.lists(self.text(path), names):
            return
        if node.session:
            yield self._single_node(path, node, zxid, at)
            return
        path, node = self._whole_lock(path, node)
        if node.data:
            yield self._single_node(path, node, zxid, at)
        yield from self._list(path, node, zxid, at)

    def _whole_lock(self, path: str, node: StoredZnode) -> tuple[str, StoredZnode]:
        """Return the lock that a folder seems to be part of, like a semaphore, or the folder."""
        above, _, name = path.rpartition("/")
        parent = self._tree.nodes.get(above)
        if parent is None or above in self._folders or not self._is_in_chroot(above):
            return path, node
        return (above, parent) if is_part_by_name(name, parent.children or ()) else (path, node)

    def _single_node(self, path: str, node: StoredZnode, zxid: int, at: Millis) -> AnyFact:
        node.mark |= _REPORTED
        self._single[path] = node
        return self._node(path, node, zxid, at)

    def _list(self, path: str, node: StoredZnode, zxid: int, at: Millis) -> Iterator[AnyFact]:
        """Yield the listing of a folder, its children, and the folders among them."""
        to_list = [(path, node)]
        while to_list:
            path, node = to_list.pop()
            node.mark |= _LISTED
            self._folders[path] = _Folder(node, zxid)
            self.changed_folders.add(path)
            yield self._listing(path, node, zxid, at)
            for name in sorted(node.children or ()):
                below = f"{path}/{name}"
                child = self._tree.nodes.get(below)
                if child is None:
                    continue
                yield self._node(below, child, zxid, at)
                if not child.mark & _LISTED and self._is_folder(name, child):
                    to_list.append((below, child))

    def _is_folder(self, name: str, node: StoredZnode) -> bool:
        return not node.session and (bool(node.children) or self._discovery.is_folder_name(name))

    # Effects

    def _facts_in_folder(
        self, effect: Effect, folder: _Folder, removal: _Removal, zxid: int, at: Millis
    ) -> Iterable[AnyFact]:
        """Return the facts of a change in a reported folder."""
        kind, above, path, node = effect
        if kind == "removed":
            gone = self._removed(path, node, removal, zxid, at)
            if not folder.is_due_after_deletion():
                return (gone,)
            folder.deletions = 0
            return (gone, self._listing(above, folder.node, zxid, at))
        if kind == "changed":
            if node.mark & _LISTED:
                self.changed_folders.add(path)
            return (self._node(path, node, zxid, at),)
        created: tuple[AnyFact, ...] = (self._node(path, node, zxid, at),)
        if folder.has_skipped():
            created = (*created, self._listing(above, folder.node, zxid, at))
        if node.session or not self._is_folder(path[len(above) + 1 :], node):
            return created
        return (*created, *self._list(path, node, zxid, at))

    def _facts_elsewhere(
        self, effect: Effect, removal: _Removal, zxid: int, at: Millis
    ) -> Iterable[AnyFact]:
        """Return the facts of a change elsewhere, if a lock was reported there or begins there."""
        kind, above, path, node = effect
        if kind == "created":
            if not (node.mark or self._is_in_chroot(path)):
                return ()
            return self._created(above, path, node, zxid, at)
        if not node.mark:
            return ()
        if kind == "removed":
            return (self._removed(path, node, removal, zxid, at),)
        if node.mark & _LISTED:
            self.changed_folders.add(path)
        return (self._single_node(path, node, zxid, at),)

    def _created(
        self, above: str, path: str, node: StoredZnode, zxid: int, at: Millis
    ) -> Iterator[AnyFact]:
        """Yield facts if a new znode makes its parent or itself look like a lock."""
        name = path[len(above) + 1 :]
        parent = self._tree.nodes.get(above)
        if parent is not None and self._discovery.is_contender(name) and self._is_in_chroot(above):
            yield from self._discover(above, parent, (name,), zxid, at)
        if not node.mark and above not in self._folders:
            yield from self._discover(path, node, (), zxid, at)

    def _removed(
        self, path: str, node: StoredZnode, removal: _Removal, zxid: int, at: Millis
    ) -> Gone:
        self._just_removed.add(path)
        if node.mark:
            self._single.pop(path, None)
            if self._folders.pop(path, None) is not None:
                self.changed_folders.add(path)
        by, how = removal
        return Gone(zxid=zxid, at=at, path=self.text(path), by=by, how=how)

    def _removal(self, transaction: Transaction) -> _Removal:
        """Return which session removed a znode in this transaction, and how."""
        session = transaction.session
        if transaction.kind != CLOSE_SESSION:
            return (session, "deleted") if session else (None, "reaped")
        heard = self._last_heard.pop(session, None)
        if transaction.cxid:
            return session, "closed"
        is_recent = heard is not None and transaction.at - heard < self._tree.ended_timeout_ms
        return None, "ended" if is_recent else "expired"

    # Values

    def _note_contact(self, transaction: Transaction) -> None:
        """Record when a session was last heard of. Clear all such times when the clock changes."""
        last, self._last = self._last, transaction
        if last and (last.zxid >> 32 != transaction.zxid >> 32 or transaction.at < last.at):
            self._last_heard.clear()
        if transaction.cxid:
            session = transaction.session
            self._last_heard[session] = transaction.at
            size_step = len(self._tree.owned.get(session, ())) // MANY_NODES
            if size_step != self._size_steps.get(session, 0):
                self._size_steps[session] = size_step
                self._has_new_sessions = True  # a listing must show how many it has

    def _note_session(self, session: Session) -> None:
        """Record that a session has begun or ended."""
        self._has_new_sessions = True
        self._timeouts_ms.pop(session, None)
        self._size_steps.pop(session, None)
        if session in self._tree.timeouts_ms:
            self._timeouts_ms[session] = self._tree.timeouts_ms[session]

    def _listing(self, path: str, node: StoredZnode, zxid: int, at: Millis) -> Children:
        names = tuple(map(Text, sorted(node.children or ())))
        return Children(zxid=zxid, at=at, path=self.text(path), names=names, stat=_stat(node))

    def _node(self, path: str, node: StoredZnode, zxid: int, at: Millis) -> Node:
        """Return the fact that a znode exists.

        If the same transaction has deleted another znode at its path, the fact gets the next
        zxid, as in a live run: of two facts with one zxid, a deletion counts as the newer.
        """
        zxid += path in self._just_removed
        data = node.data
        if len(data) > SHORT_DATA_BYTES:
            data = self._shorten(data[:MAX_DATA_BYTES])
        return Node(zxid=zxid, at=at, path=self.text(path), stat=_stat(node), data=data)

    def _expiry(self, zxid: int, at: Millis) -> Expiry:
        return Expiry(
            zxid=zxid,
            at=at,
            server=LOGS,
            timeouts_ms=dict(self._timeouts_ms),
            ephemerals=self._large_sessions(),
            why=WHY_NO_EXPIRY,
        )

    def _large_sessions(self) -> dict[Session, tuple[Text, ...]] | None:
        """Return the nodes of sessions that own many, wherever the nodes are."""
        large = {
            session: tuple(self.text(path) for path in paths if self._is_in_chroot(path))
            for session, paths in self._tree.owned.items()
            if len(paths) >= MANY_NODES and session in self._timeouts_ms
        }
        self._large_nodes = sum(map(len, large.values()))
        return large or None

    def text(self, path: str) -> Text:
        """Return the path as clients below the chroot see it."""
        return Text(path[len(self._chroot) :] or "/")


def _stat(node: StoredZnode) -> Stat:
    """Return the Stat as clients see it."""
    children = len(node.children) if node.children else 0
    return Stat(
        node.czxid,
        node.mzxid,
        node.ctime,
        node.version,
        2 * node.cversion - children,
        node.aversion,
        node.session,
        len(node.data),
        children,
        node.pzxid,
    )
