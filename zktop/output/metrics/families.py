"""The metric families of one report. Unknown values have no sample and are never 0."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, get_args

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from zktop.model.facts import SECOND_MS
from zktop.model.findings.catalogue import RULES
from zktop.model.history.all_locks import CONNECTED_STATES
from zktop.model.report import Report
from zktop.model.waits.confidence import Confidence
from zktop.model.world.missing_roots import denied_roots
from zktop.model.world.tables_of_one_server import TABLE_NAMES, ServerTables
from zktop.output.metrics.lock_folders import empty_folders
from zktop.output.metrics.lock_totals import (
    EVERYWHERE,
    LOCK_STATES,
    MEMBER_STATES,
    LockTotals,
    NamedLock,
)

DEFAULT_TOP: Final = 10  # locks in each family that has a path label

Samples = Iterable[tuple[Sequence[str], float | None]]


def gauge(name: str, means: str, labels: Sequence[str], samples: Samples) -> GaugeMetricFamily:
    """Return a family of these samples, without those that are None."""
    family = GaugeMetricFamily(name, means, labels=labels)
    for values, number in samples:
        if number is not None:
            family.add_metric(values, number)
    return family


def roots_of(report: Report) -> tuple[str, ...]:
    """Return the values of the label `root`."""
    return tuple(root.path for root in report.settings.roots) or (EVERYWHERE,)


def is_up(report: Report) -> bool:
    """Return whether zktop is connected. If not, the report shows the state before the loss."""
    return report.ensemble.link in CONNECTED_STATES


def lock_families(report: Report, totals: LockTotals, top: int) -> Iterator[Metric]:
    """Yield locks, contenders and folders, which are known only while zktop is connected."""
    hidden = {root.root for root in denied_roots(report.world, report.settings)}
    roots = [root for root in roots_of(report) if root not in hidden]
    yield gauge(
        "zktop_locks",
        "Locks by state. Clients wait for a contended one, and an ACL hides an unreadable one.",
        ("root", "state"),
        (((root, state), totals.locks[root, state]) for root in roots for state in LOCK_STATES),
    )
    yield gauge(
        "zktop_contenders",
        "Clients in locks: they hold, wait, stand by (in elections) or are about to join.",
        ("root", "state"),
        (
            ((root, state), totals.members[root, state])
            for root in roots
            for state in MEMBER_STATES
        ),
    )
    yield from _folders(report, totals, roots)
    named = [root.path for root in report.settings.roots if "*" not in root.path]
    yield _by_lock(
        "zktop_lock_waiters",
        "Waiters, for the locks with the most and for roots that are a single lock.",
        totals.longest_queues(top, named),
    )
    yield _by_lock(
        "zktop_sequence_remaining",
        "Sequence numbers left, for the locks with the fewest and roots that are a single lock.",
        totals.fewest_numbers(top, named),
    )
    yield GaugeMetricFamily(
        "zktop_lock_sessions", "Sessions that have a node in a lock.", value=len(report.locks_of)
    )


def verdict_families(report: Report) -> Iterator[Metric]:
    """Yield deadlocks, findings, and rules that lack data."""
    grades = Counter(deadlock.confidence for deadlock in report.deadlocks)
    yield gauge(
        "zktop_deadlocks",
        "Current deadlocks by confidence: C4 and C3 are confirmed, C2 is likely, C1 is a hint.",
        ("confidence",),
        (((grade,), grades[grade]) for grade in get_args(Confidence)),
    )
    findings = Counter(
        (finding.rule, finding.name, finding.severity, finding.confidence)
        for finding in report.findings
        if finding.cause is None
    )
    yield gauge(
        "zktop_findings",
        "Current findings that do not follow from another. A rule without one has no sample.",
        ("rule", "name", "severity", "confidence"),
        findings.items(),
    )
    blind = {spot.rule for spot in report.blind}
    yield gauge(
        "zktop_rule_blind",
        "1 if the rule lacks data and may miss a finding.",
        ("rule", "name"),
        (((rule.id, rule.name), rule.id in blind) for rule in RULES),
    )


def server_families(report: Report) -> Iterator[Metric]:
    """Yield figures from the servers' tables."""
    tables = report.ensemble.tables
    yield gauge(
        "zktop_server_up",
        "1 if the server answered the last query.",
        ("server",),
        (((server.server,), server.figures.is_up) for server in tables if server.facts.server),
    )
    yield gauge(
        "zktop_server_sessions",
        "Sessions connected to the server, including zktop's own.",
        ("server",),
        (((server.server,), _sessions(server)) for server in tables),
    )
    yield gauge(
        "zktop_server_watches",
        "Watches that the server counts.",
        ("server",),
        (((server.server,), server.figures.watches) for server in tables),
    )
    missing = {(spot.server, spot.table) for spot in report.ensemble.blind_spots}
    yield gauge(
        "zktop_blind",
        "1 if the server does not give this table, so some findings may be missed.",
        ("server", "source"),
        (
            ((server.server, kind), (server.server, kind) in missing)
            for server in tables
            for kind in TABLE_NAMES
        ),
    )


def own_families(report: Report, version: str) -> Iterator[Metric]:
    """Yield figures about zktop itself."""
    yield gauge("zktop_build_info", "The version of zktop.", ("version",), [((version,), 1)])
    yield GaugeMetricFamily(
        "zktop_up",
        "1 if zktop is connected to ZooKeeper. If 0, there are no samples of locks.",
        value=is_up(report),
    )
    yield GaugeMetricFamily(
        "zktop_report_timestamp_seconds",
        "When zktop last examined the locks, in seconds since 1970.",
        value=report.now / SECOND_MS,
    )
    if report.cost is not None:
        yield CounterMetricFamily(
            "zktop_requests", "Requests sent to ZooKeeper.", value=report.cost.requests
        )
        yield CounterMetricFamily(
            "zktop_received_bytes", "Bytes received from ZooKeeper.", value=report.cost.bytes_in
        )
        yield GaugeMetricFamily(
            "zktop_own_watches", "Watches that zktop has set.", value=report.cost.watches
        )


def _folders(report: Report, totals: LockTotals, roots: Sequence[str]) -> Iterator[Metric]:
    unused = empty_folders(report)
    counts = {
        (root, empty): totals.folders[root, empty] + (unused[root] if empty else 0)
        for root in roots
        for empty in (True, False)
    }
    yield gauge(
        "zktop_lock_folders",
        "Znodes that are folders of locks, by whether they are empty.",
        ("root", "empty"),
        (((root, str(empty).lower()), number) for (root, empty), number in counts.items()),
    )


def _by_lock(name: str, means: str, locks: Iterable[NamedLock]) -> GaugeMetricFamily:
    return gauge(
        name, means, ("root", "lock"), (((lock.root, lock.path), lock.value) for lock in locks)
    )


def _sessions(tables: ServerTables) -> int | None:
    rows = tables.connections
    return tables.figures.connections if rows is None else len(rows)
