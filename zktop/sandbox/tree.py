"""The znodes and their Stat: what is stored, and the four ways to change it.

Nothing here refuses: whether a change may happen is decided on a draft before it gets here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from zktop.sandbox.acl import OPEN, READ_ONLY
from zktop.sandbox.protocol import Acl, ErrorCode, NodeStat, Refused

CONFIG = "/zookeeper/config"
SYSTEM = ("/zookeeper", "/zookeeper/quota", CONFIG)
SPECIAL = frozenset({"/", *SYSTEM})


def int32(value: int) -> int:
    """Give the value as a 32-bit signed counter shows it.

    >>> int32(2_147_483_648)
    -2147483648
    """
    return (value + 0x8000_0000) % 0x1_0000_0000 - 0x8000_0000


@dataclass(frozen=True, slots=True)
class Lifetime:
    """When a znode goes away by itself: with its session, when empty, when old; or never."""

    owner: int = 0
    container: bool = False
    ttl_ms: int = 0


@dataclass(slots=True)
class StoredNode:
    """One znode; `cversion` counts creates only, clients see it mixed with the deletes."""

    data: bytes | None
    acl: tuple[Acl, ...]
    lifetime: Lifetime = Lifetime()
    czxid: int = 0
    mzxid: int = 0
    pzxid: int = 0
    ctime: int = 0
    mtime: int = 0
    version: int = 0
    cversion: int = 0
    aversion: int = 0
    child_writes: int = 0  # three numbers that some servers tell instead
    created_zxid: int = 0
    asked_zxid: int = 0
    children: dict[str, int] = field(default_factory=dict)  # with the zxid of their creation

    def stat(self) -> NodeStat:
        """Tell what clients may know."""
        return NodeStat(
            self.czxid,
            self.mzxid,
            self.ctime,
            self.mtime,
            self.version,
            int32(2 * self.cversion - len(self.children)),
            self.aversion,
            self.lifetime.owner,
            len(self.data or b""),
            len(self.children),
            self.pzxid,
        )


@dataclass(frozen=True, slots=True)
class Transaction:
    """The transaction that a change belongs to, and its wall-clock time."""

    zxid: int
    ms: int


class ZnodeTree:
    """All znodes by path, and which of them live only as long as something else."""

    def __init__(self, system: Sequence[str] = SYSTEM) -> None:
        """Start with the root, and the znodes that a server has for itself."""
        root = StoredNode(b"", OPEN)
        # As in the real server the root has two names, so that `parent + "/" + name` is a path.
        self._nodes = {"": root, "/": root}
        self._ephemerals: dict[int, dict[str, None]] = {}
        self._passing: dict[str, None] = {}
        self._bytes = 1
        for path in system:
            self.create(path, StoredNode(b"", READ_ONLY if path == CONFIG else OPEN), 0)
        if CONFIG in self._nodes:
            self._nodes[CONFIG].aversion = -1

    def __contains__(self, path: str) -> bool:
        """Tell whether there is such a znode."""
        return path in self._nodes

    def __len__(self) -> int:
        """Count the znodes as the real server does: the root twice."""
        return len(self._nodes)

    def node(self, path: str) -> StoredNode:
        """Give the znode at this path, or refuse."""
        node = self._nodes.get(path)
        if node is None:
            raise Refused(ErrorCode.NO_NODE)
        return node

    def create(self, path: str, node: StoredNode, cversion: int) -> None:
        """Add the znode; its parent then counts `cversion` creates.

        A counter that has run over is ignored: the numbers of sequential names stick at the top.
        """
        parent, name = self._parent(path)
        parent.children[name] = node.czxid
        if cversion > parent.cversion:
            parent.cversion, parent.pzxid = cversion, node.czxid
        parent.created_zxid = parent.asked_zxid = node.czxid
        self._nodes[path] = node
        self._bytes += len(path) + len(node.data or b"")
        if node.lifetime.owner:
            self._ephemerals.setdefault(node.lifetime.owner, {})[path] = None
        elif node.lifetime != Lifetime():
            self._passing[path] = None

    def delete(self, path: str, zxid: int, *, by_request: bool = True) -> StoredNode:
        """Take the znode away and answer it."""
        parent, name = self._parent(path)
        node = self._nodes.pop(path)
        del parent.children[name]
        parent.pzxid = max(parent.pzxid, zxid)
        if by_request:
            parent.asked_zxid = zxid
        self._bytes -= len(path) + len(node.data or b"")
        if owned := self._ephemerals.get(node.lifetime.owner):
            del owned[path]
            if not owned:
                del self._ephemerals[node.lifetime.owner]
        self._passing.pop(path, None)
        return node

    def write(
        self, path: str, data: bytes | None, version: int, moment: Transaction
    ) -> StoredNode:
        """Replace the data."""
        node = self._nodes[path]
        self._parent(path)[0].child_writes += 1
        self._bytes += len(data or b"") - len(node.data or b"")
        node.data, node.version = data, version
        node.mzxid, node.mtime = moment.zxid, moment.ms
        return node

    def secure(self, path: str, acl: tuple[Acl, ...], aversion: int) -> StoredNode:
        """Replace the access list."""
        node = self._nodes[path]
        node.acl, node.aversion = acl, aversion
        return node

    def parent_acl(self, path: str) -> tuple[Acl, ...]:
        """Give the access list of the znode above this path."""
        return self._parent(path)[0].acl

    def ephemerals(self, session: int) -> list[str]:
        """Give the paths that go away with this session."""
        return list(self._ephemerals.get(session, ()))

    def owners(self) -> Iterator[tuple[int, list[str]]]:
        """Give every session that owns ephemeral znodes, with their paths."""
        return ((session, list(paths)) for session, paths in self._ephemerals.items())

    def outlived(self, now_ms: int) -> list[str]:
        """Give the used containers that are empty, and the childless znodes past their TTL."""
        return [path for path in self._passing if _is_outlived(self._nodes[path], now_ms)]

    def count_below(self, path: str) -> int:
        """Count the znodes below this one, at any depth."""
        if path == "/":
            return len(self._nodes) - 2
        prefix = f"{path}/"
        return sum(other.startswith(prefix) for other in self._nodes)

    @property
    def bytes(self) -> int:
        """The length of all paths and data, as `mntr` reports it."""
        return self._bytes

    def _parent(self, path: str) -> tuple[StoredNode, str]:
        parent, _, name = path.rpartition("/")
        return self._nodes[parent], name


def _is_outlived(node: StoredNode, now_ms: int) -> bool:
    if node.children:
        return False
    if node.lifetime.container:
        return node.cversion > 0
    return now_ms - node.mtime > node.lifetime.ttl_ms
