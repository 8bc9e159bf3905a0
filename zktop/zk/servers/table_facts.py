"""Turns one sample of a server into the four facts of the model."""

from typing import Any

import msgspec

from zktop.model.facts import Connections, Expiry, Server, ServerFact, Watches
from zktop.model.text import Text, clean
from zktop.zk.connect.address import Hosts
from zktop.zk.servers.sample import Sample
from zktop.zk.servers.table_formats import Paths


class Stamp(msgspec.Struct, frozen=True):
    """The server of a sample, its zxid and its time."""

    server: Text
    zxid: int
    at: int


def facts(told: Sample, stamp: Stamp, hosts: Hosts) -> list[ServerFact]:
    """The four facts of one sample; paths lose the chroot."""
    common: dict[str, Any] = {"server": stamp.server, "zxid": stamp.zxid, "at": stamp.at}
    return [
        _server(told, common),
        Connections(**common, rows=told.connections, why=_why(told, "connections")),
        Watches(
            **common,
            rows=_inside(told.watches, hosts),
            children=_inside(told.child_watches, hosts),
            listed=None if told.watches is None else sum(map(len, told.watches.values())),
            is_mixed=told.watches is not None and told.kind.traits.all_watches,
            why=_why(told, "watches"),
        ),
        Expiry(
            **common,
            expires_in_ms=told.expires_in_ms,
            timeouts_ms=told.timeouts_ms,
            sessions=told.sessions,
            ephemerals=_inside(told.ephemerals, hosts),
            tick_ms=told.tick_ms,
            why=_why(told, "expiry"),
        ),
    ]


def _server(told: Sample, common: dict[str, Any]) -> Server:
    figures = told.figures
    latency = [_float(figures.get(name)) for name in ("min_latency", "avg_latency", "max_latency")]
    low, mean, high = latency
    known = low is not None and mean is not None and high is not None
    mode, version = figures.get("server_state"), told.kind.version
    return Server(
        **common,
        mode=clean(mode) if isinstance(mode, str) else None,
        version=Text(".".join(map(str, version))) if version else None,
        connections=_int(figures.get("num_alive_connections")),
        watches=_int(figures.get("watch_count")),
        latency_ms=(low, mean, high) if known else None,  # type: ignore[arg-type]  # just checked
        outstanding=_int(figures.get("outstanding_requests")),
        znodes=_int(figures.get("znode_count")),
        server_zxid=told.zxid,
        channel=told.channel,
        flavour=told.kind.flavour,
        why=_why(told, "server"),
        state=told.state,
        since=told.since,
    )


def _why(told: Sample, table: str) -> Text | None:
    said = told.why.get(table)
    return clean(said) if said else None


def _inside(rows: Paths | None, hosts: Hosts) -> Paths | None:
    if rows is None or not hosts.chroot:
        return rows
    seen = {session: map(hosts.inside, paths) for session, paths in rows.items()}
    kept = {
        session: tuple(Text(p) for p in paths if p is not None) for session, paths in seen.items()
    }
    return {session: paths for session, paths in kept.items() if paths}


def _int(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) else None


def _float(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
