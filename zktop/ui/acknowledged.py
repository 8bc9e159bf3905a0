"""Alerts that the user has acknowledged: they leave the lists until they get worse.

An acknowledgement stores how bad its alert was. It is dropped when the alert gets worse or ends;
an alert that begins again is new. A queue counts as worse when it has doubled.
"""

from collections.abc import Collection, Mapping
from operator import gt
from typing import Final, NamedTuple

import msgspec

from zktop.model.facts import Millis
from zktop.model.findings.finding import SEVERITIES, Finding
from zktop.model.report import Report
from zktop.model.waits.deadlock import Deadlock

ENDED_MS: Final[Millis] = 10_000  # an alert that is gone for a shorter time has not ended


class AlertWeight(NamedTuple):
    """How bad an alert is. Each number grows when the alert gets worse."""

    severity: int
    confidence: int
    locks: int
    clients: int
    doublings: int = 0  # of the queue: a busy queue grows and shrinks all the time

    def exceeds(self, other: "AlertWeight") -> bool:
        """True if anything about it is worse.

        >>> two, three = AlertWeight(1, 3, 2, 2), AlertWeight(1, 3, 2, 3)
        >>> three.exceeds(two), two.exceeds(three), two.exceeds(two)
        (True, False, False)
        """
        return any(map(gt, self, other))


def _weight(finding: Finding, report: Report) -> AlertWeight:
    locks = (report.records.get(path) for path in finding.locks)
    queues = (queue for lock in locks if lock is not None for queue in lock.lock.queues)
    waiting = sum(len(queue.waiters) for queue in queues)
    return AlertWeight(
        severity=-SEVERITIES.index(finding.severity),
        confidence=int(finding.confidence[1:]),
        locks=len(finding.locks),
        clients=max(len(finding.sessions), len(finding.nodes)),
        doublings=waiting.bit_length(),
    )


def _weight_of_deadlock(deadlock: Deadlock) -> AlertWeight:
    return AlertWeight(
        severity=0,
        confidence=int(deadlock.confidence[1:]),
        locks=len(deadlock.locks),
        clients=len(deadlock.actors) + deadlock.behind,
    )


def _weights(report: Report, wanted: Collection[str]) -> dict[str, AlertWeight]:
    """Weigh alerts of a report, by their ids. A deadlock counts instead of its finding."""
    findings = {
        finding.id: _weight(finding, report) for finding in report.findings if finding.id in wanted
    }
    deadlocks = {
        deadlock.id: _weight_of_deadlock(deadlock)
        for deadlock in report.deadlocks
        if deadlock.id in wanted
    }
    return findings | deadlocks


class Acknowledged(msgspec.Struct, frozen=True):
    """What the user has acknowledged, by the ids of the alerts."""

    weights: Mapping[str, AlertWeight] = {}  # the weights when the alerts were acknowledged
    gone_since: Mapping[str, Millis] = {}

    def adding(self, ids: Collection[str], report: Report) -> "Acknowledged":
        """Acknowledge these alerts as they are in this report."""
        new = _weights(report, ids)
        return Acknowledged({**self.weights, **new}, self.gone_since)

    def without(self, ids: Collection[str]) -> "Acknowledged":
        weights = {name: weight for name, weight in self.weights.items() if name not in ids}
        return Acknowledged(weights, self.gone_since)

    def after(self, report: Report) -> "Acknowledged":
        """Drop alerts that got worse or have ended. Call it for every report, in order."""
        if not self.weights:
            return self
        current = _weights(report, self.weights)
        gone = {
            name: self.gone_since.get(name, report.now)
            for name in self.weights
            if name not in current
        }
        worse = {name for name, weight in current.items() if weight.exceeds(self.weights[name])}
        ended = {name for name, since in gone.items() if report.now - since >= ENDED_MS}
        return Acknowledged(self.without(worse | ended).weights, gone)

    def covered(self, report: Report) -> frozenset[str]:
        """Return the ids of the alerts in this report that need no attention."""
        if not self.weights:
            return frozenset()
        weights = _weights(report, self.weights)
        return frozenset(
            name for name, weight in weights.items() if not weight.exceeds(self.weights[name])
        )


NOTHING_ACKNOWLEDGED: Final = Acknowledged()
