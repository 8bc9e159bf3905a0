"""Samples one server's tables, by its AdminServer or by four-letter words, as facts."""

import ssl
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, TypeVar

import msgspec
from msgspec.structs import force_setattr

from zktop.model.facts import Connection, Connections, Expiry, ServerFact, ServerState, Watches
from zktop.model.text import Text
from zktop.zk.connect.address import Address, AdminAccess, Hosts
from zktop.zk.servers import admin, flavours
from zktop.zk.servers import admin as admin_tables
from zktop.zk.servers import four_letter as words
from zktop.zk.servers import table_formats as tables
from zktop.zk.servers.expiry import ServerClock, from_dates, from_monotonic
from zktop.zk.servers.flavours import OPERATIONS, ServerKind
from zktop.zk.servers.four_letter import HungUpError, RefusedError
from zktop.zk.servers.table_formats import Paths
from zktop.zk.servers.table_reader import (
    READER_TAKES,
    UNREAD,
    Sizes,
    TableReader,
    held_by_the_kernel,
)

SECONDS = 5.0  # per answer
ADMIN_MAY_WATCH = (
    200_000  # watches; the AdminServer holds no lock, but builds the answer in memory
)

ALLOW_IT = "--large-tables, or introspect: { large_tables: true } in the config, reads them"

Channel = Literal["4lw", "admin", "none"]


class SampleSettings(msgspec.Struct, frozen=True):
    """How to ask one server."""

    address: Address
    hosts: Hosts
    context: ssl.SSLContext | None
    admin: AdminAccess
    admin_context: ssl.SSLContext | None
    large_tables: bool
    tally: Callable[[int], None]  # receives the size of each answer
    turn: Callable[[], None] = lambda: None  # waits for the request budget
    separate: TableReader | None = None  # reads watch tables; None: read in this process
    sizes: Sizes = msgspec.field(default_factory=Sizes)  # of this server's tables
    watched: tuple[Paths, ...] = ()  # watches at the other servers, by their last samples


class Sample(msgspec.Struct):
    """The tables of one server; a refused table is None, with the reason in `why`."""

    channel: Channel
    kind: ServerKind = ServerKind()
    figures: dict[str, Any] = {}
    zxid: int | None = None
    connections: tuple[Connection, ...] | None = None
    watches: Paths | None = None
    child_watches: Paths | None = None
    expires_in_ms: dict[int, int] | None = None
    timeouts_ms: dict[int, int] | None = None
    ephemerals: Paths | None = None
    sessions: tuple[int, ...] | None = None
    tick_ms: int | None = None
    why: dict[str, str] = {}
    state: ServerState | None = None
    since: int | None = None

    def attempt(self, table: str, question: Callable[[], None]) -> None:
        """Ask for one table; a refusal is part of the sample."""
        try:
            question()
        except RefusedError as refusal:
            self.why[table] = str(refusal)


def by_admin(way: SampleSettings, clock: ServerClock) -> Sample:
    """Ask the AdminServer; raises RefusedError if none belongs to this server."""
    port = way.admin.port_of(way.address)

    def ask(name: str, leave_out: Collection[str] = ()) -> dict[str, Any]:
        way.turn()
        return admin.command(
            Address(way.address.host, port),
            name,
            url=way.admin.command_url,
            context=way.admin_context,
            seconds=SECONDS,
            tally=way.tally,
            leave_out=leave_out,
        )

    settings = ask("configuration")
    if way.address.port not in (settings.get("client_port"), settings.get("secure_client_port")):
        raise RefusedError(f"the AdminServer on port {port} is another server's")
    tick_ms = admin_tables.whole(settings.get("tick_time"))
    told = Sample("admin", ServerKind("zookeeper"), tick_ms=tick_ms)
    told.attempt("server", lambda: _admin_figures(told, ask))
    told.attempt("connections", lambda: _admin_connections(told, ask("connections"), clock))
    told.attempt("watches", lambda: _admin_watches(told, ask, way))
    told.attempt("expiry", lambda: _admin_dump(told, ask, clock, way))
    return told


def _admin_figures(told: Sample, ask: Callable[[str], dict[str, Any]]) -> None:
    stats = ask("server_stats").get("server_stats")
    if not isinstance(stats, dict):
        raise tables.unreadable("AdminServer server_stats", str(stats))
    told.zxid = admin_tables.whole(stats.get("last_processed_zxid"))
    monitor = ask("monitor")
    told.kind = ServerKind("zookeeper", flavours.version_of(str(monitor.get("version"))))
    told.figures = {name: monitor.get(name) for name in monitor if name in _FIGURES}


def _admin_connections(told: Sample, answer: dict[str, Any], clock: ServerClock) -> None:
    rows = admin_tables.connections(answer)
    told.connections = _aged(rows, admin_tables.newest_answer(answer), clock)


