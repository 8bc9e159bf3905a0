"""Nothing is kept of what closed widgets have drawn."""

import gc
from weakref import ref

import pytest
from textual.screen import ModalScreen
from ui.example_ensemble import trouble
from ui.fake_feed import app_of, pressed, settled, until


@pytest.mark.parametrize("key", ["question_mark", "S", "colon"])
async def test_nothing_is_kept_of_what_a_closed_dialog_drew(key: str) -> None:
    """Textual by itself would keep it for as long as a thousand newer widgets are drawn."""
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
