"""All sessions as rows, updated from each report: locks, connection, risk and packet rate."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import cached_property
from typing import Final

import msgspec

from zktop.model.facts import Millis, Session
from zktop.model.format import fold_name
from zktop.model.report import Report
from zktop.model.session_ids import session_text
from zktop.model.text import Text
from zktop.model.world.tables_of_all_servers import ExpiryWindow
from zktop.model.world.tables_of_one_server import Presence
from zktop.ui.past.contacts_and_packet_rates import PacketRates
from zktop.ui.screens.common.live_rows import LiveRows
from zktop.ui.screens.common.short_ids import ShortIds
from zktop.ui.screens.sessions.directory import NO_LOCKS, SessionDirectory, SessionLocks
from zktop.ui.screens.sessions.risks import LOW_RISK, RISKS, SessionRisk, SessionRisks
from zktop.ui.widgets.table import RowGroup

MIN_GROUP: Final = 12  # quiet sessions with similar names that become one line
ID_DIGITS: Final = 5  # more than in a queue, because there are more sessions here
ROWS_AT_ONCE: Final = 300  # making them takes some 3 ms
MAX_LOCKS_RANKED: Final = 1 << 20  # more locks do not make a session more urgent


class SessionRow(msgspec.Struct, frozen=True, eq=False, gc=False):
    """One session. Values that are not fields are looked up on demand."""

    session: Session
    sessions: "SessionRows"
    name: Text | None  # its label, or the user's name for its address
    risk: SessionRisk
    is_quiet: bool  # at low risk, and not a demo contender
    group: str  # the name without its numbers
    holds: int  # locks
    waits: int
    urgency: int  # the highest risk first, then the most locks

    @property
    def key(self) -> Session:
        return self.session

    @property
    def growth(self) -> int:
        """The order does not depend on the time."""
        return 0

    @property
    def short_id(self) -> str:
        """The last digits of its id, or the whole id if another ends the same."""
        return self.sessions.short_ids.of(self.session)

    @property
    def report(self) -> Report:
        return self.sessions.shown

    @property
    def locks(self) -> SessionLocks:
        return self.sessions.directory.locks.get(self.session, NO_LOCKS)

    @property
    def unique_name(self) -> Text:
        """A name that no other session has."""
        return self.sessions.directory.unique_name(self.session)

    @property
    def presence(self) -> Presence | None:
        return self.report.ensemble.presence(self.session)

    @property
    def risk_word(self) -> str:
        """The level of its risk, with `?` instead of LOW if its silence is unknown."""
        level = self.risk.level
        return "?" if level == "LOW" and self.presence is None else level

    @property
    def expires_in(self) -> ExpiryWindow | None:
        """When the session expires if its client stays silent."""
        return self.report.ensemble.expires_in(self.session, self.report.now)

    @property
    def is_ours(self) -> bool:
        return self.session in self.report.ours

    @property
    def rate(self) -> float | None:
        """The packets per second that the server receives from the session."""
        presence = self.presence
        return self.sessions.rates.received(presence.server, self.session) if presence else None

    @property
    def received(self) -> int | None:
        """The packets that its server received from it since it connected."""
        return presence.received if (presence := self.presence) else None

    @property
    def sent(self) -> int | None:
        """The packets that its server sent to it since it connected."""
        return presence.sent if (presence := self.presence) else None

    @property
    def watches(self) -> int | None:
        """The number of watches in the server tables."""
        watched = self.report.ensemble.watched(self.session)
        return None if watched is None else len(watched)

    @property
    def server(self) -> str:
        return presence.server if (presence := self.presence) else ""

    @property
    def client(self) -> str:
        """The address that it is connected from."""
        return presence.client if (presence := self.presence) else ""

    @property
    def state(self) -> str:
        """What it does, in words that a filter can match."""
        locks = self.locks
        is_waiting = locks.waits or locks.by_watch
        state = ("holding " if locks.holds else "") + ("waiting" if is_waiting else "")
        return state or "quiet"

    @property
    def paths(self) -> str:
        """The locks that it holds, then those that it waits for."""
        locks = self.locks
        return " ".join((*locks.holds, *locks.waits_for))

    @property
    def text(self) -> str:
        """The text that a filter searches for words without a field."""
        presence, risk, locks = self.presence, self.risk, self.locks
        where = (presence.client, presence.server) if presence else ()
        named = (risk.note, risk.note.replace(" ", "-"))  # as scripts write names of findings
        texts = (self.name or "", session_text(self.session), *where, self.risk_word, *named)
        return " ".join((*texts, *locks.holds, *locks.waits_for))


SESSION_FIELDS: Final[dict[str, Callable[[SessionRow], str]]] = {
    "": lambda row: row.text,
    "owner": lambda row: row.name or "",
    "state": lambda row: row.state,
    "session": lambda row: session_text(row.session),
    "client": lambda row: row.client,
    "server": lambda row: row.server,
    "risk": lambda row: row.risk_word,
    "lock": lambda row: row.paths,
}
FIELDS: Final = tuple(filter(None, SESSION_FIELDS))


class SessionGroup(RowGroup[SessionRow], frozen=True, eq=False):
    """Sessions at low risk whose names differ only in numbers.

    A service of a thousand processes is one line until one of them is in trouble.
    """

    @property
    def is_partly_unseen(self) -> bool:
        """Whether a connection table is missing, so that some of them may be silent."""
        return self.rows[0].report.ensemble.visibility.sessions != "all"

    @cached_property
    def holds(self) -> int:
        return sum(row.holds for row in self.rows)

    @cached_property
    def waits(self) -> int:
        return sum(row.waits for row in self.rows)


class SessionRows(LiveRows[SessionRow]):
    """The sessions with locks or risks, or all connected sessions if they are not grouped."""

    group_type = SessionGroup

    def __init__(self) -> None:
        super().__init__(MIN_GROUP, MIN_GROUP)
        self.report: Report | None = None
        self.directory = SessionDirectory()
        self.risks = SessionRisks(self.directory)
        self.rates = PacketRates()
        self.connected: set[Session] = set()  # without zktop's own session
        self.short_ids = ShortIds(digits=ID_DIGITS)

    @property
    def shown(self) -> Report:
        """The newest report, for code that runs only after the first one."""
        assert self.report is not None  # noqa: S101  for the type checker
        return self.report

    def read(self, report: Report) -> Iterator[None]:
        """Apply the next report, or an earlier one, in steps if many sessions have changed."""
        previous, self.report = self.report, report
        if previous is report:
            return
        changed = set[Session]()
        yield from self.directory.read(report, changed)
        yield from self.risks.read(report, changed)
        if previous is None or previous.ensemble.tables != report.ensemble.tables:
            changed |= self._reconnected(report, previous)
        if previous is not None:
            changed |= {*previous.ours} ^ {*report.ours}
            if not report.client_names.owners.has_entries_of(previous.client_names.owners):
                changed |= self.rows.keys()
        for number, session in enumerate(changed, start=1):
            self._set(session)
            if number % ROWS_AT_ONCE == 0:
                yield
        self.has_changed |= bool(changed)

    def put(self, row: SessionRow, at: Millis | None = None) -> None:
        if row.session not in self.rows:
            self.short_ids.add(row.session)
        super().put(row, at)

    def remove(self, key: Hashable) -> SessionRow | None:
        row = super().remove(key)
        if row is not None:
            self.short_ids.remove(row.session)
        return row

    def set_grouped(self, *, on: bool) -> None:
        """List every session, or only those with locks or risks, in groups."""
        self.is_grouped = on
        self.open_groups.clear()
        for session in self.connected:
            self._set(session)

    @property
    def fields(self) -> Mapping[str, Callable[[SessionRow], str]]:
        return SESSION_FIELDS

    @property
    def without_locks(self) -> int:
        return len(self.connected - self.directory.locks.keys())

    @property
    def at_high_risk(self) -> int:
        return sum(risk.level == "HIGH" for risk in self.risks.by_session.values())

    def _reconnected(self, report: Report, previous: Report | None) -> set[Session]:
        """Return sessions that came or went, and those without a lock that may have expired."""
        connected = {
            session for server in report.ensemble.tables for session in server.connections or ()
        }
        connected.discard(report.ensemble.own or 0)
        changed, self.connected = connected ^ self.connected, connected
        changed |= self.risks.by_session.keys() - self.directory.locks.keys()
        return changed | (report.ensemble.changed_since(previous.ensemble) if previous else set())

    def _is_listed(self, session: Session) -> bool:
        if not session:
            return False
        if session in self.directory.locks:
            return True
        if session in self.risks.by_session and self.shown.ensemble.alive(session) is not False:
            return True
        return not self.is_grouped and session in self.connected

    def _set(self, session: Session) -> None:
        """Add, replace or remove the row of a session."""
        if not self._is_listed(session):
            self.remove(session)
            return
        risk = self.risks.of(session)
        is_quiet = risk == LOW_RISK and session not in self.shown.ours
        name = self.directory.name(session)
        group = fold_name(name) if name and is_quiet else ""
        locks = self.directory.locks.get(session, NO_LOCKS)
        holds, waits = len(locks.holds), len(locks.waits) + len(locks.by_watch)
        rank = _rank(risk, holds, waits)
        self.put(SessionRow(session, self, name, risk, is_quiet, group, holds, waits, rank))


def _rank(risk: SessionRisk, holds: int, waits: int) -> int:
    level = len(RISKS) - RISKS.index(risk.level)
    place = level * MAX_LOCKS_RANKED + min(holds, MAX_LOCKS_RANKED - 1)
    return place * MAX_LOCKS_RANKED + min(waits, MAX_LOCKS_RANKED - 1)
