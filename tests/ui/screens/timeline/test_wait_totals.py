"""The total of the waits in view on the timeline."""

import pytest
from model.findings.cases import PATH, facts, k
from model.make_facts import NOW, lock, own
from ui.example_past import BEGIN, past
from ui.fake_feed import app_of, frames, settled

from zktop.model.text import Text
from zktop.ui.past.tape import Tape
from zktop.ui.screens.timeline.time_axis import TimeWindow
from zktop.ui.screens.timeline.wait_totals import blocked_ms, wait_totals
from zktop.ui.styled_text import text_of, width_of

X, Y = Text("/locks/x"), Text("/locks/y")
END = BEGIN + 21_000


def tape() -> Tape:
    """The past with the deadlock: one waits in each lock, from its second second to its end."""
    made = Tape()
    for frame in past():
        made.add(frame)
    return made


@pytest.mark.parametrize(
    ("begin", "columns", "expected"),
    [
        (BEGIN, 21, 18_000),  # from 2 to 20 s
        (BEGIN, 2, 0),
        (BEGIN + 5_000, 3, 3_000),  # nothing changes in it
        (BEGIN + 19_000, 2, 1_000),
        (BEGIN - 10_000, 5, 0),  # before anything was known
    ],
)
def test_adds_up_what_all_have_waited(begin: int, columns: int, expected: int) -> None:
    """Queue length times its duration, within the time in view."""
    window = TimeWindow(begin, 1_000, columns, END)

    assert blocked_ms(tape(), X, window) == expected


def test_a_time_without_a_connection_does_not_count() -> None:
    """Whoever waited then may have got the lock and released it meanwhile."""
    known = Tape()
    for frame in frames(
        (NOW, [own(), *facts(k("ann", 1), k("bob", 2))]),
        (NOW + 4_000, [own(state="suspended", at=NOW + 4_000)]),
        (NOW + 9_000, [own(at=NOW + 9_000)]),
        (NOW + 12_000, []),
    ):
        known.add(frame)

    assert blocked_ms(known, Text(PATH), TimeWindow(NOW, 1_000, 12, NOW + 12_000)) == 7_000


def test_a_long_name_leaves_room_for_the_other_totals() -> None:
    """Its middle is cut; else the line would end in it."""
    path = Text("/locks/" + 60 * "long")
    frame = frames((NOW, [own(), *lock(path, "ann", "bob")]))[0]
    known = Tape()
    known.add(frame)
    window = TimeWindow(NOW, 1_000, 12, NOW)
    (drawn,) = wait_totals(known, [path], window, frame.report, is_ascii=False)

    assert width_of(drawn) < 100
    assert "LONGEST WAIT" in text_of(drawn)


def said(*, at: int) -> str:
    """The totals of both locks at this moment."""
    known = tape()
    frame = known.frame_at(at)
    assert frame is not None
    window = TimeWindow(BEGIN, 1_000, 21, END)
    return "".join(
        text_of(one) for one in wait_totals(known, [X, Y], window, frame.report, is_ascii=False)
    )


def test_shows_the_longest_wait() -> None:
    """At the cursor; in a lock, and for how long."""
    shown = said(at=BEGIN + 6_000)

    assert shown.split("LONGEST WAIT")[0].split() == [
        "TOTAL",
        "WAIT",
        "in",
        "view",
        "x",
        "18s",
        "y",
        "18s",
    ]
    assert shown.endswith("<1s B in x")  # the frame of then shows the moment at which they came


def test_without_waiters_there_is_no_longest_wait() -> None:
    """B has given up everything."""
    assert "LONGEST" not in said(at=END)


async def test_it_is_on_the_timeline() -> None:
    """Below the strips."""
    async with app_of(*past(), page="timeline").run_test(size=(120, 36)) as pilot:
        screen = "\n".join(await settled(pilot))

        assert "TOTAL WAIT in view" in screen
