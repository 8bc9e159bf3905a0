"""One look at one server's tables, by its AdminServer or by four-letter words, as facts."""

import ssl
import time
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import msgspec

from zktop.model.facts import Connection, Connections, Expiry, Server, ServerFact, Watches
from zktop.model.text import Text, clean
from zktop.zk import admin, admin_tables, tables, words
from zktop.zk.access import Admin
from zktop.zk.expiry import ServerClock, from_dates, from_monotonic
from zktop.zk.hosts import Address, Hosts
from zktop.zk.tables import Paths
from zktop.zk.words import RefusedError

SECONDS = 5.0  # for one answer
WORDS_MAY_WATCH = 800  # so few that the answer fits into socket buffers, whoever stops reading
ADMIN_MAY_WATCH = 200_000  # the AdminServer holds no lock while it writes, but builds it all

Channel = Literal["4lw", "admin", "none"]


class Stamp(NamedTuple):
    """Whose tables, not older than which transaction, read when."""

    server: Text
    zxid: int
    at: int


class Way(NamedTuple):
    """How to ask one server."""

    address: Address
    hosts: Hosts
    context: ssl.SSLContext | None
    admin: Admin
    admin_context: ssl.SSLContext | None
    large_tables: bool
    tally: Callable[[int], None]  # is told how many bytes each answer had


class Told(msgspec.Struct):
    """What a channel told; a table that it refused is None, with the reason in `why`."""

    channel: Channel
    figures: dict[str, Any] = {}
    zxid: int | None = None
    connections: tuple[Connection, ...] | None = None
    watches: Paths | None = None
    child_watches: Paths | None = None
    expires_in_ms: dict[int, int] | None = None
    timeouts_ms: dict[int, int] | None = None
    ephemerals: Paths | None = None
    tick_ms: int | None = None
    why: dict[str, str] = {}
    asked: int = 0

    def attempt(self, table: str, question: Callable[[], None]) -> None:
        """Ask for one table; a refusal is part of the answer."""
        self.asked += 1
        try:
            question()
        except RefusedError as refusal:
            self.why[table] = str(refusal)


def by_admin(way: Way, clock: ServerClock) -> Told:
    """Ask the AdminServer; RefusedError when there is none that belongs to this server."""
    port = way.admin.port_of(way.address)

    def ask(name: str) -> dict[str, Any]:
        return admin.command(
            Address(way.address.host, port),
            name,
            url=way.admin.command_url,
            context=way.admin_context,
            seconds=SECONDS,
            tally=way.tally,
        )

    settings = ask("configuration")
    if way.address.port not in (settings.get("client_port"), settings.get("secure_client_port")):
        raise RefusedError(f"the AdminServer on port {port} is another server's")
    told = Told("admin", tick_ms=admin_tables.whole(settings.get("tick_time")), asked=1)
    told.attempt("server", lambda: _admin_figures(told, ask))
    told.attempt("connections", lambda: _admin_connections(told, ask("connections"), clock))
    told.attempt("watches", lambda: _admin_watches(told, ask, way))
    told.attempt("expiry", lambda: _admin_dump(told, ask("dump"), clock))
    return told


def _admin_figures(told: Told, ask: Callable[[str], dict[str, Any]]) -> None:
    stats = ask("server_stats").get("server_stats") or {}
    told.zxid = admin_tables.whole(stats.get("last_processed_zxid"))
    monitor = ask("monitor")
    told.figures = {name: monitor.get(name) for name in monitor if name in _FIGURES}


def _admin_connections(told: Told, answer: dict[str, Any], clock: ServerClock) -> None:
    rows = admin_tables.connections(answer)
    told.connections = _aged(rows, admin_tables.newest_answer(answer), clock)


def _admin_watches(told: Told, ask: Callable[[str], dict[str, Any]], way: Way) -> None:
    count = admin_tables.whole(ask("watch_summary").get("num_total_watches")) or 0
    if count > ADMIN_MAY_WATCH and not way.large_tables:
        raise RefusedError(f"{count} watches are more than is asked for without being told to")
    told.watches = admin_tables.watched(ask("watches"))
    try:
        told.child_watches = admin_tables.watched_in_detail(ask("watch_details"), "children")
    except RefusedError:  # every release so far: it tells nothing about child watches
        told.child_watches = None


def _admin_dump(told: Told, answer: dict[str, Any], clock: ServerClock) -> None:
    told.ephemerals = admin_tables.ephemerals(answer)
    buckets, at = admin_tables.expiry(answer), _now()
    clock.awaits(min(buckets, default=None), at)
    told.expires_in_ms = from_monotonic(buckets, clock.now(at)) or None


def by_words(way: Way, clock: ServerClock) -> Told:
    """Ask with four-letter words; RefusedError when the server does not even say what it is."""

    def ask(word: str) -> str:
        return words.ask(way.address, word, way.context, SECONDS, way.tally)

    told = Told("4lw", asked=1)
    srvr = ask("srvr")
    told.zxid = tables.hexadecimal(tables.figures(srvr).get("Zxid", ""))
    told.figures = _srvr_figures(srvr)
    told.attempt("server", lambda: told.figures.update(_mntr_figures(ask("mntr"))))
    told.attempt("connections", lambda: _word_connections(told, ask("cons"), clock))
    told.attempt("watches", lambda: _word_watches(told, ask, way))
    told.attempt("tick", lambda: _word_tick(told, ask("conf")))
    told.attempt("expiry", lambda: _word_dump(told, ask("dump"), clock))
    return told


