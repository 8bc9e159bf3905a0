"""The drawing of a ring: boxes, and arrows clockwise from each client to the next."""

import pytest
from msgspec.structs import replace
from ui.example_queues import looked, ring_of

from zktop.ui.screens.findings.ring_drawing import (
    RingClient,
    can_be_drawn,
    draw_ring,
    is_ring,
    list_ring,
    ring_order,
)
from zktop.ui.styled_text import Line, text_of, width_of
from zktop.ui.terminal_filters import to_ascii


def clients(number: int, address: str = "") -> list[RingClient]:
    """Philosophers: each has a fork and wants the next one's; the last request closes it."""
    return [
        RingClient(
            f"P{at}",
            f"has fork{at}",
            f"fork{(at + 1) % number}",
            address,
            closes=at == number - 1,
            is_chosen=at == number - 1,
        )
        for at in range(number)
    ]


def text(lines: list[Line]) -> str:
    """All lines as one text."""
    return "\n".join(text_of(line).rstrip() for line in lines)


def test_two_face_each_other() -> None:
    """There is an arrow in each direction, with the wanted lock next to it."""
    assert text(draw_ring(clients(2))).splitlines() == [
        "╭─ P0 ──────╮  fork1   ╭─ P1 ──────╮",
        "│ has fork0 │ ───────▶ │ has fork1 │",
        "╰───────────╯ ◀─────── ╰───────────╯",
        "               fork0",
    ]


@pytest.mark.parametrize("number", [2, 3, 4, 5, 6])
def test_wide_characters_do_not_break_a_box(number: int) -> None:
    """All lines are as wide as with narrow ones, although the names are cut."""
    wide, narrow = (
        draw_ring(
            [
                one._replace(name=word * 10, has=word * 20, wants=word * 20)
                for one in clients(number)
            ]
        )
        for word in ("漢字", "abcd")
    )

    assert [*map(width_of, wide)] == [*map(width_of, narrow)]
    assert [*map(_edges, wide)] == [*map(_edges, narrow)]


def _edges(line: Line) -> int:
    """Count the pieces of vertical edges in a line."""
    return text_of(line).count("│") + text_of(line).count("╮")


def test_five_stand_in_two_columns_with_one_between_them() -> None:
    """The arrows go down at the right and up at the left."""
    assert text(draw_ring(clients(5))).splitlines() == [
        "╭─ P0 ──────╮  fork1   ╭─ P1 ──────╮",
        "│ has fork0 │ ───────▶ │ has fork1 │",
        "╰────────▲──╯          ╰────────┬──╯",
        "         │ fork0          fork2 │",
        "╭─ P4 ───┴──╮          ╭─ P2 ───▼──╮",
        "│ has fork4 │          │ has fork2 │",
        "╰──▲────────╯          ╰────────┬──╯",
        "   │                            │",
        "   │ fork4 ╭─ P3 ──────╮  fork3 │",
        "   ╰────── │ has fork3 │ ◀──────╯",
        "           ╰───────────╯",
    ]


@pytest.mark.parametrize("number", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("address", ["", "10.0.1.7:55940"])
def test_every_client_has_a_box_and_an_arrow(number: int, address: str) -> None:
    """No box or label covers another one."""
    lines = draw_ring(clients(number, address))
    shown = text(lines)

    for at in range(number):
        assert shown.count(f" P{at} ") == 1
        assert shown.count(f"has fork{at}") == 1
        assert shown.replace(f"has fork{at}", "").count(f"fork{at}") == 1
    assert sum(shown.count(head) for head in "▶◀▲▼") == number
    assert shown.count(address or "╭─ P") == number
    assert len({width_of(line) for line in lines}) == 1


def test_long_names_are_cut_in_the_middle() -> None:
    """A port stays whole."""
    long = [one._replace(name="a-very-long-host.example.com:59112") for one in clients(4)]
    shown = text(draw_ring(long))

    assert shown.count(":59112 ") == 4
    assert max(map(len, shown.splitlines())) < 80


def test_the_request_that_closed_the_cycle_has_its_own_ink() -> None:
    """So has the client to stop."""
    inks = {run.ink for one in draw_ring(clients(3), "critical") for run in one}
    pills = [run.text for one in draw_ring(clients(3)) for run in one if run.ink == "alarm"]

    assert {"critical", "waits", "holds"} <= inks
    assert pills == [" P2 "]


def test_an_arrow_to_a_client_that_only_queues_is_dotted() -> None:
    """It holds nothing."""
    soft = [one._replace(is_hard=at != 1) for at, one in enumerate(clients(3))]

    assert "┄" in text(draw_ring(soft))
    assert "┊" in text(draw_ring(soft))


def test_in_ascii_it_is_the_same_drawing() -> None:
    """Each character has a look-alike."""
    assert [to_ascii(text_of(one)) for one in draw_ring(clients(2))][:2] == [
        "+- P0 ------+  fork1   +- P1 ------+",
        "| has fork0 | -------> | has fork1 |",
    ]


@pytest.mark.parametrize(("number", "is_drawn"), [(2, True), (6, True), (7, False)])
def test_up_to_six_can_be_drawn(number: int, is_drawn: bool) -> None:  # noqa: FBT001  a column
    """More are a list."""
    (dead,) = looked(ring_of(*(f"p{one}" for one in range(number))))[-1].report.deadlocks

    assert can_be_drawn(dead) == is_drawn


def test_the_middle_of_a_long_list_is_left_out() -> None:
    """First three, last two."""
    (dead,) = looked(ring_of(*(f"p{one}" for one in range(30))))[-1].report.deadlocks
    shown = text(list_ring(dead, {}))

    assert "… 25 more …" in shown
    assert shown.count("waits for") == 5
    assert "└─── back to " in shown


def test_a_list_that_is_not_a_ring_has_no_arrow() -> None:
    """Clients that wait for a pool wait for all of its holders."""
    (dead,) = looked(ring_of("a", "b", "c", "d"))[-1].report.deadlocks
    to_one = tuple(replace(step, blocker=dead.steps[0].actor) for step in dead.steps)
    shown = text(list_ring(replace(dead, steps=to_one), {}))

    assert "back to" not in shown
    assert not set("│┊┌└") & set(shown)
    assert shown.count("waits for") == 4


@pytest.mark.parametrize(("edge", "bars"), [("hard", 0), ("soft", 1)])
def test_a_list_shows_a_request_behind_the_queue(edge: str, bars: int) -> None:
    """In words, too."""
    (dead,) = looked(ring_of("ann", "bob"))[-1].report.deadlocks
    first, second = dead.steps
    shown = text(list_ring(replace(dead, steps=(replace(first, edge=edge), second)), {}))

    assert shown.count(" ┊ ") == bars
    assert shown.count("behind a queued request") == bars
    assert shown.count("← completes the deadlock") == 1


def test_goes_round_in_the_order_of_waiting() -> None:
    """Each one waits for the next."""
    (dead,) = looked(ring_of("a", "b", "c", "d"))[-1].report.deadlocks
    mixed = [dead.steps[at] for at in (2, 0, 3, 1)]
    ring = ring_order(mixed)

    assert [one.blocker for one in ring] == [one.actor for one in [*ring[1:], ring[0]]]
    assert is_ring(ring)
    assert not is_ring(ring[:3])
