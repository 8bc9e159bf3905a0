"""Decides which findings to announce: new, proven root causes, at most three in ten seconds.

One message sums up the problems that existed before zktop started.
"""

from collections import deque
from collections.abc import Iterator
from typing import Final, NamedTuple

from zktop.model.facts import Millis
from zktop.model.findings.finding import Finding
from zktop.model.format import several
from zktop.model.report import Report
from zktop.model.waits.deadlock import Deadlock

MAX_MESSAGES: Final = 3
WITHIN_MS: Final = 10_000
STARTUP_MS: Final = 3_000  # time to prove a finding that is older than zktop
FORGET_MS: Final = 60_000  # a finding that returns after this time is new again


class NewAlerts(NamedTuple):
    """The findings to announce, and how many exceed the limit."""

    findings: tuple[Finding, ...] = ()
    more: int = 0
    already_there: tuple[Finding, ...] = ()  # findings of the first report


class Notifier:
    """Finds what is new in each report, and limits the number of messages."""

    def __init__(self) -> None:
        self._first: Millis | None = None
        self._seen: dict[str, Millis] = {}  # when findings of this report were first seen, by id
        self._announced: dict[str, Millis] = {}  # when they were last seen, by id
        self._messages: deque[Millis] = deque(maxlen=MAX_MESSAGES)
        self._more = 0

    def after(self, report: Report) -> NewAlerts:
        """Return what to announce after this report. Call it for every report, in order."""
        now = report.now
        causes = {finding.id: finding for finding in proven_causes(report)}
        self._seen = {id_: self._seen.get(id_, now) for id_ in causes}
        self._announced = {
            id_: now if id_ in causes else at
            for id_, at in self._announced.items()
            if id_ in causes or now - at < FORGET_MS
        }
        if self._first is None:
            self._first = now
            self._announced = dict.fromkeys(causes, now)
            return NewAlerts(already_there=tuple(causes.values()))
        new = [
            finding
            for id_, finding in causes.items()
            if id_ not in self._announced and (finding.at_once or self._seen[id_] < now)
        ]
        self._announced |= dict.fromkeys((finding.id for finding in new), now)
        return self._limited([finding for finding in new if not self._is_old(finding, now)], now)

    def _is_old(self, finding: Finding, now: Millis) -> bool:
        """True for a finding older than zktop whose proof needed a second look."""
        first = self._first or 0
        return now < first + STARTUP_MS and (finding.since is None or finding.since <= first)

    def _limited(self, new: list[Finding], now: Millis) -> NewAlerts:
        while self._messages and now - self._messages[0] >= WITHIN_MS:
            self._messages.popleft()
        room = MAX_MESSAGES - len(self._messages)
        self._messages.extend([now] * min(room, len(new)))
        self._more += len(new[room:])
        more = self._more if room else 0
        self._more -= more
        return NewAlerts(tuple(new[:room]), more)


def proven_causes(report: Report) -> Iterator[Finding]:
    """Yield the critical findings that are proven and not the consequence of another finding.

    A deadlock whose lock nodes all existed at one time counts, even if it is unknown whether its
    sessions are single threads.
    """
    proven = {deadlock.id for deadlock in report.deadlocks if deadlock.coexistence_proven}
    for finding in report.findings:
        if finding.severity != "critical" or finding.cause:
            continue
        if finding.is_sure or finding.id in proven:
            yield finding


def summary(findings: tuple[Finding, ...], key: str) -> str:
    """Return the first of these, the number of others, and the key that leads to them."""
    rest = len(findings) - 1
    if not rest:
        return brief(findings[0], key)
    return f"{headline(findings[0])}, and {rest} more. Press {key} to step through them."


def brief(finding: Finding, key: str) -> str:
    """Return the kind of finding and its locks. More text would hide too much of the screen."""
    return f"{headline(finding)}. Press {key} to see it."


def headline(alert: Finding | Deadlock) -> str:
    if isinstance(alert, Deadlock):
        return f"DEADLOCK: {several(alert.locks)}"
    name = alert.words.upper()
    where = several(alert.locks) if len(alert.locks) > 1 else alert.lock or several(alert.locks)
    return f"{name}: {where}" if where else name
