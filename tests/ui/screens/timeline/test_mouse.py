"""The mouse on the timeline: click, drag, hover and wheel."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.events import MouseScrollDown, MouseScrollUp
from textual.pilot import Pilot
from ui.example_past import BEGIN, past
from ui.fake_feed import app_of, panel, settled

from zktop.ui.app import Zktop
from zktop.ui.screens.timeline.screen import TimelineScreen
from zktop.ui.screens.timeline.strip_panel import StripPanel

LAST = 21_000  # ms after the beginning
ALERT_LINE, LOCK_LINE, CLIENT_LINE = 3, 5, 10  # of the panel's content


@asynccontextmanager
async def shown(*, is_live: bool = True) -> AsyncIterator[Pilot[int]]:
    """The timeline of the past with the deadlock: a column is half a second."""
    async with app_of(*past(), page="timeline", is_live=is_live).run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        yield pilot


def offset(pilot: Pilot[int], moment: int, line: int = LOCK_LINE) -> tuple[int, int]:
    """Where a moment, in ms after the beginning, is on a line of the strips."""
    strips = pilot.app.query_one(StripPanel)
    assert strips.window is not None
    return strips.gutter.left + strips.label + strips.window.column(BEGIN + moment), 1 + line


def at(pilot: Pilot[int]) -> int | None:
    """The displayed moment, in ms after the beginning."""
    app = pilot.app
    assert isinstance(app, Zktop)
    moment = app.view_state.at
    return None if moment is None else moment - BEGIN


def is_newest(pilot: Pilot[int]) -> bool:
    """True if new frames are shown as they arrive."""
    assert isinstance(pilot.app, Zktop)
    return pilot.app.view_state.is_newest


def page_name(pilot: Pilot[int]) -> str:
    """The name of the visible screen."""
    assert isinstance(pilot.app, Zktop)
    assert pilot.app.page is not None
    return pilot.app.page.entry.name


async def words(pilot: Pilot[int]) -> str:
    """The first line of the strips, which is in words."""
    return panel(await settled(pilot), "Timeline")[0].strip()


@pytest.mark.parametrize("line", [ALERT_LINE, LOCK_LINE, CLIENT_LINE])
async def test_a_click_puts_the_cursor(line: int) -> None:
    """At the end of its column, whatever line is clicked on."""
    async with shown() as pilot:
        await pilot.click("#strips", offset=offset(pilot, 10_000, line))
        await settled(pilot)

        assert at(pilot) == 10_499


async def test_a_second_click_opens_nothing() -> None:
    """A click on a strip is about the time."""
    async with shown() as pilot:
        for moment in (10_000, 4_000, 4_000):
            await pilot.click("#strips", offset=offset(pilot, moment), times=2)
        await settled(pilot)

        assert at(pilot) == 4_499
        assert page_name(pilot) == "timeline"


async def test_a_second_click_on_a_label_opens_the_lock() -> None:
    """As in every list."""
    async with shown() as pilot:
        for _ in range(2):
            await pilot.click("#strips", offset=(4, 1 + LOCK_LINE))
            await settled(pilot)

        assert page_name(pilot) == "lock"


async def test_a_drag_moves_the_cursor() -> None:
    """The strips stay, so the moment under the mouse is always the one that is shown."""
    async with shown() as pilot:
        await pilot.mouse_down("#strips", offset=offset(pilot, 15_000))
        seen = []
        for moment in (12_000, 9_000, 5_000, 7_000):
            await pilot.hover("#strips", offset=offset(pilot, moment))
            await settled(pilot)
            seen.append(at(pilot))
        await pilot.mouse_up("#strips", offset=offset(pilot, 7_000))
        await pilot.hover("#strips", offset=offset(pilot, 18_000))
        await settled(pilot)

        assert seen == [12_499, 9_499, 5_499, 7_499]
        assert at(pilot) == 7_499


async def test_a_drag_beyond_the_strips_stops_at_their_edge() -> None:
    """The mouse may leave the panel; the cursor may not."""
    async with shown(is_live=False) as pilot:
        await pilot.mouse_down("#strips", offset=offset(pilot, 15_000))
        await pilot.hover(offset=(1, 1))
        await settled(pilot)

        assert at(pilot) == 499
        await pilot.mouse_up(offset=(1, 1))


async def test_a_drag_to_the_newest_moment_is_live_again() -> None:
    """New frames are followed from then on."""
    async with shown() as pilot:
        await pilot.mouse_down("#strips", offset=offset(pilot, 5_000))
        await settled(pilot)
        before = is_newest(pilot)
        await pilot.hover("#strips", offset=offset(pilot, LAST))
        await settled(pilot)

        assert not before
        assert is_newest(pilot)


@pytest.mark.parametrize(
    ("line", "moment", "said"),
    [
        (ALERT_LINE, 1_000, "00:33:21.499Z  no critical problem"),
        (ALERT_LINE, 5_000, "00:33:25.499Z  B holds /locks/y and waits for /locks/x, which A"),
        (LOCK_LINE, 1_000, "00:33:21.499Z  /locks/x held by A"),
        (LOCK_LINE, 5_000, "00:33:25.499Z  /locks/x held by A; 1 client waiting: B"),
        (CLIENT_LINE, 1_000, "00:33:21.499Z  B uses no lock"),
        (CLIENT_LINE, 5_000,
         "00:33:25.499Z  B holds /locks/y and waits for /locks/x: likely deadlock"),
    ],
)  # fmt: skip
async def test_the_strip_below_the_mouse_is_put_into_words(
    line: int, moment: int, said: str
) -> None:
    """The words are about that moment, not about the cursor."""
    async with shown() as pilot:
        lines = panel(await settled(pilot), "Timeline")
        is_client = line == CLIENT_LINE
        if is_client:
            line = next(n for n, one in enumerate(lines) if one.split()[1:2] == ["B"])
        await pilot.hover("#strips", offset=offset(pilot, moment, line))

        assert (await words(pilot)).startswith(said)


async def test_the_words_go_when_the_mouse_leaves() -> None:
    """The line says again which moment is shown."""
    async with shown() as pilot:
        before = await words(pilot)
        await pilot.hover("#strips", offset=offset(pilot, 5_000))
        during = await words(pilot)
        await pilot.hover("#instant")
        after = await words(pilot)

        assert before.startswith("LIVE")
        assert during != before
        assert after == before


async def test_the_mouse_left_of_the_strips_says_nothing() -> None:
    """There is no moment."""
    async with shown() as pilot:
        await pilot.hover("#strips", offset=(4, 1 + LOCK_LINE))

        assert (await words(pilot)).startswith("LIVE")


def zoom(pilot: Pilot[int]) -> int:
    """Milliseconds of a column."""
    strips = pilot.app.query_one(StripPanel)
    assert strips.window is not None
    return strips.window.column_ms


async def scroll(
    pilot: Pilot[int],
    event: type[MouseScrollDown | MouseScrollUp],
    place: tuple[int, int],
    *,
    ctrl: bool = False,
) -> None:
    """Turn the wheel once over the strips."""
    await pilot._post_mouse_events([event], "#strips", place, control=ctrl)
    await settled(pilot)


async def test_the_wheel_zooms_about_the_mouse() -> None:
    """The moment below it stays in its column; up is nearer."""
    async with shown() as pilot:
        await pilot.press("left", "left")
        await settled(pilot)
        place = offset(pilot, 4_000)
        await scroll(pilot, MouseScrollUp, place)
        near, there = zoom(pilot), offset(pilot, 4_000)
        await scroll(pilot, MouseScrollDown, place)
        await scroll(pilot, MouseScrollDown, place)

        assert (near, zoom(pilot)) == (200, 1_000)
        assert there == place
        assert at(pilot) == 2_000


@pytest.mark.parametrize(("ctrl", "expected"), [(True, 1_000), (False, 500)])
async def test_left_of_the_strips_the_wheel_zooms_with_ctrl(*, ctrl: bool, expected: int) -> None:
    """Without it, it scrolls as in any list."""
    async with shown() as pilot:
        await scroll(pilot, MouseScrollDown, (4, 1 + LOCK_LINE), ctrl=ctrl)

        assert zoom(pilot) == expected


async def test_a_drag_ends_with_its_button() -> None:
    """That is so even if another screen was opened in the meantime."""
    async with shown() as pilot:
        await pilot.mouse_down("#strips", offset=offset(pilot, 15_000))
        await pilot.press("1")
        await settled(pilot)
        await pilot.mouse_up(offset=(50, 10))
        await pilot.press("5")
        await settled(pilot)
        await pilot.hover("#strips", offset=offset(pilot, 5_000))
        await settled(pilot)

        assert isinstance(pilot.app, Zktop)
        assert isinstance(pilot.app.page, TimelineScreen)
        assert at(pilot) == 15_499
