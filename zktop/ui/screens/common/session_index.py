"""Who has to do with which lock, kept up to date from one report to the next.

A report knows its sessions too, but works them all out anew; here only locks that changed are
counted again, so that a page may ask twenty times a second.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final, Literal, NamedTuple

import msgspec

from zktop.model.facts import Connections, Millis, Session, session_text
from zktop.model.findings.finding import Finding
from zktop.model.locks.lock import Member
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.world.ensemble import Ensemble
from zktop.ui.past.contact_times import table_before
from zktop.ui.past.tape import Tape
from zktop.ui.screens.common.status_codes import SURE

RiskLevel = Literal["HIGH", "MED", "LOW", ""]
RISKS: Final[tuple[RiskLevel, ...]] = ("HIGH", "MED", "LOW", "")
HALF, TWO_THIRDS = 1 / 2, 2 / 3  # of a timeout


class SessionLocks(msgspec.Struct, eq=False):
    """The places of one session: by lock, the member there that holds, or else one that waits."""

    holds: dict[Text, Member]
    waits: dict[Text, Member]

    @property
    def newest(self) -> int:
        """The transaction that its newest place was made in."""
        members = (*self.holds.values(), *self.waits.values())
        return max((member.czxid for member in members), default=0)


NO_LOCKS: Final = SessionLocks({}, {})


class SessionRisk(msgspec.Struct, frozen=True):
    """How bad it stands with a session, and why."""

    risk: RiskLevel
    note: str = ""
    cases: tuple[Finding, ...] = ()


class SessionDirectory:
    """The sessions of the report that was looked at last."""

    def __init__(self) -> None:
        """Begin with nobody."""
        self.report: Report | None = None
        self.places: dict[Session, SessionLocks] = {}

    def look(self, report: Report) -> None:
        """Take the next report; it may be an earlier one."""
        before, self.report = self.report, report
        if before is report:
            return
        changed: Iterable[Text] = (
            report.parts if before is None else report.parts.changed_since(before.parts)
        )
        for path in list(changed):
            if before is not None:
                self._take_out(path, before)
            self._put_in(path, report)

    def _take_out(self, path: Text, report: Report) -> None:
        for member, _ in _owned(path, report):
            places = self.places.get(member.owner)
            if places is None:
                continue  # it had several places there
            places.holds.pop(path, None)
            places.waits.pop(path, None)
            if not places.holds and not places.waits:
                del self.places[member.owner]

    def _put_in(self, path: Text, report: Report) -> None:
        for member, is_held in _owned(path, report):
            places = self.places.get(member.owner)
            if places is None:
                places = self.places[member.owner] = SessionLocks({}, {})
            (places.holds if is_held else places.waits)[path] = member

    def name(self, session: Session) -> Text | None:
        """Call a session as its places call it, or as its client's address is called."""
        return (
            None if self.report is None else self.report.owner_name(session, self._label(session))
        )

    def called(self, session: Session) -> Text:
        """Call a session by a name that is no other's."""
        if self.report is None:
            return Text(session_text(session))
        return self.report.client_names(session, self._label(session))

    def _label(self, session: Session) -> Text | None:
        places = self.places.get(session, NO_LOCKS)
        members = (*places.holds.values(), *places.waits.values())
        return next((named for one in members if (named := one.label)), None)


def _owned(path: Text, report: Report) -> Iterator[tuple[Member, bool]]:
    """Give the members of a lock that belong to sessions, and whether they hold it."""
    part = report.parts.get(path)
    if part is not None:
        yield from ((one, True) for one in part.lock.holders if one.owner)
        yield from ((one, False) for one in part.lock.waiters if one.owner)


