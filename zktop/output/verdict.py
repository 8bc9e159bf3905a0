"""Is this fine or not: which findings count, after how long, and the sentences that say so."""

from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple, get_args

from zktop.model.facts import Millis
from zktop.model.findings.catalogue import RULES
from zktop.model.findings.confirm import UNCONFIRMED
from zktop.model.findings.finding import BlindSpot, Confidence, Finding
from zktop.model.format import count
from zktop.model.report import Report

GRACE: Final[Millis] = 5_000  # for a second look at tables that are slow to come
CONFIDENCES: tuple[Confidence, ...] = get_args(Confidence)
CRITICAL: Final = frozenset(rule.id for rule in RULES if rule.severity == "critical")
OUTAGES: Final = frozenset({"P13", "P14", "P15", "R8", "R9"})
Level = Literal["OK", "WARNING", "CRITICAL", "UNKNOWN"]


class FailCriteria(NamedTuple):
    """What counts: certain rules, or whatever is critical; and how sure it must be."""

    rules: frozenset[str] = frozenset()
    confidence: Confidence = "C2"

    def counts(self, finding: Finding) -> bool:
        """Tell whether a finding is at or above the bar."""
        if not self.names(finding) or not self.is_sure(finding):
            return False
        is_hint = finding.confidence == "C1"  # and is called less than critical for that alone
        return bool(self.rules) or is_hint or finding.severity == "critical"

    def is_sure(self, finding: Finding) -> bool:
        """Tell whether it is sure enough."""
        return CONFIDENCES.index(finding.confidence) >= CONFIDENCES.index(self.confidence)

    def names(self, finding: Finding) -> bool:
        """Tell whether its rule is one that can count."""
        return finding.rule in (self.rules or CRITICAL)


class VerdictBuilder:
    """Told of every report, in order; what was seen once only does not count."""

    def __init__(self, bar: FailCriteria, settle: Millis) -> None:
        """Begin without having looked."""
        self._bar, self._settle = bar, settle
        self._since: dict[str, Millis] = {}
        self._first: Millis | None = None
        self._first_tables: dict[str, Millis] = {}

    def look(self, report: Report) -> None:
        """Note since when each finding has been there without a break."""
        self._first = report.now if self._first is None else self._first
        since = self._since
        self._since = {one.id: since.get(one.id, report.now) for one in report.findings}
        for server, at in _tables(report):
            self._first_tables.setdefault(server, at)

    def has_settled(self, report: Report) -> bool:
        """Tell whether the looks and the servers' tables are far enough apart."""
        if self._first is None or report.now < self._first + self._settle:
            return False
        if report.now >= self._first + self._settle + GRACE:
            return True
        first = self._first_tables
        return all(at >= first.get(server, at) + self._settle for server, at in _tables(report))

    def verdict(self, report: Report) -> "CheckVerdict":
        """Sort the findings of the last report by whether they count, and why not."""
        found = report.findings
        counting = [
            one for one in found if self._has_lasted(one, report) and self._bar.counts(one)
        ]
        ids = {one.id for one in counting}
        brief = [one for one in found if one.id not in ids and self._may_count_later(one, report)]
        told = ids | {one.id for one in brief}
        deadlocks = {one.id for one in report.deadlocks}
        return CheckVerdict(
            tuple(one for one in counting if one.cause not in ids),
            tuple(brief),
            tuple(one for one in found if one.id in deadlocks - told),
            len(report.paths),
            len(deadlocks),
            report.blind,
            tuple(one for one in found if one.rule in OUTAGES and one.id not in told),
        )

    def _has_lasted(self, finding: Finding, report: Report) -> bool:
        """Tell whether it was seen twice, so far apart; some are shown only after that."""
        since = self._since.get(finding.id, report.now)
        is_shown_late = finding.patience_ms >= self._settle
        return finding.at_once or is_shown_late or report.now - since >= self._settle

    def _may_count_later(self, finding: Finding, report: Report) -> bool:
        if not self._bar.is_sure(finding) or not self._bar.names(finding):
            return False
        return UNCONFIRMED in finding.evidence or not self._has_lasted(finding, report)


class CheckVerdict(NamedTuple):
    """The answer of one check."""

    findings: tuple[Finding, ...]
    brief: tuple[Finding, ...]  # would count if they had been there for longer
    below: tuple[Finding, ...]  # deadlocks below the bar
    locks: int
    deadlocks: int
    blind: tuple[BlindSpot, ...]
    outages: tuple[Finding, ...] = ()  # they do not count, and explain what is missing

    @property
    def level(self) -> Level:
        """Give the answer in one word."""
        if not self.findings:
            return "OK"
        is_critical = any(one.severity == "critical" for one in self.findings)
        return "CRITICAL" if is_critical else "WARNING"

    @property
    def summary(self) -> str:
        """Say how much was looked at, and how many deadlocks there are, above the bar or not."""
        return f"{count(self.locks, 'lock')}, {count(self.deadlocks, 'deadlock')}"

    def lines(self) -> Iterator[str]:
        """Give a sentence for each finding that counts, and what could not be decided."""
        for finding in self.findings:
            yield _said(finding)
        if not self.findings:
            yield f"OK: {self.summary}"
        for finding in self.brief:
            yield f"seen too briefly: {_said(finding)}"
        for finding in self.below:
            yield f"below the bar: {_said(finding)}"
        for finding in self.outages:
            yield f"{finding.severity}: {_said(finding)}"
        yield from blind_lines(self.blind)

    def nagios(self) -> Iterator[str]:
        """Give the lines of a monitoring plug-in; its bar separates figures from text."""
        figures = f"locks={self.locks} deadlocks={self.deadlocks} findings={len(self.findings)}"
        if self.findings:
            first, *rest = [line.replace("|", "/") for line in self.lines()]
            yield f"ZKTOP {self.level} - {first} | {figures}"
            yield from rest
        else:
            _, *rest = [line.replace("|", "/") for line in self.lines()]
            yield f"ZKTOP OK - {self.summary} | {figures}"
            yield from rest


def _said(finding: Finding) -> str:
    return f"{finding.rule} {finding.name} ({finding.confidence}): {finding.sentence}"


def blind_lines(blind: Iterable[BlindSpot]) -> Iterator[str]:
    """Say what could not be decided, one line for each reason."""
    rules: dict[str, set[str]] = {}
    for one in blind:
        rules.setdefault(one.why, set()).add(one.rule)
    for why, those in rules.items():
        yield f"not seen: {why} ({', '.join(sorted(those))})"


def _tables(report: Report) -> Iterator[tuple[str, Millis]]:
    for server, tables in report.world.tables.items():
        known = (tables.server, tables.connections, tables.watches, tables.expiry)
        read = [table.at for table in known if table is not None]
        if read:
            yield server, max(read)
