"""Samples the tables of one server, through its AdminServer or with four-letter words."""

import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Literal

import msgspec

from zktop.model.facts import Connection, ServerState
from zktop.model.text import Text
from zktop.zk.connect.address import Address, AdminAccess, Hosts
from zktop.zk.connect.read_only_exchange import ANSWER_TIMEOUT_S
from zktop.zk.servers import admin, flavours, four_letter, table_formats, table_size_limits
from zktop.zk.servers.flavours import OPERATIONS, ServerKind
from zktop.zk.servers.four_letter import HungUpError, RefusedError
from zktop.zk.servers.known_tables import KnownTables
from zktop.zk.servers.large_table_reader import TableReader
from zktop.zk.servers.server_clock import ServerClock, from_dates, from_monotonic, monotonic_ms
from zktop.zk.servers.table_formats import PathsBySession, WantedPaths
from zktop.zk.servers.table_size_limits import TableSizeEstimate

Channel = Literal["4lw", "admin", "none"]


class SampleSettings(msgspec.Struct, frozen=True):
    """How to ask one server."""

    address: Address
    hosts: Hosts
    context: ssl.SSLContext | None
    admin: AdminAccess
    admin_context: ssl.SSLContext | None
    large_tables: bool
    count_bytes: Callable[[int], None]  # receives the size of each answer
    take_request: Callable[[], None] = lambda: None  # waits for the request budget
    table_reader: TableReader | None = None  # reads watch tables. Without it, this process does.
    # Estimates the size of this server's watch table.
    sizes: TableSizeEstimate = msgspec.field(default_factory=TableSizeEstimate)
    known_tables: KnownTables = msgspec.field(default_factory=KnownTables)  # of this server
    other_watches: tuple[PathsBySession, ...] = ()  # in the last samples of the other servers
    hidden: tuple[str, ...] = ()  # znodes that zktop may not read or list
    notes_ephemerals: bool = False  # put the paths of all ephemerals into the sample


class Sample(msgspec.Struct):
    """The tables of one server. A refused table is None, with the reason in `why`."""

    channel: Channel
    kind: ServerKind = ServerKind()
    figures: dict[str, Any] = {}
    zxid: int | None = None
    connections: tuple[Connection, ...] | None = None
    watches: PathsBySession | None = None
    expires_in_ms: dict[int, int] | None = None
    timeouts_ms: dict[int, int] | None = None
    ephemerals: PathsBySession | None = None
    all_ephemerals: list[str] = []  # full paths, if they are noted and the table has changed
    sessions: tuple[int, ...] | None = None
    tick_ms: int | None = None
    server_id: int | None = None  # its number in the ensemble
    why: dict[str, str] = {}
    state: ServerState | None = None  # whether it answers
    since: int | None = None  # when it stopped serving, or None while it serves

    def attempt(self, table: str, question: Callable[[], None]) -> None:
        """Ask for one table. Record a refusal in the sample."""
        try:
            question()
        except RefusedError as refusal:
            self.why[table] = str(refusal)


def by_admin(settings: SampleSettings, clock: ServerClock) -> Sample:
    """Ask the AdminServer. Raise RefusedError if none belongs to this server."""
    port = settings.admin.port_of(settings.address)

    def ask(name: str) -> dict[str, Any]:
        settings.take_request()
        return admin.command(
            settings.hosts.server(settings.address.host, port),
            name,
            context=settings.admin_context,
            count_bytes=settings.count_bytes,
        )

    configuration = ask("configuration")
    if settings.address.port not in (
        configuration.get("client_port"),
        configuration.get("secure_client_port"),
    ):
        raise RefusedError(
            f"the AdminServer on port {port} names another client port: if it is this server's, "
            "set aliases"
        )
    tick_ms = admin.integer(configuration.get("tick_time"))
    server_id = admin.integer(configuration.get("server_id")) or None
    sample = Sample("admin", ServerKind("zookeeper"), tick_ms=tick_ms, server_id=server_id)
    sample.attempt("server", lambda: _admin_figures(sample, ask))
    sample.attempt("connections", lambda: _admin_connections(sample, ask("connections"), clock))
    sample.attempt("watches", lambda: _admin_watches(sample, ask, settings))
    sample.attempt("expiry", lambda: _admin_dump(sample, ask, clock, settings))
    return sample


def _admin_figures(sample: Sample, ask: Callable[[str], dict[str, Any]]) -> None:
    stats = ask("server_stats").get("server_stats")
    if not isinstance(stats, dict):
        raise table_formats.unreadable("AdminServer server_stats", str(stats))
    sample.zxid = admin.integer(stats.get("last_processed_zxid"))
    monitor = ask("monitor")
    sample.kind = ServerKind("zookeeper", flavours.version_of(str(monitor.get("version"))))
    sample.figures = {name: monitor.get(name) for name in monitor if name in _FIGURES}


def _admin_connections(sample: Sample, answer: dict[str, Any], clock: ServerClock) -> None:
    rows = admin.connections(answer)
    sample.connections = _with_silence_until_now(rows, admin.newest_answer(answer), clock)


