"""A machine that is so busy that every timer is late."""

from itertools import count

import pytest
from textual import _time
from ui.example_ensemble import trouble
from ui.fake_feed import app_of, settled

from zktop.ui.widgets.header import PageHeader


async def test_a_new_size_is_applied_even_if_its_timer_is_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Textual applies a new size from a timer, and skips a timer that is late."""
    app = app_of(*trouble())
    async with app.run_test(size=(60, 15)) as pilot:
        await settled(pilot)
        late = (number / 10 for number in count())  # between any two looks at the clock
        monkeypatch.setattr(_time, "get_time", lambda: next(late))
        await pilot.resize_terminal(120, 36)
        monkeypatch.undo()
        await pilot.resize_terminal(100, 30)

        await settled(pilot)

        assert app.query_one(PageHeader).size.width == 100