def _admin_watches(
    told: Sample, ask: Callable[[str], dict[str, Any]], way: SampleSettings
) -> None:
    count = admin_tables.watches_in_all(ask("watch_summary"))
    if count > ADMIN_MAY_WATCH and not way.large_tables:
        raise RefusedError(
            f"{count} watches are so many that the AdminServer would need much memory for them; "
            f"{ALLOW_IT} all the same"
        )
    told.watches = admin_tables.watched(ask("watches"))
    try:
        told.child_watches = admin_tables.watched_in_detail(ask("watch_details"), "children")
    except RefusedError:  # every release so far: no data about child watches
        told.child_watches = None


def _admin_dump(
    told: Sample, ask: Callable[..., dict[str, Any]], clock: ServerClock, way: SampleSettings
) -> None:
    wanted = _wanted(told, way)
    answer = ask("dump", leave_out=() if wanted else (admin_tables.EPHEMERALS,))
    told.ephemerals = admin_tables.ephemerals(answer, wanted)
    buckets, at = admin_tables.expiry(answer), _now()
    clock.awaits(min(buckets, default=None), at)
    told.expires_in_ms = from_monotonic(buckets, clock.now(at)) or None


def by_words(way: SampleSettings, clock: ServerClock) -> Sample:
    """Ask with four-letter words; raises RefusedError if none is answered."""

    def ask(word: str) -> str:
        way.turn()
        with _allowed(told.kind, word):
            return words.ask(way.address, word, way.context, SECONDS, way.tally)

    told = Sample("4lw")
    srvr = ask("srvr")
    kind = flavours.kind_of(srvr)
    if kind is None or tables.mode_of(srvr) is None:
        raise tables.unreadable("srvr", srvr)
    told.kind = kind
    zxid = tables.figures(srvr).get("Zxid", "")
    told.zxid = tables.hexadecimal(zxid) or tables.number(zxid)  # RaftKeeper prints it in decimal
    told.figures = _srvr_figures(srvr)
    told.attempt("server", lambda: told.figures.update(_mntr_figures(ask("mntr"))))
    told.attempt("connections", lambda: _word_connections(told, ask("cons"), clock))
    dumps: list[Dumped] = []
    told.attempt("expiry", lambda: dumps.append(_dumped(kind, way)))
    told.attempt("watches", lambda: _word_watches(told, ask, way))
    if kind.traits.expiry:
        told.attempt("tick", lambda: _word_tick(told, ask("conf")))
    for dumped in dumps:
        told.attempt("expiry", lambda: _word_dump(told, dumped, clock, way))  # noqa: B023  called at once
    return told


@contextmanager
def _allowed(kind: ServerKind, word: str) -> Iterator[None]:
    """Explain why a server of another make closed the connection: it has a list of allowed words.

    ZooKeeper itself answers with a sentence.
    """
    try:
        yield
    except HungUpError:
        if kind.flavour in ("keeper", "raftkeeper"):
            title = flavours.TITLES[kind.flavour]
            said = f"{word} is not in the four_letter_word_white_list of this {title}"
            raise RefusedError(said) from None
        raise


def _srvr_figures(srvr: str) -> dict[str, Any]:
    figures = tables.figures(srvr)
    latency = [tables.decimal(part) for part in _latency(figures).split("/")]
    named = dict(zip(("min_latency", "avg_latency", "max_latency"), latency, strict=False))
    return named | {
        "server_state": tables.mode_of(srvr),
        "num_alive_connections": tables.number(figures.get("Connections")),
        "outstanding_requests": tables.number(figures.get("Outstanding")),
        "znode_count": tables.number(figures.get("Node count")),
    }


def _latency(figures: dict[str, str]) -> str:
    return figures.get("Latency min/avg/max", "")


def _mntr_figures(mntr: str) -> dict[str, Any]:
    told = tables.monitored(mntr)
    numbers = {name: tables.decimal(told.get(name)) for name in _NUMBERS}
    return {name: value for name, value in numbers.items() if value is not None}


def _word_connections(told: Sample, cons: str, clock: ServerClock) -> None:
    rows = tables.connections(cons)
    if told.kind.traits.answers:
        told.connections = _aged(rows, tables.newest_answer(cons), clock)
    else:  # without pings, and with other operation names
        told.connections = tuple(
            msgspec.structs.replace(row, quiet_ms=None, last_operation=_operation(row))
            for row in rows
        )


def _operation(row: Connection) -> Text | None:
    name = row.last_operation
    return None if name is None else Text(OPERATIONS.get(name, name))


def _word_watches(told: Sample, ask: Callable[[str], str], way: SampleSettings) -> None:
    count = tables.watches_in_all(ask("wchs"))
    expected, fitting = way.sizes.expected(count), _fitting(way)
    if expected > fitting and not way.large_tables:
        raise RefusedError(
            f"{count} watches are about {expected >> 10} kB, and without an AdminServer only "
            f"{fitting >> 10} kB are safe: the server stands still while a larger answer waits "
            f"for its reader; {ALLOW_IT} all the same"
        )
    told.watches = _listed(told.kind, count, way)


