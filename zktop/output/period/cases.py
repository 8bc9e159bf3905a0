"""The deadlocks and findings of a period: when each was seen, and its last verdict."""

from collections.abc import Iterator

import msgspec

from zktop.model.deadlock_log import EndedDeadlock
from zktop.model.facts import Millis, Session
from zktop.model.findings.finding import SEVERITIES, Finding
from zktop.model.history.all_locks import CONNECTED_STATES
from zktop.model.history.expired_sessions import ExpiredSession
from zktop.model.report import Report
from zktop.model.waits.deadlock import Deadlock


class DeadlockCase(msgspec.Struct, frozen=True):
    """A deadlock; `ended_at` is None while it exists."""

    deadlock: Deadlock
    first_at: Millis
    ended_at: Millis | None = None
    how: str | None = None


class FindingCase(msgspec.Struct, frozen=True):
    """A finding that may have come and gone several times.

    `last_at` is the first look without it; if the connection was lost, the last look with it.
    """

    finding: Finding
    first_at: Millis
    last_at: Millis
    is_over: bool = False
    times: int = 1  # how often it appeared


class CaseLog:
    """Takes every report of a period in order."""

    def __init__(self) -> None:
        self._deadlocks: dict[int, DeadlockCase] = {}  # by number
        self._alive: set[int] = set()  # the numbers of those that are not over
        self._findings: dict[str, FindingCase] = {}
        self._present: frozenset[str] = frozenset()  # the findings of the newest report
        self._was_connected = True  # at the newest report
        self._over: tuple[EndedDeadlock, ...] = ()
        self._expiries: dict[Session, ExpiredSession] = {}
        self._expired: tuple[ExpiredSession, ...] = ()  # of the newest report

    def look(self, report: Report, now: Millis) -> None:
        """Add the next report, and the time to record for it."""
        for deadlock in report.deadlocks:
            earlier = self._deadlocks.get(deadlock.number)
            first_at = earlier.first_at if earlier else now
            self._deadlocks[deadlock.number] = DeadlockCase(deadlock, first_at)
            self._alive.add(deadlock.number)
        if report.over is not self._over:
            self._over = report.over
            for over in report.over:
                self._end(over)
            self._end_others(report, now)
        if report.expiries is not self._expired:
            self._expired = report.expiries
            self._expiries.update((expired.session, expired) for expired in report.expiries)
        for finding in report.findings:
            self._findings[finding.id] = self._case(finding, now)
        present = frozenset(finding.id for finding in report.findings)
        if self._was_connected:
            for id_ in self._present - present:
                self._findings[id_] = msgspec.structs.replace(self._findings[id_], last_at=now)
        self._present = present
        self._was_connected = report.ensemble.link in CONNECTED_STATES

    def _case(self, finding: Finding, now: Millis) -> FindingCase:
        earlier = self._findings.get(finding.id)
        if earlier is None:
            return FindingCase(finding, now, now)
        is_back = finding.id not in self._present
        return FindingCase(finding, earlier.first_at, now, times=earlier.times + is_back)

    def _end(self, over: EndedDeadlock) -> None:
        """Record how a deadlock ended; a later report may know more."""
        case = self._deadlocks.get(over.deadlock.number)
        if case is not None:
            self._deadlocks[over.deadlock.number] = DeadlockCase(
                case.deadlock, case.first_at, over.at, over.how
            )
            self._alive.discard(over.deadlock.number)

    def _end_others(self, report: Report, now: Millis) -> None:
        """End those that are gone but not listed as ended: the report lists only the latest."""
        present = {deadlock.number for deadlock in report.deadlocks}
        for number in self._alive - present:
            case = self._deadlocks[number]
            self._deadlocks[number] = msgspec.structs.replace(case, ended_at=now)
        self._alive &= present

    def deadlocks(self) -> Iterator[DeadlockCase]:
        """Return all deadlocks, in order of detection."""
        return iter(self._deadlocks.values())

    def expiries(self, since: Millis) -> list[ExpiredSession]:
        """Return the sessions that expired in the period, with the locks that each freed."""
        return [session for session in self._expiries.values() if session.at >= since]

    def findings(self) -> list[FindingCase]:
        """Return all findings that are not deadlocks, worst first."""
        dead = {case.deadlock.id for case in self._deadlocks.values()}
        cases = (
            msgspec.structs.replace(case, is_over=id_ not in self._present)
            for id_, case in self._findings.items()
            if id_ not in dead
        )
        return sorted(cases, key=_rank)


def _rank(case: FindingCase) -> tuple[int, bool, Millis]:
    finding = case.finding
    return SEVERITIES.index(finding.severity), not finding.is_sure, case.first_at
