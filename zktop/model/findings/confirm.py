"""Two looks before an alarm: what was seen once may be a race between two tables.

The memory is one frozen value, folded over the looks: the same findings at the same times give
the same alarms, live and in a replay. Time is counted by the facts behind a finding (`as_of`), not
by looks: a table that was read once and looked at ten times proves nothing new.

What the last look found: about one lock or session, and about all together.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from zktop.model.facts import Millis
from zktop.model.findings.apply import RULES
from zktop.model.findings.context import TABLES
from zktop.model.findings.finding import BlindSpot, Evidence, Finding
from zktop.model.text import Text

if TYPE_CHECKING:
    from zktop.model.waits.deadlock import Deadlock


class SeenTimes(msgspec.Struct, frozen=True, gc=False):
    """How long a finding has been there."""

    since: Millis  # when the look was that first showed it
    first: Millis  # the time of the facts that first showed it
    last: Millis

    @property
    def lasted(self) -> int:
        """How far apart the facts are that prove it."""
        return self.last - self.first


class SeenFindings(msgspec.Struct, frozen=True):
    """What was found at the looks up to now."""

    seen: Mapping[str, SeenTimes] = {}

    def after(
        self, found: Iterable[Finding], now_ms: Millis, settle_ms: int
    ) -> tuple["SeenFindings", tuple[Finding, ...]]:
        """Give the memory after one more look, and the findings that are worth a line."""
        seen: dict[str, SeenTimes] = {}
        shown: list[Finding] = []
        for finding in found:
            if finding.id in seen:  # several locks may tell of one and the same thing
                continue
            known = self.seen.get(finding.id) or SeenTimes(now_ms, finding.as_of, finding.as_of)
            known = replace(known, last=max(known.last, finding.as_of))
            seen[finding.id] = known
            if finding.at_once or known.lasted >= finding.patience_ms:
                shown.append(_dated(finding, known, settle_ms))
        return SeenFindings(seen), tuple(shown)


UNCONFIRMED = Evidence(None, Text("it will be there at a second look"))


def _dated(finding: Finding, seen: SeenTimes, settle_ms: int) -> Finding:
    """Put in since when it has been seen; only what was seen twice is red."""
    since = seen.since if finding.since is None else finding.since
    if finding.severity != "critical" or finding.at_once or seen.lasted >= settle_ms:
        return replace(finding, since=since)
    return replace(
        finding,
        since=since,
        severity="warning",
        evidence=(*finding.evidence, UNCONFIRMED),
    )


# Also those whose sentence rests on what a waiter watches, though names alone may tell enough.
READ_TABLES: Final = frozenset(one.id for one in RULES if {*one.needs} & {*TABLES}) | {"S2", "S4"}


class SubjectFindings(msgspec.Struct, frozen=True):
    """What was found, and since when."""

    looks: SeenFindings = SeenFindings()
    shown: tuple[Finding, ...] = ()

    @property
    def reads_tables(self) -> bool:
        """Tell whether a new table may change what is shown."""
        return any(finding.rule in READ_TABLES for finding in self.shown)


class CurrentFindings(msgspec.Struct, frozen=True):
    """What is wrong now, what could not be seen, and deadlocks that only watch tables show."""

    findings: tuple[Finding, ...] = ()
    blind: tuple[BlindSpot, ...] = ()
    deadlocks: "tuple[Deadlock, ...]" = ()


NO_FINDINGS: Final = SubjectFindings()
