"""Findings in words, and the list of all of them."""

import msgspec
from model.findings.cases import facts
from model.make_facts import NOW, own
from ui.example_ensemble import trouble
from ui.example_queues import looked, queue, ring_of
from ui.fake_feed import frames

from zktop.model.facts import Gone
from zktop.model.report import Report
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.ui.filters import NO_FILTER, parsed_filter
from zktop.ui.interfaces import Frame
from zktop.ui.past.tape import Tape
from zktop.ui.screens.common.line_writer import LineLink, LineWriter
from zktop.ui.screens.findings.finding_detail import write_all_blind, write_finding
from zktop.ui.screens.findings.finding_list import BLOCKING, NO_DATA, entries
from zktop.ui.styled_text import Line, text_of, width_of


def text(lines: list[Line]) -> str:
    """All lines as one text."""
    return "\n".join(map(text_of, lines))


def taped(some: list[Frame]) -> tuple[Tape, Report]:
    """The tape of these frames, and the newest report."""
    tape = Tape()
    for frame in some:
        tape.add(frame)
    return tape, some[-1].report


class TestFinding:
    """The text about one finding."""

    def test_shows_evidence_advice_and_places(self) -> None:
        """An orphan blocks a lock."""
        report = trouble()[-1].report
        orphan = next(finding for finding in report.findings if finding.rule == "B1")
        pen = LineWriter(90)
        write_finding(pen, orphan, report)
        shown = text(pen.lines)

        assert orphan.sentence.split()[0] in shown
        assert "WHAT TO DO" in shown
        assert "CONFIDENCE" in shown
        assert next(link.page for link in pen.links if isinstance(link, LineLink)) == "lock"

    def test_names_the_command_that_frees_the_lock_once(self) -> None:
        """With the options to connect, ready to be copied."""
        report = trouble()[-1].report
        orphan = next(finding for finding in report.findings if finding.rule == "B1")
        pen = LineWriter(200)
        write_finding(pen, orphan, report, ("--hosts", "zk1:2181"))
        shown = text(pen.lines)

        assert shown.count("zktop free ") == 1
        assert f"`zktop free {orphan.lock} --hosts zk1:2181` prints how" in shown

    def test_a_finding_about_no_place_has_no_list_of_places(self) -> None:
        """A root that does not exist has no locks."""
        settings = Settings(roots=(Root("/nope"),))
        (frame,) = frames(
            (NOW, [own(), Gone(path=Text("/nope"), zxid=1, at=NOW)]), settings=settings
        )
        (missing,) = frame.report.findings
        pen = LineWriter(90)
        write_finding(pen, missing, frame.report)

        assert missing.rule == "R8"
        assert "WHERE" not in text(pen.lines)

    def test_marks_reasons_for_and_against(self) -> None:
        """With a sign, not with a colour alone."""
        report = trouble()[-1].report
        finding = report.findings[-1]
        against = msgspec.structs.replace(
            finding,
            evidence=(
                msgspec.structs.replace(finding.evidence[0], supports=False),
                *finding.evidence,
            ),
        )
        pen = LineWriter(90)
        write_finding(pen, against, report)

        assert "\n  - " in text(pen.lines)


class TestList:
    """The list of deadlocks and findings."""

    def test_deadlocks_come_first(self) -> None:
        """Then findings, then the overview."""
        tape, report = taped(trouble())
        cases = [one.case for one in entries(report, tape, NO_FILTER) if one.case]

        assert cases[0] == report.deadlocks[0].id
        assert cases[-2:] == [BLOCKING, NO_DATA]
        assert len(cases) == len(set(cases))

    def test_a_deadlock_that_is_over_stays_in_the_list(self) -> None:
        """The list keeps ended deadlocks."""
        tape, report = taped(
            [*looked(ring_of("ann", "bob")), *frames((NOW + 60_000, facts(path="/locks/l0")))]
        )
        shown = text([one.drawn for one in entries(report, tape, NO_FILTER)])

        assert "OVER" in shown
        assert "until" in shown

    def test_a_replay_does_not_list_the_end_of_a_deadlock_early(self) -> None:
        """An earlier moment does not show later events."""
        before = frames((NOW - 60_000, facts(path="/locks/other")))
        after = frames((NOW + 60_000, facts(path="/locks/l0")))
        tape, _ = taped([*before, *looked(ring_of("ann", "bob")), *after])
        found = [text_of(one.drawn) for one in entries(before[0].report, tape, NO_FILTER)]
        over = [text_of(one.drawn) for one in entries(after[0].report, tape, NO_FILTER)]

        assert " OVER" not in found
        assert " OVER" in over

    def test_a_filter_leaves_what_passes(self) -> None:
        """Without a match, it says so."""
        tape, report = taped(trouble())
        cases = [one.case for one in entries(report, tape, parsed_filter("orphan")) if one.case]
        nothing = text([one.drawn for one in entries(report, tape, parsed_filter("zzz"))])

        assert report.deadlocks[0].id not in cases
        assert "No finding matches the filter" in nothing

    def test_lists_potential_deadlocks_apart(self) -> None:
        """A deadlock that has not happened is not called one."""
        tape, report = taped(trouble())
        order = msgspec.structs.replace(report.findings[-1], id="D9-1", rule="D9", cause=None)
        report = msgspec.structs.replace(report, findings=(*report.findings, order))
        listed = entries(report, tape, NO_FILTER)
        titles = [text_of(one.drawn).strip() for one in listed if one.case is None]

        assert titles == ["DEADLOCKS", "FINDINGS", "POTENTIAL: not happening now", "OVERVIEW"]


def test_nothing_is_called_well_while_the_connection_is_lost() -> None:
    """Every check had its data, but that was then."""
    (*_, frame) = looked(facts(*queue("XX")), [own(state="lost")])
    pen = LineWriter(100)
    write_all_blind(pen, msgspec.structs.replace(frame.report, blind=()))

    assert text(pen.lines).strip() == "Every check had its data when the connection dropped."


def test_blind_rules_say_what_they_would_have_seen() -> None:
    """Each with its name and meaning, under the reason that blinds it."""
    pen = LineWriter(100)
    write_all_blind(pen, looked(facts(*queue("XX")))[-1].report)
    shown = text(pen.lines)

    assert "no watch: A waiter watches nothing" in shown
    assert all(width_of(line) <= 100 for line in pen.lines)
