"""When a check counts a finding."""

from model.builders import kazoo_name
from model.findings.cases import MINUTE, ctx, k, only
from msgspec.structs import replace
from output.stories import LATER, SETTLE, facts, tables

from zktop.model.examiner import Examiner
from zktop.model.world.world import World
from zktop.output.check_verdict import FailCriteria, VerdictBuilder


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
    warning = only("B1", ctx(k("import", 7, by="", age_ms=2 * MINUTE), k("bob", 8)))
    critical = replace(warning, id="P17-1", rule="P17", severity="critical", confidence="C3")
    also = replace(critical, id="P17-2", severity="warning")
    for at in (LATER, LATER + SETTLE):
        report = examiner.look(World().after(*facts("L x: A B")), at)
        report = replace(report, findings=(critical, also))
        judge.look(report)

    assert [finding.id for finding in judge.verdict(report).findings] == ["P17-1"]
