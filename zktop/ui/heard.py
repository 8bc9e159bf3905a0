"""When sessions were heard of, by all connection tables that the tape has seen."""

from bisect import bisect_left
from typing import Final

from zktop.model.facts import Millis, Session
from zktop.model.text import Text
from zktop.model.witness import Witness
from zktop.ui.tape import Tape

LATE_MS: Final = 60_000  # a table tells of contacts that are at most so old


class Heard:
    """The tables of the tape, by the time at which they were read; each is looked at once.

    They may be large: none is kept here for longer than the tape keeps it.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._begin(None)

    def _begin(self, tape: Tape | None) -> None:
        self._tape, self._read = tape, 0
        self._thinned = tape.thinned if tape else 0
        self._told: list[tuple[Millis, Witness]] = []
        self._newest: dict[Text, object] = {}  # table of each server

    def look(self, tape: Tape) -> None:
        """Take the tables that came since the last time."""
        if tape is not self._tape or tape.thinned != self._thinned:
            self._begin(tape)
        for kept in tape.since(self._read):
            self._read = kept.number
            for witness in kept.frame.report.sight.witnesses:
                self._take(witness)

    def _take(self, witness: Witness) -> None:
        table = witness.tables.connections
        if table is None or table.rows is None or self._newest.get(witness.server) is table:
            return
        self._newest[witness.server] = table
        self._told.append((table.at, witness))

    def contacts(self, session: Session, begin: Millis, end: Millis) -> list[tuple[Millis, Text]]:
        """Give when a session was heard of in a span of time, and by which server."""
        found = []
        for at, witness in self._told[bisect_left(self._told, begin, key=_at) :]:
            if at >= end + LATE_MS:
                break
            row = (witness.connections or {}).get(session)
            if row is not None and row.quiet_ms is not None:
                heard = at - row.quiet_ms
                if begin <= heard < end:
                    found.append((heard, witness.server))
        return sorted(found)


def _at(told: tuple[Millis, Witness]) -> Millis:
    return told[0]