class SessionRisks:
    """What each session has to fear, in one report."""

    def __init__(self, roster: SessionDirectory, report: Report) -> None:
        """Join findings, silence and missing connections."""
        self._roster, self._report = roster, report
        self.by_session: dict[Session, SessionRisk] = {}
        for session, cases in self._cases.items():
            self.by_session[session] = _of_cases(cases)
        self._add_silent()
        self._add_gone()

    def of(self, session: Session) -> SessionRisk:
        """Give what one session has to fear."""
        known = self.by_session.get(session)
        if known is not None:
            return known
        return SessionRisk("LOW" if session in self._roster.places else "")

    @cached_property
    def _cases(self) -> dict[Session, list[Finding]]:
        found: dict[Session, list[Finding]] = {}
        for finding in self._report.findings:
            for session in finding.sessions:
                found.setdefault(session, []).append(finding)
        return found

    def _add_silent(self) -> None:
        for session, silent_ms, timeout_ms in _silent(self._report.ensemble):
            risk: RiskLevel = "HIGH" if silent_ms >= TWO_THIRDS * timeout_ms else "MED"
            if session in self._roster.places:
                seconds = f"{silent_ms / 1000:.0f}s of {timeout_ms / 1000:.0f}s"
                self._add(session, SessionRisk(risk, f"silent {seconds}"))

    def _add_gone(self) -> None:
        ensemble = self._report.ensemble
        if ensemble.visibility.sessions != "all":
            return
        known = {one for tables in ensemble.tables for one in tables.connections or ()}
        for session, places in self._roster.places.items():
            if session not in known and ensemble.connected(session, places.newest) is False:
                self._add(session, SessionRisk("HIGH", "no connection"))

    def _add(self, session: Session, danger: SessionRisk) -> None:
        before = self.by_session.get(session)
        if before is None:
            self.by_session[session] = danger
            return
        risk = min(danger.risk, before.risk, key=RISKS.index)
        self.by_session[session] = SessionRisk(risk, f"{danger.note}, {before.note}", before.cases)


def _of_cases(cases: list[Finding]) -> SessionRisk:
    worst = cases[0]  # findings come in order, the worst first
    sure = any(one.severity == "critical" and one.confidence in SURE for one in cases)
    some = any(one.severity != "info" for one in cases)
    more = f" +{len(cases) - 1}" if len(cases) > 1 else ""
    return SessionRisk(
        "HIGH" if sure else "MED" if some else "LOW", worst.name + more, tuple(cases)
    )


def _silent(ensemble: Ensemble) -> Iterator[tuple[Session, int, int]]:
    """Find the sessions that were silent for half their timeout when their table was read."""
    for tables in ensemble.tables:
        for session, row in (tables.connections or {}).items():
            quiet, timeout = row.quiet_ms, row.timeout_ms
            if quiet is None or not timeout or quiet < HALF * timeout or session == ensemble.own:
                continue
            presence = ensemble.presence(session)
            if presence is not None and presence.server == tables.server:
                yield session, quiet, timeout


_Counts = dict[Session, tuple[int, int, Millis | None]]  # received, sent, since when


class _Step(NamedTuple):
    """A table, and what the one before it had counted."""

    table: Connections
    now: _Counts
    before: _Counts
    span_ms: int


class PacketRates:
    """Requests a second, from each server's connection table and the one before it."""

    def __init__(self) -> None:
        """Begin without any table."""
        self._steps: dict[Text, _Step] = {}
        self._totals: dict[Text, tuple[_Step, tuple[float, float] | None]] = {}

    def look(self, report: Report, tape: Tape, at: Millis) -> None:
        """Find the table before the newest one, for each server."""
        for tables in report.ensemble.tables:
            table = tables.facts.connections
            known = self._steps.get(tables.server)
            if table is None:
                self._steps.pop(tables.server, None)
            elif known is None or known.table is not table:
                self._steps[tables.server] = _step(table, table_before(table, tape, at))

    def received(self, server: Text, session: Session) -> float | None:
        """Give how many packets a second came from a session."""
        step = self._steps.get(server)
        now = step.now.get(session) if step else None
        before = step.before.get(session) if step else None
        if step is None or now is None or before is None or now[2] != before[2]:
            return None
        return max(0.0, 1000 * (now[0] - before[0]) / step.span_ms)

    def total(self, server: Text) -> tuple[float, float] | None:
        """Give how many packets a second a server received, and sent, in all."""
        step, known = self._steps.get(server), self._totals.get(server)
        if step is None:
            return None
        if known is None or known[0] is not step:
            known = self._totals[server] = step, _total(step)
        return known[1]


def _total(step: _Step) -> tuple[float, float] | None:
    """Add up what all did who are in both tables."""
    received = sent = same = 0
    for session, after in step.now.items():
        earlier = step.before.get(session)
        if earlier is not None:
            same += 1
            received += max(0, after[0] - earlier[0])
            sent += max(0, after[1] - earlier[1])
    return (1000 * received / step.span_ms, 1000 * sent / step.span_ms) if same else None


def _step(table: Connections, earlier: Connections | None) -> _Step:
    before = _counted(earlier) if earlier else {}
    return _Step(table, _counted(table), before, max(1, table.at - (earlier or table).at))


def _counted(table: Connections) -> _Counts:
    return {row.session: (row.received, row.sent, row.established) for row in table.rows or ()}
