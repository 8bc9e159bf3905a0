"""The right pane of the findings screen: a finding or group, its evidence, and what to do."""

from collections.abc import Iterable, Sequence
from typing import Final

from zktop.model.findings.catalogue import RULES
from zktop.model.findings.finding import BlindSpot, Finding, in_words
from zktop.model.format import session_name, short
from zktop.model.freeing.commands_to_copy import free_command
from zktop.model.report import Report
from zktop.model.session_ids import session_text
from zktop.model.waits.confidence import CONFIDENCE_WORD, Evidence
from zktop.ui.inks import Ink
from zktop.ui.screens.common.line_writer import LineLink, LineWriter
from zktop.ui.screens.common.lock_status import ink_of, pill
from zktop.ui.screens.common.numbers_and_times import elapsed
from zktop.ui.screens.findings.groups import TIMES, FindingKind, kind_of
from zktop.ui.screens.findings.potential_deadlock import write_lock_order
from zktop.ui.styled_text import line
from zktop.ui.view_state import Selection

RULES_BY_ID: Final = {rule.id: rule for rule in RULES}
CONFIDENCE_WORDS: Final[dict[str, tuple[str, Ink]]] = {
    "C4": ("confirmed by ZooKeeper's data", "critical"),
    "C3": ("confirmed, given the assumptions", "critical"),
    "C2": ("likely", "warning"),
    "C1": ("a hint only", "dim"),
}
SEVERITY_WORDS: Final = {"critical": "CRITICAL", "warning": "WARNING", "info": "NOTE"}
MARKS: Final[dict[bool | None, tuple[str, Ink]]] = {
    True: ("  + ", "good"),
    False: ("  - ", "warning"),
    None: ("  ? ", "unknown"),
}
MAX_REASONS: Final = 12


def write_reasons(writer: LineWriter, confidence: str, reasons: Iterable[Evidence]) -> None:
    """Write the confidence and its evidence: for, against, and assumed."""
    word, _ = CONFIDENCE_WORDS[confidence]
    writer.title("CONFIDENCE", f"{word}   + for   - against   ? assumed")
    all_reasons = list(reasons)
    for supports in (True, False, None):
        for reason in all_reasons:
            if reason.supports is supports:
                writer.item(MARKS[supports], reason.text)
    if not all_reasons:
        writer.say("No evidence is known.", "unknown")


def write_blind(writer: LineWriter, rule: str, blind: Iterable[BlindSpot]) -> None:
    """Write which data a rule lacked, if any."""
    reasons = dict.fromkeys(spot.why for spot in blind if spot.rule == rule)
    if reasons:
        writer.title("NO DATA", "there may be more of these")
        for why in list(reasons)[:MAX_REASONS]:
            writer.item(("  ? ", "unknown"), why)


def write_all_blind(writer: LineWriter, report: Report) -> None:
    """Write which checks lacked data, and why."""
    by_why: dict[str, list[str]] = {}  # ids of rules
    for spot in report.blind:
        ids = by_why.setdefault(spot.why, [])
        if spot.rule not in ids:
            ids.append(spot.rule)
    if not by_why and report.is_lost:
        writer.say("Every check had its data when the connection dropped.", "unknown")
    elif not by_why:
        writer.say("✓ Every check had the data it needs.", "good")
    for why, ids in by_why.items():
        writer.item(("  ? ", "unknown"), f"{why}. Checks without all their data:", "strong")
        for rule in (RULES_BY_ID[rule_id] for rule_id in ids):
            writer.item(("      - ", "unknown"), f"{in_words(rule.name)}: {rule.means}", "dim")


MAX_NODES: Final = 12
MAX_LOCKS: Final = 100
MAX_SENTENCES: Final = 100


