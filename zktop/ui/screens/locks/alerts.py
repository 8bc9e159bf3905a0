"""What is wrong now, numbered, the worst first: a line each, and the sentence of the worst."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from zktop.model.facts import Millis
from zktop.model.findings.finding import Finding
from zktop.model.format import count, several
from zktop.model.report import Report
from zktop.model.waits.deadlock import Deadlock
from zktop.ui.screens.common.format import elapsed
from zktop.ui.screens.common.status_codes import SURE, ink_of, ink_of_deadlock
from zktop.ui.screens.findings.groups import FindingGroup, FindingKind, group_alike, kind_of
from zktop.ui.styled_text import Ink, Line, Run, joined, line, wrapped

SHOWN: Final = 50
SENTENCE: Final = 2  # lines


class Alert(NamedTuple):
    """One thing that is wrong; what merely follows from it is counted, not told."""

    case: str
    title: str
    ink: Ink
    severity: str
    where: str
    since: Millis | None
    sentence: str
    more: str = ""
    is_sure: bool = True
    kind: FindingKind | None = None  # of a finding that may be one of many


def alerts(report: Report) -> Iterator[Alert]:
    """Give everything that is wrong, the worst first; deadlocks from their first moment on."""
    told = {finding.id: finding for finding in report.findings}
    for deadlock in report.deadlocks:
        yield _deadlock(deadlock, told.get(deadlock.id))
    dead = {deadlock.id for deadlock in report.deadlocks}
    for finding in report.findings:
        if finding.id not in dead and finding.cause is None:
            yield _finding(finding)


def _deadlock(deadlock: Deadlock, finding: Finding | None) -> Alert:
    is_sure = deadlock.confidence in SURE
    behind = f"{deadlock.behind} more behind" if deadlock.behind and finding is None else ""
    return Alert(
        case=deadlock.id,
        title="DEADLOCK",
        ink=ink_of_deadlock(deadlock),
        severity="critical",
        where=several(deadlock.locks),
        since=deadlock.since_ms,
        sentence=finding.sentence if finding else deadlock.sentence,
        more=behind,
        is_sure=is_sure,
    )


def _finding(finding: Finding) -> Alert:
    follow = f"{finding.folded} more follow from it" if finding.folded else ""
    return Alert(
        case=finding.id,
        title=finding.name.replace("-", " ").upper(),
        ink=ink_of(finding),
        severity=finding.severity,
        where=finding.lock or several(finding.locks),
        since=finding.since,
        sentence=finding.sentence,
        more=follow,
        is_sure=finding.confidence in SURE,
        kind=kind_of(finding),
    )


def alert_counts(found: Sequence[Alert], width: int) -> Line:
    """Count what is wrong in one line."""
    counts = Counter(one.severity for one in found)
    is_proven = any(one.ink == "critical" for one in found)
    red: Ink = "critical" if is_proven else "warning"
    inks: dict[str, Ink] = {"critical": red, "warning": "warning", "info": "info"}
    words = {"critical": "critical", "warning": "to look into", "info": "to know"}
    told = [
        line((f"{counts[severity]} {words[severity]}", ink))
        for severity, ink in inks.items()
        if counts[severity]
    ]
    hint = line(("n next   tab, enter open", "dim")) if width >= 100 else ()  # noqa: PLR2004  else there is no room for hints
    return joined([line((" ALERTS", "title")), *told, hint])


def alert_lines(
    found: Sequence[Alert],
    now: Millis,
    width: int,
    *,
    is_short: bool = False,
    opened: Collection[FindingKind] = (),
) -> tuple[list[Line], list[str | FindingKind | None]]:
    """Draw one line for each, the worst with its sentence; and the case that a line opens.

    Many of one kind are one line, which opens them. Where there is no room for a head that counts
    them, the numbers say how many there are.
    """
    lines: list[Line] = []
    cases: list[str | FindingKind | None] = []
    told = list(group_alike(found, lambda one: one.kind, opened))
    of = f"/{len(told)}" if is_short else ""
    for number, one in enumerate(islice(told, SHOWN), start=1):
        alert = one.those[0] if isinstance(one, FindingGroup) else one
        since = "" if alert.since is None else f"for {elapsed(max(0, now - alert.since))}"
        mark = f"{number:>2}{of}"
        if isinstance(one, FindingGroup):
            lines.append(_batch(mark, one, since))
        else:
            lines.append(_head(mark, one, since, is_told=number > 1))
        cases.append(one.kind if isinstance(one, FindingGroup) else one.case)
        if number == 1:
            sentence = _cut(wrapped(alert.sentence, width - 4, indent="   "))
            lines += sentence
            cases += [None] * len(sentence)
    if len(told) > SHOWN:
        lines.append(line((f"   and {len(told) - SHOWN} more: see screen 3", "dim")))
        cases.append(None)
    return lines, cases


def _batch(number: str, batch: FindingGroup[Alert], since: str) -> Line:
    """Count those that are alike, and name some of the places."""
    first = batch.those[0]
    sure = "" if first.is_sure else "probable "
    return joined(
        [
            line((number, "strong")),
            line((f"{sure}{first.title} {batch.tally}", first.ink)),
            line((since, "plain")) if since else (),
            line((several(one.where for one in batch.those), "dim")),
        ]
    )


@lru_cache(4 * SHOWN)  # they are asked for at each picture, and change once a second
def _head(number: str, alert: Alert, since: str, *, is_told: bool) -> Line:
    sure = "" if alert.is_sure else "probable "
    return joined(
        [
            line((number, "strong")),
            line((f"{sure}{alert.title}", alert.ink)),
            line((since, "plain")) if since else (),
            line((alert.more, "warning")) if alert.more else (),
            line(alert.sentence if is_told else (alert.where, "strong")),
        ]
    )


def _cut(sentence: list[Line]) -> list[Line]:
    """Leave out what would push the table away; screen 3 has it all."""
    if len(sentence) <= SENTENCE:
        return sentence
    *kept, last = sentence[:SENTENCE]
    return [*kept, (*last, Run(" …", "dim"))]


def no_problems(report: Report, *, is_now: bool) -> Line:
    """Say that nothing is wrong, and how far that can be known."""
    if not is_now:
        if report.is_lost:
            return line((" No problems were known when the connection was lost.", "unknown"))
        return line((" Nothing was wrong then that could be seen.", "dim"))
    if report.blind:
        blind = len({one.rule for one in report.blind})
        return line(
            (" ✓ Nothing is wrong that can be seen.", "good"),
            (f"  {count(blind, 'check')} could not look: see screen 3", "unknown"),
        )
    return line((" ✓ Nothing is wrong: no deadlock, no other finding.", "good"))
