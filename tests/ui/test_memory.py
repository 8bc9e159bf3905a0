"""What the UI must not keep: whoever presses keys all day has it as small as in the morning."""

import gc

import pytest
from textual.strip import Strip
from ui.feeds import app_of, settled
from ui.troubles import trouble


def strips() -> int:
    """Count the drawn lines in memory."""
    gc.collect()
    return sum(type(one) is Strip for one in gc.get_objects())


@pytest.mark.parametrize("key", ["question_mark", "x", "colon"])
async def test_nothing_is_kept_of_what_a_closed_dialog_drew(key: str) -> None:
    """Textual would keep it for the newest thousand widgets there were."""
    app = app_of(*trouble())
    async with app.run_test(size=(120, 36)) as pilot:
        counts = []
        for _ in range(5):
            await pilot.press(key)
            await settled(pilot)
            await pilot.press("escape", "escape")
            await settled(pilot)
            counts.append(strips())

        assert counts[-1] - counts[1] < 20
