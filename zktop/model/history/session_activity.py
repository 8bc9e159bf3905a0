"""Activity of sessions over time, from one connection table of their server to the next."""

from collections.abc import Mapping
from typing import Final

import msgspec

from zktop.model.facts import HOUR_MS, Connection, Connections, Millis, Session
from zktop.model.text import Text
from zktop.model.world.persistent_map import PersistentMap
from zktop.model.world.tables_of_all_servers import Ensemble

MOVES_WITHIN_MS: Final = 600_000
MAX_MOVES: Final = 16
KEPT_MS: Final = 600_000  # how long a record outlives the last listing of its session
FRESH_MS: Final = 120_000  # an older table proves nothing about a session's current activity
LAG_MS: Final = 1_000  # longest delay of an event
SPARE_RECORDS: Final = 1_000  # beyond two per listed session, before old ones are removed


class SessionActivity(msgspec.Struct, frozen=True, gc=False):
    """The activity of a session between its last two tables."""

    ms: int
    received: int  # packets from the client
    requests: int  # client transaction ids: neither pings nor renewed watches
    notifications: int  # watches that fired


class _Record(msgspec.Struct, gc=False):
    """One session as its server last listed it, and what earlier tables showed."""

    server: Text
    row: Connection
    at: Millis
    heard_at: Millis
    hour_from: Millis  # start of the current hour
    gap: int | None  # the longest silence in the current hour
    previous_gap: int | None = None  # the longest silence in the previous hour
    last_active: Millis | None = None
    moves: tuple[Millis, ...] = ()
    previous_row: Connection | None = None  # in the previous table, on the same connection
    previous_at: Millis = 0


