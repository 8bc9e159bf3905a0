"""Four-letter words in the formats of ClickHouse Keeper, RaftKeeper and zetcd.

Words that would act on a real server only write a line to stderr, so that tests notice them.
"""

import sys
from collections.abc import Callable, Iterable, Iterator

from zktop.sandbox.connection import ClientConnection
from zktop.sandbox.core import ServerCore
from zktop.sandbox.four_letter import WORDS
from zktop.sandbox.protocol import Op
from zktop.sandbox.watches import WatchMode

Word = Callable[[ServerCore], str]

KEEPER_VERSION = "v26.3.9.8-0a1b2c3d4e5f60718293a4b5c6d7e8f901234567"
RAFTKEEPER_VERSION = "RaftKeeper v2.3.0"
OPERATIONS = {
    Op.CREATE: "Create",
    Op.CREATE2: "Create2",
    Op.DELETE: "Remove",
    Op.EXISTS: "Exists",
    Op.GET_DATA: "Get",
    Op.SET_DATA: "Set",
    Op.GET_ACL: "GetACL",
    Op.SET_ACL: "SetACL",
    Op.GET_CHILDREN: "SimpleList",
    Op.GET_CHILDREN2: "List",
    Op.SYNC: "Sync",
    Op.CHECK: "Check",
    Op.MULTI: "Multi",
    Op.MULTI_READ: "MultiRead",
    Op.ADD_WATCH: "AddWatch",
    Op.CLOSE_SESSION: "Close",
}
ACTING = "crst srst csnp rqld".split()  # noqa: SIM905  as in their documentation
ACTING_IN_KEEPER = "rcvr rclc clrs ydld ftfl jmfp jmep jmdp lgrq".split()  # noqa: SIM905


def _padded(number: int) -> str:
    return f"0x{number & 0xFFFF_FFFF_FFFF_FFFF:016x}"


def _short(number: int) -> str:
    return f"{number & 0xFFFF_FFFF_FFFF_FFFF:#x}"


def _summary(core: ServerCore, first: str, zxid: str) -> str:
    latency = core.latency
    return (
        f"{first}\n"
        f"Latency min/avg/max: {latency.least or 0}/{int(latency.mean)}/{latency.most}\n"
        f"Received: {core.received}\n"
        f"Sent{'' if core.flavour.name == 'keeper' else ' '}: {core.sent}\n"
        f"Connections: {len(core.clients)}\n"
        "Outstanding: 0\n"
        f"Zxid: {zxid}\n"
        "Mode: standalone\n"
        f"Node count: {len(core.store.tree) - 1}\n"
    )


def _keeper_srvr(core: ServerCore) -> str:
    first = f"ClickHouse Keeper version: {KEEPER_VERSION}"
    return _summary(core, first, _short(core.store.zxid))


def _raftkeeper_srvr(core: ServerCore) -> str:
    first = f"RaftKeeper version: {RAFTKEEPER_VERSION}"
    return _summary(core, first, str(core.store.zxid))


def _keeper_mntr(core: ServerCore) -> str:
    return _mntr(core, {"version": KEEPER_VERSION})


def _raftkeeper_mntr(core: ServerCore) -> str:
    version = f"{RAFTKEEPER_VERSION}-0a1b2c3d, built on 2025-08-01 00:00:00 CST"
    return _mntr(core, {"version": version, "compatible_mode": "zookeeper"})


def _mntr(core: ServerCore, first: dict[str, str]) -> str:
    facts: dict[str, object] = first | {
        "avg_latency": int(core.latency.mean),
        "max_latency": core.latency.most,
        "min_latency": core.latency.least or 0,
        "packets_received": core.received,
        "packets_sent": core.sent,
        "num_alive_connections": len(core.clients),
        "outstanding_requests": 0,
        "server_state": "standalone",
        "znode_count": len(core.store.tree) - 1,
        "watch_count": len(_watches(core)),
        "ephemerals_count": sum(len(paths) for _, paths in core.store.tree.owners()),
        "approximate_data_size": core.store.tree.bytes,
    }
    return "".join(f"zk_{name}\t{value}\n" for name, value in facts.items())


def _keeper_cons(core: ServerCore) -> str:
    return _cons(core, _padded)


def _raftkeeper_cons(core: ServerCore) -> str:
    return _cons(core, _short)


def _cons(core: ServerCore, hexed: Callable[[int], str]) -> str:
    return "".join(
        f" {_address(one)}(recved={one.received},sent={one.sent}{_details(one, hexed)})\n"
        for one in core.clients
    )


def _address(client: ClientConnection) -> str:
    host = f"[{client.host}]" if ":" in client.host else client.host
    return f"{host}:{client.port}"


