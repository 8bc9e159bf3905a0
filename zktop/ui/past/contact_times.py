"""When sessions were last heard from, read off the servers' connection tables on the tape."""

from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from zktop.model.facts import Connections, Millis, Session
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.world.server_tables import ServerTables
from zktop.ui.past.tape import Tape

LATE_MS: Final = 60_000  # a contact is in a table that was read at most this much later
FRAMES_SEARCHED: Final = 400  # for the table before another one
TIMEOUTS_SHOWN: Final = 2


class ContactTimes:
    """Contact times of all sessions; each table on the tape is looked at once."""

    def __init__(self) -> None:
        self._begin(None)

    def _begin(self, tape: Tape | None) -> None:
        self._tape, self._read = tape, 0
        self._times_thinned = tape.times_thinned if tape else 0
        self._tables: list[tuple[Millis, ServerTables]] = []  # in the order of reading
        self._newest: dict[Text, Connections] = {}  # of each server

    def update(self, tape: Tape) -> None:
        """Read the tables that were added since the last call; after thinning, all of them."""
        if tape is not self._tape or tape.times_thinned != self._times_thinned:
            self._begin(tape)
        for stored in tape.since(self._read):
            self._read = stored.number
            for tables in stored.frame.report.ensemble.tables:
                table = tables.facts.connections
                if table is not None and table.rows is not None:
                    if self._newest.get(tables.server) is not table:
                        self._tables.append((table.at, tables))
                    self._newest[tables.server] = table

    def between(self, session: Session, begin: Millis, end: Millis) -> list[tuple[Millis, Text]]:
        """Contacts of a session in a span of time, each with its server, oldest first."""
        found = set()
        first = bisect_left(self._tables, begin, key=lambda one: one[0])
        for at, tables in self._tables[first:]:
            if at >= end + LATE_MS:
                break
            row = (tables.connections or {}).get(session)
            if row is not None and row.quiet_ms is not None:
                heard = at - row.quiet_ms
                if begin <= heard < end:
                    found.add((heard, tables.server))
        return sorted(found)

    def recent(self, session: Session, report: Report) -> tuple[Millis, ...]:
        """Contacts during the last two session timeouts with the server of the session."""
        presence = report.ensemble.presence(session)
        if presence is None or presence.timeout_ms is None:
            return ()
        begin = report.now - TIMEOUTS_SHOWN * presence.timeout_ms
        contacts = self.between(session, begin, report.now + 1)
        return tuple(at for at, server in contacts if server == presence.server)


def table_before(table: Connections, tape: Tape, moment: Millis) -> Connections | None:
    """The connection table that the same server gave before this one, as far as stored."""
    return next((one for one in _tables(table.server, tape, moment) if one.at < table.at), None)


def _tables(server: Text, tape: Tape, moment: Millis) -> Iterator[Connections]:
    """Connection tables of a server in the frames up to a moment, newest first."""
    last = tape.index_at(moment)
    for index in range(last, max(-1, last - FRAMES_SEARCHED), -1):
        tables = tape[index].report.world.tables.get(server)
        if tables is not None and tables.connections is not None and tables.connections.rows:
            yield tables.connections
