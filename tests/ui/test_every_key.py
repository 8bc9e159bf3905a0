"""Every key, twice, on every screen: nothing fails, and the UI still reacts."""

import pytest
from ui.example_ensemble import trouble
from ui.fake_contenders import FakeContenders
from ui.fake_feed import FakeFeed, painted, pressed, settled

from zktop.ui.app import Zktop
from zktop.ui.keys import KEYS
from zktop.ui.screens import PAGES
from zktop.ui.settings import UiSettings

PRESSED = [name for key in KEYS if key.id != "quit" for name in key.names]


@pytest.mark.parametrize("page", [entry.name for entry in PAGES])
async def test_every_key_twice(page: str) -> None:
    """Escape closes whatever it opens."""
    app = Zktop(FakeFeed(*trouble()), FakeContenders(), settings=UiSettings(page=page))
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        for key in dict.fromkeys(PRESSED):
            await pressed(pilot, key, key)
            painted(app)
            assert app.error_log.last is None, key
            await pressed(pilot, "escape", "escape")
            app.turn_to(page)
        lines = await settled(pilot)

    assert "zktop" in lines[0]
