"""The sessions of a report: their locks, names, risks and packet rates.

Each part is updated from one report to the next, at the price of what changed.
"""

from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

import msgspec

from zktop.model.facts import Connections, Millis, Session, session_text
from zktop.model.findings.finding import SURE, Finding
from zktop.model.locks.lock import Member
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.world.ensemble import Ensemble
from zktop.ui.past.contact_times import table_before
from zktop.ui.past.tape import Tape

RiskLevel = Literal["HIGH", "MED", "LOW", ""]
RISKS: Final[tuple[RiskLevel, ...]] = ("HIGH", "MED", "LOW", "")
HALF, TWO_THIRDS = 1 / 2, 2 / 3  # of a timeout


class SessionLocks(msgspec.Struct, eq=False):
    """The locks that a session holds or waits for, each with its node there."""

    holds: dict[Text, Member]
    waits: dict[Text, Member]

    @property
    def newest(self) -> int:
        """The zxid in which its newest node was created."""
        members = (*self.holds.values(), *self.waits.values())
        return max((member.czxid for member in members), default=0)


NO_LOCKS: Final = SessionLocks({}, {})


class SessionRisk(msgspec.Struct, frozen=True):
    """How likely a session is to cause trouble, and why."""

    level: RiskLevel
    note: str = ""
    cases: tuple[Finding, ...] = ()


NO_RISK: Final = SessionRisk("")
LOW_RISK: Final = SessionRisk("LOW")
NOT_CONNECTED: Final = SessionRisk("HIGH", "no connection")


class SessionDirectory:
    """The sessions of the newest report, with their locks and names."""

    def __init__(self) -> None:
        self.report: Report | None = None
        self.locks: dict[Session, SessionLocks] = {}

    def update(self, report: Report) -> set[Session]:
        """Apply the next report, or an earlier one; return the sessions whose locks changed."""
        before, self.report = self.report, report
        if before is report:
            return set()
        changed: Iterable[Text] = (
            report.parts if before is None else report.parts.changed_since(before.parts)
        )
        sessions: set[Session] = set()
        for path in list(changed):
            if before is not None:
                sessions.update(self._remove(path, before))
            sessions.update(self._add(path, report))
        return sessions

    def _remove(self, path: Text, report: Report) -> Iterator[Session]:
        for member, _ in _owned(path, report):
            yield member.owner
            locks = self.locks.get(member.owner)
            if locks is None:
                continue  # removed with another node of the session in this lock
            locks.holds.pop(path, None)
            locks.waits.pop(path, None)
            if not locks.holds and not locks.waits:
                del self.locks[member.owner]

    def _add(self, path: Text, report: Report) -> Iterator[Session]:
        for member, is_held in _owned(path, report):
            yield member.owner
            locks = self.locks.get(member.owner)
            if locks is None:
                locks = self.locks[member.owner] = SessionLocks({}, {})
            (locks.holds if is_held else locks.waits)[path] = member

    def name(self, session: Session) -> Text | None:
        """Return the label of a session, or the name that the user gave to its address."""
        return (
            None if self.report is None else self.report.owner_name(session, self._label(session))
        )

    def unique_name(self, session: Session) -> Text:
        """Return a name that no other session has."""
        if self.report is None:
            return Text(session_text(session))
        return self.report.client_names(session, self._label(session))

    def _label(self, session: Session) -> Text | None:
        locks = self.locks.get(session, NO_LOCKS)
        members = (*locks.holds.values(), *locks.waits.values())
        return next((label for one in members if (label := one.label)), None)


def _owned(path: Text, report: Report) -> Iterator[tuple[Member, bool]]:
    """Return the members of a lock that belong to sessions, and whether each holds it."""
    part = report.parts.get(path)
    if part is not None:
        yield from ((one, True) for one in part.lock.holders if one.owner)
        yield from ((one, False) for one in part.lock.waiters if one.owner)


