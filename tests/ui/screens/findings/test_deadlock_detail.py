"""One deadlock: what to do, the ring and its steps, and what folds."""

from collections.abc import Iterable

import pytest
from model.findings.cases import ZXID, connected, k, watching
from model.make_facts import NOW, session
from msgspec.structs import replace
from output.stories import facts as story
from ui.example_queues import looked, ring_of
from ui.fake_feed import frames

from zktop.model.facts import AnyFact, Gone, Node
from zktop.model.text import Text
from zktop.ui.interfaces import Frame
from zktop.ui.past.tape import DeadlockRecord, Tape
from zktop.ui.screens.common.line_writer import FoldLink, LineLink, LineWriter
from zktop.ui.screens.findings.deadlock_detail import (
    FOLDABLE_SECTIONS,
    ShownDeadlock,
    ticket_text,
    write_deadlock,
)
from zktop.ui.screens.findings.deadlock_steps import step_rows
from zktop.ui.styled_text import text_of

FOUND = connected("ann", "bob")


def nodes_of(owner: str, known: Iterable[AnyFact]) -> list[Node]:
    """The nodes of one client."""
    nodes = [one for one in known if isinstance(one, Node) and one.stat is not None]
    return [one for one in nodes if one.stat and one.stat.owner == session(owner)]


def shown(some: list[Frame], times: int = 1) -> ShownDeadlock:
    """The only deadlock on the tape of these frames."""
    tape = Tape()
    for frame in some:
        tape.add(frame)
    (case,) = tape.deadlocks.values()
    return ShownDeadlock(case, some[-1].report, times)


def written(some: list[Frame], width: int = 100, *opened: str, times: int = 1) -> LineWriter:
    """The explanation of the only deadlock, with these sections open."""
    writer = LineWriter(width, opened)
    write_deadlock(writer, shown(some, times))
    return writer


def text(writer: LineWriter) -> str:
    """All lines as one text."""
    return "\n".join(map(text_of, writer.lines))


def in_ring(some: list[Frame], width: int) -> list[str]:
    """The lines of the drawing, from the first box on."""
    lines = [text_of(line) for line in written(some, width).lines]
    top = next(n for n, one in enumerate(lines) if "╭" in one)
    return lines[top:]


class TestWhatToDo:
    """The answer comes first."""

    def test_the_client_to_stop_comes_before_the_picture(self) -> None:
        """With its address, and with what stopping it frees."""
        lines = [text_of(line) for line in written(looked(ring_of("ann", "bob"), [FOUND])).lines]

        assert lines[0].startswith(" ● still there for")
        assert lines[1].startswith(" Kill  ann   10.0.0.1:")
        assert "unblocks 1 other" in lines[1]

    def test_it_says_which_command_y_copies(self) -> None:
        """The line is the command itself."""
        some = looked(ring_of("ann", "bob"), [FOUND])
        command = shown(some).command

        assert command is not None
        assert command.startswith("ssh 10.0.0.1 'ss -tnp sport = :")
        assert f" y copies {command}" in text(written(some))
        assert shown(some).frame.keys.startswith("{copy} copy command  {copy_text} copy text")

    def test_without_an_address_y_copies_the_text(self) -> None:
        """Without the address, there is no host to log in to."""
        some = looked(ring_of("ann", "bob"))

        assert shown(some).command is None
        assert "y copies this text: the client's address is unknown" in text(written(some))

    def test_the_other_clients_have_a_line_each(self) -> None:
        """Stopping one of them works, too."""
        assert "\n   or bob" in text(written(looked(ring_of("ann", "bob"))))

    def test_wide_characters_have_room(self) -> None:
        """They take two cells each."""
        assert "\n   or 库存库存  " in text(written(looked(ring_of("ann", "库存库存"))))

    def test_locks_with_wide_names_are_not_cut_in_the_steps(self) -> None:
        """The column is as wide as the widest step."""
        story_of = story("A x: ann bob ; B x: bob ann")
        wide = [
            replace(one, path=Text(str(one.path).replace("/locks/a", "/locks/库存库存库存")))
            for one in story_of
            if hasattr(one, "path")
        ]

        assert "bob requested 库存库存库存 efc1" in text(
            written(looked(wide), 160, *FOLDABLE_SECTIONS)
        )


