"""The servers of the ensemble, one row each: figures, and the tables that zktop can read."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from zktop.model.facts import Flavour, Server, transactions_between
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.world.tables_of_one_server import TABLE_NAMES, ServerTables, TableKind
from zktop.ui.inks import Ink
from zktop.ui.past.contacts_and_packet_rates import PacketRates
from zktop.ui.screens.common.numbers_and_times import per_second, sort_value
from zktop.ui.screens.common.server_state import (
    OUTAGES,
    is_same_epoch,
    newest_of,
    out_for,
    outage,
)
from zktop.ui.styled_text import DASH, UNKNOWN, Line, line, wrapped
from zktop.ui.widgets.table import Column

OTHERS: Final[dict[Flavour | None, str]] = {
    "keeper": "Keeper",
    "raftkeeper": "RaftKeeper",
    "zetcd": "zetcd",
}
SHORT: Final[dict[TableKind, str]] = {
    "watches": "watch",
    "connections": "conn",
    "expiry": "expiry",
}


class ServerRow(msgspec.Struct, frozen=True, eq=False):
    """One server, compared with the others."""

    tables: ServerTables
    figures: Server
    newest: int  # the highest zxid of all servers
    rates: tuple[float, float] | None  # packets received and sent per second
    out_ms: int | None  # how long it has been down
    missing: tuple[tuple[TableKind, Text], ...]  # tables that zktop cannot read, and why

    @property
    def name(self) -> Text:
        return self.tables.server

    @property
    def lag(self) -> int | None:
        """How many transactions it is behind; a lower bound if the epochs differ."""
        zxid = self.figures.server_zxid
        return None if zxid is None else transactions_between(zxid, self.newest)


def server_rows(report: Report, rates: PacketRates) -> list[ServerRow]:
    """Return the servers, the leader first."""
    ensemble = report.ensemble
    newest = newest_of(ensemble.servers)
    rows = [_row(table, newest, rates, report) for table in ensemble.tables]
    return sorted(rows, key=lambda row: (_is_follower(row), row.name))


def _row(tables: ServerTables, newest: int, rates: PacketRates, report: Report) -> ServerRow:
    figures, ensemble = tables.figures, report.ensemble
    blind = tuple(
        (spot.table, spot.why) for spot in ensemble.blind_spots if spot.server == tables.server
    )
    return ServerRow(
        tables=tables,
        figures=figures,
        newest=newest,
        rates=rates.total(tables.server),
        out_ms=out_for(figures, report.now),
        missing=blind,
    )


def _is_follower(row: ServerRow) -> bool:
    return row.figures.mode not in ("leader", "standalone")


def _lag(row: ServerRow) -> Line:
    zxid = row.figures.server_zxid
    if zxid is None or is_same_epoch(zxid, row.newest):
        return or_unknown(row.lag)
    return line((f"≥{row.lag}", "unknown"))


def or_unknown(value: object, ink: Ink = "plain") -> Line:
    return UNKNOWN if value is None else line((str(value), ink))


def _mode(row: ServerRow) -> Line:
    mode, state = row.figures.mode, row.figures.state
    if state in OUTAGES:
        return line(outage(state, row.out_ms))
    if state == "unreached":
        return line((state, "unknown"))
    return or_unknown(mode.upper() if mode == "leader" else mode, "strong" if mode else "plain")


def _watches(row: ServerRow) -> Line:
    shown = "?" if row.tables.watches is None else str(row.tables.watches.total)
    every = "?" if row.figures.watches is None else str(row.figures.watches)
    return line(f"{shown}/{every}")


def _latency(row: ServerRow) -> Line:
    latency = row.figures.latency_ms
    return or_unknown("/".join(f"{round(value, 1):g}" for value in latency) if latency else None)


def _rate(row: ServerRow, place: int) -> Line:
    return line(per_second(row.rates[place] if row.rates else None))


def _tables(row: ServerRow) -> Line:
    """Draw the tables that are not missing. The expiry table of one server is enough."""
    is_out = row.figures.state in OUTAGES
    hidden = set(SHORT) if is_out else {table for table, _ in row.missing}
    table_names = [name for table, name in SHORT.items() if table not in hidden]
    return line(" ".join(table_names)) if table_names else line(("none", "unknown"))


def _release(row: ServerRow) -> tuple[int, ...]:
    """Return the version as numbers, so that 3.9 sorts before 3.10."""
    return tuple(map(int, re.findall("[0-9]+", row.figures.version or "")[:3]))


def _note(row: ServerRow) -> Line:
    if row.figures.state in OUTAGES:
        return line((str(row.figures.why), "critical"))
    if row.figures.state == "unreached":
        return line((f"never answered: {row.figures.why}", "unknown"))
    if row.figures.why:
        return line((f"no figures: {row.figures.why}", "warning"))
    hidden = [f"no {TABLE_NAMES[table]}: {why}" for table, why in row.missing]
    return line(("; ".join(hidden), "unknown")) if hidden else DASH


COLUMNS: Final[Sequence[Column[ServerRow]]] = (
    Column("SERVER", 15, lambda row: line((row.name, "strong")), lambda row: row.name, share=1,
           title="Address", about="The address of the server."),
    Column("MODE", 14, _mode, lambda row: row.figures.mode or "",
           title="Role",
           about="LEADER, follower, observer or standalone, or how long it has been down."),
    Column("LAG", 5, _lag, lambda row: sort_value(row.lag),
           at_right=True, rank=3, descending=True,
           title="Lag", about="How many transactions the server is behind the newest one."),
    Column("CONNS", 6, lambda row: or_unknown(row.figures.connections),
           lambda row: sort_value(row.figures.connections), at_right=True, descending=True,
           title="Connections", about="How many clients are connected to the server."),
    Column("WATCHES", 9, _watches, lambda row: sort_value(row.figures.watches), at_right=True,
           rank=1, descending=True,
           title="Watches", about="Watches in the server's table, and how many it says it has."),
    Column("RECV/s", 6, lambda row: _rate(row, 0),
           lambda row: sort_value(row.rates[0] if row.rates else None), at_right=True, rank=5,
           descending=True,
           title="Packets received, per s", about="From all clients."),
    Column("SENT/s", 6, lambda row: _rate(row, 1),
           lambda row: sort_value(row.rates[1] if row.rates else None), at_right=True, rank=6,
           descending=True,
           title="Packets sent, per s", about="To all clients."),
    Column("MIN/AVG/MAX ms", 14, _latency,
           lambda row: sort_value(row.figures.latency_ms[2] if row.figures.latency_ms else None),
           at_right=True, rank=2, descending=True,
           title="Latency",
           about="The shortest, the average and the longest time to answer a request, in "
           "milliseconds."),
    Column("OUTST", 6, lambda row: or_unknown(row.figures.outstanding),
           lambda row: sort_value(row.figures.outstanding), at_right=True, rank=7, descending=True,
           title="Outstanding requests", about="How many requests wait to be processed."),
    Column("ZNODES", 7, lambda row: or_unknown(row.figures.znodes),
           lambda row: sort_value(row.figures.znodes), at_right=True, rank=8, descending=True,
           title="Znodes", about="How many znodes the server has."),
    Column("VERSION", 14, lambda row: or_unknown(_version(row.figures)),
           _release, rank=9,
           title="Version", about="The version of ZooKeeper, or the name of another server."),
    Column("TABLES", 17, _tables, lambda row: len(row.missing), rank=4,
           title="Tables it shows", about="Which tables the server shows to zktop."),
    Column("NOTE", 6, _note, None, rank=10, share=2,
           title="What is wrong", about="Why the server is down, or why a table is missing."),
)  # fmt: skip


def _version(server: Server) -> str | None:
    """Return the version number, preceded by the name if the server is not ZooKeeper.

    >>> _version(Server(zxid=0, at=0, server="a", version="3.8.0-5a02a05, built on 2022-02-25"))
    '3.8.0'
    >>> _version(Server(zxid=0, at=0, server="a", version="26.3.9", flavour="keeper"))
    'Keeper 26.3'
    """
    number = server.version.split(",")[0].split("-")[0] if server.version else None
    if server.flavour not in OTHERS:
        return number
    short = ".".join(number.split(".")[:2]) if number else ""
    return f"{OTHERS[server.flavour]} {short}".strip()


def missing_tables(report: Report, width: int, *, is_live: bool) -> list[Line]:
    """Return lines about the missing server tables, and what zktop cannot see without them."""
    sees = report.ensemble.visibility
    if not report.ensemble.tables:
        why = "not read yet" if is_live else "not in this recording"
        return [line((f" NO SERVER TABLES: {why}, or --introspect is off.", "unknown")), _LOST]
    if sees.sessions == sees.watches == sees.expiry == "none":
        return [*_why_none(report), _LOST]
    blind = {spot.table for spot in report.ensemble.blind_spots}
    lost = [text for table, text in _LOSSES.items() if table in blind]
    return wrapped(f"MISSING: {'; '.join(lost)}.", width, "unknown", " ") if lost else []


def _why_none(report: Report) -> Iterator[Line]:
    """Explain why no table can be read, and what to add to the configuration of the servers."""
    reasons = [spot.why for spot in report.ensemble.blind_spots]
    if any("whitelist" in reason for reason in reasons):
        yield line((" NO SERVER TABLES: the servers refuse them. Add to zoo.cfg:", "unknown"))
        yield line((f"   4lw.commands.whitelist={NEEDED_WORDS}", "strong"))
    else:
        yield line((f" NO SERVER TABLES: {next(iter(reasons), 'no server gave one')}.", "unknown"))


NEEDED_WORDS: Final = "srvr,mntr,conf,cons,dump,wchs,wchc"
_LOST: Final = line(
    (" Unknown: contact, expiry, watches, clients. Known: locks held and waited for.", "dim")
)
_LOSSES: Final[dict[TableKind, str]] = {
    "connections": "connection tables (some clients and their contacts are unknown)",
    "watches": "watch tables (lost wake-ups may not be detected)",
    "expiry": "expiry tables (expiry times are estimates)",
}