class SessionRisks:
    """The risk of each session in the newest report: from findings, silence, lost connections."""

    def __init__(self, sessions: SessionDirectory) -> None:
        self.by_session: dict[Session, SessionRisk] = {}
        self._sessions = sessions
        self._report: Report | None = None
        self._found: dict[Session, SessionRisk] = {}
        self._silent: dict[Session, SessionRisk] = {}
        self._gone: set[Session] = set()

    def update(self, report: Report, changed: Iterable[Session]) -> set[Session]:
        """Apply the next report; return the sessions whose risk changed.

        `changed` are the sessions whose locks are others than in the report before.
        """
        before, self._report = self._report, report
        if before is None or report.findings is not before.findings:
            self._found = _found_risks(report.findings)
        if before is None or report.ensemble.tables != before.ensemble.tables:
            self._silent = dict(_silent_sessions(report.ensemble))
            self._gone, changed = set(), self._sessions.locks
        self._check_connections(report.ensemble, changed)
        known, self.by_session = self.by_session, self._joined()
        either = known.keys() | self.by_session.keys()
        return {one for one in either if known.get(one) != self.by_session.get(one)}

    def of(self, session: Session) -> SessionRisk:
        """Return the risk of one session."""
        known = self.by_session.get(session)
        if known is not None:
            return known
        return LOW_RISK if session in self._sessions.locks else NO_RISK

    def _check_connections(self, ensemble: Ensemble, sessions: Iterable[Session]) -> None:
        if ensemble.visibility.sessions != "all":
            self._gone.clear()
            return
        for session in sessions:
            locks = self._sessions.locks.get(session)
            if locks is not None and ensemble.connected(session, locks.newest) is False:
                self._gone.add(session)
            else:
                self._gone.discard(session)

    def _joined(self) -> dict[Session, SessionRisk]:
        risks = dict(self._found)
        for session, silent in self._silent.items():
            if session in self._sessions.locks:
                risks[session] = _both(silent, risks.get(session))
        for session in self._gone:
            risks[session] = _both(NOT_CONNECTED, risks.get(session))
        return risks


def _both(risk: SessionRisk, other: SessionRisk | None) -> SessionRisk:
    if other is None:
        return risk
    level = min(risk.level, other.level, key=RISKS.index)
    return SessionRisk(level, f"{risk.note}, {other.note}", other.cases)


def _found_risks(findings: Iterable[Finding]) -> dict[Session, SessionRisk]:
    cases: dict[Session, list[Finding]] = {}
    for finding in findings:
        for session in finding.sessions:
            cases.setdefault(session, []).append(finding)
    return {session: _risk_of(several) for session, several in cases.items()}


def _risk_of(cases: list[Finding]) -> SessionRisk:
    worst = cases[0]  # findings come in order, the worst first
    sure = any(one.severity == "critical" and one.confidence in SURE for one in cases)
    some = any(one.severity != "info" for one in cases)
    more = f" +{len(cases) - 1}" if len(cases) > 1 else ""
    level: RiskLevel = "HIGH" if sure else "MED" if some else "LOW"
    return SessionRisk(level, worst.name + more, tuple(cases))


def _silent_sessions(ensemble: Ensemble) -> Iterator[tuple[Session, SessionRisk]]:
    """Find the sessions that were silent for half their timeout when their table was read."""
    for tables in ensemble.tables:
        for session, row in (tables.connections or {}).items():
            quiet, timeout = row.quiet_ms, row.timeout_ms
            if quiet is None or not timeout or quiet < HALF * timeout or session == ensemble.own:
                continue
            presence = ensemble.presence(session)
            if presence is not None and presence.server == tables.server:
                level: RiskLevel = "HIGH" if quiet >= TWO_THIRDS * timeout else "MED"
                note = f"silent {quiet / 1000:.0f}s of {timeout / 1000:.0f}s"
                yield session, SessionRisk(level, note)


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
