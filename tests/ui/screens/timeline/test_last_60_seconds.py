"""The pane `Last 60 s`: which clients it shows, what they did, how many waited."""

from collections.abc import Sequence

import pytest
from model.make_facts import NOW, lock, session
from ui.example_ensemble import trouble
from ui.example_past import BEGIN, A, B, past
from ui.fake_feed import app_of, frames, panel, settled

from zktop.ui.interfaces import Frame
from zktop.ui.past.tape import Tape
from zktop.ui.screens.timeline.last_60_seconds import (
    DECIDED_EVERY_MS,
    important_clients,
    minute_lines,
)


def tape(updates: Sequence[Frame]) -> Tape:
    """These frames on a tape."""
    made = Tape()
    for frame in updates:
        made.add(frame)
    return made


def test_clients_in_alerts_come_first_and_then_root_blockers() -> None:
    """Clients in a deadlock come before clients with other findings."""
    updates = trouble()
    found = important_clients(updates[-1].report, tape(updates), 9)

    assert {found.index(session(one)) for one in ("ann", "bob")} == {0, 1}
    assert {session("cid"), session("eve")} <= {*found}  # they wait behind


def test_a_root_blocker_comes_before_clients_that_did_something_last() -> None:
    """Others wait for it."""
    updates = frames(
        (NOW, lock("/locks/a", "ann", "bob")),
        (NOW + 100, lock("/locks/b", "cid", czxid=900, at=NOW + 100)),
    )

    assert important_clients(updates[-1].report, tape(updates), 2) == [
        session("ann"),
        session("cid"),
    ]


def test_active_clients_are_chosen_every_five_seconds() -> None:
    """Clients that lock many times a second would otherwise push each other out unread."""
    begin = NOW - NOW % DECIDED_EVERY_MS
    came_ms = {"dot": -3_000, "ann": -1_000, "bob": 100, "cid": 4_000}
    updates = frames(
        *(
            (begin + ms, lock(f"/locks/{name}", name, czxid=begin + ms, at=begin + ms))
            for name, ms in came_ms.items()
        ),
        (begin + DECIDED_EVERY_MS, []),
    )
    chosen = [
        important_clients(frame.report, tape(updates[: number + 1]), 1)
        for number, frame in enumerate(updates)
    ]

    assert chosen[2:] == [[session(one)] for one in ("ann", "ann", "cid")]


async def test_strips_show_what_clients_did_and_the_graph_how_many_waited() -> None:
    """With the signs of the timeline, over the same minute."""
    async with app_of(*past()).run_test(size=(120, 36)) as pilot:
        await pilot.press("5", "n", "1")
        lines = panel(await settled(pilot), "Last 60 s")
        await pilot.press("5", "escape", "1")
        after = panel(await settled(pilot), "Last 60 s")

        assert after[0].split()[0] == "A"
        assert after[0].rstrip().endswith("□" * 10 + "━━")
        assert any("waiting" in one for one in after)
        assert after[-1].split()[-5:] == ["-60s", "-45s", "-30s", "-15s", "now"]
        assert lines[-1].split()[-1] == "00:33:22Z"


@pytest.mark.parametrize(
    ("size", "is_there"),
    [
        ((60, 15), False),
        ((80, 24), True),
        ((120, 30), True),
        ((119, 50), True),
        ((250, 80), True),
    ],
)
async def test_it_is_where_the_table_leaves_room(size: tuple[int, int], *, is_there: bool) -> None:
    """The table of locks comes first."""
    async with app_of(*past()).run_test(size=size) as pilot:
        screen = "\n".join(await settled(pilot))

        assert ("─ Last 60 s" in screen) == is_there


async def test_it_goes_when_the_window_becomes_small() -> None:
    """It comes back when the window grows."""
    async with app_of(*past()).run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.resize_terminal(60, 15)
        small = "\n".join(await settled(pilot))
        await pilot.resize_terminal(120, 36)
        large = "\n".join(await settled(pilot))

        assert "Last 60 s" not in small
        assert "Last 60 s" in large


async def test_enter_on_a_strip_opens_the_timeline_of_that_client() -> None:
    """Its strip is the first there."""
    app = app_of(*past())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        app.screen.set_focus(app.query_one("#minute"))
        await pilot.press("down", "enter")
        await settled(pilot)

        assert app.page is not None
        assert app.page.entry.name == "timeline"
        assert app.subject.session in (A, B)


def test_before_the_first_data_a_strip_is_blank() -> None:
    """Unknown is not idle."""
    updates = frames((BEGIN, lock("/locks/a", "ann", "bob", at=BEGIN)))
    app = app_of(*updates)
    app.tape.add(updates[0])
    app.visit.pulse.add(updates[0])
    (strip, *_) = minute_lines(app.view_state, updates[0].report, (), 80, 9)
    cells = "".join(run.text for run in strip.drawn)

    assert cells.split() == ["ann", "━"]
