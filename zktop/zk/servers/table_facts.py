"""Turns one sample of a server into the four facts of the model."""

from typing import Any

from zktop.model.facts import Connections, Expiry, Server, ServerFact, Watches
from zktop.model.text import Text, clean
from zktop.model.world.tables_of_one_server import MARK
from zktop.zk.connect.address import Hosts
from zktop.zk.servers.sample import Sample
from zktop.zk.servers.table_formats import PathsBySession
from zktop.zk.wall_clock import now_ms


def facts(sample: Sample, server: str, zxid: int, hosts: Hosts) -> list[ServerFact]:
    """The four facts of one sample that was just taken, with paths below the chroot."""
    common: dict[str, Any] = {"server": clean(server), "zxid": zxid, "at": now_ms()}
    return [
        _server(sample, common),
        Connections(**common, rows=sample.connections, why=_why(sample, "connections")),
        Watches(
            **common,
            rows=_inside(sample.watches, hosts),
            listed=None if sample.watches is None else sum(map(len, sample.watches.values())),
            is_mixed=sample.watches is not None and sample.kind.traits.all_watches,
            why=_why(sample, "watches"),
        ),
        Expiry(
            **common,
            expires_in_ms=sample.expires_in_ms,
            timeouts_ms=sample.timeouts_ms,
            sessions=sample.sessions,
            ephemerals=_inside(sample.ephemerals, hosts),
            tick_ms=sample.tick_ms,
            why=_why(sample, "expiry"),
        ),
    ]


def _server(sample: Sample, common: dict[str, Any]) -> Server:
    figures = sample.figures
    latency = [_float(figures.get(name)) for name in ("min_latency", "avg_latency", "max_latency")]
    low, mean, high = latency
    is_known = low is not None and mean is not None and high is not None
    mode, version = figures.get("server_state"), sample.kind.version
    return Server(
        **common,
        mode=clean(mode) if isinstance(mode, str) else None,
        version=Text(".".join(map(str, version))) if version else None,
        connections=_int(figures.get("num_alive_connections")),
        watches=_int(figures.get("watch_count")),
        latency_ms=(low, mean, high) if is_known else None,  # type: ignore[arg-type]  # just checked
        outstanding=_int(figures.get("outstanding_requests")),
        znodes=_int(figures.get("znode_count")),
        server_zxid=sample.zxid,
        channel=sample.channel,
        flavour=sample.kind.flavour,
        why=_why(sample, "server"),
        state=sample.state,
        since=sample.since,
    )


def _why(sample: Sample, table: str) -> Text | None:
    reason = sample.why.get(table)
    return clean(reason) if reason else None


def _inside(rows: PathsBySession | None, hosts: Hosts) -> PathsBySession | None:
    if rows is None or not hosts.chroot:
        return rows
    inside = {
        session: (path if path == MARK else hosts.inside(path) for path in paths)
        for session, paths in rows.items()
    }
    kept = {
        session: tuple(Text(path) for path in paths if path is not None)
        for session, paths in inside.items()
    }
    return {session: paths for session, paths in kept.items() if paths}


def _int(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) else None


def _float(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
