"""The left pane of the findings screen: deadlocks, findings, potential and ended deadlocks."""

from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from zktop.model.facts import Millis, last_name
from zktop.model.findings.finding import Finding
from zktop.model.format import clock, count, several
from zktop.model.report import Report
from zktop.model.waits.deadlock import Deadlock
from zktop.model.waits.root_blockers import MAX_LISTED
from zktop.ui.filters import NO_FILTER, Filter, FilterCount
from zktop.ui.past.tape import DeadlockRecord, Tape
from zktop.ui.screens.common.lock_status import deadlock_name, ink_of, ink_of_deadlock, no_locks
from zktop.ui.screens.common.numbers_and_times import elapsed
from zktop.ui.screens.findings.groups import FindingGroup, FindingKind, group_alike, kind_of
from zktop.ui.styled_text import Line, joined, line

POTENTIAL: Final = ("D9", "D10")  # lock orders that have not collided yet
BLOCKING: Final = "who is blocking"  # the two entries of the overview
NO_DATA: Final = "checks without data"
FIELDS: Final = ("state", "severity")  # in a filter, both mean the severity
MAX_FINDINGS: Final = 500  # only the worst are listed


class FindingEntry(NamedTuple):
    """One line of the list. A line without a case is the title of a section."""

    case: str | None
    drawn: Line
    words: str = ""  # what the filter searches
    severity: str = ""
    kind: FindingKind | None = None  # set if the entry is a group of findings
    left_out: int = 0  # findings that the list has no room for


class SetAside(NamedTuple):
    """Findings to keep out of the main list: acknowledged ones by id, and all notes or none."""

    acknowledged: Collection[str] = ()
    notes: bool = False


NOTHING_ASIDE: Final = SetAside()


def entries(
    report: Report,
    tape: Tape,
    wanted: Filter,
    open_groups: Collection[FindingKind] | None = (),
    *,
    aside: SetAside = NOTHING_ASIDE,
    chosen: str | None = None,
) -> list[FindingEntry]:
    """Return all lines of the list. Acknowledged findings have a separate section.

    With a filter, or if `open_groups` is None, groups are listed one by one. The chosen
    finding is always among them.
    """
    hidden = {*_notes(report)}.difference(aside.acknowledged) if aside.notes else set()
    apart = hidden.union(aside.acknowledged)
    sections = (
        ("DEADLOCKS", _deadlocks(report, apart)),
        ("FINDINGS", _findings(report, None if wanted else open_groups, apart, wanted, chosen)),
        ("POTENTIAL: not happening now", _potential(report, apart)),
        ("ACKNOWLEDGED", _acknowledged(report, aside.acknowledged)),
        ("OVER", _over(report, tape)),
    )
    lines: list[FindingEntry] = []
    for title, entries_of in sections:
        passed = [
            entry
            for entry in entries_of
            if entry.left_out or _matches(entry.words, entry.severity, wanted)
        ]
        if passed:
            lines += [FindingEntry(None, line((f" {title}", "title"))), *passed]
    if not any(entry.case and entry.severity for entry in lines):
        lines = [FindingEntry(None, _no_findings(wanted, report)), *lines]
    if hidden:
        lines.append(FindingEntry(None, line((f"  {count(len(hidden), 'note')} hidden", "dim"))))
    return [*lines, FindingEntry(None, line((" OVERVIEW", "title"))), *_overview(report)]


def filter_count(
    report: Report, tape: Tape, wanted: Filter, aside: SetAside = NOTHING_ASIDE
) -> FilterCount:
    """Return how many deadlocks and findings match the filter."""
    no_finding = (None, BLOCKING, NO_DATA)

    def number(matching: Filter) -> int:
        listed = entries(report, tape, matching, None, aside=aside)
        return sum(entry.left_out + (entry.case not in no_finding) for entry in listed)

    return FilterCount(number(wanted), number(NO_FILTER))


