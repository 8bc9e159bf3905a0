"""Servers that the sandbox can imitate: ZooKeeper, and three others that differ from it.

From their sources: ClickHouse Keeper (KeeperTCPHandler.cpp, KeeperStorage.cpp), RaftKeeper
(ConnectionHandler.cpp, KeeperStore.cpp), zetcd (encode.go, pool.go, zketcd.go, stat.go).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from zktop.sandbox.protocol import NodeStat, Op
from zktop.sandbox.tree import StoredNode, int32

_ALWAYS_SUPPORTED: Final = frozenset(
    {
        *(Op.CREATE, Op.DELETE, Op.EXISTS, Op.GET_DATA, Op.SET_DATA, Op.GET_ACL, Op.SET_ACL),
        *(Op.GET_CHILDREN, Op.SYNC, Op.PING, Op.GET_CHILDREN2, Op.CHECK, Op.MULTI, Op.AUTH),
        *(Op.SET_WATCHES, Op.CLOSE_SESSION),
    }
)
_KEEPER_REQUESTS: Final = _ALWAYS_SUPPORTED | {
    *(Op.CREATE2, Op.RECONFIG, Op.CHECK_WATCHES, Op.REMOVE_WATCHES, Op.CREATE_CONTAINER),
    *(Op.CREATE_TTL, Op.MULTI_READ, Op.SET_WATCHES2, Op.ADD_WATCH),
}
KEEPER_VERSION: Final = "v26.3.9.8-0a1b2c3d4e5f60718293a4b5c6d7e8f901234567"
RAFTKEEPER_VERSION: Final = "RaftKeeper v2.3.0"
_CONTAINER_OWNER: Final = -(1 << 63)


@dataclass(frozen=True, slots=True)
class Flavour:
    """The behaviour of one server. The defaults are those of ZooKeeper."""

    name: str = "zookeeper"
    requests: frozenset[int] = frozenset({*Op})
    unknown: Literal["refused", "hung up", "ignored"] = "refused"  # how it treats unknown requests
    survives_malformed: bool = True  # keeps the connection after a truncated request
    stat: Callable[[StoredNode], NodeStat] = StoredNode.stat
    has_root: bool = True  # whether `exists` finds `/`, whose children can always be listed
    system: tuple[str, ...] = ("/zookeeper", "/zookeeper/quota", "/zookeeper/config")
    short_ids: bool = False  # sessions are numbered from 1, and have no password
    resumes: bool = True  # a client may resume its session
    any_timeout: bool = False  # no limits on the timeout that a client asks for
    refuses_newer_clients: bool = True  # refuses a client that has seen a later state
    sends_read_only_flag: bool = True  # in the response to a connect
    answers_close: bool = True
    bare_errors: bool = False  # errors of a MultiRead have a header with the operation, no body
    finds_watches_of_all: bool = True  # `checkWatches` finds watches of other clients, too
    names_watched: bool = False  # recursive events name the watched node, not the changed one


def _of_keeper(node: StoredNode) -> NodeStat:
    """Cversion also counts writes to children, pzxid only creates. Containers have an owner."""
    stat = node.stat()
    owner = _CONTAINER_OWNER if node.lifetime.container else stat.ephemeral_owner
    return stat._replace(
        cversion=int32(stat.cversion + node.child_writes),
        pzxid=node.created_zxid or node.czxid,
        ephemeral_owner=owner,
    )


def _of_raftkeeper(node: StoredNode) -> NodeStat:
    """Pzxid does not change when a session ends, though its znodes are deleted."""
    return node.stat()._replace(pzxid=node.requested_zxid or node.czxid)


def _of_zetcd(node: StoredNode) -> NodeStat:
    """Times are in microseconds, and pzxid is the czxid of the first child by name."""
    stat = node.stat()
    pzxid = node.children[min(node.children)] if node.children else node.czxid
    return stat._replace(ctime=1000 * stat.ctime, mtime=1000 * stat.mtime, pzxid=pzxid)


ZOOKEEPER: Final = Flavour()
FLAVOURS: Final = {
    flavour.name: flavour
    for flavour in (
        ZOOKEEPER,
        Flavour(
            "keeper",
            requests=_KEEPER_REQUESTS,
            unknown="hung up",
            survives_malformed=False,
            finds_watches_of_all=False,
            stat=_of_keeper,
            system=("/keeper", "/keeper/api_version", "/keeper/feature_flags"),
            short_ids=True,
            resumes=False,
            refuses_newer_clients=False,
            sends_read_only_flag=False,
            answers_close=False,
            bare_errors=True,
            names_watched=True,
        ),
        Flavour(
            "raftkeeper",
            requests=_ALWAYS_SUPPORTED | {Op.MULTI_READ},
            unknown="ignored",
            survives_malformed=False,
            finds_watches_of_all=False,
            stat=_of_raftkeeper,
            system=(),
            short_ids=True,
            sends_read_only_flag=False,
            answers_close=False,
        ),
        Flavour(
            "zetcd",
            requests=_ALWAYS_SUPPORTED,
            unknown="hung up",
            survives_malformed=False,
            finds_watches_of_all=False,
            stat=_of_zetcd,
            has_root=False,
            system=(),
            any_timeout=True,
            refuses_newer_clients=False,
            sends_read_only_flag=False,
        ),
    )
}