def _admin_watches(
    sample: Sample, ask: Callable[[str], dict[str, Any]], settings: SampleSettings
) -> None:
    count = admin.total_watches(ask("watch_summary"))
    if not settings.large_tables:
        table_size_limits.check_admin_server(count)
    answer = ask("watches")
    sample.watches = settings.known_tables.rows(
        "watches", admin.large_table(answer, admin.WATCHES), lambda: admin.watched(answer)
    )


def _admin_dump(
    sample: Sample,
    ask: Callable[..., dict[str, Any]],
    clock: ServerClock,
    settings: SampleSettings,
) -> None:
    answer = ask("dump")
    sample.ephemerals = settings.known_tables.rows(
        "ephemerals",
        admin.large_table(answer, admin.EPHEMERALS),
        lambda: admin.ephemerals(answer, _wanted_znodes(sample, settings)),
        _basis(sample, settings),
    )
    buckets, at = admin.expiry(answer), monotonic_ms()
    clock.saw_expiry(min(buckets, default=None), at)
    sample.expires_in_ms = from_monotonic(buckets, clock.now(at)) or None


def by_words(settings: SampleSettings, clock: ServerClock) -> Sample:
    """Ask with four-letter words. Raise RefusedError if `srvr` is refused or unreadable."""
    srvr = _ask_text("srvr", ServerKind(), settings)
    kind = flavours.kind_of(srvr)
    if kind is None or table_formats.mode_of(srvr) is None:
        raise table_formats.unreadable("srvr", srvr)
    sample = Sample("4lw", kind, _srvr_figures(srvr), _zxid_in(srvr))
    ask = partial(_ask_text, kind=kind, settings=settings)
    sample.attempt("server", lambda: sample.figures.update(_mntr_figures(ask("mntr"))))
    _leave_out_this_connection(sample)
    sample.attempt("connections", lambda: _word_connections(sample, ask("cons"), clock))
    dump = b""
    try:  # before the watches: it shows how long paths are, and holds no lock
        dump = _ask("dump", kind, settings)
    except RefusedError as refusal:
        sample.why["expiry"] = str(refusal)
    # Not `now_ms`: after the clock is set back, it stays ahead for a while, but dates do not.
    dumped_at, clocked_at = time.time_ns() // 1_000_000, clock.now(monotonic_ms())
    settings.sizes.read_dump(dump)
    sample.attempt("watches", lambda: _request_watches(sample, ask, settings))
    if kind.traits.expiry:
        sample.attempt("tick", lambda: _read_conf(sample, ask("conf")))
    if dump:
        sample.attempt("expiry", lambda: _read_dump(sample, dump, dumped_at, clocked_at, settings))
    return sample


@contextmanager
def _explained_refusal(kind: ServerKind, word: str) -> Iterator[None]:
    """Explain why Keeper or RaftKeeper closed the connection: the word is not whitelisted.

    ZooKeeper itself answers with a sentence.
    """
    try:
        yield
    except HungUpError:
        if kind.flavour in ("keeper", "raftkeeper"):
            title = flavours.TITLES[kind.flavour]
            reason = f"{word} is not in the four_letter_word_white_list of this {title}"
            raise RefusedError(reason) from None
        raise


def _zxid_in(srvr: str) -> int | None:
    """Find the zxid in `srvr`, which RaftKeeper prints in decimal."""
    zxid = table_formats.figures(srvr).get("Zxid", "")
    return table_formats.number(zxid) if zxid.isdecimal() else table_formats.hexadecimal(zxid)


def _srvr_figures(srvr: str) -> dict[str, Any]:
    figures = table_formats.figures(srvr)
    latencies = figures.get("Latency min/avg/max", "").split("/")
    latency = map(table_formats.decimal, latencies)
    named = dict(zip(("min_latency", "avg_latency", "max_latency"), latency, strict=False))
    return named | {
        "server_state": table_formats.mode_of(srvr),
        "num_alive_connections": table_formats.number(figures.get("Connections")),
        "outstanding_requests": table_formats.number(figures.get("Outstanding")),
        "znode_count": table_formats.node_count(srvr),
    }


def _mntr_figures(mntr: str) -> dict[str, Any]:
    monitored = table_formats.monitored(mntr)
    numbers = {name: table_formats.decimal(monitored.get(name)) for name in _NUMBERS}
    return {name: value for name, value in numbers.items() if value is not None}


def _leave_out_this_connection(sample: Sample) -> None:
    counted = sample.figures["num_alive_connections"]
    if counted and sample.kind.traits.counts_own_connection:
        sample.figures["num_alive_connections"] = counted - 1


def _word_connections(sample: Sample, cons: str, clock: ServerClock) -> None:
    rows = table_formats.connections(cons)
    if sample.kind.traits.lresp_includes_pings:
        sample.connections = _with_silence_until_now(
            rows, table_formats.newest_answer(cons), clock
        )
    else:  # its times do not include pings, and its operations have other names
        sample.connections = tuple(
            msgspec.structs.replace(row, quiet_ms=None, last_operation=_operation(row))
            for row in rows
        )


def _operation(row: Connection) -> Text | None:
    name = row.last_operation
    return None if name is None else Text(OPERATIONS.get(name, name))