def _details(client: ClientConnection, hexed: Callable[[int], str]) -> str:
    """Details with the last request but pings; `lresp` is a clock time, unlike in ZooKeeper."""
    if client.session is None:
        return "" if hexed is _padded else f",sid={hexed(-1)},lop=NA,est=0,to=30000"
    last, latency = client.last_asked, client.latency
    name = OPERATIONS.get(Op(last.op), "Unknown") if last else "NA"
    cxid = f",lcxid={hexed(last.xid)}" if last and last.xid >= 0 else ""
    return (
        f",sid={hexed(client.session_id)},lop={name},est={client.established_ms}"
        f",to={client.session.timeout_ms}{cxid}"
        f",lzxid={hexed(last.zxid if last else -1)},lresp={last.wall_ms if last else 0}"
        f",llat={latency.last},minlat={latency.least or 0},avglat={int(latency.mean)}"
        f",maxlat={latency.most}"
    )


def _watches(core: ServerCore) -> list[tuple[int, str]]:
    """All watches by session; one of data and one of children are two."""
    data, child = core.store.watches.data, core.store.watches.child
    return [
        (client.session_id, path)
        for table in (data, child)
        for path, watchers in table.by_path.items()
        for client, mode in watchers.items()
        if table is data or mode is not WatchMode.RECURSIVE  # which stands in both tables here
    ]


def _wchs(core: ServerCore) -> str:
    listed = _watches(core)
    sessions, paths = {one for one, _ in listed}, {path for _, path in listed}
    return (
        f"{len(sessions)} connections watching {len(paths)} paths\nTotal watches:{len(listed)}\n"
    )


def _keeper_wchc(core: ServerCore) -> str:
    return _grouped((_padded(one), path) for one, path in _watches(core))


def _keeper_wchp(core: ServerCore) -> str:
    return _grouped((path, _padded(one)) for one, path in _watches(core))


def _raftkeeper_wchc(core: ServerCore) -> str:
    """Each path of a session once, whatever it watches there."""
    return _grouped((_short(one), path) for one, path in dict.fromkeys(_watches(core)))


def _raftkeeper_wchp(core: ServerCore) -> str:
    return _grouped((path, _short(one)) for one, path in _watches(core))


def _grouped(pairs: Iterable[tuple[str, str]]) -> str:
    groups: dict[str, list[str]] = {}
    for head, member in pairs:
        groups.setdefault(head, []).append(member)
    return "".join(_group(groups))


def _group(groups: dict[str, list[str]]) -> Iterator[str]:
    for head, members in groups.items():
        yield f"{head}\n"
        yield from (f"\t{member}\n" for member in members)


def _keeper_dump(core: ServerCore) -> str:
    return _dump(core, _padded)


def _raftkeeper_dump(core: ServerCore) -> str:
    return _dump(core, _short)


def _dump(core: ServerCore, hexed: Callable[[int], str]) -> str:
    sessions = [one for _, ids in core.sessions.deadlines.buckets() for one in ids]
    owners = dict(core.store.tree.owners())
    return (
        f"Sessions dump ({len(sessions)}):\n"
        + "".join(f"{hexed(one)}\n" for one in sessions)
        + f"Sessions with Ephemerals ({len(owners)}):\n"
        + "".join(_group({hexed(owner): paths for owner, paths in owners.items()}))
    )


def _conf(core: ServerCore) -> str:
    return f"server_id=1\ntcp_port={core.address[1]}\nfour_letter_word_white_list=*\n"


def _acts(word: str) -> Word:
    def act(_keeper: ServerCore) -> str:
        sys.stderr.write(f"zktop sandbox: {word} was sent, which acts on a real server\n")
        sys.stderr.flush()
        return "ok"

    return act


KEEPER_WORDS: dict[bytes, Word] = {
    b"ruok": WORDS[b"ruok"],
    b"isro": WORDS[b"isro"],
    b"srvr": _keeper_srvr,
    b"stat": _keeper_srvr,
    b"mntr": _keeper_mntr,
    b"cons": _keeper_cons,
    b"wchs": _wchs,
    b"wchc": _keeper_wchc,
    b"wchp": _keeper_wchp,
    b"dump": _keeper_dump,
    b"conf": _conf,
    **{word.encode(): _acts(word) for word in (*ACTING, *ACTING_IN_KEEPER)},
}
RAFTKEEPER_WORDS: dict[bytes, Word] = {
    b"ruok": WORDS[b"ruok"],
    b"isro": WORDS[b"isro"],
    b"srvr": _raftkeeper_srvr,
    b"stat": _raftkeeper_srvr,
    b"mntr": _raftkeeper_mntr,
    b"cons": _raftkeeper_cons,
    b"wchs": _wchs,
    b"wchc": _raftkeeper_wchc,
    b"wchp": _raftkeeper_wchp,
    b"dump": _raftkeeper_dump,
    b"conf": _conf,
    **{word.encode(): _acts(word) for word in ACTING},
}
WORDS_OF: dict[str, dict[bytes, Word]] = {
    "zookeeper": WORDS,
    "keeper": KEEPER_WORDS,
    "raftkeeper": RAFTKEEPER_WORDS,
    "zetcd": {b"ruok": WORDS[b"ruok"]},
}
