"""One deadlock, or one other finding, with all that can be said about it.

What speaks for a verdict and against it, what is merely assumed, and what nobody could see.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from zktop.model.actors import session_of
from zktop.model.facts import session_text
from zktop.model.findings.catalogue import RULES
from zktop.model.findings.finding import BlindSpot, Finding
from zktop.model.format import clock, count, session_name, short
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock
from zktop.model.waits.lock_order import fold_name
from zktop.ui.past.tape import DeadlockRecord
from zktop.ui.screens.common.format import elapsed
from zktop.ui.screens.common.status_codes import deadlock_name, ink_of, ink_of_deadlock
from zktop.ui.screens.common.writer import LineLink, LineWriter
from zktop.ui.screens.findings.groups import TIMES, FindingKind, kind_of
from zktop.ui.screens.findings.list import deadlock_status
from zktop.ui.screens.findings.lock_order import write_lock_order
from zktop.ui.screens.findings.ring import draw_ring
from zktop.ui.screens.findings.steps import write_steps
from zktop.ui.state import Selection
from zktop.ui.styled_text import Ink, Line, line

MEANS: Final = {rule.id: rule for rule in RULES}
SURENESS: Final[dict[str, tuple[str, Ink]]] = {
    "C4": ("proven by what ZooKeeper holds", "critical"),
    "C3": ("proven, if what is assumed is true", "critical"),
    "C2": ("likely", "warning"),
    "C1": ("a hint, no more", "dim"),
}
MARKS: Final[dict[bool | None, tuple[str, Ink]]] = {
    True: ("  + ", "good"),
    False: ("  - ", "warning"),
    None: ("  ? ", "unknown"),
}
SHOWN: Final = 12


class EvidenceLine(Protocol):
    """One line of evidence, of a deadlock or of another finding."""

    @property
    def supports(self) -> bool | None:
        """It supports the verdict, speaks against it, or (None) is assumed."""

    @property
    def text(self) -> str:
        """In words."""


def write_reasons(pen: LineWriter, confidence: str, reasons: Iterable[EvidenceLine]) -> None:
    """Write how sure it is, and why: what supports it, what does not, what is assumed."""
    word, _ = SURENESS[confidence]
    pen.title("HOW SURE", f"{confidence}: {word}   + for   - against   ? assumed")
    given = list(reasons)
    for supports in (True, False, None):
        for reason in given:
            if reason.supports is supports:
                pen.item(MARKS[supports], reason.text)
    if not given:
        pen.say("Nothing more is known about it.", "unknown")


def write_blind(pen: LineWriter, rule: str, blind: Iterable[BlindSpot]) -> None:
    """Write what this rule could not see; nothing where it saw all."""
    whys = dict.fromkeys(one.why for one in blind if one.rule == rule)
    if whys:
        pen.title("NOT SEEN", "more of the same may be hidden")
        for why in list(whys)[:SHOWN]:
            pen.item(("  ? ", "unknown"), why)


def write_all_blind(pen: LineWriter, blind: Iterable[BlindSpot]) -> None:
    """Write which checks could not look at all, why, and what that may hide."""
    by_why: dict[str, list[str]] = {}
    for one in blind:
        rules = by_why.setdefault(one.why, [])
        if one.rule not in rules:
            rules.append(one.rule)
    if not by_why:
        pen.say("✓ Every check could look at all that it needs.", "good")
        return
    for why, rules in by_why.items():
        pen.item(("  ? ", "unknown"), f"{why}. So these checks see nothing, or not all:", "strong")
        for rule in rules:
            means = f"{MEANS[rule].name}: {MEANS[rule].means}" if rule in MEANS else ""
            pen.item((f"      {rule:<4} ", "unknown"), means, "dim")


LOOKED: Final = 500  # waiters of one lock that are named
CLASSES: Final = 4
NODES: Final = 12
SENTENCES: Final = 100
NEVER: Final = (
    "never delete the node of a live session: its owner would go on as if it owned the lock"
)
KINDS: Final = {
    "cycle": "each holds what the next one wants",
    "fairness": "the cycle exists only because somebody is queued in between",
    "knot": "no lease of the pool can come back",
    "upgrade": "a reader wants to write and waits for itself",
    "upgraders": "readers that all want to write",
    "watches": "they sleep on watches on each other's nodes",
    "election": "the leader waits for somebody who waits to lead",
}


def write_deadlock(pen: LineWriter, case: DeadlockRecord, live: Report, times: int) -> None:
    """Write a deadlock as it was when it was confirmed, and how it stands with it now.

    Of one that is over the last verdict counts that was given while it lived.
    """
    dead = case.deadlock
    now = next((one for one in live.deadlocks if one.number == dead.number), None)
    judged = now or case.verdict
    ink = ink_of_deadlock(judged)  # it may be surer than when it was confirmed
    pen.write(_title(dead, ink, times))
    pen.write(deadlock_status(case, now, live))
    frozen = (
        f"{KINDS[dead.kind]}; this is the picture of its confirmation, {clock(case.confirmed_at)}"
    )
    pen.say(frozen, "dim", " ")
    pen.write()
    pen.say(judged.sentence, "strong")
    pen.write()
    pen.all(draw_ring(dead, pen.width - 1, ink))
    known = live if now else case.last  # a table that came later proves more
    write_steps(pen, dead, known, ink)
    write_reasons(pen, judged.confidence, judged.evidence)
    _write_behind(pen, judged, known)
    if now:
        _write_ways(pen, judged, known)
    else:
        _write_end(pen, case, live)
    write_blind(pen, dead.rule, live.blind)


def _title(dead: Deadlock, ink: Ink, times: int) -> Line:
    queued = sum(not step.holds for step in dead.steps)
    told = f"{count(len(dead.actors) - queued, 'client')}, {count(len(dead.locks), 'lock')}"
    told += f", {queued} queued" if queued else ""
    formed = f"   formed {clock(dead.since_ms)}" if dead.since_ms is not None else ""
    again = f"   seen {times} times" if times > 1 else ""
    return line(
        (f" DEADLOCK {deadlock_name(dead)}", ink),
        (f"  {told}", "strong"),
        (f"{formed}{again}", "dim"),
    )


def _write_end(pen: LineWriter, case: DeadlockRecord, live: Report) -> None:
    """Write who went; there is nothing left to do."""
    over = case.ending(live)
    pen.title("HOW IT ENDED", "" if over is None else clock(over.at))
    pen.say("It is not there at this moment." if over is None else f"{over.how}.")


def _write_behind(pen: LineWriter, dead: Deadlock, report: Report) -> None:
    """Write who merely queues behind it, lock by lock."""
    pen.title(f"BEHIND IT ({dead.behind})")
    if not dead.behind:
        pen.say("Nobody else waits behind it.", "dim")
        return
    for path in dead.locks:
        part = report.parts.get(Text(path))
        if part is None:
            continue
        own = {step.waits.node for step in dead.steps if step.waits.lock == path}
        others = [member for member in part.lock.waiters if member.node not in own]
        if others:
            named = [report.owner_name(one.owner, one.label) for one in others[:LOOKED]]
            told = _classes([name for name in named if name])
            drawn = line(("  ", "plain"), (path, "strong"), " ◀ ", (str(len(others)), "waits"),
                         (f"  {told}", "dim"))  # fmt: skip
            pen.write(drawn, LineLink(f"behind {path}", "lock", Selection(path=path)))


def _classes(names: Sequence[str]) -> str:
    """Count who is called alike; somebody alone is called by the whole name.

    >>> _classes(["web-1", "cart-1", "cart-2"])
    'cart-* 2, web-1'
    """
    deadlock_name = {fold_name(name): name for name in names}
    classes = Counter(map(fold_name, names)).most_common(CLASSES)
    return ", ".join(deadlock_name[name] if n == 1 else f"{name} {n}" for name, n in classes)


def _write_ways(pen: LineWriter, dead: Deadlock, report: Report) -> None:
    pen.title("WAYS OUT", "zktop itself never touches anything")
    for number, way in enumerate(dead.ways_out, start=1):
        freed = count(way.frees, "actor")
        told = f"stop the process of {way.process}, which {way.why}: {freed} can go on"
        session = session_of(way.actor)
        link = (
            LineLink(f"way {way.actor}", "sessions", Selection(session=session))
            if session
            else None
        )
        pen.item((f"  {number}. ", "key"), told, link=link)
    told = next((one.advice for one in report.findings if one.id == dead.id), "")
    advice, _, _ = told.partition(" Cheapest: ")  # that is the first of the ways
    if advice:
        pen.item(("  →  ", "good"), advice)
    else:
        pen.item(("  -  ", "warning"), NEVER, "dim")


def write_finding(pen: LineWriter, finding: Finding, report: Report) -> None:
    """Write a finding."""
    since = (
        "" if finding.since is None else f"   for {elapsed(max(0, report.now - finding.since))}"
    )
    pen.write(
        line(
            (f" {finding.severity.upper()} {finding.rule} {finding.name}", ink_of(finding)),
            (f"{since}   {finding.confidence}", "dim"),
        )
    )
    pen.write(line((f" {MEANS[finding.rule].means}", "dim")) if finding.rule in MEANS else ())
    pen.write()
    pen.say(finding.sentence, "strong")
    told = next((one for one in report.inversions if one.id == finding.id), None)
    if told is not None:
        write_lock_order(pen, told)
    if finding.advice:
        pen.title("WHAT TO DO")
        pen.say(finding.advice)
    write_reasons(pen, finding.confidence, finding.evidence)
    _write_where(pen, finding, report)
    if finding.folded:
        _write_followers(pen, finding, report)
    write_blind(pen, finding.rule, report.blind)


def write_group(pen: LineWriter, kind: FindingKind, report: Report) -> None:
    """Write all findings of one kind, a sentence each."""
    alike = [one for one in report.findings if one.cause is None and kind_of(one) == kind]
    if not alike:
        return
    first = alike[0]
    head = f" {first.severity.upper()} {first.rule} {first.name} {TIMES}{len(alike)}"
    pen.write(line((head, ink_of(first))))
    pen.write(line((f" {MEANS[first.rule].means}", "dim")) if first.rule in MEANS else ())
    pen.title("ALL OF THEM", "enter goes there")
    for one in alike[:SENTENCES]:
        link = LineLink(f"case {one.id}", "findings", Selection(case=one.id))
        pen.item(("  •  ", "dim"), one.sentence, link=link)
    if len(alike) > SENTENCES:
        pen.say(f"… and {len(alike) - SENTENCES} more", "dim")


def _write_where(pen: LineWriter, finding: Finding, report: Report) -> None:
    pen.title("WHERE", "enter goes there")
    for path in dict.fromkeys([*([finding.lock] if finding.lock else []), *finding.locks]):
        pen.write(
            line("  ", (path, "strong")), LineLink(f"lock {path}", "lock", Selection(path=path))
        )
    for node in finding.nodes[:NODES]:
        subject = Selection(path=finding.lock, node=node)
        link = LineLink(f"node {node}", "lock", subject) if finding.lock else None
        pen.write(line(("  node     ", "dim"), short(node)), link)
    for session in finding.sessions[:NODES]:
        name = report.owner_name(session, None)
        told = line(("  session  ", "dim"), session_name(session), (f"  {name or ''}", "dim"))
        link = LineLink(f"session {session_text(session)}", "sessions", Selection(session=session))
        pen.write(told, link)
    hidden = max(0, len(finding.nodes) - NODES) + max(0, len(finding.sessions) - NODES)
    if hidden:
        pen.say(f"… and {hidden} more", "dim")


def _write_followers(pen: LineWriter, finding: Finding, report: Report) -> None:
    """Write what merely follows from it."""
    pen.title(f"FOLLOWS FROM IT ({finding.folded})")
    followers = [one for one in report.findings if one.cause == finding.id]
    for one in followers[:NODES]:
        subject = Selection(case=one.id)
        pen.item((f"  {one.rule:<4} ", "dim"), one.sentence, "dim",
                 LineLink(f"case {one.id}", "findings", subject))  # fmt: skip
    if len(followers) > NODES:
        pen.say(f"… and {len(followers) - NODES} more", "dim")