def _no_findings(wanted: Filter, report: Report) -> Line:
    if wanted:
        return line((" No finding matches the filter.", "dim"))
    if report.is_lost:
        return line((" No problems were known.", "unknown"))
    if wrong := no_locks(report):
        return line((f" No problems found, but {wrong}.", "unknown"))
    return line((" ✓ No problems found.", "good"))


def _matches(words: str, severity: str, wanted: Filter) -> bool:
    return not wanted or wanted.passes({"": words, **dict.fromkeys(FIELDS, severity)})


def _notes(report: Report) -> Iterator[str]:
    """Return the ids of notes that are not consequences of other findings."""
    return (
        finding.id
        for finding in report.findings
        if finding.severity == "info" and not finding.cause
    )


def _acknowledged(report: Report, acknowledged: Collection[str]) -> Iterator[FindingEntry]:
    """Yield the acknowledged deadlocks and findings, dimmed."""
    if not acknowledged:
        return
    deadlocks = (deadlock.id for deadlock in report.deadlocks)
    apart = {*deadlocks, *(finding.id for finding in report.findings)}.difference(acknowledged)
    for entry in (
        *_deadlocks(report, apart),
        *_findings(report, None, apart),
        *_potential(report, apart),
    ):
        yield entry._replace(drawn=tuple(run._replace(ink="dim") for run in entry.drawn))


def _deadlocks(report: Report, apart: Collection[str]) -> Iterator[FindingEntry]:
    for deadlock in worst_first(report):
        if deadlock.id in apart:
            continue
        ink = ink_of_deadlock(deadlock)
        drawn = line(
            (f"  {deadlock_name(deadlock):<4}", ink),
            (_age(deadlock.since_ms, report.now), "dim"),
            (f"{len(deadlock.actors) + deadlock.behind} stuck  ", "strong"),
            several(map(last_name, deadlock.locks)),
        )
        yield FindingEntry(deadlock.id, drawn, _words(deadlock), "critical")


def worst_first(report: Report) -> list[Deadlock]:
    """Return the deadlocks, sorted by confidence, then by age."""
    return sorted(
        report.deadlocks,
        key=lambda deadlock: (deadlock.confidence, -deadlock.number),
        reverse=True,
    )


def _words(deadlock: Deadlock) -> str:
    names = deadlock_name(deadlock), deadlock.rule, "deadlock", deadlock.kind
    return " ".join((*names, deadlock.sentence, *deadlock.locks))


def _findings(
    report: Report,
    open_groups: Collection[FindingKind] | None,
    apart: Collection[str],
    wanted: Filter = NO_FILTER,
    chosen: str | None = None,
) -> Iterator[FindingEntry]:
    """Yield the worst findings that match the filter, and the chosen one."""
    deadlocks = (deadlock.id for deadlock in report.deadlocks)
    in_other_sections = {*apart, *deadlocks, *potential_of(report)}
    findings = [
        finding
        for finding in report.findings
        if finding.id not in in_other_sections
        and finding.cause is None
        and (not wanted or _matches(_words_of(finding), finding.severity, wanted))
    ]
    listed = findings if open_groups is None else list(group_alike(findings, kind_of, open_groups))
    shown = listed[:MAX_FINDINGS]
    shown += [
        item for item in listed[MAX_FINDINGS:] if isinstance(item, Finding) and item.id == chosen
    ]
    for item in shown:
        if isinstance(item, FindingGroup):
            yield _group(item, report.now)
        else:
            yield _finding(item, report.now)
    left_out = len(listed) - len(shown)
    if left_out:
        drawn = line((f"  … and {count(left_out, 'more finding')}", "dim"))
        yield FindingEntry(None, drawn, left_out=left_out)


def _group(group: FindingGroup[Finding], now: Millis) -> FindingEntry:
    first = group.members[0]
    sure = "" if first.is_sure else "?"
    drawn = line(
        ("  ● ", ink_of(first)),
        (_age(first.since, now), "dim"),
        (f"{first.words}{sure} {group.tally}", "strong"),
    )
    case = f"kind {' '.join(map(str, group.kind))}"
    return FindingEntry(case, drawn, "", first.severity, group.kind)


