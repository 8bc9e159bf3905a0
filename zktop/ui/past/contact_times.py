"""When sessions were last heard from, read off the servers' connection tables on the tape."""

from collections.abc import Iterator
from itertools import takewhile
from typing import Final

from zktop.model.facts import Connections, Millis, Session
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.past.tape import Tape

LATE_MS: Final = 60_000  # a contact is in a table that was read at most this much later
FRAMES_SEARCHED: Final = 400  # for the table before another one
TIMEOUTS_SHOWN: Final = 2


def contacts(
    tape: Tape, session: Session, begin: Millis, end: Millis
) -> list[tuple[Millis, Text]]:
    """Contacts of a session in a span of time, each with its server, oldest first."""
    found: set[tuple[Millis, Text]] = set()
    newest: dict[Text, Connections] = {}  # of each server
    for frame in takewhile(lambda one: one.at < end + LATE_MS, tape.frames(begin)):
        for tables in frame.report.ensemble.tables:
            table = tables.facts.connections
            if table is None or newest.get(tables.server) is table:
                continue
            newest[tables.server] = table
            row = (tables.connections or {}).get(session)
            if row is not None and row.quiet_ms is not None:
                heard = table.at - row.quiet_ms
                if begin <= heard < end:
                    found.add((heard, tables.server))
    return sorted(found)


def recent_contacts(tape: Tape, session: Session, report: Report) -> tuple[Millis, ...]:
    """Contacts during the last two session timeouts with the server of the session."""
    presence = report.ensemble.presence(session)
    if presence is None or presence.timeout_ms is None:
        return ()
    begin = report.now - TIMEOUTS_SHOWN * presence.timeout_ms
    found = contacts(tape, session, begin, report.now + 1)
    return tuple(at for at, server in found if server == presence.server)


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
