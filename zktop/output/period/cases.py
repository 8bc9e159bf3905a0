"""The deadlocks and findings of a period: when each was seen, and its last verdict.

A finding that is over keeps the last sentence that it had for a while. As a finding clears, its
sentence may briefly say something less important.
"""

import re
from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec.structs import replace

from zktop.model.deadlock_log import EndedDeadlock
from zktop.model.facts import Millis, Session
from zktop.model.findings.finding import SEVERITIES, Finding
from zktop.model.history.all_locks import CONNECTED_STATES
from zktop.model.history.expired_sessions import ExpiredSession
from zktop.model.report import Report
from zktop.model.waits.deadlock import Deadlock

LASTING_MS: Final[Millis] = 5_000
_NUMBERS: Final = re.compile(r"\d[\d,.]*")  # in sentences, where they keep changing


class DeadlockCase(msgspec.Struct, frozen=True):
    """A deadlock. `ended_at` is None while it exists."""

    deadlock: Deadlock
    first_at: Millis
    ended_at: Millis | None = None
    how: str | None = None


class FindingCase(msgspec.Struct, frozen=True):
    """A finding that may have come and gone several times.

    `last_at` is the first look without it, or the last look with it if the connection was lost.
    """

    finding: Finding
    first_at: Millis
    last_at: Millis
    is_over: bool = False
    times: int = 1  # how often it appeared
    said_at: Millis = 0  # since when it has had this sentence, apart from its numbers
    lasting: Finding | None = None  # as it was when it had another sentence, for longer
    lasted_ms: Millis = 0

    def after(self, finding: Finding, now: Millis, *, is_back: bool) -> "FindingCase":
        """The case after the next report, which has the finding."""
        if not is_back and _says_the_same(finding, self.finding):
            return replace(self, finding=finding, last_at=now)
        case = self if is_back else self.said_until(now)
        times = self.times + is_back
        return replace(case, finding=finding, last_at=now, times=times, said_at=now)

    def said_until(self, now: Millis) -> "FindingCase":
        """The case when its sentence ends: remember the sentence unless it was short-lived."""
        lasted_ms = now - self.said_at
        if lasted_ms < min(LASTING_MS, self.lasted_ms):
            return self
        return replace(self, lasting=self.finding, lasted_ms=lasted_ms)

    def over(self) -> "FindingCase":
        """The case after its end, with the sentence that lasted."""
        return replace(self, finding=self.lasting or self.finding, is_over=True)


def _says_the_same(one: Finding, other: Finding) -> bool:
    """Whether the sentences of two findings differ in numbers at most."""
    if one.sentence == other.sentence:
        return True
    return _NUMBERS.sub("0", one.sentence) == _NUMBERS.sub("0", other.sentence)


class CaseLog:
    """Takes every report of a period in order."""

    def __init__(self) -> None:
        self._deadlocks: dict[int, DeadlockCase] = {}  # by number
        self._ongoing: set[int] = set()  # the numbers of the deadlocks that are not over
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
            self._ongoing.add(deadlock.number)
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
        for id_ in self._present - present:
            gone = self._findings[id_]
            gone = replace(gone, last_at=now) if self._was_connected else gone
            self._findings[id_] = gone.said_until(gone.last_at)
        self._present = present
        self._was_connected = report.ensemble.link in CONNECTED_STATES

    def _case(self, finding: Finding, now: Millis) -> FindingCase:
        earlier = self._findings.get(finding.id)
        if earlier is None:
            return FindingCase(finding, now, now, said_at=now)
        return earlier.after(finding, now, is_back=finding.id not in self._present)

    def _end(self, over: EndedDeadlock) -> None:
        """Record how a deadlock ended. A later report may know more."""
        case = self._deadlocks.get(over.deadlock.number)
        if case is not None:
            self._deadlocks[over.deadlock.number] = DeadlockCase(
                case.deadlock, case.first_at, over.at, over.how
            )
            self._ongoing.discard(over.deadlock.number)

    def _end_others(self, report: Report, now: Millis) -> None:
        """End deadlocks that are gone without a listed end: a report lists only the last ends."""
        present = {deadlock.number for deadlock in report.deadlocks}
        for number in self._ongoing - present:
            case = self._deadlocks[number]
            self._deadlocks[number] = replace(case, ended_at=now)
        self._ongoing &= present

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
            case if id_ in self._present else case.over()
            for id_, case in self._findings.items()
            if id_ not in dead
        )
        return sorted(cases, key=_rank)


def _rank(case: FindingCase) -> tuple[int, bool, Millis]:
    finding = case.finding
    return SEVERITIES.index(finding.severity), not finding.is_sure, case.first_at
