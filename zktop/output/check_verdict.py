"""The verdict of `zktop check`: which findings count, after how long, and the lines to print."""

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, get_args

from zktop.model.facts import Millis
from zktop.model.findings.catalogue import RULES
from zktop.model.findings.confirm import UNCONFIRMED
from zktop.model.findings.finding import BlindSpot, Finding
from zktop.model.format import count
from zktop.model.report import Report
from zktop.model.waits.confidence import Confidence
from zktop.output.snapshot_text import blind_lines

GRACE_MS: Final[Millis] = 5_000  # extra time for the second tables of slow servers
CONFIDENCES: tuple[Confidence, ...] = get_args(Confidence)
CRITICAL: Final = frozenset(rule.id for rule in RULES if rule.severity == "critical")
OUTAGES: Final = frozenset({"P13", "P14", "P15", "R4", "R8", "R9"})
HIDDEN: Final = frozenset({"R4", "R9"})  # locks that an ACL hides were not judged
Level = Literal["OK", "WARNING", "CRITICAL", "UNKNOWN"]


class FailCriteria(NamedTuple):
    """Which findings fail a check: those of given rules, or all critical ones, if sure enough."""

    rules: frozenset[str] = frozenset()
    confidence: Confidence = "C2"

    def counts(self, finding: Finding) -> bool:
        if not self.selects(finding) or not self.is_sure(finding):
            return False
        is_hint = finding.confidence == "C1"  # so its severity is below critical
        return bool(self.rules) or is_hint or finding.severity == "critical"

    def is_sure(self, finding: Finding) -> bool:
        """Return whether the confidence of a finding is high enough."""
        return CONFIDENCES.index(finding.confidence) >= CONFIDENCES.index(self.confidence)

    def selects(self, finding: Finding) -> bool:
        """Return whether a finding may count, by its rule or, without rules, its severity."""
        if self.rules:
            return finding.rule in self.rules
        return finding.severity == "critical" or finding.rule in CRITICAL


class VerdictBuilder:
    """Takes every report in order. A finding only counts after it has lasted for `settle`."""

    def __init__(self, criteria: FailCriteria, settle: Millis) -> None:
        self._criteria, self._settle = criteria, settle
        self._since: dict[str, Millis] = {}
        self._first: Millis | None = None
        self._first_tables: dict[str, Millis] = {}

    def look(self, report: Report) -> None:
        """Record since when each finding has been present without a break."""
        self._first = report.now if self._first is None else self._first
        since = self._since
        self._since = {
            finding.id: since.get(finding.id, report.now) for finding in report.findings
        }
        for server, at in _tables(report):
            self._first_tables.setdefault(server, at)

    def has_settled(self, report: Report) -> bool:
        """Return whether reports and tables span `settle`. Late tables get GRACE_MS more."""
        if self._first is None or report.now < self._first + self._settle:
            return False
        if report.now >= self._first + self._settle + GRACE_MS:
            return True
        first = self._first_tables
        return all(at >= first.get(server, at) + self._settle for server, at in _tables(report))

    def verdict(self, report: Report) -> "CheckVerdict":
        """Divide the findings of the last report into those that count and those that do not."""
        findings = report.findings
        counting = [
            finding
            for finding in findings
            if self._has_lasted(finding, report) and self._criteria.counts(finding)
        ]
        counting_ids = {finding.id for finding in counting}
        brief = [
            finding
            for finding in findings
            if finding.id not in counting_ids and self._may_count_later(finding, report)
        ]
        shown = counting_ids | {finding.id for finding in brief}
        deadlocks = {deadlock.id for deadlock in report.deadlocks}
        below = (finding for finding in findings if finding.id in deadlocks - shown)
        outages = (finding for finding in findings if _is_outage(finding))
        return CheckVerdict(
            findings=tuple(finding for finding in counting if finding.cause not in counting_ids),
            brief=tuple(brief),
            below=tuple(below),
            locks=len(report.paths) - len(report.no_locks),
            deadlocks=len(deadlocks),
            blind=report.blind,
            outages=tuple(finding for finding in outages if finding.id not in shown),
            non_locks=tuple(non_lock_sentences(report)),
            why_lost=report.why_lost,
        )

    def _has_lasted(self, finding: Finding, report: Report) -> bool:
        """Return whether a finding has lasted long enough, or its rule has already waited."""
        since = self._since.get(finding.id, report.now)
        has_waited = finding.patience_ms >= self._settle
        return finding.at_once or has_waited or report.now - since >= self._settle

    def _may_count_later(self, finding: Finding, report: Report) -> bool:
        if not self._criteria.is_sure(finding) or not self._criteria.selects(finding):
            return False
        return UNCONFIRMED in finding.evidence or not self._has_lasted(finding, report)


