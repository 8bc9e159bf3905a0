"""Helpers for tests of the locks screen."""

from ui.fake_feed import app_of, settled

from zktop.ui.app import Zktop
from zktop.ui.interfaces import News
from zktop.ui.screens.locks.screen import LocksScreen

WIDE, SMALL = (120, 36), (80, 24)


def page_of(app: Zktop) -> LocksScreen:
    """The locks screen, which is shown."""
    assert isinstance(app.page, LocksScreen)
    return app.page


def chosen(app: Zktop) -> str | None:
    """The lock under the cursor."""
    return page_of(app).subject.path


async def screen(*news: News, size: tuple[int, int] = WIDE, keys: tuple[str, ...] = ()) -> str:
    """The lines on the screen after these keys."""
    async with app_of(*news).run_test(size=size) as pilot:
        await settled(pilot)
        await pilot.press(*keys)
        return "\n".join(await settled(pilot))
