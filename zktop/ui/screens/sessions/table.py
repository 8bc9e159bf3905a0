"""The two tables of the sessions screen: columns, groups, and the counts in the title."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from zktop.model.format import count
from zktop.ui.inks import Ink
from zktop.ui.screens.common.numbers_and_times import per_second, sort_value, with_spaces
from zktop.ui.screens.sessions import server_rows
from zktop.ui.screens.sessions.contact_bar import silence_bar, time_left
from zktop.ui.screens.sessions.risks import RISKS
from zktop.ui.screens.sessions.rows import SessionGroup, SessionRow, SessionRows
from zktop.ui.styled_text import DASH, UNKNOWN, Line, Run, line, text_of
from zktop.ui.widgets.panel import Panel
from zktop.ui.widgets.table import Column, Table

MAX_NAMES: Final = 3
MAX_NUMBER: Final = 100_000  # larger numbers are written in thousands


def _group_number(number: int, ink: Ink) -> Line:
    text = str(number) if number < MAX_NUMBER else f"{number // 1000}k"
    return line((text, ink if number else "dim"))


GROUP_CELLS: Final[dict[str, Callable[[Any], Line]]] = {
    "RISK": lambda group: UNKNOWN if group.is_partly_unseen else line(("LOW", "plain")),
    "SESSION": lambda group: line((f"{with_spaces(len(group.rows)):>7}", "strong")),
    "IDENTITY": lambda group: line(group.sign, " ", (group.name, "strong")),
    "HOLDS": lambda group: _group_number(group.holds, "holds"),
    "WAITS": lambda group: _group_number(group.waits, "waits"),
    "NOTE": lambda group: line(("open" if group.is_open else "grouped", "dim")),
}


def about_group(group: SessionGroup, fold_key: str) -> list[Line]:
    """Describe the group under the cursor, and the keys that open it."""
    verb = "closes" if group.is_open else "opens"
    keys = f"enter {verb} this group, {fold_key} opens all"
    names = [row.unique_name for row in group.rows[:MAX_NAMES]]
    more = with_spaces(len(group.rows) - MAX_NAMES)
    risk = "none known to be at risk" if group.is_partly_unseen else "all at low risk"
    return [
        line(
            ("GROUP ", "title"),
            (group.name, "strong"),
            f"  {count(len(group.rows), 'session')} with similar names, {risk}",
        ),
        line(("  sessions   ", "dim"), f"{', '.join(names)} and {more} more"),
        line(("  holds      ", "dim"), count(group.holds, "lock")),
        line(("  waits for  ", "dim"), count(group.waits, "lock")),
        line((f"  {keys}; a session at risk is listed alone", "dim")),
    ]


SERVER_COLUMN: Final = "SERVER"
FAIRLY_WIDE_CELLS, WIDE_CELLS = 130, 150  # narrower tables leave out rarely needed columns
RISK_INKS: Final[dict[str, Ink]] = {"HIGH": "critical", "MED": "warning", "LOW": "plain"}


class SessionTable(Panel, Table[SessionRow]):
    """All sessions."""

    page_orders = True

    def __init__(self) -> None:
        super().__init__(COLUMNS, lambda row: row.session, id="sessions", group_cells=GROUP_CELLS)

    def name_servers(self, *, are_several: bool) -> None:
        """Name the server of each session, unless there is only one server."""
        self.use(COLUMNS if are_several else AT_ONE_SERVER)


class ServerTable(Panel, Table[server_rows.ServerRow]):
    """The servers of the ensemble."""

    def __init__(self) -> None:
        super().__init__(server_rows.COLUMNS, lambda row: row.name, id="servers")


def session_counts(sessions: SessionRows, fold_key: str, *, shown: int) -> Line:
    """Return the counts in the title: all sessions, those with locks, those at high risk."""
    in_locks, others = len(sessions.directory.locks), sessions.without_locks
    bad = sessions.at_high_risk
    is_complete = sessions.shown.ensemble.visibility.sessions != "none"
    counts = f"{count(in_locks + others, 'session')}, {in_locks} with locks"
    pieces = [
        Run(counts if is_complete else f"{count(in_locks, 'session')} with locks"),
        Run(f", {bad} at HIGH risk", "critical" if bad else "dim"),
    ]
    if sessions.is_grouped and others:
        pieces.append(Run(f"   {fold_key} shows {others} without locks", "dim"))
    elif not sessions.is_grouped:
        pieces.append(Run(f"   {fold_key} hides those without locks", "dim"))
    if not shown:
        pieces.append(Run("   no session matches the filter", "warning"))
    return tuple(pieces)


def _identity(row: SessionRow) -> Line:
    name = row.unique_name if row.name else "?"
    if row.is_ours:
        return line((name, "ours"), (" demo", "dim"))
    return line((name, "strong" if row.name else "unknown"))


def _client(row: SessionRow) -> Line:
    presence = row.presence
    return line(presence.client) if presence else UNKNOWN


def _server(row: SessionRow) -> Line:
    presence = row.presence
    if presence is None:
        return UNKNOWN
    return line(presence.server + "".join(f" also {server}" for server in presence.other_servers))


def _timeout(row: SessionRow) -> Line:
    timeout = row.report.ensemble.timeout_ms(row.session)
    return UNKNOWN if timeout is None else line(f"{timeout / 1000:g}s")


def _contact(row: SessionRow) -> Line:
    presence = row.presence
    if presence is None:
        is_gone = row.report.ensemble.is_cut_off(row.session, row.locks.newest_czxid)
        return line(("[no contact]", "critical")) if is_gone else UNKNOWN
    return silence_bar(presence.quiet_ms, presence.timeout_ms)


def _silence(row: SessionRow) -> float:
    presence = row.presence
    if presence is None or presence.quiet_ms is None or not presence.timeout_ms:
        return -1
    return presence.quiet_ms / presence.timeout_ms


def _left(row: SessionRow) -> Line:
    span = row.expires_in
    return line((time_left(span), "plain" if span else "unknown"))


def _number(number: int, ink: Ink) -> Line:
    return line((str(number), ink if number else "dim"))


def _last(row: SessionRow) -> Line:
    presence = row.presence
    operation = presence.last_operation if presence else None
    return line(operation) if operation else UNKNOWN


def _note(row: SessionRow) -> Line:
    note = row.risk.note
    return line((note, RISK_INKS.get(row.risk.level, "plain"))) if note else DASH


def _risk(row: SessionRow) -> Line:
    word = row.risk_word
    if not word:
        return DASH
    return line((word, RISK_INKS[word])) if word in RISK_INKS else UNKNOWN


def _packets(number: int | None) -> Line:
    return UNKNOWN if number is None else line((with_spaces(number), "dim"))


COLUMNS: Final[Sequence[Column[SessionRow]]] = (
    Column("RISK", 4, _risk, lambda row: RISKS.index(row.risk.level),
           title="Risk of trouble",
           about="How likely the session is to cause trouble: HIGH, MED or LOW. NOTE says why."),
    Column("SESSION", 8, lambda row: line(row.short_id), lambda row: row.session,
           keeps_end=True, title="Session id",
           about="The last digits of the session's id, or the whole id if another ends the same."),
    Column("IDENTITY", 14, _identity, lambda row: row.name or "", share=2,
           cuts_middle=lambda _: True,
           title="Name of the client", about="The name of the client, unique among all sessions."),
    Column("CLIENT", 21, _client, lambda row: text_of(_client(row)), rank=1,
           title="Client address", about="The host and port that the client connects from."),
    Column(SERVER_COLUMN, 15, _server, lambda row: text_of(_server(row)), rank=5,
           title="Its server", about="The server that the client is connected to."),
    Column("T/OUT", 6, _timeout, lambda row: row.report.ensemble.timeout_ms(row.session) or -1,
           at_right=True, rank=6, needs=FAIRLY_WIDE_CELLS,
           title="Session timeout", about="The session expires after a silence of this length."),
    Column("CONTACT", 12, _contact, _silence, descending=True,
           title="Last contact",
           about="How much of the timeout has passed in silence; at the mark the client gives up "
           "on its server."),
    Column("LEFT", 7, _left, lambda row: span.low if (span := row.expires_in) else -1,
           at_right=True,
           title="Time left", about="When the session expires if its client stays silent."),
    Column("HOLDS", 5, lambda row: _number(row.holds, "holds"), lambda row: row.holds,
           at_right=True, descending=True,
           title="Locks held", about="How many locks the session holds."),
    Column("WAITS", 5, lambda row: _number(row.waits, "waits"), lambda row: row.waits,
           at_right=True, descending=True,
           title="Locks waited for",
           about="How many locks the session waits for, with a node or by a watch alone."),
    Column("WATCHES", 7, lambda row: server_rows.or_unknown(row.watches),
           lambda row: sort_value(row.watches), at_right=True, rank=7, descending=True,
           needs=WIDE_CELLS,
           title="Watches", about="How many watches its server keeps for the session."),
    Column("REQ/s", 6, lambda row: line(per_second(row.rate)), lambda row: sort_value(row.rate),
           at_right=True, rank=3, descending=True,
           title="Packets per second",
           about="How many packets its server receives from the client per second."),
    Column("RECVD", 7, lambda row: _packets(row.received), lambda row: sort_value(row.received),
           at_right=True, rank=10, descending=True, needs=WIDE_CELLS,
           title="Packets received",
           about="How many packets its server has received since the client connected."),
    Column("SENT", 7, lambda row: _packets(row.sent), lambda row: sort_value(row.sent),
           at_right=True, rank=9, descending=True, needs=WIDE_CELLS,
           title="Packets sent",
           about="How many packets its server has sent since the client connected."),
    Column("LAST", 4, _last, lambda row: text_of(_last(row)), rank=8, needs=WIDE_CELLS,
           title="Last operation",
           about="The last request of the client, as its server names it."),
    Column("NOTE", 10, _note, lambda row: row.risk.note, share=3,
           title="Why it is at risk", about="Why the session is at risk."),
)  # fmt: skip
AT_ONE_SERVER: Final = tuple(column for column in COLUMNS if column.name != SERVER_COLUMN)
