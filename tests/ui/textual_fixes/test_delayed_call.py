"""A delayed call is made even on a busy machine."""

import pytest
from ui.fake_feed import app_of, frames, settled, until

from zktop.ui.textual_fixes.work_in_steps import call_after


@pytest.mark.parametrize("seconds", [0.0, 1e-9, 0.001])
async def test_an_overdue_call_is_made(seconds: float) -> None:
    """Its time may pass before the wait begins; a timer of Textual would never fire then."""
    done: list[str] = []
    app = app_of(*frames((1_000, ())))
    async with app.run_test() as pilot:
        await settled(pilot)
        call_after(seconds, app, lambda: done.append("done"))
        await until(pilot, lambda: done, "the delayed call")

        assert done == ["done"]
