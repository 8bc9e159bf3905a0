"""Screen 5 by its keys: what each does to the moment, and what the user reads."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot
from ui.example_past import BEGIN, past
from ui.fake_feed import app_of, settled

from zktop.ui.app import Zktop
from zktop.ui.interfaces import Status

END = BEGIN + 21_000


@asynccontextmanager
async def shown(*, is_live: bool = True, page: str = "timeline") -> AsyncIterator[Pilot[int]]:
    """Show the past with the deadlock."""
    app = app_of(*past(), page=page, is_live=is_live)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        yield pilot


def at(pilot: Pilot[int]) -> int | None:
    """The displayed moment, in milliseconds from the beginning."""
    app = pilot.app
    assert isinstance(app, Zktop)
    moment = app.view_state.at
    return None if moment is None else moment - BEGIN


async def test_a_past_that_was_thinned_can_be_drawn_for_a_new_size() -> None:
    """The frame on display may be gone from the tape by then."""
    async with shown() as pilot:
        await pilot.press("left")
        await settled(pilot)
        app = pilot.app
        assert isinstance(app, Zktop)
        del app.tape._stored[:-1]

        await pilot.resize_terminal(100, 30)
        await settled(pilot)

        assert app.is_running
        assert not app.trouble


@pytest.mark.parametrize(
    ("keys", "moment"),
    [
        (["left_square_bracket"], 20_000),
        (["left"], 20_000),
        (["h"], 20_000),
        (["left", "left"], 2_000),
        (["left", "left", "left", "left"], 0),
        (["left", "left", "right"], 20_000),
        (["left", "left", "right_square_bracket"], 20_000),
        (["shift+left"], 20_000),
        (["H", "H", "H"], 18_000),
        (["H", "H", "L"], 20_000),
        (["n"], 2_000),
        (["left", "escape"], 21_000),
        (["left", "left", "left", "right", "right", "right", "right"], 21_000),
    ],
)
async def test_keys_move_through_time(keys: list[str], moment: int) -> None:
    """By changes, by seconds, to the next alert, and back to live."""
    async with shown() as pilot:
        await pilot.press(*keys)
        await settled(pilot)

        assert at(pilot) == moment


async def test_the_past_is_on_every_screen() -> None:
    """In the past, the screens show the locks of that moment, and the header says so."""
    async with shown() as pilot:
        await pilot.press("n", "4")
        screen = await settled(pilot)

        assert "IN THE PAST, 19s behind" in screen[0]
        assert "LIVE" not in screen[0]  # it would be read as a contradiction
        assert any("B holds" in line or " B " in line for line in screen[4:])


async def test_space_plays_a_recording_and_stops_it() -> None:
    """The header says which of both it is."""
    async with shown(is_live=False) as pilot:
        await pilot.press("space")
        playing = await settled(pilot)
        await pilot.press("space")
        paused = await settled(pilot)

        assert "PLAYING 1x" in playing[0]
        assert "PAUSED" in paused[0]


async def test_space_while_live_says_what_to_do() -> None:
    """There is nothing to play at the newest moment."""
    async with shown() as pilot:
        await pilot.press("space")
        await settled(pilot)

        assert at(pilot) == 21_000


async def test_a_new_speed_is_reported() -> None:
    """In the title, once there is something to play."""
    async with shown(is_live=False) as pilot:
        await pilot.press("s")
        screen = await settled(pilot)

        assert any("speed 2x" in line for line in screen)


async def test_zoom_changes_what_a_column_is() -> None:
    """The same moment stays under the cursor."""
    async with shown() as pilot:
        await pilot.press("plus")
        near = await settled(pilot)
        await pilot.press("minus", "minus")
        far = await settled(pilot)

        assert any("1 column = 0.2s" in line for line in near)
        assert any("1 column = 1.0s" in line for line in far)


@pytest.mark.parametrize(
    ("typed", "moment"), [("+5s", 5_000), ("00:33:25", 5_000), ("-1s", 20_000)]
)
async def test_a_time_can_be_typed(typed: str, moment: int) -> None:
    """The time of day, from the beginning, or back from here."""
    async with shown() as pilot:
        await pilot.press("t")
        await settled(pilot)
        await pilot.press(*_typed(typed), "enter")
        await settled(pilot)

        assert at(pilot) == moment


async def test_a_wrong_time_is_refused_and_can_be_corrected() -> None:
    """The dialog stays; escape leaves it without going anywhere."""
    async with shown() as pilot:
        await pilot.press("t", "x", "enter")
        screen = await settled(pilot)
        await pilot.press("escape")
        await settled(pilot)

        assert any("Not a time: x" in line for line in screen)
        assert at(pilot) == 21_000


async def test_a_moment_is_compared_with_the_newest() -> None:
    """The past deadlock, and the present holders."""
    async with shown() as pilot:
        await pilot.press("n", "c")
        screen = await settled(pilot)
        await pilot.press("escape")
        closed = await settled(pilot)

        assert any("- D1 B holds X:/locks/y" in line for line in screen)
        assert any("held by A; no waiters" in line for line in screen)
        assert any("TIMELINE" in line for line in closed)


async def test_the_pane_below_shows_what_happened_at_the_cursor() -> None:
    """What began, and each lock before and after."""
    async with shown() as pilot:
        await pilot.press("n")
        screen = "\n".join(await settled(pilot))

        assert "AT THE CURSOR 00:33:22.000Z" in screen
        assert "! begins: B holds X:/locks/y and waits for X:/locks/x" in screen
        assert "before: held by A; no waiters" in screen


async def test_enter_opens_the_lock_under_the_cursor() -> None:
    """The first strip is that of a lock of the deadlock."""
    async with shown() as pilot:
        await pilot.press("enter")
        await settled(pilot)

        app = pilot.app
        assert isinstance(app, Zktop)
        assert app.page is not None
        assert (app.page.entry.name, app.subject.path) == ("lock", "/locks/x")


async def test_a_click_goes_to_its_moment() -> None:
    """A column is a span of time, whatever row is clicked on."""
    async with shown() as pilot:
        await pilot.click("#strips", offset=(31, 8))
        await settled(pilot)

        assert at(pilot) is not None
        assert at(pilot) == 499


async def test_keys_before_the_first_report_do_no_harm() -> None:
    """Every key shows a message or does nothing."""
    async with app_of(page="timeline").run_test(size=(80, 24)) as pilot:
        for key in (
            "space",
            "left",
            "right",
            "H",
            "L",
            "plus",
            "minus",
            "s",
            "n",
            "t",
            "c",
            "enter",
        ):
            await pilot.press(key)
        screen = await settled(pilot)

        assert "Timeline" in screen[0]


def _typed(text: str) -> list[str]:
    names: Callable[[str], str] = {"+": "plus", "-": "minus", ":": "colon"}.get  # type: ignore[assignment]  # every key here is one
    return [names(one) or one for one in text]


async def test_a_lost_connection_is_not_called_live() -> None:
    """The strips end with what was known last."""
    app = app_of(*past(), Status("lost", "The connection was lost."), page="timeline")
    async with app.run_test(size=(120, 36)) as pilot:
        screen = "\n".join(await settled(pilot))

        assert "TIMELINE LAST KNOWN STATE" in screen
        assert "LIVE" not in screen
