"""Four-letter words in the formats of ClickHouse Keeper, RaftKeeper and zetcd.

Words that would act on a real server only print a line to stderr, so that tests notice them.
"""

import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

from zktop.sandbox.connection import ClientConnection
from zktop.sandbox.flavours import KEEPER_VERSION, RAFTKEEPER_VERSION
from zktop.sandbox.four_letter import WORDS, address_of, in_hex
from zktop.sandbox.protocol import Op
from zktop.sandbox.server_core import ServerCore
from zktop.sandbox.watches import WatchMode

Word = Callable[[ServerCore], str]

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
ACTING_IN_KEEPER = "rcvr rclc clrs ydld ftfl jmfp jmep jmdp lgrq".split()  # noqa: SIM905  likewise


def _pad(number: int) -> str:
    return f"0x{number & 0xFFFF_FFFF_FFFF_FFFF:016x}"


class WordStyle(NamedTuple):
    """How one of these servers formats its answers, where they differ."""

    title: str  # of `srvr`
    zxid: Callable[[int], str]  # in `srvr`
    sent: str  # the label
    mntr: dict[str, str]  # first lines
    hexed: Callable[[int], str]
    without_session: str  # the details of a connection without a session
    paths_once: bool = False  # `wchc` lists a path once, even if a session has two watches on it


KEEPER = WordStyle(
    f"ClickHouse Keeper version: {KEEPER_VERSION}",
    zxid=in_hex,
    sent="Sent",
    mntr={"version": KEEPER_VERSION},
    hexed=_pad,
    without_session="",
)
RAFTKEEPER = WordStyle(
    f"RaftKeeper version: {RAFTKEEPER_VERSION}",
    zxid=str,
    sent="Sent ",
    mntr={
        "version": f"{RAFTKEEPER_VERSION}-0a1b2c3d, built on 2025-08-01 00:00:00 CST",
        "compatible_mode": "zookeeper",
    },
    hexed=in_hex,
    without_session=f",sid={in_hex(-1)},lop=NA,est=0,to=30000",
    paths_once=True,
)


def _srvr(style: WordStyle, core: ServerCore) -> str:
    latency = core.latency
    return (
        f"{style.title}\n"
        f"Latency min/avg/max: {latency.least or 0}/{int(latency.mean)}/{latency.most}\n"
        f"Received: {core.received}\n"
        f"{style.sent}: {core.sent}\n"
        f"Connections: {len(core.clients)}\n"
        "Outstanding: 0\n"
        f"Zxid: {style.zxid(core.store.zxid)}\n"
        "Mode: standalone\n"
        f"Node count: {len(core.store.tree) - 1}\n"
    )


def _mntr(style: WordStyle, core: ServerCore) -> str:
    facts: dict[str, object] = style.mntr | {
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


def _cons(style: WordStyle, core: ServerCore) -> str:
    return "".join(
        f" {address_of(client)}(recved={client.received},sent={client.sent}"
        f"{_details(client, style)})\n"
        for client in core.clients
    )


def _details(client: ClientConnection, style: WordStyle) -> str:
    """Format the details of a connection. Pings do not count; `lresp` is by the wall clock."""
    if client.session is None:
        return style.without_session
    last, latency, hexed = client.last_asked, client.latency, style.hexed
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
    """All watches, with their sessions. A data watch and a child watch on a path count as two."""
    data, child = core.store.watches.data, core.store.watches.child
    return [
        (client.session_id, path)
        for table in (data, child)
        for path, watchers in table.by_path.items()
        for client, mode in watchers.items()
        if table is data or mode is not WatchMode.RECURSIVE  # these are in both tables
    ]


def _wchs(core: ServerCore) -> str:
    listed = _watches(core)
    sessions = {session for session, _ in listed}
    paths = {path for _, path in listed}
    return (
        f"{len(sessions)} connections watching {len(paths)} paths\nTotal watches:{len(listed)}\n"
    )


def _wchc(style: WordStyle, core: ServerCore) -> str:
    watches = _watches(core)
    listed = dict.fromkeys(watches) if style.paths_once else watches
    return _group((style.hexed(session), path) for session, path in listed)


def _wchp(style: WordStyle, core: ServerCore) -> str:
    return _group((path, style.hexed(session)) for session, path in _watches(core))


def _group(pairs: Iterable[tuple[str, str]]) -> str:
    groups: dict[str, list[str]] = {}
    for head, member in pairs:
        groups.setdefault(head, []).append(f"\t{member}\n")
    return "".join(f"{head}\n{''.join(members)}" for head, members in groups.items())


def _dump(style: WordStyle, core: ServerCore) -> str:
    sessions = [session for _, ids in core.sessions.deadlines.buckets() for session in ids]
    owners = dict(core.store.tree.owners())
    return (
        f"Sessions dump ({len(sessions)}):\n"
        + "".join(f"{style.hexed(session)}\n" for session in sessions)
        + f"Sessions with Ephemerals ({len(owners)}):\n"
        + _group((style.hexed(owner), path) for owner, paths in owners.items() for path in paths)
    )


def _conf(core: ServerCore) -> str:
    return f"server_id=1\ntcp_port={core.address[1]}\nfour_letter_word_white_list=*\n"


def _acting_word(word: str) -> Word:
    def act(_core: ServerCore) -> str:
        sys.stderr.write(f"zktop sandbox: {word} was sent, which acts on a real server\n")
        sys.stderr.flush()
        return "ok"

    return act


def _words(style: WordStyle, acting: Iterable[str]) -> dict[bytes, Word]:
    return {
        b"ruok": WORDS[b"ruok"],
        b"isro": WORDS[b"isro"],
        b"srvr": partial(_srvr, style),
        b"stat": partial(_srvr, style),
        b"mntr": partial(_mntr, style),
        b"cons": partial(_cons, style),
        b"wchs": _wchs,
        b"wchc": partial(_wchc, style),
        b"wchp": partial(_wchp, style),
        b"dump": partial(_dump, style),
        b"conf": _conf,
        **{word.encode(): _acting_word(word) for word in acting},
    }


WORDS_OF: dict[str, dict[bytes, Word]] = {
    "zookeeper": WORDS,
    "keeper": _words(KEEPER, (*ACTING, *ACTING_IN_KEEPER)),
    "raftkeeper": _words(RAFTKEEPER, ACTING),
    "zetcd": {b"ruok": WORDS[b"ruok"]},
}