class CheckVerdict(NamedTuple):
    """The result of one check."""

    findings: tuple[Finding, ...]
    brief: tuple[Finding, ...]  # those that would count if they had lasted longer
    below: tuple[Finding, ...]  # deadlocks that do not meet the criteria
    locks: int
    deadlocks: int
    blind: tuple[BlindSpot, ...]
    outages: tuple[Finding, ...] = ()  # these do not count, but explain missing data
    non_locks: tuple[str, ...] = ()  # sentences about named roots that are not locks
    notes: tuple[str, ...] = ()  # about data that was read late or incompletely
    is_cut_short: bool = False  # the reading timed out
    why_lost: str | None = None  # why the state at this time is unknown

    @property
    def level(self) -> Level:
        """The result in one word: UNKNOWN if nothing was found but something was not read.

        If the state at this time is unknown, findings from before say nothing about it.
        """
        if self.why_lost:
            return "UNKNOWN"
        if not self.findings:
            is_hidden = any(finding.rule in HIDDEN for finding in self.outages)
            return "UNKNOWN" if self.is_cut_short or is_hidden else "OK"
        is_critical = any(finding.severity == "critical" for finding in self.findings)
        return "CRITICAL" if is_critical else "WARNING"

    @property
    def summary(self) -> str:
        """How many locks and deadlocks there are, including deadlocks that do not count."""
        return f"{count(self.locks, 'lock')}, {count(self.deadlocks, 'deadlock')}"

    def lines(self) -> Iterator[str]:
        """Yield a line for each finding, and for each reason why something was not checked."""
        if self.why_lost:
            yield f"UNKNOWN: {self.why_lost}"
            yield from (f"before that: {line}" for line in (self.summary, *self._finding_lines()))
        else:
            if not self.findings:
                yield f"{self.level}: {self.summary}"
            yield from self._finding_lines()
        yield from (f"note: {note}" for note in (*self.non_locks, *self.notes))
        yield from blind_lines(self.blind)

    def _finding_lines(self) -> Iterator[str]:
        """Yield a line for each finding, including those that do not count."""
        for finding in self.findings:
            yield _line(finding)
        for finding in self.brief:
            yield f"not confirmed yet: {_line(finding)}"
        for finding in self.below:
            yield f"not counted: {_line(finding)}"
        for finding in self.outages:
            yield f"{finding.severity}: {_line(finding)}"

    def nagios(self) -> Iterator[str]:
        """Yield the output of a Nagios plug-in: a bar separates the text from the figures."""
        values = {
            "locks": self.locks,
            "deadlocks": self.deadlocks,
            "findings": len(self.findings),
        }
        unknown = "U"  # as Nagios writes it
        figures = " ".join(
            f"{name}={unknown if self.why_lost else value}" for name, value in values.items()
        )
        first, *rest = [line.replace("|", "/") for line in self.lines()]
        yield f"ZKTOP {self.level} - {first.removeprefix(f'{self.level}: ')} | {figures}"
        yield from rest


def _is_outage(finding: Finding) -> bool:
    is_detail = finding.rule == "R4" and finding.severity == "info"  # the lock itself is listed
    return finding.rule in OUTAGES and not is_detail


def non_lock_sentences(report: Report) -> Iterator[str]:
    """Yield a sentence about each named root that is not a lock."""
    return (f"{lock.path}: {lock.error}." for lock in report.no_locks)


def _line(finding: Finding) -> str:
    return f"{finding.rule} {finding.name} ({finding.confidence}): {finding.sentence}"


def _tables(report: Report) -> Iterator[tuple[str, Millis]]:
    """Yield each server whose tables were read, with the time of its newest table."""
    for server, tables in report.world.tables.items():
        facts = (tables.server, tables.connections, tables.watches, tables.expiry)
        times = [fact.at for fact in facts if fact is not None]
        if times:
            yield server, max(times)
