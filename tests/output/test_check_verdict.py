"""When a check counts a finding."""

from collections.abc import Set as AbstractSet

import pytest
from model.findings.cases import MINUTE, ctx, k, only
from model.make_facts import kazoo_name
from msgspec.structs import replace
from output.stories import LATER, SETTLE, facts, tables

from zktop.model.examiner import Examiner
from zktop.model.findings.confirm import UNCONFIRMED
from zktop.model.findings.finding import Finding, Severity
from zktop.model.world.world import World
from zktop.output.check_verdict import GRACE_MS, CheckVerdict, FailCriteria, VerdictBuilder


def test_a_finding_that_was_confirmed_before_counts_at_once() -> None:
    """Two tables must agree before a ring of watches is a finding: it was seen twice already."""
    places = {name: f"/locks/l/{kazoo_name(f'{name}{n}', n)}" for n, name in enumerate("ABC")}
    watched = {"B": (places["C"],), "C": (places["B"],)}
    judge, examiner = VerdictBuilder(FailCriteria(), SETTLE), Examiner()
    world = World().after(*facts("L x: A B C"))
    for at in (LATER, LATER + SETTLE):
        world = world.after(*tables("ABC", watched, at))
        report = examiner.look(world, at)
        judge.look(report)

    assert judge.has_settled(report)
    assert [finding.rule for finding in judge.verdict(report).findings] == ["D7"]


def test_notes_of_the_run_are_lines_and_a_cut_short_reading_is_unknown() -> None:
    """Nagios shows only the standard output and the exit code."""
    judge, examiner = VerdictBuilder(FailCriteria(), SETTLE), Examiner()
    report = examiner.look(World().after(*facts("L x: A B C")), LATER)
    judge.look(report)

    verdict = judge.verdict(report)._replace(notes=("reading timed out",), is_cut_short=True)
    first, *rest = verdict.nagios()

    assert judge.verdict(report).level == "OK"
    assert first.startswith("ZKTOP UNKNOWN - 1 lock, 0 deadlocks | ")
    assert "note: reading timed out" in rest


def test_a_critical_finding_counts_although_its_rule_usually_warns() -> None:
    """Like a session that owns too many nodes (P17). Webhooks also go by its own severity."""
    judge, examiner = VerdictBuilder(FailCriteria(), SETTLE), Examiner()
    critical = replace(WARNING, id="P17-1", rule="P17", severity="critical", confidence="C3")
    also = replace(critical, id="P17-2", severity="warning")
    for at in (LATER, LATER + SETTLE):
        report = examiner.look(World().after(*facts("L x: A B")), at)
        report = replace(report, findings=(critical, also))
        judge.look(report)

    assert [finding.id for finding in judge.verdict(report).findings] == ["P17-1"]


def test_a_check_waits_for_second_tables_but_not_for_long() -> None:
    """Two tables confirm a finding; a server may be slow to send the second."""
    judge, examiner = VerdictBuilder(FailCriteria(), SETTLE), Examiner()
    world = World().after(*facts("L x: A B C"), *tables("ABC", {}, LATER))
    settled = {}
    for after in (0, SETTLE - 1, SETTLE, SETTLE + GRACE_MS - 1, SETTLE + GRACE_MS):
        report = examiner.look(world, LATER + after)
        judge.look(report)
        settled[after] = judge.has_settled(report)

    assert [after for after, is_settled in settled.items() if is_settled] == [SETTLE + GRACE_MS]


def test_a_check_without_tables_settles_at_once() -> None:
    """No server will send a second one."""
    judge, examiner = VerdictBuilder(FailCriteria(), SETTLE), Examiner()
    world = World().after(*facts("L x: A B C"))
    settled = []
    for at in (LATER, LATER + SETTLE):
        report = examiner.look(world, at)
        judge.look(report)
        settled.append(judge.has_settled(report))

    assert settled == [False, True]


ORPHAN = only("B1", ctx(k("import", 7, by="", age_ms=2 * MINUTE), k("bob", 8)))
WARNING = replace(ORPHAN, id="B7-1", rule="B7", severity="warning")
DEADLOCK = replace(WARNING, id="D1-1", rule="D1", severity="critical", confidence="C3")


