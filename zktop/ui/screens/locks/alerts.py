"""The alerts of screen 1: one numbered line each, the worst first and with its sentence."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from zktop.model.facts import Millis
from zktop.model.findings.finding import SURE, Finding
from zktop.model.format import count, several
from zktop.model.report import Report
from zktop.model.waits.deadlock import Deadlock
from zktop.ui.screens.common.format import elapsed
from zktop.ui.screens.common.status_codes import ink_of, ink_of_deadlock
from zktop.ui.screens.findings.groups import FindingGroup, FindingKind, group_alike, kind_of
from zktop.ui.styled_text import Ink, Line, Run, joined, line, wrapped

MAX_ALERTS: Final = 50
MAX_SENTENCE_LINES: Final = 2
HINT_FROM_CELLS: Final = 100  # of width; a narrower line has no room for the keys


class Alert(NamedTuple):
    """A deadlock, or a finding that follows from no other."""

    case: str
    title: str
    ink: Ink
    severity: str
    where: str
    since: Millis | None
    sentence: str
    more: str = ""
    is_sure: bool = True
    kind: FindingKind | None = None  # equal findings of many locks have the same


def alerts(report: Report) -> Iterator[Alert]:
    """Return all alerts, the worst first; deadlocks are among them before they are findings."""
    found = {finding.id: finding for finding in report.findings}
    for deadlock in report.deadlocks:
        yield _deadlock(deadlock, found.get(deadlock.id))
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
    more = f"{finding.folded} more follow from it" if finding.folded else ""
    return Alert(
        case=finding.id,
        title=finding.name.replace("-", " ").upper(),
        ink=ink_of(finding),
        severity=finding.severity,
        where=finding.lock or several(finding.locks),
        since=finding.since,
        sentence=finding.sentence,
        more=more,
        is_sure=finding.confidence in SURE,
        kind=kind_of(finding),
    )


def alert_counts(found: Sequence[Alert], width: int) -> Line:
    """Return the head of the pane: how many alerts there are of each severity."""
    counts = Counter(one.severity for one in found)
    is_proven = any(one.ink == "critical" for one in found)
    red: Ink = "critical" if is_proven else "warning"
    inks: dict[str, Ink] = {"critical": red, "warning": "warning", "info": "info"}
    words = {
        "critical": f"{counts['critical']} critical",
        "warning": count(counts["warning"], "warning"),
        "info": count(counts["info"], "note"),
    }
    counted = [line((words[severity], ink)) for severity, ink in inks.items() if counts[severity]]
    hint = line(("n next   tab, enter open", "dim")) if width >= HINT_FROM_CELLS else ()
    return joined([line((" ALERTS", "title")), *counted, hint])


def alert_lines(
    found: Sequence[Alert],
    now: Millis,
    width: int,
    *,
    is_short: bool = False,
    opened: Collection[FindingKind] = (),
) -> tuple[list[Line], list[str | FindingKind | None]]:
    """Draw one line for each alert, the worst with its sentence; return what each line opens.

    Several alerts of one kind are one line. A short pane has no head, so there the number of each
    line says how many alerts there are: `1/3`.
    """
    lines: list[Line] = []
    cases: list[str | FindingKind | None] = []
    grouped = list(group_alike(found, lambda one: one.kind, opened))
    of = f"/{len(grouped)}" if is_short else ""
    for number, one in enumerate(islice(grouped, MAX_ALERTS), start=1):
        alert = one.those[0] if isinstance(one, FindingGroup) else one
        since = "" if alert.since is None else f"for {elapsed(max(0, now - alert.since))}"
        mark = f"{number:>2}{of}"
        if isinstance(one, FindingGroup):
            lines.append(_batch(mark, one, since))
        else:
            lines.append(_head(mark, one, since, has_sentence=number > 1))
        cases.append(one.kind if isinstance(one, FindingGroup) else one.case)
        if number == 1:
            sentence = _cut(wrapped(alert.sentence, width - 4, indent="   "))
            lines += sentence
            cases += [None] * len(sentence)
    if len(grouped) > MAX_ALERTS:
        more = len(grouped) - MAX_ALERTS
        lines.append(line((f"   and {more} more on screen 3", "dim")))
        cases.append(None)
    return lines, cases


def _batch(number: str, batch: FindingGroup[Alert], since: str) -> Line:
    """Draw equal alerts: how many there are, and some of their locks."""
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


@lru_cache(4 * MAX_ALERTS)  # drawn with each frame, while their times change once a second
def _head(number: str, alert: Alert, since: str, *, has_sentence: bool) -> Line:
    sure = "" if alert.is_sure else "probable "
    return joined(
        [
            line((number, "strong")),
            line((f"{sure}{alert.title}", alert.ink)),
            line((since, "plain")) if since else (),
            line((alert.more, "warning")) if alert.more else (),
            line(alert.sentence if has_sentence else (alert.where, "strong")),
        ]
    )


def _cut(sentence: list[Line]) -> list[Line]:
    """Shorten a long sentence; screen 3 has all of it."""
    if len(sentence) <= MAX_SENTENCE_LINES:
        return sentence
    *kept, last = sentence[:MAX_SENTENCE_LINES]
    return [*kept, (*last, Run(" …", "dim"))]


def no_problems(report: Report, *, is_now: bool) -> Line:
    """Return the line that is shown without alerts; it says which checks had no data."""
    if not is_now:
        if report.is_lost:
            return line((" No problems were known when the connection dropped.", "unknown"))
        return line((" No problems were known at that time.", "dim"))
    if report.blind:
        blind = len({one.rule for one in report.blind})
        return line(
            (" ✓ No problems found", "good"),
            (f" · {count(blind, 'check')} had no data (3)", "unknown"),
        )
    return line((" ✓ No problems found", "good"))
