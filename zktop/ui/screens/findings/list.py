"""The list of all that is wrong: deadlocks, other findings, what may happen, what is over.

How it stands with a deadlock or finding now, beside the picture of when it was confirmed.
"""

from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from zktop.model.facts import Millis
from zktop.model.findings.finding import Finding
from zktop.model.format import clock, count, several
from zktop.model.report import Report
from zktop.model.waits.deadlock import Deadlock
from zktop.ui.filters import NO_FILTER, Filter, FilterCount
from zktop.ui.past.tape import DeadlockRecord, Tape
from zktop.ui.screens.common.format import elapsed
from zktop.ui.screens.common.status_codes import SURE, deadlock_name, ink_of, ink_of_deadlock
from zktop.ui.screens.findings.groups import FindingGroup, FindingKind, group_alike, kind_of
from zktop.ui.styled_text import Line, joined, line

POTENTIAL: Final = ("D9", "D10")  # orders of locks that have not met yet
BLOCKING: Final = "who blocks whom"  # the names of the two entries that are no findings
NO_DATA: Final = "what cannot be seen"
FIELDS: Final = ("state", "severity")  # that a filter may look at: two words for the same
SHOWN: Final = 500  # findings; of more only the worst are listed


class FindingEntry(NamedTuple):
    """One line of the list; without a case it is the title of a section."""

    case: str | None
    drawn: Line
    words: str = ""  # what a filter looks at
    severity: str = ""
    kind: FindingKind | None = None  # of many that are alike: the line opens them


def entries(
    report: Report,
    tape: Tape,
    wanted: Filter,
    opened: Collection[FindingKind] = (),
    *,
    is_folded: bool = True,
) -> list[FindingEntry]:
    """Give all lines of the list; a filter finds what is alike one by one."""
    sections = (
        ("DEADLOCKS", _deadlocks(report)),
        ("FINDINGS", _findings(report, opened, is_folded=is_folded and not wanted)),
        ("POTENTIAL: not happening now", _potential(report)),
        ("OVER", _over(report, tape)),
    )
    made: list[FindingEntry] = []
    for title, found in sections:
        passed = [one for one in found if _passes(one, wanted)]
        if passed:
            made += [FindingEntry(None, line((f" {title}", "title"))), *passed]
    if not any(one.case and one.severity for one in made):
        made = [FindingEntry(None, _calm(wanted, report)), *made]
    return [*made, FindingEntry(None, line((" OVERVIEW", "title"))), *_overview(report)]


def passed(report: Report, tape: Tape, wanted: Filter) -> FilterCount:
    """Count what passes the filter; the overview always does."""
    aside = (None, BLOCKING, NO_DATA)
    shown, total = (
        sum(one.case not in aside for one in entries(report, tape, each, is_folded=False))
        for each in (wanted, NO_FILTER)
    )
    return FilterCount(shown, total)


def _calm(wanted: Filter, report: Report) -> Line:
    if wanted:
        return line((" nothing passes the filter", "dim"))
    if report.is_lost:
        return line((" No problems were known.", "unknown"))
    return line((" ✓ Nothing wrong is seen.", "good"))


def _passes(entry: FindingEntry, wanted: Filter) -> bool:
    if not wanted:
        return True
    return wanted.passes({"": entry.words, **dict.fromkeys(FIELDS, entry.severity)})


def _deadlocks(report: Report) -> Iterator[FindingEntry]:
    for dead in worst_first(report):
        ink = ink_of_deadlock(dead)
        behind = f" +{dead.behind}" if dead.behind else ""
        told = line(
            (f"  {deadlock_name(dead):<4}", ink),
            (_for(dead.since_ms, report.now), "dim"),
            (f"{len(dead.actors)}{behind}  ", "strong"),
            several(path.rpartition("/")[2] for path in dead.locks),
        )
        yield FindingEntry(dead.id, told, _words(dead), "critical")


def worst_first(report: Report) -> list[Deadlock]:
    """Put the surest first, and of equally sure ones the oldest."""
    return sorted(report.deadlocks, key=lambda one: (one.confidence, -one.number), reverse=True)


def _words(dead: Deadlock) -> str:
    return " ".join(
        (deadlock_name(dead), dead.rule, "deadlock", dead.kind, dead.sentence, *dead.locks)
    )


def _findings(
    report: Report, opened: Collection[FindingKind], *, is_folded: bool
) -> Iterator[FindingEntry]:
    apart = {*(one.id for one in report.deadlocks), *potential_of(report)}
    found = [one for one in report.findings if one.id not in apart and one.cause is None]
    told = list(group_alike(found, kind_of, opened)) if is_folded else found
    for one in told[:SHOWN]:
        yield (
            _batch(one, report.now) if isinstance(one, FindingGroup) else _finding(one, report.now)
        )
    if len(told) > SHOWN:
        yield FindingEntry(
            None, line((f"  … and {count(len(told) - SHOWN, 'more finding')}", "dim"))
        )


