"""Read-only four-letter words in the formats of ZooKeeper 3.8."""

import platform
import socket
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from zktop.sandbox import BUILT, VERSION
from zktop.sandbox.connection import ClientConnection
from zktop.sandbox.server_core import ServerCore

FULL_VERSION = f"{VERSION}, {BUILT}"


def _ruok(_core: ServerCore) -> str:
    return "imok"


def _isro(_core: ServerCore) -> str:
    return "rw"


def _srvr(core: ServerCore) -> str:
    return f"Zookeeper version: {FULL_VERSION}\n" + _summary(core)


def _stat(core: ServerCore) -> str:
    clients = "".join(f"{_brief(client)})\n" for client in core.clients)
    return f"Zookeeper version: {FULL_VERSION}\nClients:\n{clients}\n" + _summary(core)


def _summary(core: ServerCore) -> str:
    latency = core.latency
    return (
        f"Latency min/avg/max: {latency.least or 0}/{latency.mean}/{latency.most}\n"
        f"Received: {core.received}\n"
        f"Sent: {core.sent}\n"
        f"Connections: {len(core.clients)}\n"
        "Outstanding: 0\n"
        f"Zxid: {core.store.zxid:#x}\n"
        "Mode: standalone\n"
        f"Node count: {len(core.store.tree)}\n"
    )


def address_of(client: ClientConnection) -> str:
    host = f"[{client.host}]" if ":" in client.host else client.host
    return f"{host}:{client.port}"


def _brief(client: ClientConnection) -> str:
    """Format a connection without its closing bracket. [1] marks one that has a session."""
    interest = int(client.session is not None)
    counts = f"queued=0,recved={client.received},sent={client.sent}"
    return f" /{address_of(client)}[{interest}]({counts}"


def _cons(core: ServerCore) -> str:
    return "".join(f"{_brief(client)}{_details(client)})\n" for client in core.clients) + "\n"


def _details(client: ClientConnection) -> str:
    if client.session is None:
        return ""
    latency = client.latency
    return (
        f",sid={in_hex(client.session_id)},lop={client.last_op},est={client.established_ms}"
        f",to={client.session.timeout_ms},lcxid={client.last_xid:#x},lzxid={client.last_zxid:#x}"
        f",lresp={client.last_reply_ms},llat={latency.last},minlat={latency.least or 0}"
        f",avglat={int(latency.mean)},maxlat={latency.most}"
    )


def in_hex(number: int) -> str:
    return f"{number & 0xFFFF_FFFF_FFFF_FFFF:#x}"


def _mntr(core: ServerCore) -> str:
    facts = {
        "version": FULL_VERSION,
        "server_state": "standalone",
        "ephemerals_count": sum(len(paths) for _, paths in core.store.tree.owners()),
        "num_alive_connections": len(core.clients),
        "avg_latency": core.latency.mean,
        "outstanding_requests": 0,
        "znode_count": len(core.store.tree),
        "global_sessions": len(core.sessions),
        "packets_sent": core.sent,
        "packets_received": core.received,
        "watch_count": len(core.store.watches),
        "min_latency": core.latency.least or 0,
        "approximate_data_size": core.store.tree.bytes,
        "local_sessions": 0,
        "uptime": core.clock.monotonic_ms() - core.started_ms,
        "max_latency": core.latency.most,
    }
    return "".join(f"zk_{name}\t{value}\n" for name, value in facts.items())


def _wchs(core: ServerCore) -> str:
    table = core.store.watches.data
    return (
        f"{len(table.by_watcher)} connections watching {len(table.by_path)} paths\n"
        f"Total watches:{len(table)}\n"
    )


def _wchc(core: ServerCore) -> str:
    table = core.store.watches.data.by_watcher
    return _groups((in_hex(client.session_id), paths) for client, paths in table.items())


def _wchp(core: ServerCore) -> str:
    table = core.store.watches.data.by_path
    return _groups(
        (path, [in_hex(client.session_id) for client in clients])
        for path, clients in table.items()
    )


def _groups(groups: Iterator[tuple[str, dict[str, None] | list[str]]]) -> str:
    lines = (
        line for head, members in groups for line in (head, *(f"\t{member}" for member in members))
    )
    return "".join(f"{line}\n" for line in lines) + "\n"


def _dump(core: ServerCore) -> str:
    sessions, idle = core.sessions.deadlines, core.idle
    session_sets = [
        (due, [f"\t{in_hex(session)}" for session in ids]) for due, ids in sessions.buckets()
    ]
    connections = [
        (
            due,
            [
                f"\tip: /{address_of(client)} sessionId: {in_hex(client.session_id)}"
                for client in clients
            ],
        )
        for due, clients in idle.buckets()
    ]
    owners = [(f"{in_hex(owner)}:", paths) for owner, paths in core.store.tree.owners()]
    ephemerals = [
        line for head, paths in owners for line in (head, *(f"\t{path}" for path in paths))
    ]
    lines = [
        "SessionTracker dump:",
        f"Session Sets ({len(session_sets)})/({len(sessions)}):",
        *_expiring(core, session_sets),
        "ephemeral nodes dump:",
        f"Sessions with Ephemerals ({len(owners)}):",
        *ephemerals,
        "Connections dump:",
        f"Connections Sets ({len(connections)})/({len(idle)}):",
        *_expiring(core, connections),
    ]
    return "".join(f"{line}\n" for line in lines)


def _expiring(core: ServerCore, sets: list[tuple[int, list[str]]]) -> Iterator[str]:
    wall_offset_ms = core.clock.wall_ms() - core.clock.monotonic_ms()
    for due, members in sets:
        when = datetime.fromtimestamp((due + wall_offset_ms) / 1000, UTC)
        yield f"{len(members)} expire at {when:%a %b %d %H:%M:%S UTC %Y}:"
        yield from members


def _conf(core: ServerCore) -> str:
    facts = {
        "clientPort": core.address[1],
        "secureClientPort": -1,
        "dataDir": "(none: zktop sandbox, in memory)",
        "tickTime": core.tick_ms,
        "maxClientCnxns": 0,
        "minSessionTimeout": core.sessions.shortest_ms,
        "maxSessionTimeout": core.sessions.longest_ms,
        "clientPortListenBacklog": -1,
        "serverId": 0,
    }
    return "".join(f"{name}={value}\n" for name, value in facts.items())


def _envi(_core: ServerCore) -> str:
    facts = {
        "zookeeper.version": FULL_VERSION,
        "host.name": socket.gethostname(),
        "java.version": f"(none: zktop sandbox on Python {platform.python_version()})",
        "os.name": platform.system(),
        "os.arch": platform.machine(),
        "os.version": platform.release(),
    }
    return "Environment:\n" + "".join(f"{name}={value}\n" for name, value in facts.items())


WORDS: dict[bytes, Callable[[ServerCore], str]] = {
    b"ruok": _ruok,
    b"srvr": _srvr,
    b"stat": _stat,
    b"mntr": _mntr,
    b"cons": _cons,
    b"wchs": _wchs,
    b"wchc": _wchc,
    b"wchp": _wchp,
    b"dump": _dump,
    b"conf": _conf,
    b"envi": _envi,
    b"isro": _isro,
}