class SessionHistories:
    """The activity of all sessions, as connection tables have shown it until now."""

    def __init__(self) -> None:
        # Session -> time of the table after which it has sent only pings.
        self.idle: PersistentMap[Session, Millis] = PersistentMap()
        self._records: dict[Session, _Record] = {}
        self._tables: dict[Text, Connections] = {}
        self._now: Millis = 0

    def look(self, ensemble: Ensemble) -> None:
        """Add the new connection tables."""
        self._now = ensemble.now_ms
        for tables in ensemble.tables:
            table = tables.facts.connections
            if table is None or table is self._tables.get(tables.server):
                continue
            self._tables[tables.server] = table
            active = self._add_rows(tables.server, tables.connections or {}, table.at, ensemble)
            self.idle = self.idle.with_changes(dict.fromkeys(active, table.at))
            self._forget()

    def idle_since(self, session: Session) -> Millis | None:
        """The time of the table after which it has sent only pings."""
        return self.idle.get(session)

    def idle_before(self, session: Session, moment: Millis) -> bool:
        """Whether it made its last request clearly before this time.

        A request shortly before it proves nothing: events arrive a little late, and a table may
        already show what the client did at this time.
        """
        idle = self.idle_since(session)
        return idle is not None and idle < moment - LAG_MS

    def last_active(self, session: Session) -> Millis | None:
        """The time of the last table after which it made a request.

        Its last request came between that table and the next one. None if it has been idle since
        the first table. Requests around a single new connection count only if no others are
        known: a waiter lists its queue again then, and the tables do not show what else was sent.
        """
        record = self._records.get(session)
        return record.last_active if record and record.row.last_cxid is not None else None

    def quiet_ms(self, session: Session) -> int | None:
        """How long its tables have shown only pings.

        This counts from the first to the last table of one connection, by `lcxid`. Only requests
        change it: pings and renewed watches have negative ids.
        """
        record, since = self._records.get(session), self.idle_since(session)
        if record is None or since is None or self._now - record.at > FRESH_MS:
            return None
        return record.at - max((since, *record.moves))

    def last_step(self, session: Session) -> SessionActivity | None:
        """Its activity between its last two tables.

        None before its second table, and after a move or a reset.
        """
        record = self._records.get(session)
        previous = record.previous_row if record else None
        if record is None or previous is None:
            return None
        row, elapsed = record.row, record.at - record.previous_at
        received, requests = row.received - previous.received, _requests(row) - _requests(previous)
        if received < 0 or requests < 0 or row.sent < previous.sent:
            return None
        notified = row.notifications - previous.notifications
        return SessionActivity(elapsed, received, requests, notified)

    def requests_per_s(self, session: Session) -> float | None:
        """Its requests per second, over its last two tables.

        If its server lists no transaction ids of clients, all its packets count, pings too.
        """
        step, record = self.last_step(session), self._records.get(session)
        if step is None or record is None:
            return None
        has_ids = record.row.last_cxid is not None
        return 1000 * (step.requests if has_ids else step.received) / step.ms

    def moves(self, session: Session) -> tuple[Millis, ...]:
        """When it was found on a new connection, within the last ten minutes."""
        record = self._records.get(session)
        earliest = self._now - MOVES_WITHIN_MS
        return tuple(at for at in record.moves if at >= earliest) if record else ()

    def last_move(self, session: Session) -> Millis | None:
        """When it was last found on a new connection."""
        record = self._records.get(session)
        return record.moves[-1] if record and record.moves else None

    def last_place(self, session: Session) -> tuple[Text | None, Text | None]:
        """The server that last listed it, and its client's address there."""
        record = self._records.get(session)
        return (record.server, record.row.client) if record else (None, None)

    def longest_gap(self, session: Session) -> int | None:
        """The longest time without a packet within the current hour and the previous one.

        No session survives a silence as long as its timeout, so such a silence does not count: its
        server paused, or a clock was set.
        """
        record = self._records.get(session)
        if record is None:
            return None
        gaps = [gap for gap in (record.gap, record.previous_gap) if gap is not None]
        return max(gaps, default=None)

    def _add_rows(
        self, server: Text, rows: Mapping[Session, Connection], at: Millis, ensemble: Ensemble
    ) -> list[Session]:
        """Add rows; return the sessions that may have made a request since their last rows."""
        records, active = self._records, []
        for session, row in rows.items():
            record = records.get(session)
            if record is None:
                gap = _longer(None, row.quiet_ms, row)
                records[session] = _Record(server, row, at, at, at, gap)
                has_request = row.last_cxid is not None
            elif record.server != server or record.row.established != row.established:
                has_request = self._add_moved_row(record, server, row, at, ensemble)
            elif at > record.at:
                record.previous_row, record.previous_at = record.row, record.at
                has_request = _store_row(record, row, at, is_moved=False)
            else:
                has_request = False
            if has_request:
                active.append(session)
        return active

    def _add_moved_row(
        self, record: _Record, server: Text, row: Connection, at: Millis, ensemble: Ensemble
    ) -> bool:
        """Add a row of another connection, if it is the newest one of its session."""
        presence = ensemble.presence(row.session)
        if presence is None or presence.server != server:
            return False
        record.moves = (*record.moves, at)[-MAX_MOVES:]
        record.server, record.heard_at = server, at  # active on connecting
        has_request = _store_row(record, row, at, is_moved=True)
        record.previous_row = None
        return has_request

    def _forget(self) -> None:
        listed = sum(len(table.rows or ()) for table in self._tables.values())
        if len(self._records) > 2 * listed + SPARE_RECORDS:
            earliest = self._now - KEPT_MS
            kept = {
                session: record
                for session, record in self._records.items()
                if record.at >= earliest
            }
            gone = self._records.keys() - kept.keys()
            self.idle = self.idle.with_changes(dict.fromkeys(gone))
            self._records = kept


def _requests(row: Connection) -> int:
    return row.last_cxid or 0


def _store_row(record: _Record, row: Connection, at: Millis, *, is_moved: bool) -> bool:
    """Store the newest row; return whether it may show a new request.

    A new connection and a reset of the counters hide what was requested before them. If each of
    two tables shows a new connection, everything that was sent between them is hidden.
    """
    last = record.row
    if row.received != last.received:
        record.heard_at = at
    has_request = is_moved or row.last_cxid != last.last_cxid
    # There is no previous row if the last table was its first or also showed a new connection.
    is_single_move = is_moved and record.previous_row is not None
    if has_request and not (is_single_move and record.last_active):
        record.last_active = record.at
    if at - record.hour_from >= HOUR_MS:
        record.previous_gap, record.gap, record.hour_from = record.gap, None, at
    silent, quiet = at - record.heard_at, row.quiet_ms
    if quiet is not None and quiet > silent:
        silent = quiet
    if record.gap is None or silent > record.gap:
        record.gap = _longer(record.gap, silent, row)
    record.row, record.at = row, at
    return has_request and (row.last_cxid is not None or last.last_cxid is not None)


def _longer(gap: int | None, silent: int | None, row: Connection) -> int | None:
    """Return the longer silence; one that the session cannot have survived does not count."""
    if silent is None or (row.timeout_ms is not None and silent >= row.timeout_ms):
        return gap
    return silent if gap is None or silent > gap else gap