def _batch(batch: FindingGroup[Finding], now: Millis) -> FindingEntry:
    first = batch.those[0]
    sure = "" if first.confidence in SURE else "?"
    told = line(
        (f"  {first.rule:<4}", ink_of(first)),
        (_for(first.since, now), "dim"),
        (f"{first.name}{sure} {batch.tally}", "strong"),
    )
    return FindingEntry(
        f"kind {' '.join(map(str, batch.kind))}", told, "", first.severity, batch.kind
    )


def _finding(finding: Finding, now: Millis) -> FindingEntry:
    more = f" +{finding.folded}" if finding.folded else ""
    place = (finding.lock or several(finding.locks)).rpartition("/")[2]
    sure = "" if finding.confidence in SURE else "?"
    told = line(
        (f"  {finding.rule:<4}", ink_of(finding)),
        (_for(finding.since, now), "dim"),
        (f"{finding.name}{sure}{more}", "strong" if finding.severity == "critical" else "plain"),
        f"  {place}",
    )
    words = " ".join((finding.rule, finding.name, finding.sentence, *finding.locks))
    return FindingEntry(finding.id, told, f"{words} {finding.severity}", finding.severity)


def potential_of(report: Report) -> Iterator[str]:
    """Name the deadlocks that have not happened so far."""
    happened = {one.id for one in report.inversions if one.deadlocked_at is not None}
    return (one.id for one in report.findings if one.rule in POTENTIAL and one.id not in happened)


def _potential(report: Report) -> Iterator[FindingEntry]:
    potential = set(potential_of(report))
    for finding in report.findings:
        if finding.id in potential:
            told = line((f"  {finding.rule:<4}", "info"), several(finding.locks))
            words = f"{finding.rule} potential {finding.name} {finding.sentence}"
            yield FindingEntry(finding.id, told, words, "info")


def _over(report: Report, tape: Tape) -> Iterator[FindingEntry]:
    """Give the deadlocks of this run that are over, as far as this moment knows of them."""
    alive = {one.id for one in report.deadlocks}
    for name, case in reversed(tape.deadlocks.items()):
        if name not in alive and is_over(case, report.now):
            dead = case.deadlock
            names = several(path.rpartition("/")[2] for path in dead.locks)
            told = f"  {deadlock_name(dead):<4}until {clock(case.over_at or 0)}  {names}"
            yield FindingEntry(name, line((told, "dim")), _words(dead), "")


def is_over(case: DeadlockRecord, now: Millis) -> bool:
    """Tell whether a deadlock has been over at this moment, which may lie before its time."""
    return case.over_at is not None and case.over_at <= now


def _overview(report: Report) -> Iterator[FindingEntry]:
    roots = len(report.blockers)
    told = count(roots, "blocker") if roots else "nobody waits"
    yield FindingEntry(BLOCKING, line(f"  {BLOCKING}", (f"  {told}", "dim")), BLOCKING)
    blind = len({one.rule for one in report.blind})
    note = count(blind, "check") if blind else "nothing"
    yield FindingEntry(
        NO_DATA, line(f"  {NO_DATA}", (f"  {note}", "unknown" if blind else "dim")), NO_DATA
    )


def _for(since: Millis | None, now: Millis) -> str:
    """Give its age; in front, because what stands behind may be cut."""
    told = "?" if since is None else elapsed(max(0, now - since))
    return f"{told:>6}  "


def deadlock_status(case: DeadlockRecord, live: Deadlock | None, report: Report) -> Line:
    """Say whether it is still there, for how long, and who is behind it now."""
    if live is None:
        over = case.over_at
        told = f"over since {clock(over)}" if over is not None else "not there at this moment"
        lasted = _lasted(case, over)
        return joined([line((f" ○ {told}", "strong")), line(lasted) if lasted else ()], "   ")
    age = "" if live.since_ms is None else f" for {elapsed(max(0, report.now - live.since_ms))}"
    behind = f"{live.behind} behind it" if live.behind else "nobody else behind it"
    there = "was there when the connection was lost," if report.is_lost else "still there"
    return joined([line((f" ● {there}{age}", ink_of_deadlock(live))), line(behind)], "   ")


def _lasted(case: DeadlockRecord, over: Millis | None) -> str:
    begin = case.deadlock.since_ms
    return "" if begin is None or over is None else f"it lasted {elapsed(max(0, over - begin))}"
