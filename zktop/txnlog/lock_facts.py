"""Turns the changes of a replayed tree into the facts that a live run would read.

Only folders that may hold locks are reported, as in live discovery: a folder that has contenders
or is named like a lock, and the folders in it. At the first sign of a lock, the folder is
reported with everything in it.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Protocol

from zktop.model.facts import (
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
from zktop.model.text import Text
from zktop.txnlog.transactions import CLOSE_SESSION, OPEN_SESSION, Transaction
from zktop.txnlog.znode_tree import Effect, StoredZnode, ZnodeTree

SERVER: Final = Text("transaction log")
WHY_BLIND: Final = Text("ZooKeeper does not write it to disk")
WHY_NO_EXPIRY: Final = Text("ZooKeeper does not write pings to disk")
MAX_DATA_BYTES: Final = 4096
SHORT_DATA_BYTES: Final = 256  # data of this size is never shortened
MIN_DELETIONS: Final = 256  # list a folder again after these, and at least twice its children
_LISTED, _REPORTED = 1, 2


class LockDiscovery(Protocol):
    """Decides which znodes may be locks, by the same rules as for a live ensemble."""

    def is_contender(self, name: str) -> bool:
        """Whether a name looks like that of a contender."""

    def is_folder_name(self, name: str) -> bool:
        """Whether a znode of this name may be a folder of contenders."""

    def lists(self, path: str, names: Sequence[str]) -> bool:
        """Whether to report the children of a path, given the names of some of them."""


class _Folder:
    """A reported folder, its newest listing, and the number of deletions since."""

    __slots__ = ("at", "deletions", "known_at", "names", "node", "stat", "zxid")

    def __init__(self, node: StoredZnode, zxid: int) -> None:
        self.node = node
        self.known_at = zxid  # of the first listing
        self.zxid = self.at = self.deletions = 0
        self.names: tuple[Text, ...] = ()
        self.stat = NO_STAT


NO_STAT: Final = Stat(czxid=0, mzxid=0, ctime=0)


class LockFacts:
    """A fold over the effects of transactions."""

    def __init__(
        self,
        tree: ZnodeTree,
        discovery: LockDiscovery,
        chroot: str = "",
        shorten: Callable[[bytes], bytes] = bytes,
    ) -> None:
        """Read a tree below `chroot`; facts have paths without it."""
        self._tree, self._discovery, self._chroot, self._shorten = tree, discovery, chroot, shorten
        self._folders: dict[str, _Folder] = {}
        self._single: dict[str, StoredZnode] = {}  # reported without their folder
        self._last_heard: dict[Session, Millis] = {}
        self._has_new_sessions = True
        self._sessions_at: Millis | None = None
        self.touched: set[str] = set()  # folders that the last transaction changed

    def begin(self, zxid: int, at: Millis) -> Iterator[AnyFact]:
        """Yield facts about the whole tree, and about the tables that files do not have."""
        yield Connections(zxid=zxid, at=at, server=SERVER, why=WHY_BLIND)
        yield Watches(zxid=zxid, at=at, server=SERVER, why=WHY_BLIND)
        for node in self._tree.nodes.values():
            node.mark = 0
        for path, node in list(self._tree.nodes.items()):
            if node.mark == 0 and self._is_inside(path):
                yield from self._discover(path, node, tuple(node.children or ()), zxid, at)

    def after(
        self, transaction: Transaction, effects: Sequence[Effect], at: Millis
    ) -> list[AnyFact]:
        """Return the facts of one transaction."""
        facts: list[AnyFact] = []
        self.touched = touched = set[str]()
        zxid = transaction.zxid
        removal = self._removal(transaction)
        if transaction.cxid:
            self._last_heard[transaction.session] = transaction.at
        for effect, path, node in effects:
            above = path[: path.rfind("/")]
            is_in_folder = above in self._folders
            if is_in_folder:
                touched.add(above)
            elif not node.mark and not (effect == "created" and self._is_inside(path)):
                continue
            if effect == "removed":
                facts.append(self._removed(path, zxid, at, removal))
                facts += self._relisted(above, zxid, at) if is_in_folder else ()
            elif effect == "changed" or (is_in_folder and node.session):
                facts.append(self._changed(path, node, zxid, at, is_in_folder=is_in_folder))
            elif is_in_folder:
                facts += self._created_in_folder(path, node, zxid, at)
            else:
                facts += self._created(path, node, zxid, at)
        return facts

    def sessions(self, zxid: int, at: Millis) -> Iterator[Expiry]:
        """Yield the sessions alive, if they changed and were not reported just before."""
        interval = max(1_000, 2 * len(self._tree.timeouts_ms))
        is_due = self._sessions_at is None or at - self._sessions_at >= interval
        if self._has_new_sessions and is_due:
            self._has_new_sessions, self._sessions_at = False, at
            yield self._expiry(zxid, at)

    def state(self, zxid: int, at: Millis) -> Iterator[AnyFact]:
        """Yield facts that repeat everything reported so far."""
        yield Connections(zxid=zxid, at=at, server=SERVER, why=WHY_BLIND)
        yield Watches(zxid=zxid, at=at, server=SERVER, why=WHY_BLIND)
        yield self._expiry(zxid, at)
        for path, folder in self._folders.items():
            yield self._listing(path, folder)
            for name in sorted(folder.node.children or ()):
                child = self._tree.nodes.get(f"{path}/{name}")
                if child is not None:
                    zxid = max(child.mzxid, folder.known_at)
                    yield self._node(f"{path}/{name}", child, zxid, at)
        for path, node in self._single.items():
            yield self._node(path, node, node.mzxid, at)

    def reported(self) -> Iterator[str]:
        """Yield the paths of all folders, and of all znodes reported without their folder."""
        yield from self._folders
        yield from self._single

    # Discovery

    def _is_inside(self, path: str) -> bool:
        if self._chroot and not (path == self._chroot or path.startswith(f"{self._chroot}/")):
            return False
        return bool(path) and not path.startswith("/zookeeper")

    def _discover(
        self, path: str, node: StoredZnode, names: Sequence[str], zxid: int, at: Millis
    ) -> Iterator[AnyFact]:
        """Yield the facts of a znode if it may be a lock, with everything in it."""
        if not self._discovery.lists(self._shown(path), names):
            return
        if node.session:
            yield self._single_node(path, node, zxid, at)
        else:
            if node.data:
                yield self._single_node(path, node, zxid, at)
            yield from self._list(path, node, zxid, at)

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
            folder = self._folders[path] = _Folder(node, zxid)
            self.touched.add(path)
            yield self._list_again(path, folder, zxid, at)
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

    def _created_in_folder(
        self, path: str, node: StoredZnode, zxid: int, at: Millis
    ) -> Iterator[AnyFact]:
        yield self._node(path, node, zxid, at)
        if self._is_folder(path[path.rfind("/") + 1 :], node):
            yield from self._list(path, node, zxid, at)

    def _created(self, path: str, node: StoredZnode, zxid: int, at: Millis) -> Iterator[AnyFact]:
        """Yield facts if a new znode makes its parent or itself look like a lock."""
        slash = path.rfind("/")
        above, name = path[:slash], path[slash + 1 :]
        parent = self._tree.nodes.get(above)
        if parent is not None and self._discovery.is_contender(name) and self._is_inside(above):
            yield from self._discover(above, parent, (name,), zxid, at)
        if not node.mark and above not in self._folders:
            yield from self._discover(path, node, (), zxid, at)

    def _changed(
        self, path: str, node: StoredZnode, zxid: int, at: Millis, *, is_in_folder: bool
    ) -> AnyFact:
        if not is_in_folder:
            node.mark |= _REPORTED
            self._single[path] = node
        if node.mark & _LISTED:
            self.touched.add(path)
        return self._node(path, node, zxid, at)

    def _removed(
        self, path: str, zxid: int, at: Millis, removal: tuple[Session | None, RemovalKind]
    ) -> Gone:
        if self._single:
            self._single.pop(path, None)
        if self._folders.pop(path, None) is not None:
            self.touched.add(path)
        by, how = removal
        return Gone(zxid=zxid, at=at, path=self.text(path), by=by, how=how)

    def _relisted(self, path: str, zxid: int, at: Millis) -> Iterator[AnyFact]:
        """List a folder again after many deletions, so that readers can forget the deletions."""
        folder = self._folders[path]
        folder.deletions += 1
        if folder.deletions > max(MIN_DELETIONS, 2 * len(folder.node.children or ())):
            yield self._list_again(path, folder, zxid, at)

    def _removal(self, transaction: Transaction) -> tuple[Session | None, RemovalKind]:
        """Return which session removed a znode in this transaction, and how."""
        if transaction.kind != CLOSE_SESSION:
            if transaction.kind == OPEN_SESSION:
                self._has_new_sessions = True
            return (transaction.session, "deleted") if transaction.session else (None, "reaped")
        self._has_new_sessions = True
        heard = self._last_heard.pop(transaction.session, None)
        if transaction.cxid:
            return transaction.session, "closed"
        is_young = heard is not None and transaction.at - heard < self._tree.ended_timeout_ms
        return None, "ended" if is_young else "expired"

    # Values

    def _list_again(self, path: str, folder: _Folder, zxid: int, at: Millis) -> Children:
        folder.zxid, folder.at, folder.deletions = zxid, at, 0
        folder.stat = _stat(folder.node)
        names = sorted(folder.node.children or ())
        folder.names = tuple(map(Text, names))
        return self._listing(path, folder)

    def _listing(self, path: str, folder: _Folder) -> Children:
        return Children(
            zxid=folder.zxid,
            at=folder.at,
            path=self.text(path),
            names=folder.names,
            stat=folder.stat,
        )

    def _node(self, path: str, node: StoredZnode, zxid: int, at: Millis) -> Node:
        data = node.data
        if len(data) > SHORT_DATA_BYTES:
            data = self._shorten(data[:MAX_DATA_BYTES])
        return Node(zxid=zxid, at=at, path=self.text(path), stat=_stat(node), data=data)

    def _expiry(self, zxid: int, at: Millis) -> Expiry:
        timeouts_ms = dict(self._tree.timeouts_ms)
        return Expiry(zxid=zxid, at=at, server=SERVER, timeouts_ms=timeouts_ms, why=WHY_NO_EXPIRY)

    def _shown(self, path: str) -> str:
        return path[len(self._chroot) :] or "/"

    def text(self, path: str) -> Text:
        return Text(self._shown(path))


def _stat(node: StoredZnode) -> Stat:
    """The Stat as clients see it."""
    children = len(node.children or ())
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
