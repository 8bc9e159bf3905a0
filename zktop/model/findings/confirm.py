"""Confirms findings: one look may show a race between two tables, so an alarm takes two looks.

Time is measured by the facts behind a finding (`as_of`), not by looks: a table that was read once
and examined ten times proves nothing new. So a replay gives the same alarms as the live run.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from zktop.model.facts import Millis
from zktop.model.findings.finding import BlindSpot, Finding
from zktop.model.text import Text
from zktop.model.waits.confidence import Evidence
from zktop.model.waits.deadlock import Deadlock

UNCONFIRMED: Final = Evidence(None, Text("it is still there at a second look"))


class SeenTimes(msgspec.Struct, frozen=True, gc=False):
    """When a finding was first and last seen."""

    since: Millis  # the time of the look that first showed it
    first: Millis  # the time of the facts that first showed it
    last: Millis  # the time of the newest facts that show it

    @property
    def lasted(self) -> int:
        """The time between the first and the newest facts that show it."""
        return self.last - self.first


class SubjectFindings(msgspec.Struct, frozen=True):
    """The present findings about one subject: a lock, a session, a deadlock or the ensemble."""

    seen_times: Mapping[str, SeenTimes] = {}  # by the id of the finding
    shown: tuple[Finding, ...] = ()  # those that have lasted long enough
    same_since: Millis = 0  # when one last appeared, vanished, was shown or was reworded

    def after(
        self, findings: Iterable[Finding], now_ms: Millis, settle_ms: int
    ) -> "SubjectFindings":
        """Return the findings after one more look. An unchanged one stays the same object."""
        before = {finding.id: finding for finding in self.shown}
        seen_times: dict[str, SeenTimes] = {}
        shown: list[Finding] = []
        for finding in findings:
            if finding.id in seen_times:  # several locks may show the same problem
                continue
            times = self.seen_times.get(finding.id) or SeenTimes(
                now_ms, finding.as_of, finding.as_of
            )
            times = replace(times, last=max(times.last, finding.as_of))
            seen_times[finding.id] = times
            if finding.at_once or times.lasted >= finding.patience_ms:
                dated, earlier = _dated(finding, times, settle_ms), before.get(finding.id)
                shown.append(earlier if earlier and _are_same(earlier, dated) else dated)
        is_same = seen_times.keys() == self.seen_times.keys() and tuple(shown) == self.shown
        return SubjectFindings(seen_times, tuple(shown), self.same_since if is_same else now_ms)


def _are_same(before: Finding, now: Finding) -> bool:
    return replace(now, as_of=before.as_of) == before


def _dated(finding: Finding, times: SeenTimes, settle_ms: int) -> Finding:
    """Fill in `since`. A critical finding is a warning until it has lasted for `settle_ms`."""
    since = times.since if finding.since is None else finding.since
    if finding.severity != "critical" or finding.at_once or times.lasted >= settle_ms:
        return replace(finding, since=since)
    return replace(
        finding,
        since=since,
        severity="warning",
        evidence=(*finding.evidence, UNCONFIRMED),
    )


class CurrentFindings(msgspec.Struct, frozen=True):
    """The current findings, the rules that lack data, and the deadlocks that only watches show."""

    findings: tuple[Finding, ...] = ()
    blind: tuple[BlindSpot, ...] = ()
    deadlocks: tuple[Deadlock, ...] = ()


NO_FINDINGS: Final = SubjectFindings()