def _listed(kind: ServerKind, count: int, way: SampleSettings) -> Paths:
    blank_end = kind.traits.blank_end
    if not count and not blank_end:  # an empty table cannot be told from a refusal
        return {}
    parts = _table("wchc", kind, way)
    way.sizes.read_table(sum(map(len, parts)), count)
    return tables.watched(words.lines(parts), blank_end=blank_end)


def _fitting(way: SampleSettings) -> int:
    """The number of bytes that can be requested without a risk to the server."""
    return UNREAD if way.separate is None else held_by_the_kernel() + READER_TAKES


def _table(word: str, kind: ServerKind, way: SampleSettings) -> list[bytes]:
    """Request a table whose lock the server holds while it writes."""
    if way.separate is None:
        return _parts(word, kind, way)
    way.turn()
    with _allowed(kind, word):
        parts = way.separate.parts(way.address, word, SECONDS)
    way.tally(sum(map(len, parts)))
    return parts


def _word_tick(told: Sample, conf: str) -> None:
    told.tick_ms = tables.number(tables.settings(conf).get("tickTime"))


Dumped = tuple[list[bytes], int]  # the answer, and its time


def _dumped(kind: ServerKind, way: SampleSettings) -> Dumped:
    """Request `dump` before the watches: it shows how long paths are, and holds no lock."""
    parts = _parts("dump", kind, way)
    way.sizes.read_dump(parts)
    return parts, _now()


def _word_dump(told: Sample, dumped: Dumped, clock: ServerClock, way: SampleSettings) -> None:
    parts, at = dumped
    traits = told.kind.traits
    if not traits.expiry and told.kind.flavour:
        title = flavours.TITLES[told.kind.flavour]
        told.why["expiry"] = f"{title} does not tell when sessions expire"
    found = tables.dump(words.lines(parts), _wanted(told, way))
    told.ephemerals, told.timeouts_ms = found.ephemerals, found.timeouts_ms
    told.sessions = found.sessions if traits.all_sessions else None
    told.expires_in_ms = from_dates(found.buckets, at, clock.now(at)) or None


def _parts(word: str, kind: ServerKind, way: SampleSettings) -> list[bytes]:
    way.turn()
    with _allowed(kind, word):
        return words.parts(way.address, word, way.context, SECONDS, way.tally)


def _wanted(told: Sample, way: SampleSettings) -> dict[str, Text]:
    """The znodes whose owners matter: those that are watched.

    All other ephemerals are left out: a large ensemble has a hundred thousand of them.
    """
    tables_of_watches = (*way.watched, told.watches or {})
    return {path: path for one in tables_of_watches for paths in one.values() for path in paths}


def unreached(why: str, kind: ServerKind = ServerKind()) -> Sample:  # noqa: B008  it is frozen
    """The sample of a server that gave no tables."""
    tables_of_it = ("server", "connections", "watches", "expiry")
    return Sample("none", kind, why=dict.fromkeys(tables_of_it, why))


def _aged(
    rows: tuple[Connection, ...], newest: int | None, clock: ServerClock
) -> tuple[Connection, ...]:
    """Count silence from now instead of from the newest answer in this table."""
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


def _now() -> int:
    return time.time_ns() // 1_000_000


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


K = TypeVar("K")
V = TypeVar("V")


def share(facts: Sequence[ServerFact], before: Sequence[ServerFact]) -> None:
    """Let new facts share rows with those of the previous sample.

    The past keeps old tables. Fifty thousand sessions are megabytes a table, and hardly any row
    changes from one table to the next.
    """
    known = {type(fact): fact for fact in before}
    for fact in facts:
        earlier = known.get(type(fact))
        for name in _TABLES.get(type(fact), ()):
            force_setattr(fact, name, shared(getattr(fact, name), getattr(earlier, name, None)))
        if isinstance(fact, Connections) and isinstance(earlier, Connections):
            force_setattr(fact, "rows", _shared_rows(fact.rows, earlier.rows))


def shared(now: dict[K, V] | None, before: dict[K, V] | None) -> dict[K, V] | None:
    """A table that shares its parts with the previous one; that one itself if they are equal.

    >>> before = {1: ("/a",), 2: ("/b",)}
    >>> shared({1: ("/a",), 2: ("/b",)}, before) is before
    True
    >>> shared({2: ("/b",), 3: ("/c",)}, before)[2] is before[2]
    True
    """
    if not now or not before:
        return now
    if now == before:
        return before
    keys = dict(zip(before, before, strict=True))
    return {
        keys.get(key, key): earlier if (earlier := before.get(key)) == row and earlier else row
        for key, row in now.items()
    }


def _shared_rows(
    now: tuple[Connection, ...] | None, before: tuple[Connection, ...] | None
) -> tuple[Connection, ...] | None:
    if not now or not before:
        return now
    known = {row: row for row in before}
    return tuple(known.get(row, row) for row in now)


_TABLES: dict[type[ServerFact], tuple[str, ...]] = {
    Watches: ("rows", "children"),
    Expiry: ("expires_in_ms", "timeouts_ms", "ephemerals"),
}
