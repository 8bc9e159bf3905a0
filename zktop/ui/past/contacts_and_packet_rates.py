"""Contacts and packet rates of sessions, from the connection tables on the tape."""

from collections.abc import Collection, Iterator, Mapping
from itertools import takewhile
from typing import Final, NamedTuple

from zktop.model.facts import Connection, Connections, Millis, Session
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.world.tables_of_one_server import ServerTables
from zktop.ui.past.tape import Tape

MAX_DELAY_MS: Final = 60_000  # from a contact to the table that shows it
MAX_FRAMES_SEARCHED: Final = 400  # when looking for an earlier table
TIMEOUTS_SHOWN: Final = 2


def contacts(
    tape: Tape, sessions: Collection[Session], begin: Millis, end: Millis
) -> dict[Session, list[tuple[Millis, Text]]]:
    """Return the contacts of sessions in a span of time, each with its server, oldest first.

    Only frames that are not packed are searched, once for all sessions.
    """
    contacts_of: dict[Session, set[tuple[Millis, Text]]] = {session: set() for session in sessions}
    for read_at, tables in _connection_tables(tape, begin, end + MAX_DELAY_MS):
        rows = tables.connections or {}
        for session in sessions:
            row = rows.get(session)
            if row is not None and row.quiet_ms is not None:
                heard = read_at - row.quiet_ms
                if begin <= heard < end:
                    contacts_of[session].add((heard, tables.server))
    return {session: sorted(times) for session, times in contacts_of.items()}


def _connection_tables(
    tape: Tape, begin: Millis, end: Millis
) -> Iterator[tuple[Millis, ServerTables]]:
    """Yield when each connection table was read, and the tables of its server, each once."""
    newest: dict[Text, Connections] = {}  # the table of each server
    for frame in takewhile(lambda frame: frame.at < end, tape.frames(begin)):
        for tables in frame.report.ensemble.tables:
            table = tables.facts.connections
            if table is not None and newest.get(tables.server) is not table:
                newest[tables.server] = table
                yield table.at, tables


class RecentContacts(NamedTuple):
    """The known contacts of a session with its server, oldest first."""

    times: tuple[Millis, ...] = ()
    known_from: Millis = 0


def recent_contacts(tape: Tape, session: Session, report: Report) -> RecentContacts:
    """Return the contacts of a session with its server during its last two timeouts."""
    presence = report.ensemble.presence(session)
    if presence is None or presence.timeout_ms is None:
        return RecentContacts()
    begin = report.now - TIMEOUTS_SHOWN * presence.timeout_ms
    all_contacts = contacts(tape, (session,), begin, report.now + 1)[session]
    times = tuple(at for at, server in all_contacts if server == presence.server)
    return RecentContacts(times, tape.in_memory_from or 0)


def table_before(table: Connections, tape: Tape, moment: Millis) -> Connections | None:
    """Return the previous table of the same server; None if it is not stored."""
    last = tape.index_at(moment)
    for index in range(last, max(-1, last - MAX_FRAMES_SEARCHED), -1):
        tables = tape[index].report.world.tables.get(table.server)
        earlier = tables.connections if tables is not None else None
        if earlier is not None and earlier.rows and earlier.at < table.at:
            return earlier
    return None


class _TablePair(NamedTuple):
    """A connection table, with its rows and those of the previous table by session."""

    table: Connections
    now: Mapping[Session, Connection]
    before: Mapping[Session, Connection]
    span_ms: int
    total: tuple[float, float] | None  # received and sent per second; None: no session in both


class PacketRates:
    """Packets per second, computed from each server's last two connection tables."""

    def __init__(self) -> None:
        self._pairs: dict[Text, _TablePair] = {}

    def update(self, report: Report, tape: Tape) -> None:
        """Find the table that precedes the newest one, for each server."""
        for tables in report.ensemble.tables:
            table = tables.facts.connections
            pair = self._pairs.get(tables.server)
            if table is None:
                self._pairs.pop(tables.server, None)
            elif pair is None or pair.table is not table:
                self._pairs[tables.server] = _paired(table, table_before(table, tape, report.now))

    def received(self, server: Text, session: Session) -> float | None:
        """Return the packets per second that a server received from a session."""
        pair = self._pairs.get(server)
        now = pair.now.get(session) if pair else None
        before = pair.before.get(session) if pair else None
        if pair is None or now is None or before is None or now.established != before.established:
            return None  # new, or connected again since: the counters began at 0
        return max(0.0, 1000 * (now.received - before.received) / pair.span_ms)

    def total(self, server: Text) -> tuple[float, float] | None:
        """Return the packets per second that a server received, and sent."""
        pair = self._pairs.get(server)
        return pair.total if pair else None


def _paired(table: Connections, previous: Connections | None) -> _TablePair:
    """Count the packets between two tables, for all sessions that are in both."""
    now, before = _by_session(table), _by_session(previous) if previous else {}
    span_ms = max(1, table.at - (previous or table).at)
    both = [(now[session], before[session]) for session in now.keys() & before.keys()]
    received = sum(max(0, after.received - earlier.received) for after, earlier in both)
    sent = sum(max(0, after.sent - earlier.sent) for after, earlier in both)
    total = (1000 * received / span_ms, 1000 * sent / span_ms) if both else None
    return _TablePair(table, now, before, span_ms, total)


def _by_session(table: Connections) -> dict[Session, Connection]:
    return {row.session: row for row in table.rows or ()}
