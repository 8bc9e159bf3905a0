"""How likely each session is to cause trouble, by findings, silence and lost connections."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal

import msgspec

from zktop.model.facts import Session
from zktop.model.findings.finding import Finding, Severity
from zktop.model.findings.sessions import silence_severity
from zktop.model.report import Report
from zktop.model.world.tables_of_all_servers import Ensemble
from zktop.ui.screens.sessions.directory import SessionDirectory

RiskLevel = Literal["HIGH", "MED", "LOW", ""]
RISKS: Final[tuple[RiskLevel, ...]] = ("HIGH", "MED", "LOW", "")
SESSIONS_AT_ONCE: Final = 1_000  # checking them takes some 3 ms

_LEVELS: Final[dict[Severity, RiskLevel]] = {"critical": "HIGH", "warning": "MED", "info": "LOW"}


class SessionRisk(msgspec.Struct, frozen=True):
    """How likely a session is to cause trouble, and why."""

    level: RiskLevel
    note: str = ""
    cases: tuple[Finding, ...] = ()


NO_RISK: Final = SessionRisk("")
LOW_RISK: Final = SessionRisk("LOW")
NOT_CONNECTED: Final = SessionRisk("HIGH", "no connection")


class SessionRisks:
    """The risk of each session in the newest report."""

    def __init__(self, sessions: SessionDirectory) -> None:
        self.by_session: dict[Session, SessionRisk] = {}
        self._sessions = sessions
        self._report: Report | None = None
        self._by_findings: dict[Session, SessionRisk] = {}
        self._silent: dict[Session, SessionRisk] = {}
        self._disconnected: set[Session] = set()

    def read(self, report: Report, changed: set[Session]) -> Iterator[None]:
        """Apply the next report, in steps if many sessions changed.

        `changed` contains the sessions whose locks changed since the previous report; those whose
        risk changed are added to it.
        """
        previous, self._report = self._report, report
        if previous is None or report.findings is not previous.findings:
            self._by_findings = _risks_by_findings(report.findings)
        if previous is None or report.ensemble.tables != previous.ensemble.tables:
            self._silent = dict(_silent_sessions(report.ensemble))
            self._disconnected = set()
            yield from self._check_connections(report.ensemble, tuple(self._sessions.locks))
        else:
            yield from self._check_connections(report.ensemble, tuple(changed))
        previous_risks, self.by_session = self.by_session, self._combined()
        for session in previous_risks.keys() | self.by_session.keys():
            if previous_risks.get(session) != self.by_session.get(session):
                changed.add(session)

    def of(self, session: Session) -> SessionRisk:
        risk = self.by_session.get(session)
        if risk is not None:
            return risk
        return LOW_RISK if session in self._sessions.locks else NO_RISK

    def _check_connections(
        self, ensemble: Ensemble, sessions: Sequence[Session]
    ) -> Iterator[None]:
        if ensemble.visibility.sessions != "all":
            self._disconnected.clear()
            return
        for number, session in enumerate(sessions, start=1):
            if number % SESSIONS_AT_ONCE == 0:
                yield
            locks = self._sessions.locks.get(session)
            if locks is not None and ensemble.connected(session, locks.newest_czxid) is False:
                self._disconnected.add(session)
            else:
                self._disconnected.discard(session)

    def _combined(self) -> dict[Session, SessionRisk]:
        risks = dict(self._by_findings)
        for session, silent in self._silent.items():
            if session in self._sessions.locks:
                risks[session] = _both(silent, risks.get(session))
        for session in self._disconnected:
            risks[session] = _both(NOT_CONNECTED, risks.get(session))
        return risks


def _both(risk: SessionRisk, other: SessionRisk | None) -> SessionRisk:
    if other is None:
        return risk
    level = min(risk.level, other.level, key=RISKS.index)
    return SessionRisk(level, f"{risk.note}, {other.note}", other.cases)


def _risks_by_findings(findings: Iterable[Finding]) -> dict[Session, SessionRisk]:
    by_session: dict[Session, list[Finding]] = {}
    for finding in findings:
        for session in finding.sessions:
            by_session.setdefault(session, []).append(finding)
    return {session: _risk_of(cases) for session, cases in by_session.items()}


def _risk_of(cases: list[Finding]) -> SessionRisk:
    worst = cases[0]  # findings come in order, the worst first
    more = f" +{len(cases) - 1}" if len(cases) > 1 else ""
    level: RiskLevel = "LOW"
    if any(case.severity == "critical" and case.is_sure for case in cases):
        level = "HIGH"
    elif any(case.severity != "info" for case in cases):
        level = "MED"
    return SessionRisk(level, worst.words + more, tuple(cases))


def _silent_sessions(ensemble: Ensemble) -> Iterator[tuple[Session, SessionRisk]]:
    """Find the sessions that were silent for over half their timeout when their table was read."""
    for tables in ensemble.tables:
        for session, row in (tables.connections or {}).items():
            quiet, timeout = row.quiet_ms, row.timeout_ms
            if quiet is None or not timeout or session == ensemble.own:
                continue
            severity = silence_severity(quiet / timeout)
            presence = ensemble.presence(session) if severity else None
            if severity and presence is not None and presence.server == tables.server:
                note = f"silent {quiet / 1000:.0f}s of {timeout / 1000:.0f}s"
                yield session, SessionRisk(_LEVELS[severity], note)
