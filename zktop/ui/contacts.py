"""When a session was heard of, looked up in the tables of the last minutes."""

from collections.abc import Iterator
from typing import Final

from zktop.model.facts import Connections, Millis, Session
from zktop.model.report import Report
from zktop.ui.tape import Tape

FRAMES_SEARCHED: Final = 400


class Contacts:
    """When a session was heard of, by the tables of the last minutes."""

    def __init__(self) -> None:
        """Begin with nothing looked up."""
        self._known: tuple[Session, object, tuple[Millis, ...]] = (0, None, ())

    def of(self, session: Session, report: Report, tape: Tape) -> tuple[Millis, ...]:
        """Give the times, newest first; looked up again when there is a newer table."""
        presence = report.sight.presence(session)
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
        for witness in frame.report.sight.witnesses:
            table = witness.tables.connections
            if witness.server == server and table is not None and table is not before:
                before = table
                row = (witness.connections or {}).get(session)
                if row is not None and row.quiet_ms is not None:
                    yield table.at - row.quiet_ms
