"""Counters and histograms of what happened since the start, from the events of each report."""

from collections import Counter as Tally
from collections.abc import Iterator
from typing import Final, get_args

from prometheus_client import CollectorRegistry, Counter, Histogram

from zktop.model.facts import SECOND_MS, Session
from zktop.model.history.events import Event, EventKind
from zktop.model.report import Report
from zktop.output.metrics.families import is_up
from zktop.output.metrics.lock_totals import LockTotals, root_label

BUCKETS_S: Final = (0.01, 0.05, 0.25, 1, 5, 15, 60, 300, 900, 3600)
MAX_EXPIRED_SESSIONS: Final = 10_000  # to remember, as their nodes may vanish over several looks
COUNTED: Final = tuple(kind for kind in get_args(EventKind) if kind != "missed")


class RunCounters:
    """A fold over reports. Call `look` with the previous report and its totals."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def counter(name: str, means: str, *labels: str) -> Counter:
            return Counter(name, means, labels, registry=registry)

        def seconds(name: str, means: str) -> Histogram:
            return Histogram(name, means, ("root",), registry=registry, buckets=BUCKETS_S)

        self._events = counter(
            "zktop_lock_events", "Events of locks that zktop saw.", "root", "event"
        )
        self._missed = counter(
            "zktop_missed_changes",
            "Creations and deletions that only the counters of a lock's znode show.",
            "root",
            "change",
        )
        self._holds = seconds(
            "zktop_lock_hold_seconds",
            "How long locks were held, without holds whose beginning zktop did not see.",
        )
        self._waits = seconds(
            "zktop_lock_wait_seconds",
            "How long clients waited until they got a lock, if zktop saw all of it.",
        )
        self._blocked = counter(
            "zktop_blocked_seconds", "Total time that waiters have spent in queues.", "root"
        )
        self._expiries = counter(
            "zktop_session_expiries", "Sessions that expired and had a node in a lock."
        )
        self._deadlocks = counter("zktop_deadlocks_detected", "Deadlocks that zktop has detected.")
        self._expired: dict[Session, None] = {}
        self._newest_deadlock = 0  # its number
        self._seen: Tally[str] = Tally()  # new contenders that zktop saw, by root
        self._unseen: Tally[str] = Tally()  # new contenders that it did not see, by root

    def begin(self, root: str) -> None:
        """Start the series of a root at zero."""
        for kind in COUNTED:
            self._events.labels(root, kind)
        for change in ("create", "delete"):
            self._missed.labels(root, change)
        for metric in (self._holds, self._waits, self._blocked):
            metric.labels(root)

    def look(self, report: Report, previous: Report | None, totals: LockTotals) -> None:
        """Add the time since the previous report, and the events of this one."""
        # What clients do while the connection is lost is unknown.
        elapsed_ms = 0 if previous is None or not is_up(previous) else report.now - previous.now
        for (root, state), waiting in totals.members.items():
            if state == "waits":
                self._blocked.labels(root).inc(waiting * elapsed_ms / SECOND_MS)
        for event in report.events:
            self._add(event, root_label(event.lock, report.settings))
        known = (*report.deadlocks, *(over.deadlock for over in report.over[-1:]))
        newest = max([self._newest_deadlock, *(deadlock.number for deadlock in known)])
        self._deadlocks.inc(newest - self._newest_deadlock)
        self._newest_deadlock = newest

    def coverage(self) -> Iterator[tuple[str, float]]:
        """Yield the share of new contenders that was seen, for each root that had any."""
        for root in self._seen.keys() | self._unseen.keys():
            seen, unseen = self._seen[root], self._unseen[root]
            if seen or unseen:
                yield root, seen / (seen + unseen)

    def _add(self, event: Event, root: str) -> None:
        if event.event == "missed":
            self._missed.labels(root, "create").inc(event.creates or 0)
            self._missed.labels(root, "delete").inc(event.deletes or 0)
            self._unseen[root] += event.creates or 0
            return
        self._events.labels(root, event.event).inc()
        if event.event == "queued":
            self._seen[root] += 1
        elif event.event == "acquired" and event.waited and event.waited.bound == "exact":
            self._waits.labels(root).observe(event.waited.ms / SECOND_MS)
        elif event.event == "released" and event.held and event.held.bound == "exact":
            self._holds.labels(root).observe(event.held.ms / SECOND_MS)
        elif event.session and event.is_expiry:
            self._expire(event.session)

    def _expire(self, session: Session) -> None:
        """Count a session once, however many nodes it had."""
        if session not in self._expired:
            self._expiries.inc()
            self._expired[session] = None
        if len(self._expired) > MAX_EXPIRED_SESSIONS:
            del self._expired[next(iter(self._expired))]
