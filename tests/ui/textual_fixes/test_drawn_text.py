"""Textual keeps little of the text that is no longer on screen."""

import gc
from weakref import ref

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.screen import ModalScreen
from textual.strip import Strip
from ui.example_ensemble import trouble
from ui.fake_feed import app_of, pressed, settled, until

from zktop.ui.textual_fixes.drawn_text import LARGE_CACHES, MAX_CACHED, release_drawn


@pytest.mark.parametrize("key", ["question_mark", "S", "colon"])
async def test_nothing_is_kept_of_what_a_closed_dialog_drew(key: str) -> None:
    """Textual would store it until a thousand newer widgets are drawn."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pressed(pilot, key)
        await settled(pilot)
        is_open = isinstance(app.screen, ModalScreen)
        drawn = [ref(widget._styles_cache) for widget in app.screen.query("*")]
        await pressed(pilot, "escape", "escape")

        def is_released() -> bool:
            gc.collect()
            return not any(lines() for lines in drawn)

        assert is_open
        await until(pilot, is_released, "the drawn lines to be gone")


def test_little_is_kept_of_text_that_moves_over_the_screen() -> None:
    """Each place that the mouse can select has a style of its own, which is soon out of date."""
    release_drawn()
    for place in range(2 * MAX_CACHED):
        style = Style(bold=True, meta={"offset": (place, 0)})
        assert Strip.render_ansi(style, 1) == "1"
        assert Segment("cut…here", style).split_cells(3)[1].text == "…here"

    kept = [getattr(owner, name).cache_info().currsize for owner, name in LARGE_CACHES]
    assert kept == [MAX_CACHED, MAX_CACHED]
