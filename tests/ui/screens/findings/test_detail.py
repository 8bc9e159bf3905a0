"""Deadlocks and findings in words and pictures."""

import msgspec
import pytest
from model.builders import NOW
from model.findings.cases import ZXID, connected, facts, k, watching
from ui.example_ensemble import trouble
from ui.example_queues import looked, queue, ring_of
from ui.fake_feed import frames

from zktop.model.facts import Gone
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.ui.filters import NO_FILTER, parsed
from zktop.ui.interfaces import Frame
from zktop.ui.past.tape import Tape
from zktop.ui.screens.common.line_writer import LineLink, LineWriter
from zktop.ui.screens.findings.blocking_tree import write_blocking_tree
from zktop.ui.screens.findings.detail import write_all_blind, write_deadlock, write_finding
from zktop.ui.screens.findings.list import BLOCKING, NO_DATA, entries
from zktop.ui.screens.findings.ring import draw_ring, letters, ring_order
from zktop.ui.screens.findings.steps import step_rows
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


def written(some: list[Frame], width: int = 100, times: int = 1) -> LineWriter:
    """The page of the only deadlock."""
    tape, report = taped(some)
    (case,) = tape.deadlocks.values()
    pen = LineWriter(width)
    write_deadlock(pen, case, report, times)
    return pen


def forest(report: Report) -> str:
    """The blocking tree as text."""
    pen = LineWriter(100)
    write_blocking_tree(pen, report)
    return text(pen.lines)


class TestCircle:
    """The picture of a ring."""

    def test_two_face_each_other_in_boxes(self) -> None:
        """With an arrow each way, and what they wait for on it."""
        (dead,) = looked(ring_of("ann", "bob"))[-1].report.deadlocks
        told = text(draw_ring(dead, 100))

        assert told.count("┌") == 2
        assert "▶" in told
        assert "◀" in told
        assert "waits for X:/locks/l1  CLOSES" in told

    @pytest.mark.parametrize("number", [2, 3, 6])
    def test_few_are_a_list_with_an_arrow_back(self, number: int) -> None:
        """In a narrow terminal a ring of two is a list, too."""
        (dead,) = looked(ring_of(*(f"p{one}" for one in range(number))))[-1].report.deadlocks
        told = text(draw_ring(dead, 60))

        assert told.count("waits for") == number
        assert told.endswith("└─── back to A")
        assert told.count("CLOSES THE CYCLE") == 1

    def test_the_middle_of_many_is_left_out(self) -> None:
        """First three, last two."""
        (dead,) = looked(ring_of(*(f"p{one}" for one in range(30))))[-1].report.deadlocks
        told = text(draw_ring(dead, 100))

        assert "… 25 more …" in told
        assert told.count("waits for") == 5

    def test_goes_round_in_the_order_of_waiting(self) -> None:
        """Each one waits for the next."""
        (dead,) = looked(ring_of("a", "b", "c", "d"))[-1].report.deadlocks
        ring = ring_order([dead.steps[at] for at in (2, 0, 3, 1)])

        assert [one.blocker for one in ring] == [one.actor for one in [*ring[1:], ring[0]]]
        assert list(letters(dead).values()) == ["A", "B", "C", "D"]


class TestDeadlock:
    """The text about one deadlock."""

    def test_moves_are_in_the_order_of_transactions(self) -> None:
        """First both got theirs, then both asked for the other's."""
        frame = looked(ring_of("ann", "bob"))[-1]
        found = step_rows(frame.report.deadlocks[0], frame.report)

        assert [move.verb for move in found] == ["got", "got", "asked", "asked"]
        assert [move.czxid for move in found] == sorted(move.czxid for move in found)
        assert found[-1].step.closing

    @pytest.mark.parametrize("width", [60, 78, 100, 160])
    def test_is_complete_in_any_width(self, width: int) -> None:
        """Sentence, ring, steps, evidence, waiters behind it, and how to resolve it."""
        pen = written(looked(ring_of("ann", "bob", behind=2)), width)
        told = text(pen.lines)

        for title in ("DEADLOCK #1", "STEPS", "CONFIDENCE", "BEHIND IT (4)", "HOW TO RESOLVE IT"):
            assert title in told
        assert "/locks/l0 ◀ 2  late-* 2" in told
        assert "Kill " in told
        assert "? one blocked thread per client is assumed" in told

    def test_steps_and_locks_are_doors(self) -> None:
        """What to kill leads to its session, a step to the place in its lock."""
        links = [link for link in written(looked(ring_of("ann", "bob"))).links if link]

        assert {link.page for link in links} == {"lock", "sessions"}
        assert links[0].page == "sessions"
        assert "/locks/l0" in {link.subject.path for link in links}
        assert len({link.name for link in links}) == len(links)

    def test_an_ended_deadlock_keeps_its_last_verdict_and_says_how_it_ended(self) -> None:
        """Not the present state, in which no waiters are left."""
        ring = ring_of("ann", "bob", behind=2)
        later = [(NOW + after, ()) for after in (5_000, 10_000)]
        wait = k("bob", 2).name
        end = Gone(path=Text(f"/locks/l0/{wait}"), zxid=ZXID + 1, at=NOW + 60_000)
        some = frames((NOW, ring), *later, (NOW + 60_000, [end]))
        told, live = text(written(some).lines), some[-2].report.deadlocks[0]

        assert "○ over since" in told
        assert "✓" not in told
        assert "BEHIND IT (4)" in told
        assert " ".join(live.sentence.split()[:6]) in " ".join(told.split())
        assert "younger than the settle time" not in told
        assert "HOW IT ENDED" in told
        assert "bob gave up waiting for /locks/l0." in told
        assert "HOW TO RESOLVE IT" not in told

    def test_a_step_is_proven_by_a_table_that_comes_later(self) -> None:
        """The steps never say less than the reasons below them."""
        rows = {
            "ann": (f"/locks/l1/{k('bob', 1).name}",),
            "bob": (f"/locks/l0/{k('ann', 1).name}",),
        }
        tables = (connected("ann", "bob", at=NOW + 15_000), watching(rows, at=NOW + 15_000))
        moments = [(NOW + after, ()) for after in (5_000, 10_000)]
        some = frames((NOW, ring_of("ann", "bob")), *moments, (NOW + 15_000, tables))
        early, late = (text(written(one).lines) for one in (some[:-1], some))

        assert "watch unknown" in early
        assert "watch unknown" not in late
        assert late.count("watch OK") == 2
        assert "every waiter watches what its recipe needs" in late

    def test_says_how_often_it_was_seen(self) -> None:
        """The third time is no accident."""
        assert "seen 3 times" in text(written(looked(ring_of("ann", "bob")), times=3).lines)


