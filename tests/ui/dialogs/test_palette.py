"""The command palette finds everything by name, also among ten thousand locks."""

import pytest
from model.builders import NOW, lock, session
from textual.pilot import Pilot
from ui.example_ensemble import ORDERS, trouble
from ui.fake_feed import app_of, frames, settled, until

from zktop.app.ui_settings import theme_list
from zktop.model.facts import session_text
from zktop.model.settings import Root, Settings
from zktop.ui.dialogs.palette import MAX_RESULTS, PaletteDialog, PaletteItem, everything, found
from zktop.ui.themes import ThemeList
from zktop.ui.widgets.text_view import TextList


async def asked(pilot: Pilot[int], text: str) -> None:
    """Type into the palette, and wait for what it finds."""
    await settled(pilot)
    await pilot.press("colon", *text)
    palette = pilot.app.screen
    assert isinstance(palette, PaletteDialog)
    target = palette.query_one(TextList).target
    assert isinstance(target, PaletteItem)
    assert text.casefold() in target.name.casefold()


async def test_a_lock_is_opened_on_screen_2() -> None:
    """By a part of its path."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await asked(pilot, str(ORDERS))
        await pilot.press("enter")
        await until(
            pilot, lambda: app.page is not None and app.page.entry.name == "lock", "screen 2"
        )
        await settled(pilot)

        assert app.subject.path == ORDERS


async def test_a_session_is_opened_on_screen_4() -> None:
    """By the number that its server calls it."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await asked(pilot, session_text(session("bob")))
        await pilot.press("enter")
        await until(
            pilot, lambda: app.page is not None and app.page.entry.name == "sessions", "screen 4"
        )
        await settled(pilot)

        assert app.subject.session == session("bob")


async def test_a_screen_is_gone_to() -> None:
    """By its name."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await asked(pilot, "the timeline")
        await pilot.press("enter")
        await until(
            pilot, lambda: app.page is not None and app.page.entry.name == "timeline", "screen 5"
        )


async def test_an_action_is_done() -> None:
    """As its key would do it."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await asked(pilot, "pause the display")
        await pilot.press("enter")
        await until(pilot, lambda: app.view_state.is_paused, "the pause")


async def test_a_theme_is_worn() -> None:
    """At once."""
    designs = theme_list({"XDG_CONFIG_HOME": "/nowhere"})
    app = app_of(*trouble(), themes=lambda: designs)
    async with app.run_test(size=(120, 36)) as pilot:
        await asked(pilot, "zktop-safe")
        await pilot.press("enter")
        await until(pilot, lambda: app.theme == "zktop-safe", "the theme")


@pytest.mark.parametrize("key", ["colon", "ctrl+p"])
async def test_escape_leaves_it(key: str) -> None:
    """By whatever key it was opened."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press(key)
        await settled(pilot)
        opened = isinstance(app.screen, PaletteDialog)
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1, "the palette to close")

        assert opened


async def test_no_more_than_a_screenful_is_found_among_many() -> None:
    """The fuzzy match of thousands would stall the screen."""
    many = [fact for number in range(400) for fact in lock(f"/locks/l{number:04}", "ann")]
    app = app_of(*frames((NOW, many), settings=Settings(roots=(Root("/locks/**"),))))
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        all_of_them = list(found(everything(app, ThemeList()), ["locks", "l0"]))
        one = [thing.name for thing in found(everything(app, ThemeList()), ["l0399"])]

    assert len(all_of_them) == MAX_RESULTS
    assert one == ["/locks/l0399"]


async def test_names_of_znodes_are_no_markup() -> None:
    """A lock named [red] is found by that name."""
    app = app_of(*frames((NOW, lock("/locks/[red]x[/]", "[b]ann[/b]"))))
    async with app.run_test(size=(120, 36)) as pilot:
        await asked(pilot, "[red]x")
        lines = await settled(pilot)

    assert any("/locks/[red]x[/]" in line for line in lines)