def write_finding(
    writer: LineWriter, finding: Finding, report: Report, connection: Sequence[str] = ()
) -> None:
    """Write a finding other than a deadlock."""
    since = "" if finding.since is None else f"   for {elapsed(report.now - finding.since)}"
    writer.write(
        line(
            " ",
            (f" {SEVERITY_WORDS[finding.severity]} ", pill(ink_of(finding))),
            (f" {finding.words}", "strong"),
            (f"{since}   {CONFIDENCE_WORD[finding.confidence]}", "dim"),
        )
    )
    writer.say(RULES_BY_ID[finding.rule].means, "dim", " ")
    writer.write()
    writer.say(finding.sentence, "strong")
    inversion = next(
        (inversion for inversion in report.inversions if inversion.id == finding.id), None
    )
    if inversion is not None:
        write_lock_order(writer, inversion)
    advice, command = str(finding.advice), ""
    if finding.lock:
        command = free_command(finding.lock, connection)
        advice = advice.replace(free_command(finding.lock), command)
    if advice:
        writer.title("WHAT TO DO")
        writer.say(advice)
    if command not in advice and RULES_BY_ID[finding.rule].blocks:
        writer.item((" $ ", "key"), f"{command}  prints every way to free the lock", "dim")
    write_reasons(writer, finding.confidence, finding.evidence)
    _write_where(writer, finding, report)
    if finding.folded:
        _write_followers(writer, finding, report)
    write_blind(writer, finding.rule, report.blind)


def write_group(writer: LineWriter, kind: FindingKind, report: Report) -> None:
    """Write all findings of one kind, one sentence each."""
    alike = [
        finding
        for finding in report.findings
        if finding.cause is None and kind_of(finding) == kind
    ]
    if not alike:
        return
    first = alike[0]
    head = f" {first.severity.upper()} {first.words} {TIMES}{len(alike)}"
    writer.write(line((head, ink_of(first))))
    writer.say(RULES_BY_ID[first.rule].means, "dim", " ")
    writer.title("ALL OF THEM", "enter opens it")
    for finding in alike[:MAX_SENTENCES]:
        link = LineLink("findings", Selection(case=finding.id), f"case {finding.id}")
        writer.item(("  •  ", "dim"), finding.sentence, link=link)
    if len(alike) > MAX_SENTENCES:
        writer.say(f"… and {len(alike) - MAX_SENTENCES} more", "dim")


def _write_where(writer: LineWriter, finding: Finding, report: Report) -> None:
    paths = tuple(dict.fromkeys([*([finding.lock] if finding.lock else []), *finding.locks]))
    if paths or finding.nodes or finding.sessions:
        writer.title("WHERE", "enter opens it")
    for path in paths[:MAX_LOCKS]:
        writer.write(
            line("  ", (path, "strong")), LineLink("lock", Selection(path=path), f"lock {path}")
        )
    for node in finding.nodes[:MAX_NODES]:
        subject = Selection(path=finding.lock, node=node)
        link = LineLink("lock", subject, f"node {node}") if finding.lock else None
        writer.write(line(("  node     ", "dim"), short(node)), link)
    for session in finding.sessions[:MAX_NODES]:
        name = report.owner_name(session, None)
        drawn = line(("  session  ", "dim"), session_name(session), (f"  {name or ''}", "dim"))
        link = LineLink("sessions", Selection(session=session), f"session {session_text(session)}")
        writer.write(drawn, link)
    hidden = max(0, len(paths) - MAX_LOCKS)
    hidden += max(0, len(finding.nodes) - MAX_NODES) + max(0, len(finding.sessions) - MAX_NODES)
    if hidden:
        writer.say(f"… and {hidden} more", "dim")


def _write_followers(writer: LineWriter, finding: Finding, report: Report) -> None:
    writer.title(f"CONSEQUENCES ({finding.folded})")
    followers = [follower for follower in report.findings if follower.cause == finding.id]
    for follower in followers[:MAX_NODES]:
        subject = Selection(case=follower.id)
        writer.item(("  •  ", "dim"), follower.sentence, "dim",
                 LineLink("findings", subject, f"case {follower.id}"))  # fmt: skip
    if len(followers) > MAX_NODES:
        writer.say(f"… and {len(followers) - MAX_NODES} more", "dim")