class TestRing:
    """The drawing of the ring, and its steps."""

    def test_the_steps_stand_next_to_the_ring_where_there_is_room(self) -> None:
        """Else below it."""
        some = looked(ring_of("ann", "bob"))

        assert "acquired" in in_ring(some, 100)[0]
        assert "acquired" not in in_ring(some, 50)[0]
        assert "acquired" in "".join(in_ring(some, 50))

    def test_addresses_give_way_to_the_steps(self) -> None:
        """They are above, beside the clients to stop."""
        some = looked(ring_of("ann", "bob"), [FOUND])

        assert "10.0.0.1" in "".join(in_ring(some, 120))
        assert "10.0.0.1" not in "".join(in_ring(some, 72))

    def test_short_words_keep_the_steps_beside_the_ring(self) -> None:
        """Where long ones do not fit."""
        shown = "\n".join(in_ring(looked(ring_of("alexandra", "konstantin")), 78))

        assert "alexandra got l0" in shown.splitlines()[0]
        assert "konstantin wants l0" in shown

    @pytest.mark.parametrize(("number", "width"), [(7, 100), (3, 30)])
    def test_many_clients_or_a_narrow_panel_make_a_list(self, number: int, width: int) -> None:
        """It fits any width."""
        shown = text(written(looked(ring_of(*(f"p{one}" for one in range(number)))), width))

        assert "╭" not in shown
        assert "└─── back to p" in shown

    def test_steps_are_in_the_order_of_transactions(self) -> None:
        """First both acquired theirs, then both requested the other's."""
        frame = looked(ring_of("ann", "bob"))[-1]
        found = step_rows(frame.report.deadlocks[0], frame.report)

        assert [move.verb for move in found] == ["got", "got", "asked", "asked"]
        assert [move.czxid for move in found] == sorted(move.czxid for move in found)
        assert found[-1].is_closing

    def test_the_last_step_closes_the_cycle(self) -> None:
        """A narrow room has only the arrow."""
        some = looked(ring_of("ann", "bob"))

        assert text(written(some)).count("← completes the deadlock") == 1
        assert text(written(some, 66)).count(" ←") == 1

    def test_clients_and_steps_can_be_opened(self) -> None:
        """A client leads to its session, a step to the place in its lock."""
        links = [link for link in written(looked(ring_of("ann", "bob"))).links if link]
        doors = [link for link in links if isinstance(link, LineLink)]

        assert [one.page for one in doors] == ["sessions", "sessions", *["lock"] * 4]
        assert "/locks/l0" in {one.subject.path for one in doors}
        assert len(set(links)) == len(links)


class TestFolding:
    """Proof, waiters and sentence are one line each until they are opened."""

    def test_folded_sections_have_a_summary(self) -> None:
        """The amount of evidence, and the number of clients that wait behind it."""
        writer = written(looked(ring_of("ann", "bob", behind=2)))
        shown = text(writer)

        assert "▸ Proof  1 for, 2 assumptions" in shown
        assert "▸ Behind it  4 clients" in shown
        assert "▸ Full sentence" in shown
        assert [link.section for link in writer.links if isinstance(link, FoldLink)] == list(
            FOLDABLE_SECTIONS
        )

    @pytest.mark.parametrize("width", [60, 78, 100, 160])
    def test_unfolded_it_is_complete_in_any_width(self, width: int) -> None:
        """Evidence, steps with their watches, waiters behind it, and the sentence."""
        shown = text(written(looked(ring_of("ann", "bob", behind=2)), width, *FOLDABLE_SECTIONS))

        for title in ("▾ Proof", "CONFIDENCE", "STEPS", "▾ Behind it", "▾ Full sentence"):
            assert title in shown
        assert "/locks/l0 ◀ 2  late-* 2" in shown
        assert "? assumes one blocked thread per client" in shown
        assert "waits for /locks/l" in " ".join(shown.split())

    def test_the_text_for_a_ticket_has_no_folds(self) -> None:
        """Its sentence comes first."""
        writer = LineWriter(100)
        ticket_text(writer, shown(looked(ring_of("ann", "bob", behind=2))))
        shown_text = text(writer)

        assert shown_text.startswith("DEADLOCK #1")
        assert "holds /locks" in shown_text.splitlines()[1]
        assert "▸" not in shown_text
        assert "CONFIDENCE" in shown_text


