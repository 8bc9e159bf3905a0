"""The form for new demo clients."""

import pytest
from textual.pilot import Pilot
from textual.widgets import Button, Input, Select
from textual.widgets.select import InvalidSelectValueError
from ui.fake_contenders import POLL, RW, order_of
from ui.fake_feed import app_of, settled, until

from zktop.demo_types.contender_order import ContenderOrder, Mode
from zktop.ui.dialogs.new_contender import NewContender


async def form_for(pilot: Pilot[int], mode: Mode, returned: list[object]) -> NewContender:
    """The form for a client that reads and writes, which returns its orders to a list."""
    await settled(pilot)
    form = NewContender([POLL, RW], order_of("rw", "/zktop-demo/x", mode))
    pilot.app.push_screen(form, returned.append)
    await until(pilot, lambda: form.is_mounted, "the form is open")
    await settled(pilot)
    return form


async def test_it_keeps_the_mode_that_it_is_filled_in_with() -> None:
    """It is not the first one of the recipe."""
    async with app_of().run_test() as pilot:
        form = await form_for(pilot, "write", [])

        assert form.query_one("#mode", Select).value == "write"


async def test_another_recipe_has_modes_of_its_own() -> None:
    """The first one is chosen."""
    async with app_of().run_test() as pilot:
        form = await form_for(pilot, "write", [])
        form.query_one("#recipe", Select).value = "poll"
        await settled(pilot)

        assert form.query_one("#mode", Select).value == "exclusive"


@pytest.mark.parametrize("how", ["enter", "button"])
async def test_a_mode_is_always_chosen(how: str) -> None:
    """The menu has no blank entry, which would say nothing about what starts."""
    returned: list[tuple[ContenderOrder, ...]] = []
    async with app_of().run_test() as pilot:
        form = await form_for(pilot, "write", returned)
        with pytest.raises(InvalidSelectValueError):
            form.query_one("#mode", Select).clear()
        if how == "enter":
            form.query_one("#path", Input).focus()
            await pilot.press("enter")
        else:
            form.query_one("#start", Button).press()
        await until(pilot, lambda: returned, "the orders")

    assert returned[0][0].claims[0].mode == "write"