def _srvr_figures(srvr: str) -> dict[str, Any]:
    figures = tables.figures(srvr)
    latency = [tables.decimal(part) for part in _latency(figures).split("/")]
    named = dict(zip(("min_latency", "avg_latency", "max_latency"), latency, strict=False))
    return named | {
        "version": figures.get("Zookeeper version"),
        "server_state": tables.mode_of(srvr),
        "num_alive_connections": tables.number(figures.get("Connections")),
        "outstanding_requests": tables.number(figures.get("Outstanding")),
        "znode_count": tables.number(figures.get("Node count")),
    }


def _latency(figures: dict[str, str]) -> str:
    return figures.get("Latency min/avg/max", "")


def _mntr_figures(mntr: str) -> dict[str, Any]:
    told = {name.removeprefix("zk_"): value for name, value in tables.pairs(mntr, "\t").items()}
    numbers = {name: tables.decimal(told.get(name)) for name in _NUMBERS}
    return {name: value for name, value in numbers.items() if value is not None}


def _word_connections(told: Told, cons: str, clock: ServerClock) -> None:
    told.connections = _aged(tables.connections(cons), tables.newest_answer(cons), clock)


def _word_watches(told: Told, ask: Callable[[str], str], way: Way) -> None:
    count = tables.watches_in_all(ask("wchs")) or 0
    if count > WORDS_MAY_WATCH and not way.large_tables:
        raise RefusedError(
            f"{count} watches: a reader that stalls in so large an answer freezes the server; "
            "give it an AdminServer, or ask for large tables"
        )
    told.watches = tables.watched(ask("wchc"))


def _word_tick(told: Told, conf: str) -> None:
    told.tick_ms = tables.number(tables.pairs(conf, "=").get("tickTime"))


def _word_dump(told: Told, text: str, clock: ServerClock) -> None:
    found = tables.dump(text)
    told.ephemerals, told.timeouts_ms = found.ephemerals, found.timeouts_ms
    at = _now()
    told.expires_in_ms = from_dates(found.buckets, at, clock.now(at)) or None


def facts(told: Told, stamp: Stamp, hosts: Hosts) -> list[ServerFact]:
    """Make the four facts of one look; paths become those that our clients know."""
    common: dict[str, Any] = {"server": stamp.server, "zxid": stamp.zxid, "at": stamp.at}
    return [
        _server(told, common),
        Connections(**common, rows=told.connections, why=_why(told, "connections")),
        Watches(
            **common,
            rows=_inside(told.watches, hosts),
            children=_inside(told.child_watches, hosts),
            why=_why(told, "watches"),
        ),
        Expiry(
            **common,
            expires_in_ms=told.expires_in_ms,
            timeouts_ms=told.timeouts_ms,
            ephemerals=_inside(told.ephemerals, hosts),
            tick_ms=told.tick_ms,
            why=_why(told, "expiry"),
        ),
    ]


def unreached(why: str) -> Told:
    """Give what a server tells that tells nothing."""
    return Told("none", why=dict.fromkeys(("server", "connections", "watches", "expiry"), why))


def _server(told: Told, common: dict[str, Any]) -> Server:
    figures = told.figures
    latency = [_float(figures.get(name)) for name in ("min_latency", "avg_latency", "max_latency")]
    low, mean, high = latency
    known = low is not None and mean is not None and high is not None
    mode, version = figures.get("server_state"), tables.version_of(str(figures.get("version")))
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
        why=_why(told, "server"),
    )


def _why(told: Told, table: str) -> Text | None:
    said = told.why.get(table)
    return clean(said) if said else None


def _aged(
    rows: tuple[Connection, ...], newest: int | None, clock: ServerClock
) -> tuple[Connection, ...]:
    """Count how long each is quiet from now, not from the newest answer of this table."""
    at = _now()
    clock.heard(newest, at)
    now = clock.now(at)
    later = now - newest if now is not None and newest is not None else 0
    if later <= 0:
        return rows
    return tuple(
        row
        if row.quiet_ms is None
        else msgspec.structs.replace(row, quiet_ms=row.quiet_ms + later)
        for row in rows
    )


def _inside(rows: Paths | None, hosts: Hosts) -> Paths | None:
    if rows is None or not hosts.chroot:
        return rows
    seen = {session: map(hosts.inside, paths) for session, paths in rows.items()}
    kept = {
        session: tuple(Text(p) for p in paths if p is not None) for session, paths in seen.items()
    }
    return {session: paths for session, paths in kept.items() if paths}


def _now() -> int:
    return time.time_ns() // 1_000_000


def _int(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) else None


def _float(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


_NUMBERS = (
    "avg_latency",
    "max_latency",
    "min_latency",
    "num_alive_connections",
    "outstanding_requests",
    "watch_count",
    "znode_count",
)
_FIGURES = frozenset({*_NUMBERS, "version", "server_state"})
