"""The tree of znodes, replayed from transactions exactly as a server does it.

From 3.6 on, servers write a digest of the whole tree after each transaction. A replay with the
same digest has the same tree: every path, every byte of data and every number of every Stat.
"""

import zlib
from collections.abc import Callable, Iterable
from struct import Struct
from typing import Final, Literal

import msgspec

from zktop.model.facts import Millis, Session
from zktop.txnlog.snapshot_file import SnapshotFile
from zktop.txnlog.transactions import (
    CONTAINER,
    CloseSession,
    Create,
    Delete,
    OpenSession,
    Operation,
    SetAcl,
    SetData,
    Transaction,
)

_STAT: Final = Struct(">QQQqqiiiQ").pack
_OUTSIDE_OF_DIGEST: Final = "/zookeeper/"
_MASK: Final = (1 << 64) - 1
_ONE_MORE: Final = -1  # a create increments the parent's counter
_LARGEST_COUNTER: Final = (1 << 31) - 1  # a server does not increment it further
_TTL_BYTE: Final = 0xFF  # the top byte of the owner of a node with a time to live

EffectKind = Literal["created", "changed", "removed"]


class StoredZnode(msgspec.Struct, gc=False):
    """One znode of the tree."""

    data: bytes
    owner: int  # also marks containers, and nodes with a time to live
    session: Session  # the owner of an ephemeral znode, else 0
    czxid: int
    mzxid: int
    pzxid: int
    ctime: Millis
    mtime: Millis
    path_and_data_crc: int | None  # None if the znode is not part of the digest
    version: int = 0
    cversion: int = 0  # the number of children ever created
    aversion: int = 0
    children: set[str] | None = None
    crc: int = 0  # of everything that the digest counts; 0 until the tree has the znode
    mark: int = 0  # free for users of the tree


def _session_of(owner: int) -> Session:
    """Return the session that owns a znode, or 0 if it is not ephemeral."""
    return 0 if owner == CONTAINER or owner >> 56 == _TTL_BYTE else owner


def _new_znode(path: str, data: bytes, zxid: int, at: Millis, owner: int) -> StoredZnode:
    crc = None if path.startswith(_OUTSIDE_OF_DIGEST) else _crc(path, data)
    return StoredZnode(data, owner, _session_of(owner), zxid, zxid, zxid, at, at, crc)


Effect = tuple[EffectKind, str, str, StoredZnode]  # what, parent's path, path, znode


def _visible(effects: list[Effect]) -> list[Effect]:
    """Leave out the znodes that one transaction creates and deletes: no client ever sees them."""
    removed = {id(node) for kind, _, _, node in effects if kind == "removed"}
    passing = {
        id(node) for kind, _, _, node in effects if kind == "created" and id(node) in removed
    }
    return [effect for effect in effects if id(effect[3]) not in passing] if passing else effects


