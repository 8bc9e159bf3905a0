"""Packets per second, of sessions and of servers."""

from typing import NamedTuple

from zktop.model.facts import Connections, Millis, Session
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.past.contact_times import table_before
from zktop.ui.past.tape import Tape

_Counts = dict[Session, tuple[int, int, Millis | None]]  # received, sent, connected since


class _TablePair(NamedTuple):
    """A connection table, and the counters of the one before it."""

    table: Connections
    now: _Counts
    before: _Counts
    span_ms: int
    total: tuple[float, float] | None  # received and sent per second; None: no session in both


class PacketRates:
    """Packets per second, from each server's connection table and the one before it."""

    def __init__(self) -> None:
        self._pairs: dict[Text, _TablePair] = {}

    def update(self, report: Report, tape: Tape) -> None:
        """Find the table before the newest one, for each server."""
        for tables in report.ensemble.tables:
            table = tables.facts.connections
            known = self._pairs.get(tables.server)
            if table is None:
                self._pairs.pop(tables.server, None)
            elif known is None or known.table is not table:
                self._pairs[tables.server] = _paired(table, table_before(table, tape, report.now))

    def received(self, server: Text, session: Session) -> float | None:
        """Return the packets per second that a server received from a session."""
        pair = self._pairs.get(server)
        now = pair.now.get(session) if pair else None
        before = pair.before.get(session) if pair else None
        if pair is None or now is None or before is None or now[2] != before[2]:
            return None
        return max(0.0, 1000 * (now[0] - before[0]) / pair.span_ms)

    def total(self, server: Text) -> tuple[float, float] | None:
        """Return the packets per second that a server received, and sent."""
        pair = self._pairs.get(server)
        return pair.total if pair else None


def _paired(table: Connections, previous: Connections | None) -> _TablePair:
    """Count the packets between two tables, in all sessions that are in both."""
    now, before = _counted(table), _counted(previous) if previous else {}
    span_ms = max(1, table.at - (previous or table).at)
    both = [(now[one], before[one]) for one in now.keys() & before.keys()]
    received = sum(max(0, after[0] - earlier[0]) for after, earlier in both)
    sent = sum(max(0, after[1] - earlier[1]) for after, earlier in both)
    total = (1000 * received / span_ms, 1000 * sent / span_ms) if both else None
    return _TablePair(table, now, before, span_ms, total)


def _counted(table: Connections) -> _Counts:
    return {row.session: (row.received, row.sent, row.established) for row in table.rows or ()}