def _request_watches(sample: Sample, ask: Callable[[str], str], settings: SampleSettings) -> None:
    count = table_formats.total_watches(ask("wchs"))
    if not settings.large_tables:
        expected = settings.sizes.expected(count)
        table_size_limits.check_four_letter(
            count, expected, in_this_process=settings.table_reader is None
        )
    sample.watches = _read_watches(sample.kind, count, settings)


def _read_watches(kind: ServerKind, count: int, settings: SampleSettings) -> PathsBySession:
    blank_end = kind.traits.blank_end
    if not count and not blank_end:  # an empty table looks like a refusal
        return {}
    table = _table("wchc", kind, settings)
    settings.sizes.read_table(len(table), count)
    return settings.known_tables.rows(
        "watches",
        table,
        lambda: table_formats.watched(four_letter.lines(table), blank_end=blank_end),
    )


def _table(word: str, kind: ServerKind, settings: SampleSettings) -> bytes:
    """Request a table that the server keeps locked while it writes the answer."""
    if settings.table_reader is None:
        return _ask(word, kind, settings)
    settings.take_request()
    with _explained_refusal(kind, word):
        table = settings.table_reader.ask(settings.address, word, ANSWER_TIMEOUT_S)
    settings.count_bytes(len(table))
    return table


def _read_conf(sample: Sample, conf: str) -> None:
    sample.tick_ms = table_formats.tick_ms(conf)
    sample.server_id = table_formats.server_id(conf)


def _read_dump(
    sample: Sample, dump: bytes, at: int, clocked_at: int | None, settings: SampleSettings
) -> None:
    traits = sample.kind.traits
    if not traits.expiry and sample.kind.flavour:
        title = flavours.TITLES[sample.kind.flavour]
        sample.why["expiry"] = f"{title} does not report when sessions expire"
    parsed = table_formats.dump(four_letter.lines(dump), WantedPaths())
    sample.ephemerals = settings.known_tables.rows(
        "ephemerals",
        table_formats.ephemerals_in(dump),
        lambda: _ephemerals(sample, dump, settings),
        _basis(sample, settings),
    )
    sample.timeouts_ms = parsed.timeouts_ms
    sample.sessions = parsed.sessions if traits.all_sessions else None
    sample.expires_in_ms = from_dates(parsed.buckets, at, clocked_at) or None


def _ephemerals(sample: Sample, dump: bytes, settings: SampleSettings) -> PathsBySession:
    wanted = _wanted_znodes(sample, settings)
    return table_formats.dump(four_letter.lines(dump), wanted).ephemerals or {}


def _ask(word: str, kind: ServerKind, settings: SampleSettings) -> bytes:
    settings.take_request()
    with _explained_refusal(kind, word):
        context, count_bytes = settings.context, settings.count_bytes
        return four_letter.ask(settings.address, word, context, count_bytes=count_bytes)


def _ask_text(word: str, kind: ServerKind, settings: SampleSettings) -> str:
    return _ask(word, kind, settings).decode("utf-8", "replace")


def _basis(sample: Sample, settings: SampleSettings) -> object:
    """What `_wanted_znodes` depends on, usually the same objects as in the previous sample."""
    return (sample.watches, *settings.other_watches), settings.hidden


def _wanted_znodes(sample: Sample, settings: SampleSettings) -> WantedPaths:
    """The znodes whose owners matter: they are watched, or an ACL hides them from zktop.

    All other ephemerals are left out, because a large ensemble has a hundred thousand of them.
    """
    watches = (*settings.other_watches, sample.watches or {})
    watched = {path: path for watch in watches for paths in watch.values() for path in paths}
    hidden = [settings.hosts.full(path) for path in settings.hidden]
    return WantedPaths(
        watched | {path: Text(path) for path in hidden},
        tuple(f"{path.rstrip('/')}/" for path in hidden),
        sample.all_ephemerals.append if settings.notes_ephemerals else None,
    )


def unreached(why: str, kind: ServerKind = ServerKind()) -> Sample:  # noqa: B008  it is frozen
    """The sample of a server that gave no tables."""
    tables = ("server", "connections", "watches", "expiry")
    return Sample("none", kind, why=dict.fromkeys(tables, why))


def _with_silence_until_now(
    rows: tuple[Connection, ...], newest: int | None, clock: ServerClock
) -> tuple[Connection, ...]:
    """Extend each silence to now: the table counts it only up to its own newest answer."""
    at = monotonic_ms()
    clock.saw_answer(newest, at)
    now = clock.now(at)
    since_newest = now - newest if now is not None and newest is not None else 0
    if since_newest <= 0:
        return rows
    return tuple(
        row
        if row.quiet_ms is None
        else msgspec.structs.replace(row, quiet_ms=row.quiet_ms + since_newest)
        for row in rows
    )


_NUMBERS = (
    "avg_latency",
    "max_latency",
    "min_latency",
    "num_alive_connections",
    "outstanding_requests",
    "watch_count",
    "znode_count",
)
_FIGURES = frozenset({*_NUMBERS, "server_state"})