class ZnodeTree:
    """A fold over transactions."""

    def __init__(self, *, is_guessed: bool = False) -> None:
        """Start empty. With `is_guessed`, earlier znodes are unknown, so add parents as needed."""
        self.nodes: dict[str, StoredZnode] = {}
        self.timeouts_ms: dict[Session, int] = {}
        self._sum = 0
        self.ended_timeout_ms = 0  # of the session that the last transaction ended
        self.is_guessed = is_guessed
        self.owned: dict[Session, dict[str, None]] = {}  # the znodes of each owner
        self._appliers: dict[type[Operation], Callable[..., None]] = {
            Create: self._create,
            Delete: self._delete,
            SetData: self._set_data,
            SetAcl: self._set_acl,
            OpenSession: self._open,
            CloseSession: self._close,
        }
        for path in ("", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"):
            self._add(path, _new_znode(path, b"", 0, 0, 0))

    @property
    def digest(self) -> int:
        """The sum over all znodes, as servers write it."""
        return self._sum & _MASK

    @classmethod
    def of_snapshot(cls, file: SnapshotFile) -> tuple["ZnodeTree", int, int]:
        """Load a snapshot. Return its tree, the zxid of its digest, and the newest zxid in it."""
        tree = cls()
        tree.nodes.clear()
        tree._sum, newest = 0, 0
        tree.timeouts_ms = file.timeouts_ms
        for znode in file.znodes():
            node = _new_znode(znode.path, znode.data, znode.czxid, znode.ctime, znode.owner)
            node.mzxid, node.pzxid, node.mtime = znode.mzxid, znode.pzxid, znode.mtime
            node.version, node.cversion = znode.version, znode.cversion
            node.aversion = znode.aversion
            tree._add(znode.path, node)
            newest = max(newest, node.mzxid, node.pzxid)
        return tree, file.finish(), newest

    def apply(self, transaction: Transaction) -> list[Effect]:
        """Apply a transaction. Return what it changed, without changes the tree already has."""
        effects: list[Effect] = []
        for operation in transaction.operations:
            self._appliers[type(operation)](operation, transaction, effects)
        return effects if len(transaction.operations) == 1 else _visible(effects)

    def _create(self, new: Create, transaction: Transaction, effects: list[Effect]) -> None:
        path, cversion, zxid, nodes = new.path, new.cversion, transaction.zxid, self.nodes
        above, _, name = path.rpartition("/")
        parent = nodes.get(above) or self._guessed_parent(path)
        if parent is None:
            return
        new_cversion = parent.cversion + 1 if cversion == _ONE_MORE else cversion
        if parent.cversion < new_cversion <= _LARGEST_COUNTER:
            parent.cversion, parent.pzxid = new_cversion, zxid
            self._update_digest(parent)
        if path in nodes:
            return
        owner = transaction.session if new.is_ephemeral else new.owner
        node = nodes[path] = _new_znode(path, new.data, zxid, transaction.at, owner)
        self._update_digest(node)
        self._join(parent, name, path, owner)
        effects.append(("created", above, path, node))

    def _delete(self, end: Delete, transaction: Transaction, effects: list[Effect]) -> None:
        self._remove(end.path, transaction.zxid, effects)

    def _remove(self, path: str, zxid: int, effects: list[Effect]) -> None:
        node = self.nodes.pop(path, None)
        if node is None:
            return
        above, _, name = path.rpartition("/")
        parent = self.nodes.get(above)
        if parent is not None:
            if parent.children is not None:
                parent.children.discard(name)
            if zxid > parent.pzxid:
                parent.pzxid = zxid
                self._update_digest(parent)
        self._sum -= node.crc
        if node.owner in self.owned:
            self.owned[node.owner].pop(path, None)
        effects.append(("removed", above, path, node))

    def _set_data(self, change: SetData, transaction: Transaction, effects: list[Effect]) -> None:
        path = _stored_path(change.path)
        node = self.nodes.get(path)
        if node is None:
            return
        node.data, node.version = change.data, change.version
        node.mzxid, node.mtime = transaction.zxid, transaction.at
        if node.path_and_data_crc is not None:
            node.path_and_data_crc = _crc(path, change.data)
        self._update_digest(node)
        effects.append(("changed", path.rpartition("/")[0], path, node))

    def _set_acl(self, change: SetAcl, _transaction: Transaction, _effects: list[Effect]) -> None:
        node = self.nodes.get(_stored_path(change.path))
        if node is not None:
            node.aversion = change.version
            self._update_digest(node)

    def _open(self, new: OpenSession, transaction: Transaction, _effects: list[Effect]) -> None:
        self.timeouts_ms[transaction.session] = new.timeout_ms

    def _close(self, end: CloseSession, transaction: Transaction, effects: list[Effect]) -> None:
        self.ended_timeout_ms = self.timeouts_ms.pop(transaction.session, 0)
        owned: Iterable[str] = self.owned.pop(transaction.session, ())
        for path in (*(end.paths or ()), *owned):
            self._remove(path, transaction.zxid, effects)

    def _guessed_parent(self, path: str) -> StoredZnode | None:
        """Add missing ancestors and return the parent, or None if the tree is complete."""
        if not self.is_guessed or not path.startswith("/"):
            return None
        at = 0
        while (at := path.find("/", at + 1)) > 0:
            if path[:at] not in self.nodes:
                self._add(path[:at], _new_znode(path[:at], b"", 0, 0, 0))
        return self.nodes.get(path[: path.rfind("/")])

    def _add(self, path: str, node: StoredZnode) -> None:
        replaced = self.nodes.get(path)
        if replaced is not None:
            self._sum -= replaced.crc
        self.nodes[path] = node
        above, slash, name = path.rpartition("/")
        self._join(self.nodes.get(above) if slash else None, name, path, node.owner)
        self._update_digest(node)

    def _join(self, parent: StoredZnode | None, name: str, path: str, owner: int) -> None:
        """Add a znode to the children of its parent and to the znodes of its owner."""
        if parent is not None:
            if parent.children is None:
                parent.children = {name}
            else:
                parent.children.add(name)
        if owner:
            if owner in self.owned:
                self.owned[owner][path] = None
            else:
                self.owned[owner] = {path: None}

    def _update_digest(self, node: StoredZnode) -> None:
        if node.path_and_data_crc is None:
            return
        crc = zlib.crc32(
            _STAT(
                node.czxid,
                node.mzxid,
                node.pzxid,
                node.ctime,
                node.mtime,
                node.version,
                node.cversion,
                node.aversion,
                node.owner,
            ),
            node.path_and_data_crc,
        )
        self._sum += crc - node.crc
        node.crc = crc


def _stored_path(path: str) -> str:
    """Return the path as a server stores it: empty for the root."""
    return "" if path == "/" else path


def _crc(path: str, data: bytes) -> int:
    return zlib.crc32(data, zlib.crc32(path.encode("utf-8", "surrogateescape")))
