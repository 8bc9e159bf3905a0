"""Jump letters: one on each pane and tab; the next key goes to that pane or tab."""

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widget import Widget
from ui.example_ensemble import trouble
from ui.fake_feed import app_of, pressed, settled, until

from zktop.ui.app import Zktop
from zktop.ui.dialogs.jump import JumpDialog, pane_targets


async def asked(pilot: Pilot[int], key: str = "apostrophe") -> list[str]:
    """Show the letters."""
    await settled(pilot)
    await pressed(pilot, key)
    return await settled(pilot)


def letters(app: Zktop) -> dict[str, str]:
    """The letter of each pane, by its id."""
    page = app.page
    panes = [one for one in app.screen_stack[0].focus_chain if page in one.ancestors]
    return {pane.id or "": letter for pane, letter in zip(panes, "asdfgh", strict=False)}


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 60)])
@pytest.mark.parametrize("key", ["apostrophe", "ctrl+o"])
async def test_every_pane_has_its_letter(size: tuple[int, int], key: str) -> None:
    """In its upper left corner."""
    app = app_of(*trouble())
    async with app.run_test(size=size) as pilot:
        lines = await asked(pilot, key)
        stack = app.screen_stack[0]

        for pane, letter in letters(app).items():
            x, y = stack.query_one(f"#{pane}").region.offset
            assert lines[y][x : x + 3] == f" {letter} "


async def test_the_next_key_goes_there() -> None:
    """The pane has the focus then."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await asked(pilot)
        await pressed(pilot, letters(app)["events"])
        await settled(pilot)

        assert app.focused is not None
        assert app.focused.id == "events"


async def test_a_number_goes_to_a_tab() -> None:
    """Each tab shows its own."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await asked(pilot)
        await pressed(pilot, "4")
        await settled(pilot)

        assert app.page is not None
        assert app.page.entry.name == "sessions"


async def test_another_window_size_closes_it() -> None:
    """The letters would be in the wrong places."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await asked(pilot)
        await pilot.resize_terminal(80, 24)
        await settled(pilot)

        assert len(app.screen_stack) == 1


async def test_two_keys_at_once_close_it() -> None:
    """The second one comes before the letters are shown."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        for key in ("apostrophe", "apostrophe", "4"):
            app.post_message(events.Key(key, key if key == "4" else "'"))
        await until(pilot, lambda: app.page and app.page.entry.name == "sessions", "screen 4")

        assert len(app.screen_stack) == 1


@pytest.mark.parametrize("key", ["escape", "x", "apostrophe"])
async def test_any_other_key_stays_here(key: str) -> None:
    """The letters disappear, and nothing else happens."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        before = app.focused
        await asked(pilot)
        opened = isinstance(app.screen, JumpDialog)
        await pressed(pilot, key)
        await settled(pilot)

        assert opened
        assert (app.focused, len(app.screen_stack)) == (before, 1)


async def test_a_tab_that_a_long_filter_hides_has_no_number() -> None:
    """Of tab 4, nothing but a space is left."""
    app = app_of(*trouble())
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pressed(pilot, "slash", *("z" * 37), "enter")
        await asked(pilot)

        assert isinstance(app.screen, JumpDialog)


def test_a_pane_that_has_no_place_yet_has_no_letter() -> None:
    """Its letter would be at the upper left, in the header."""
    assert list(pane_targets([Widget()])) == []