def _finding(finding: Finding, now: Millis) -> FindingEntry:
    more = f" +{finding.folded}" if finding.folded else ""
    paths = [finding.lock] if finding.lock else finding.locks
    place = several(map(last_name, paths))
    sure = "" if finding.is_sure else "?"
    drawn = line(
        ("  ● ", ink_of(finding)),
        (_age(finding.since, now), "dim"),
        (f"{finding.words}{sure}{more}", "strong" if finding.severity == "critical" else "plain"),
        "  ",
        place,
    )
    return FindingEntry(finding.id, drawn, _words_of(finding), finding.severity)


def _words_of(finding: Finding) -> str:
    words = finding.rule, finding.name, finding.sentence, *finding.locks, finding.severity
    return " ".join(words)


def potential_of(report: Report) -> Iterator[str]:
    """Return the ids of potential deadlocks that have not happened so far."""
    happened = {
        inversion.id for inversion in report.inversions if inversion.deadlocked_at is not None
    }
    return (
        finding.id
        for finding in report.findings
        if finding.rule in POTENTIAL and finding.id not in happened
    )


def _potential(report: Report, apart: Collection[str]) -> Iterator[FindingEntry]:
    potential = set(potential_of(report)).difference(apart)
    for finding in report.findings:
        if finding.id in potential:
            drawn = line(("  ○ ", "info"), several(finding.locks))
            words = f"{finding.rule} potential {finding.name} {finding.sentence}"
            yield FindingEntry(finding.id, drawn, words, "info")


def _over(report: Report, tape: Tape) -> Iterator[FindingEntry]:
    """Yield the deadlocks of this run that had ended by this moment."""
    alive = {deadlock.id for deadlock in report.deadlocks}
    for name, case in reversed(tape.deadlocks.items()):
        if name not in alive and case.is_over_at(report.now):
            deadlock = case.deadlock
            names = several(map(last_name, deadlock.locks))
            until = f"  {deadlock_name(deadlock):<4}until {clock(case.over_at or 0)}  "
            yield FindingEntry(name, line((until, "dim"), (names, "dim")), _words(deadlock), "")


def _overview(report: Report) -> Iterator[FindingEntry]:
    roots = len(report.blockers)
    text = count(roots, "blocker") if roots else "no blockers"
    if roots >= MAX_LISTED:
        text = f"{roots}+ blockers"
    yield FindingEntry(BLOCKING, line(f"  {BLOCKING}", (f"  {text}", "dim")), BLOCKING)
    blind = len({spot.rule for spot in report.blind})
    note = count(blind, "check") if blind else "none"
    yield FindingEntry(
        NO_DATA, line(f"  {NO_DATA}", (f"  {note}", "unknown" if blind else "dim")), NO_DATA
    )


def _age(since: Millis | None, now: Millis) -> str:
    """Return the age. It comes first because the end of a line may be truncated."""
    text = "?" if since is None else elapsed(now - since)
    return f"{text:>6}  "


def deadlock_age(case: DeadlockRecord, current: Deadlock | None, report: Report) -> Line:
    """Return whether the deadlock still exists, for how long, and how many wait behind it."""
    if current is None:
        over = case.over_at if case.is_over_at(report.now) else None
        text = f"over since {clock(over)}" if over is not None else "did not exist at this moment"
        lasted = _lasted(case, over)
        return joined([line((f" ○ {text}", "strong")), line(lasted) if lasted else ()], "   ")
    age = "" if current.since_ms is None else f" for {elapsed(report.now - current.since_ms)}"
    behind = f"{current.behind} behind it" if current.behind else "none behind it"
    state = "existed when the connection dropped," if report.is_lost else "still there"
    return joined([line((f" ● {state}{age}", ink_of_deadlock(current))), line(behind)], "   ")


def _lasted(case: DeadlockRecord, over: Millis | None) -> str:
    begin = case.deadlock.since_ms
    return "" if begin is None or over is None else f"lasted {elapsed(over - begin)}"
