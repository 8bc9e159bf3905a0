"""The border between panes side by side can be moved."""

import pytest
from textual import events
from textual.pilot import Pilot
from ui.example_ensemble import trouble
from ui.fake_feed import app_of, pressed, settled

from zktop.ui.app import Zktop
from zktop.ui.screens.common.split import MAX_PERCENT, MIN_PERCENT


def side(app: Zktop) -> int:
    """The width of the columns at the right."""
    return app.screen.query_one("#side").region.width


async def drag(pilot: Pilot[int], begin: int, end: int) -> None:
    """Press the mouse in one column of the screen, move it to another, and let it go."""
    for kind, x in (
        (events.MouseDown, begin),
        (events.MouseMove, end),
        (events.MouseUp, end),
    ):
        pilot.app.screen._forward_event(
            kind(None, x, 10, 0, 0, 1, False, False, False, x, 10)  # noqa: FBT003
        )
        await settled(pilot)


PANES = {"2": ("#lock-aside", "#lock-queue"), "3": ("#case-column", "#cases")}


@pytest.mark.parametrize("screen", PANES)
async def test_other_screens_have_a_border_too(screen: str) -> None:
    """It is moved with the mouse and with keys, and what is beside it uses the room."""
    right, left = PANES[screen]
    app = app_of(*trouble())
    async with app.run_test(size=(200, 60)) as pilot:
        await settled(pilot)
        await pilot.press(screen)
        await settled(pilot)
        await drag(pilot, app.screen.query_one(right).region.x, 120)
        regions = [app.screen.query_one(one).region for one in (left, right)]
        await pressed(pilot, "less_than_sign")
        await settled(pilot)

        assert [one.width for one in regions] == [120, 80]
        assert app.screen.query_one(right).region.width == 88
        assert app.screen.query_one(left).region.width == 112


@pytest.mark.parametrize("hold", [-1, 0])
async def test_dragging_the_border_moves_it(hold: int) -> None:
    """It is held at the frame on either side."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        border = app.screen.query_one("#side").region.x
        await drag(pilot, border + hold, 60)

        assert side(app) == 60
        assert app.screen.query_one("#locks").region.width == 60


async def test_the_mouse_is_free_after_dragging() -> None:
    """A later move does not take the border along."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        border = app.screen.query_one("#side").region.x
        await drag(pilot, border, 60)
        await pilot.hover("#locks", offset=(20, 10))
        await settled(pilot)

        assert side(app) == 60
        assert app.mouse_captured is None


async def test_dragging_elsewhere_moves_nothing() -> None:
    """Only the border can be held."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        before = side(app)
        await drag(pilot, 30, 60)

        assert side(app) == before


@pytest.mark.parametrize("size", [(120, 36), (200, 60)])
async def test_two_keys_move_it(size: tuple[int, int]) -> None:
    """Each key moves it by one step."""
    app = app_of(*trouble())
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        widths = [side(app)]
        for key in ("less_than_sign", "greater_than_sign"):
            await pressed(pilot, key)
            await settled(pilot)
            widths.append(side(app))

    assert widths[1] > widths[0]
    assert widths[2] == widths[0]


async def test_no_column_vanishes() -> None:
    """No number of key presses hides a column."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pressed(pilot, *["less_than_sign"] * 20)
        await settled(pilot)
        widest = side(app)
        await pressed(pilot, *["greater_than_sign"] * 30)
        await settled(pilot)

        assert (widest, side(app)) == (120 * MAX_PERCENT // 100, 120 * MIN_PERCENT // 100)


async def test_each_number_of_columns_has_its_own_border() -> None:
    """Moving it in a narrow window leaves that of a wide window where it was."""
    app = app_of(*trouble())
    async with app.run_test(size=(200, 60)) as pilot:
        await settled(pilot)
        before = side(app)
        await pilot.resize_terminal(120, 36)
        await settled(pilot)
        await pressed(pilot, *["less_than_sign"] * 3)
        await pilot.resize_terminal(200, 60)
        await settled(pilot)

        assert side(app) == before


async def test_a_window_with_one_column_has_no_border() -> None:
    """The key says which windows have one."""
    app = app_of(*trouble())
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pressed(pilot, "less_than_sign")
        await settled(pilot)

        messages = [notification.message for notification in app._notifications]
        assert "one column" in messages[-1]
