"""The znodes, their Stat, and the four ways to change them.

Nothing is refused here: a `WritePlan` has already decided that a change is allowed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from zktop.sandbox.acl import OPEN, READ_ONLY
from zktop.sandbox.protocol import Acl, ErrorCode, NodeStat, Refused

CONFIG = "/zookeeper/config"
SYSTEM = ("/zookeeper", "/zookeeper/quota", CONFIG)
SPECIAL = frozenset({"/", *SYSTEM})


def int32(value: int) -> int:
    """The value wrapped to a signed 32-bit integer.

    >>> int32(2_147_483_648)
    -2147483648
    """
    return (value + 0x8000_0000) % 0x1_0000_0000 - 0x8000_0000


@dataclass(frozen=True, slots=True)
class Lifetime:
    """When the server removes a znode: with its session, when empty, after its TTL, or never."""

    owner: int = 0
    container: bool = False
    ttl_ms: int = 0


@dataclass(slots=True)
class StoredNode:
    """One znode. `cversion` counts only creates, but clients see creates plus deletes."""

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
    child_writes: int = 0  # this one and the next two are for other flavours
    created_zxid: int = 0  # the creation of the newest child
    requested_zxid: int = 0  # of the last create or delete of a child that a client requested
    children: dict[str, int] = field(default_factory=dict)  # with the zxid of their creation

    def stat(self) -> NodeStat:
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
class WriteMoment:
    """A transaction: its zxid and its wall-clock time."""

    zxid: int
    ms: int


class SandboxTree:
    """All znodes by path, and the znodes that the server itself removes."""

    def __init__(self, system: Sequence[str] = SYSTEM) -> None:
        """Create the root and the znodes of the server itself."""
        root = StoredNode(b"", OPEN)
        # As in the real server, the root has two names, so that `parent + "/" + name` is a path.
        self._nodes = {"": root, "/": root}
        self._ephemerals: dict[int, dict[str, None]] = {}
        self._temporary: dict[str, None] = {}
        self.bytes = 1  # the length of all paths and data, as `mntr` reports it
        for path in system:
            self.create(path, StoredNode(b"", READ_ONLY if path == CONFIG else OPEN), 0)
        if CONFIG in self._nodes:
            self._nodes[CONFIG].aversion = -1

    def __contains__(self, path: str) -> bool:
        return path in self._nodes

    def __len__(self) -> int:
        """The number of znodes. Like the real server, it counts the root twice."""
        return len(self._nodes)

    def node(self, path: str) -> StoredNode:
        """Return the znode at this path, or refuse if there is none."""
        node = self._nodes.get(path)
        if node is None:
            raise Refused(ErrorCode.NO_NODE)
        return node

    def create(self, path: str, node: StoredNode, cversion: int) -> None:
        """Add a znode, after which its parent counts `cversion` creates.

        A counter that has overflowed is ignored: sequential names keep the maximum.
        """
        parent, name = self._parent(path)
        parent.children[name] = node.czxid
        if cversion > parent.cversion:
            parent.cversion, parent.pzxid = cversion, node.czxid
        parent.created_zxid = parent.requested_zxid = node.czxid
        self._nodes[path] = node
        self.bytes += len(path) + len(node.data or b"")
        if node.lifetime.owner:
            self._ephemerals.setdefault(node.lifetime.owner, {})[path] = None
        elif node.lifetime != Lifetime():
            self._temporary[path] = None

    def delete(self, path: str, zxid: int, *, by_request: bool = True) -> StoredNode:
        parent, name = self._parent(path)
        node = self._nodes.pop(path)
        del parent.children[name]
        parent.pzxid = max(parent.pzxid, zxid)
        if by_request:
            parent.requested_zxid = zxid
        self.bytes -= len(path) + len(node.data or b"")
        if owned := self._ephemerals.get(node.lifetime.owner):
            del owned[path]
            if not owned:
                del self._ephemerals[node.lifetime.owner]
        self._temporary.pop(path, None)
        return node

    def write(
        self, path: str, data: bytes | None, version: int, moment: WriteMoment
    ) -> StoredNode:
        node = self._nodes[path]
        self._parent(path)[0].child_writes += 1
        self.bytes += len(data or b"") - len(node.data or b"")
        node.data, node.version = data, version
        node.mzxid, node.mtime = moment.zxid, moment.ms
        return node

    def secure(self, path: str, acl: tuple[Acl, ...], aversion: int) -> StoredNode:
        node = self._nodes[path]
        node.acl, node.aversion = acl, aversion
        return node

    def parent_acl(self, path: str) -> tuple[Acl, ...]:
        return self._parent(path)[0].acl

    def ephemerals(self, session: int) -> list[str]:
        """The paths of the session's ephemeral znodes."""
        return list(self._ephemerals.get(session, ()))

    def owners(self) -> Iterator[tuple[int, list[str]]]:
        """All sessions that own ephemeral znodes, with the paths."""
        return ((session, list(paths)) for session, paths in self._ephemerals.items())

    def outlived(self, now_ms: int) -> list[str]:
        """Containers that have become empty, and childless znodes past their TTL."""
        return [path for path in self._temporary if _is_outlived(self._nodes[path], now_ms)]

    def count_below(self, path: str) -> int:
        """The number of znodes below this one, at any depth."""
        if path == "/":
            return len(self._nodes) - 2
        prefix = f"{path}/"
        return sum(other.startswith(prefix) for other in self._nodes)

    def _parent(self, path: str) -> tuple[StoredNode, str]:
        parent, _, name = path.rpartition("/")
        return self._nodes[parent], name


def _is_outlived(node: StoredNode, now_ms: int) -> bool:
    if node.children:
        return False
    if node.lifetime.container:
        return node.cversion > 0
    return now_ms - node.mtime > node.lifetime.ttl_ms