def verdict_of(
    *found: Finding, rules: AbstractSet[str] = frozenset(), settle: int = 0
) -> CheckVerdict:
    """The verdict on one report with these findings."""
    judge = VerdictBuilder(FailCriteria(frozenset(rules)), settle)
    report = Examiner().look(World().after(*facts("L x: A B")), LATER)
    report = replace(report, findings=found)
    judge.look(report)
    return judge.verdict(report)


def test_what_explains_missing_data_is_listed_unless_it_counts() -> None:
    """Once, and no other finding that does not count."""
    outage = replace(WARNING, id="P13-1", rule="P13")

    assert verdict_of(WARNING, outage).outages == (outage,)
    counted = verdict_of(WARNING, outage, rules={"P13"})
    assert (counted.findings, counted.outages) == ((outage,), ())


@pytest.mark.parametrize(
    ("rule", "severity", "level"),
    [
        ("P13", "warning", "OK"),
        ("R9", "warning", "UNKNOWN"),
        ("R4", "warning", "UNKNOWN"),
        ("R4", "info", "OK"),
    ],
)
def test_locks_that_an_acl_hides_are_unknown(rule: str, severity: Severity, level: str) -> None:
    """An R4 that is only information is about a detail of a lock that was judged."""
    assert verdict_of(replace(WARNING, rule=rule, severity=severity)).level == level


@pytest.mark.parametrize("found", [(), (DEADLOCK,)])
def test_a_time_of_which_nothing_is_known_is_unknown(found: tuple[Finding, ...]) -> None:
    """Also after a deadlock, which may be over: it is listed as one from before that time."""
    lost = verdict_of(*found)._replace(why_lost="not connected")
    first, *lines = lost.nagios()

    assert lost.level == "UNKNOWN"
    assert first == ("ZKTOP UNKNOWN - not connected | locks=U deadlocks=U findings=U")
    assert lines[0] == "before that: 1 lock, 0 deadlocks"
    assert [line[:21] for line in lines if "D1 " in line] == ["before that: D1 orpha"] * len(found)


def test_one_critical_finding_is_enough() -> None:
    """Beside warnings that count."""
    assert verdict_of(WARNING, rules={"B7"}).level == "WARNING"
    assert verdict_of(WARNING, DEADLOCK, rules={"B7", "D1"}).level == "CRITICAL"


def test_a_finding_that_follows_from_one_that_counts_is_left_out() -> None:
    """The cause is enough."""
    effect = replace(WARNING, id="B2-1", cause=DEADLOCK.id)

    assert verdict_of(DEADLOCK, effect, rules={"B7", "D1"}).findings == (DEADLOCK,)
    assert verdict_of(effect, rules={"B7"}).findings == (effect,)


def test_only_what_may_count_later_is_not_confirmed_yet() -> None:
    """No hint, and no finding of another rule."""
    hint = replace(DEADLOCK, id="D1-2", severity="warning", confidence="C1")

    assert verdict_of(WARNING, DEADLOCK, hint, settle=SETTLE).brief == (DEADLOCK,)


def test_what_a_second_table_must_confirm_is_not_confirmed_yet() -> None:
    """However long it has lasted; until then its severity is lower."""
    suspicion = replace(DEADLOCK, severity="warning", evidence=(UNCONFIRMED,))

    assert verdict_of(suspicion).brief == (suspicion,)
    assert verdict_of(replace(suspicion, evidence=())).brief == ()


def test_what_one_look_proves_counts_at_once() -> None:
    """It needs no second look."""
    proven = replace(DEADLOCK, at_once=True)

    assert verdict_of(proven, settle=SETTLE).findings == (proven,)


def test_a_hint_counts_only_if_the_check_asks_for_hints() -> None:
    """Its severity is a warning because it is a hint."""
    hint = replace(WARNING, rule="D1", confidence="C1")

    assert FailCriteria(confidence="C1").counts(hint)
    assert not FailCriteria(confidence="C1").counts(replace(hint, confidence="C2"))
    assert not FailCriteria().counts(hint)
