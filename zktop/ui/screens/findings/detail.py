"""The right pane of the findings screen: one deadlock or finding, its evidence, what to do."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from zktop.model.actors import session_of
from zktop.model.facts import session_text
from zktop.model.findings.catalogue import RULES
from zktop.model.findings.finding import BlindSpot, Finding
from zktop.model.format import clock, count, fold_name, session_name, short
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.waits.confidence import Evidence
from zktop.model.waits.deadlock import Deadlock
from zktop.ui.past.tape import DeadlockRecord
from zktop.ui.screens.common.format import elapsed
from zktop.ui.screens.common.line_writer import LineLink, LineWriter
from zktop.ui.screens.common.status_codes import deadlock_name, ink_of, ink_of_deadlock, pill
from zktop.ui.screens.findings.groups import TIMES, FindingKind, kind_of
from zktop.ui.screens.findings.list import deadlock_age
from zktop.ui.screens.findings.lock_order import write_lock_order
from zktop.ui.screens.findings.ring import draw_ring
from zktop.ui.screens.findings.steps import write_steps
from zktop.ui.styled_text import Ink, Line, line
from zktop.ui.view_state import Selection

MEANS: Final = {rule.id: rule for rule in RULES}
SURENESS: Final[dict[str, tuple[str, Ink]]] = {
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
    word, _ = SURENESS[confidence]
    writer.title("CONFIDENCE", f"{word}   + for   - against   ? assumed")
    given = list(reasons)
    for supports in (True, False, None):
        for reason in given:
            if reason.supports is supports:
                writer.item(MARKS[supports], reason.text)
    if not given:
        writer.say("No evidence is known.", "unknown")


def write_blind(writer: LineWriter, rule: str, blind: Iterable[BlindSpot]) -> None:
    """Write which data a rule lacked, if any."""
    whys = dict.fromkeys(one.why for one in blind if one.rule == rule)
    if whys:
        writer.title("NO DATA", "more of the same may be hidden")
        for why in list(whys)[:MAX_REASONS]:
            writer.item(("  ? ", "unknown"), why)


def write_all_blind(writer: LineWriter, blind: Iterable[BlindSpot]) -> None:
    """Write which checks had no data, or not all of it, and why."""
    by_why: dict[str, list[str]] = {}
    for one in blind:
        rules = by_why.setdefault(one.why, [])
        if one.rule not in rules:
            rules.append(one.rule)
    if not by_why:
        writer.say("✓ Every check had the data it needs.", "good")
        return
    for why, rules in by_why.items():
        writer.item(("  ? ", "unknown"), f"{why}. Checks without all their data:", "strong")
        for rule in rules:
            means = f"{MEANS[rule].name}: {MEANS[rule].means}" if rule in MEANS else ""
            writer.item(("      - ", "unknown"), means, "dim")


MAX_NAMED: Final = 500  # waiters of one lock whose names are counted
MAX_CLASSES: Final = 4
MAX_NODES: Final = 12
MAX_SENTENCES: Final = 100
NEVER: Final = (
    "Never delete the node of a live session: its owner would carry on as if it held the lock."
)
KINDS: Final = {
    "cycle": "Each client waits for a lock the next one holds.",
    "fairness": "The cycle exists only because another request is queued in between.",
    "knot": "No lease of the pool can be returned.",
    "upgrade": "A reader wants to write and waits for itself.",
    "upgraders": "Several readers all want to write.",
    "watches": "They sleep on watches on each other's nodes.",
    "election": "The leader waits for a client that waits to lead.",
}


def write_deadlock(writer: LineWriter, case: DeadlockRecord, live: Report, times: int) -> None:
    """Write a deadlock: what to do, then the picture as it was first seen, then the proof."""
    dead = case.deadlock
    now = next((one for one in live.deadlocks if one.number == dead.number), None)
    judged = now or case.verdict
    ink = ink_of_deadlock(judged)  # it may be surer by now
    writer.write(_title(dead, ink, times))
    writer.write(deadlock_age(case, now, live))
    when = clock(case.first_seen_at)
    writer.say(f"{KINDS[dead.kind]} The diagram shows it as it was at {when}.", "dim", " ")
    writer.write()
    known = live if now else case.last  # later tables prove more
    writer.say(judged.sentence, "strong")
    if now:
        _write_ways(writer, judged, known)
    else:
        _write_end(writer, case, live)
    writer.write()
    writer.all(draw_ring(dead, writer.width - 1, ink))
    write_steps(writer, dead, known, ink)
    _write_behind(writer, judged, known)
    write_reasons(writer, judged.confidence, judged.evidence)
    write_blind(writer, dead.rule, live.blind)


def _title(dead: Deadlock, ink: Ink, times: int) -> Line:
    queued = sum(not step.holds for step in dead.steps)
    size = f"{count(len(dead.actors) - queued, 'client')}, {count(len(dead.locks), 'lock')}"
    size += f", {queued} queued" if queued else ""
    formed = f"   formed {clock(dead.since_ms)}" if dead.since_ms is not None else ""
    again = f"   seen {times} times" if times > 1 else ""
    return line(
        (f" DEADLOCK {deadlock_name(dead)}", ink),
        (f"  {size}", "strong"),
        (f"{formed}{again}", "dim"),
    )


def _write_end(writer: LineWriter, case: DeadlockRecord, live: Report) -> None:
    over = case.ending(live)
    writer.title("HOW IT ENDED", "" if over is None else clock(over.at))
    writer.say("It did not exist at this moment." if over is None else f"{over.how}.")


def _write_behind(writer: LineWriter, dead: Deadlock, report: Report) -> None:
    """Write the requests queued behind it, lock by lock."""
    writer.title(f"BEHIND IT ({dead.behind})")
    if not dead.behind:
        writer.say("No other client waits behind it.", "dim")
        return
    for path in dead.locks:
        part = report.parts.get(Text(path))
        if part is None:
            continue
        own = {step.waits.node for step in dead.steps if step.waits.lock == path}
        others = [member for member in part.lock.waiters if member.node not in own]
        if others:
            named = [report.owner_name(one.owner, one.label) for one in others[:MAX_NAMED]]
            classes = _classes([name for name in named if name])
            drawn = line(("  ", "plain"), (path, "strong"), " ◀ ", (str(len(others)), "waits"),
                         (f"  {classes}", "dim"))  # fmt: skip
            writer.write(drawn, LineLink("lock", Selection(path=path), f"behind {path}"))


def _classes(names: Sequence[str]) -> str:
    """Names counted by class; a single one is written out.

    >>> _classes(["web-1", "cart-1", "cart-2"])
    'cart-* 2, web-1'
    """
    example = {fold_name(name): name for name in names}
    classes = Counter(map(fold_name, names)).most_common(MAX_CLASSES)
    return ", ".join(example[name] if n == 1 else f"{name} {n}" for name, n in classes)


def _write_ways(writer: LineWriter, dead: Deadlock, report: Report) -> None:
    writer.title("HOW TO RESOLVE IT", "zktop will not do it for you")
    for number, way in enumerate(dead.ways_out, start=1):
        freed = count(way.frees, "client")
        text = f"Kill {way.process}, which {way.why}: unblocks {freed}"
        session = session_of(way.actor)
        link = (
            LineLink("sessions", Selection(session=session), f"way {way.actor}")
            if session
            else None
        )
        writer.item((f"  {number}. ", "key"), text, link=link)
    known = next((one.advice for one in report.findings if one.id == dead.id), "")
    advice, _, _ = known.partition(" Cheapest: ")  # the first of the ways above
    if advice:
        writer.item(("  →  ", "good"), advice)
    else:
        writer.item(("  -  ", "warning"), NEVER, "dim")


def write_finding(writer: LineWriter, finding: Finding, report: Report) -> None:
    """Write a finding other than a deadlock."""
    since = (
        "" if finding.since is None else f"   for {elapsed(max(0, report.now - finding.since))}"
    )
    writer.write(
        line(
            " ",
            (f" {SEVERITY_WORDS[finding.severity]} ", pill(ink_of(finding))),
            (f" {finding.name.replace('-', ' ')}", "strong"),
            (f"{since}   {SURENESS[finding.confidence][0]}", "dim"),
        )
    )
    writer.write(line((f" {MEANS[finding.rule].means}", "dim")) if finding.rule in MEANS else ())
    writer.write()
    writer.say(finding.sentence, "strong")
    inversion = next((one for one in report.inversions if one.id == finding.id), None)
    if inversion is not None:
        write_lock_order(writer, inversion)
    if finding.advice:
        writer.title("WHAT TO DO")
        writer.say(finding.advice)
    write_reasons(writer, finding.confidence, finding.evidence)
    _write_where(writer, finding, report)
    if finding.folded:
        _write_followers(writer, finding, report)
    write_blind(writer, finding.rule, report.blind)


def write_group(writer: LineWriter, kind: FindingKind, report: Report) -> None:
    """Write all findings of one kind, one sentence each."""
    alike = [one for one in report.findings if one.cause is None and kind_of(one) == kind]
    if not alike:
        return
    first = alike[0]
    head = f" {first.severity.upper()} {first.rule} {first.name} {TIMES}{len(alike)}"
    writer.write(line((head, ink_of(first))))
    writer.write(line((f" {MEANS[first.rule].means}", "dim")) if first.rule in MEANS else ())
    writer.title("ALL OF THEM", "enter goes there")
    for one in alike[:MAX_SENTENCES]:
        link = LineLink("findings", Selection(case=one.id), f"case {one.id}")
        writer.item(("  •  ", "dim"), one.sentence, link=link)
    if len(alike) > MAX_SENTENCES:
        writer.say(f"… and {len(alike) - MAX_SENTENCES} more", "dim")


def _write_where(writer: LineWriter, finding: Finding, report: Report) -> None:
    writer.title("WHERE", "enter goes there")
    for path in dict.fromkeys([*([finding.lock] if finding.lock else []), *finding.locks]):
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
    hidden = max(0, len(finding.nodes) - MAX_NODES) + max(0, len(finding.sessions) - MAX_NODES)
    if hidden:
        writer.say(f"… and {hidden} more", "dim")


def _write_followers(writer: LineWriter, finding: Finding, report: Report) -> None:
    writer.title(f"CONSEQUENCES ({finding.folded})")
    followers = [one for one in report.findings if one.cause == finding.id]
    for one in followers[:MAX_NODES]:
        subject = Selection(case=one.id)
        writer.item((f"  {one.rule:<4} ", "dim"), one.sentence, "dim",
                 LineLink("findings", subject, f"case {one.id}"))  # fmt: skip
    if len(followers) > MAX_NODES:
        writer.say(f"… and {len(followers) - MAX_NODES} more", "dim")