class TestOverTime:
    """A deadlock that changes or ends."""

    def test_an_ended_deadlock_keeps_its_last_verdict_and_says_how_it_ended(self) -> None:
        """Not the present state, in which no waiters are left."""
        ring = ring_of("ann", "bob", behind=2)
        later = [(NOW + after, ()) for after in (5_000, 10_000)]
        wait = k("bob", 2).name
        end = Gone(path=Text(f"/locks/l0/{wait}"), zxid=ZXID + 1, at=NOW + 60_000)
        some = frames((NOW, ring), *later, (NOW + 60_000, [end]))
        found, live = text(written(some, 100, *FOLDABLE_SECTIONS)), some[-2].report.deadlocks[0]

        assert "○ over since" in found
        assert "✓" not in found
        assert "Behind it  4 clients" in found
        assert " ".join(live.sentence.split()[:6]) in " ".join(found.split())
        assert "acquired unseen" in found
        assert "formed less than" not in found
        assert "HOW IT ENDED" in found
        assert "bob gave up waiting for /locks/l0." in found
        assert "Kill" not in found
        assert shown(some).command is None

    def test_a_report_made_again_has_the_same_deadlock(self) -> None:
        """Its number may be another one: the one before it was over before that report began."""
        first = story("A x: ann bob ; B x: bob ann")
        left = [Gone(path=one.path, zxid=2_000, at=NOW + 20_000) for one in nodes_of("bob", first)]
        second = story("C x: cid dan ; D x: dan cid", at=NOW + 40_000, zxid=5_000)
        tape = Tape()
        for frame in frames(
            (NOW, first), (NOW + 5_000, ()), (NOW + 20_000, left), (NOW + 40_000, second)
        ):
            tape.add(frame)
        (again,) = frames((NOW + 60_000, second))
        old, new = tape.deadlocks.values()

        assert (old.deadlock.number, new.deadlock.number) == (1, 2)
        assert again.report.deadlocks[0].number == 1
        assert ShownDeadlock(old, again.report).now is None
        assert ShownDeadlock(new, again.report).now is not None

    def test_its_end_is_known_after_a_new_connection(self) -> None:
        """Servers that lost their data make zktop examine everything anew."""
        ring = story("A x: ann bob ; B x: bob ann")
        left = [Gone(path=one.path, zxid=2_000, at=NOW + 20_000) for one in nodes_of("bob", ring)]
        before = frames((NOW, ring), (NOW + 20_000, left))
        (after,) = frames((NOW + 60_000, story("C x: cid", at=NOW + 60_000)))
        found = text(written([*before, after]))

        assert after.report.over == ()
        assert "bob gave up" in found.partition("HOW IT ENDED")[2]

    def test_its_end_is_unknown_if_no_connection_showed_it(self) -> None:
        """It was there before zktop connected anew, and not afterwards."""
        before = frames((NOW, story("A x: ann bob ; B x: bob ann")))
        (after,) = frames((NOW + 60_000, story("C x: cid", at=NOW + 60_000)))

        assert "unknown, as zktop did not see it end" in text(written([*before, after]))

    def test_it_has_no_end_at_a_moment_before_it(self) -> None:
        """The user goes back to when it was recorded, and the facts of then show no deadlock."""
        ring = story("A x: ann bob ; B x: bob ann")
        some = frames((NOW, ring), (NOW + 20_000, ()))
        (early,) = frames((NOW, story("C x: cid")))
        case = replace(shown(some).case, over_at=NOW + 20_000)
        writer = LineWriter(100)
        write_deadlock(writer, ShownDeadlock(case, early.report))

        assert "did not exist at this moment" in text(writer)
        assert "over since" not in text(writer)
        assert "HOW IT ENDED" not in text(writer)

    def test_an_old_deadlock_without_its_report_is_still_drawn(self) -> None:
        """The picture and the sentence are those of then, the rest is from the report shown."""
        (frame,) = frames((NOW, story("A x: ann bob ; B x: bob ann")))
        (later,) = frames((NOW + 20_000, ()))
        dead = frame.report.deadlocks[0]
        case = DeadlockRecord(dead, NOW, dead, None, NOW + 20_000)
        writer = LineWriter(100)
        ticket_text(writer, ShownDeadlock(case, later.report))
        text = "\n".join(map(text_of, writer.lines))

        assert dead.sentence in " ".join(text.split())
        assert "Diagram of" in text

    def test_a_step_is_proven_by_a_table_that_comes_later(self) -> None:
        """The steps never say less than the evidence."""
        rows = {
            "ann": (f"/locks/l1/{k('bob', 1).name}",),
            "bob": (f"/locks/l0/{k('ann', 1).name}",),
        }
        tables = (connected("ann", "bob", at=NOW + 15_000), watching(rows, at=NOW + 15_000))
        moments = [(NOW + after, ()) for after in (5_000, 10_000)]
        some = frames((NOW, ring_of("ann", "bob")), *moments, (NOW + 15_000, tables))
        early, late = (text(written(one, 100, *FOLDABLE_SECTIONS)) for one in (some[:-1], some))

        assert "watch unknown" in early
        assert "watch unknown" not in late
        assert late.count("watch OK") == 2
        assert "every waiter watches what its recipe needs" in late

    def test_says_how_often_it_was_seen(self) -> None:
        """A deadlock that comes back for the third time is no accident."""
        assert "seen 3 times" in text(written(looked(ring_of("ann", "bob")), times=3))