class TestFinding:
    """The text about one finding."""

    def test_shows_evidence_advice_and_places(self) -> None:
        """An orphan blocks a lock."""
        report = trouble()[-1].report
        orphan = next(one for one in report.findings if one.rule == "B1")
        pen = LineWriter(90)
        write_finding(pen, orphan, report)
        told = text(pen.lines)

        assert orphan.sentence.split()[0] in told
        assert "WHAT TO DO" in told
        assert "CONFIDENCE" in told
        assert next(link.page for link in pen.links if isinstance(link, LineLink)) == "lock"

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
    """The list of all that is wrong."""

    def test_deadlocks_come_first(self) -> None:
        """Then findings, then the overview."""
        tape, report = taped(trouble())
        cases = [one.case for one in entries(report, tape, NO_FILTER) if one.case]

        assert cases[0] == report.deadlocks[0].id
        assert cases[-2:] == [BLOCKING, NO_DATA]
        assert len(cases) == len(set(cases))

    def test_what_is_over_stays_in_the_list(self) -> None:
        """The list keeps ended deadlocks."""
        tape, report = taped(
            [*looked(ring_of("ann", "bob")), *frames((NOW + 60_000, facts(path="/locks/l0")))]
        )
        told = text([one.drawn for one in entries(report, tape, NO_FILTER)])

        assert "OVER" in told
        assert "until" in told

    def test_a_replay_does_not_list_the_end_of_a_deadlock_early(self) -> None:
        """An earlier moment knows nothing of what comes."""
        before = frames((NOW - 60_000, facts(path="/locks/other")))
        after = frames((NOW + 60_000, facts(path="/locks/l0")))
        tape, _ = taped([*before, *looked(ring_of("ann", "bob")), *after])
        told = [text_of(one.drawn) for one in entries(before[0].report, tape, NO_FILTER)]
        over = [text_of(one.drawn) for one in entries(after[0].report, tape, NO_FILTER)]

        assert " OVER" not in told
        assert " OVER" in over

    def test_a_filter_leaves_what_passes(self) -> None:
        """Without a match, it says so."""
        tape, report = taped(trouble())
        cases = [one.case for one in entries(report, tape, parsed("orphan")) if one.case]
        nothing = text([one.drawn for one in entries(report, tape, parsed("zzz"))])

        assert report.deadlocks[0].id not in cases
        assert "No finding matches the filter" in nothing

    def test_lists_potential_deadlocks_apart(self) -> None:
        """One that has not happened is not called a deadlock."""
        tape, report = taped(trouble())
        order = msgspec.structs.replace(report.findings[-1], id="D9-1", rule="D9", cause=None)
        report = msgspec.structs.replace(report, findings=(*report.findings, order))
        listed = entries(report, tape, NO_FILTER)
        titles = [text_of(one.drawn).strip() for one in listed if one.case is None]

        assert titles == ["DEADLOCKS", "FINDINGS", "POTENTIAL: not happening now", "OVERVIEW"]


class TestForest:
    """The blocking tree."""

    def test_a_root_blocker_has_its_waiters_below(self) -> None:
        """The root does not wait; a waiter that holds a lock is drawn with its own waiters."""
        report = looked(
            facts(k("ann", 1), k("bob", 2, czxid=120), path="/locks/a"),
            facts(k("bob", 1, czxid=110), k("cid", 2, czxid=130), path="/locks/b"),
        )[-1].report
        told = forest(report)

        assert "ann  not waiting itself" in told
        assert "/locks/a ◀ 1 waiter" in told
        assert "X bob  also blocks others" in told
        assert told.index("X bob") < told.index("/locks/b ◀ 1 waiter")

    def test_a_ring_is_cut_where_it_closes(self) -> None:
        """The drawing must come to an end."""
        told = forest(looked(ring_of("ann", "bob", behind=2))[-1].report)

        assert "DEADLOCK #1" in told
        assert told.count("↑ back to") == 2

    def test_a_node_without_owner_is_a_root(self) -> None:
        """A node without an owner blocks others like any holder."""
        assert "zed  has no session" in forest(trouble()[-1].report)

    def test_says_that_no_client_is_waiting(self) -> None:
        """An empty picture says nothing."""
        assert "No client is waiting" in forest(looked(facts(*queue("X")))[-1].report)


def test_blind_rules_say_what_they_would_have_seen() -> None:
    """Each with its name and meaning, under the reason that blinds it."""
    pen = LineWriter(100)
    write_all_blind(pen, looked(facts(*queue("XX")))[-1].report.blind)
    told = text(pen.lines)

    assert "no-watch: A waiter watches nothing" in told
    assert all(width_of(one) <= 100 for one in pen.lines)
