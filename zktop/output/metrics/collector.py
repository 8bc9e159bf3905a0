"""Collects the metrics of a run: takes every report and yields the families of the newest one."""

from collections.abc import Iterator
from threading import Lock as Mutex

from prometheus_client import CollectorRegistry, disable_created_metrics
from prometheus_client.core import Metric

from zktop.model.report import Report
from zktop.output.metrics.counters_and_histograms import RunCounters
from zktop.output.metrics.families import (
    DEFAULT_TOP,
    gauge,
    is_up,
    lock_families,
    own_families,
    roots_of,
    server_families,
    verdict_families,
)
from zktop.output.metrics.lock_totals import LockTotals

disable_created_metrics()  # type: ignore[no-untyped-call]  # they double the number of series


class ReportCollector:
    """A collector for prometheus_client. One thread calls `look`, others may scrape `registry`."""

    def __init__(self, version: str, top: int = DEFAULT_TOP) -> None:
        self.registry = CollectorRegistry()
        self._version, self._top = version, top
        self._counters = RunCounters(self.registry)
        self._totals = LockTotals()
        self._report: Report | None = None
        self._mutex = Mutex()
        self.registry.register(self)

    def look(self, report: Report) -> None:
        with self._mutex:
            previous = self._report
            if previous is None:
                for root in roots_of(report):
                    self._counters.begin(root)
            self._counters.look(report, previous, self._totals)
            self._totals.look(report)
            self._report = report

    def collect(self) -> Iterator[Metric]:
        """Yield the families of the newest report. The library adds those of the counters."""
        with self._mutex:
            yield from self._families(self._report) if self._report else ()

    def _families(self, report: Report) -> Iterator[Metric]:
        yield from own_families(report, self._version)
        yield from server_families(report)
        yield gauge(
            "zktop_coverage_ratio",
            "Share of the new clients that zktop saw, in the lock folders that it saw.",
            ("root",),
            (((root,), share) for root, share in self._counters.coverage()),
        )
        if is_up(report):
            yield from lock_families(report, self._totals, self._top)
            yield from verdict_families(report)
