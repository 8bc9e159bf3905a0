"""When sessions were heard of, by all connection tables that the tape has seen.

When a session was heard of, looked up in the tables of the last minutes.
"""

from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from zktop.model.facts import Connections, Millis, Session
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.world.server_tables import ServerTables
from zktop.ui.past.tape import Tape

LATE_MS: Final = 60_000  # a table tells of contacts that are at most so old


class ServerContacts:
    """The tables of the tape, by the time at which they were read; each is looked at once.

    They may be large: none is kept here for longer than the tape keeps it.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._begin(None)

    def _begin(self, tape: Tape | None) -> None:
        self._tape, self._read = tape, 0
        self._thinned = tape.thinned if tape else 0
        self._told: list[tuple[Millis, ServerTables]] = []
        self._newest: dict[Text, object] = {}  # table of each server

    def look(self, tape: Tape) -> None:
        """Take the tables that came since the last time."""
        if tape is not self._tape or tape.thinned != self._thinned:
            self._begin(tape)
        for kept in tape.since(self._read):
            self._read = kept.number
            for tables in kept.frame.report.ensemble.tables:
                self._take(tables)

    def _take(self, tables: ServerTables) -> None:
        table = tables.facts.connections
        if table is None or table.rows is None or self._newest.get(tables.server) is table:
            return
        self._newest[tables.server] = table
        self._told.append((table.at, tables))

    def contacts(self, session: Session, begin: Millis, end: Millis) -> list[tuple[Millis, Text]]:
        """Give when a session was heard of in a span of time, and by which server."""
        found = []
        for at, tables in self._told[bisect_left(self._told, begin, key=_at) :]:
            if at >= end + LATE_MS:
                break
            row = (tables.connections or {}).get(session)
            if row is not None and row.quiet_ms is not None:
                heard = at - row.quiet_ms
                if begin <= heard < end:
                    found.append((heard, tables.server))
        return sorted(found)


def _at(told: tuple[Millis, ServerTables]) -> Millis:
    return told[0]


FRAMES_SEARCHED: Final = 400


class ContactTimes:
    """When a session was heard of, by the tables of the last minutes."""

    def __init__(self) -> None:
        """Begin with nothing looked up."""
        self._known: tuple[Session, object, tuple[Millis, ...]] = (0, None, ())

    def of(self, session: Session, report: Report, tape: Tape) -> tuple[Millis, ...]:
        """Give the times, newest first; looked up again when there is a newer table."""
        presence = report.ensemble.presence(session)
        if presence is None or presence.timeout_ms is None:
            return ()
        newest = presence.server, presence.at
        if self._known[:2] != (session, newest):
            begin = report.now - 2 * presence.timeout_ms
            found = tuple(
                sorted(set(_contacts(session, presence.server, tape, report.now, begin)))
            )
            self._known = session, newest, found
        return self._known[2]


def _contacts(
    session: Session, server: str, tape: Tape, end: Millis, begin: Millis
) -> Iterator[Millis]:
    before: Connections | None = None
    last = tape.index_at(end)
    for index in range(last, max(-1, last - FRAMES_SEARCHED), -1):
        frame = tape[index]
        if frame.at < begin:
            return
        for tables in frame.report.ensemble.tables:
            table = tables.facts.connections
            if tables.server == server and table is not None and table is not before:
                before = table
                row = (tables.connections or {}).get(session)
                if row is not None and row.quiet_ms is not None:
                    yield table.at - row.quiet_ms
