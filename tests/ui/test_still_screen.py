"""Screen 1 is drawn less often while nothing but the time changes."""

from model.findings.cases import facts, k
from model.make_facts import NOW
from ui.fake_feed import FakeFeed, app_of, frames, pressed, settled

from zktop.model.facts import Millis
from zktop.ui.app import Zktop
from zktop.ui.interfaces import Frame

SECOND = 1000
MINUTE = 60 * SECOND


def quiet(*moments: Millis) -> list[Frame]:
    """One lock at these times; it never changes."""
    lock = facts(k("ann", 1))
    return frames((NOW, lock), *((NOW + at, ()) for at in moments))


def fed(app: Zktop) -> FakeFeed:
    """The feed of the app."""
    assert isinstance(app.feed, FakeFeed)
    return app.feed


def drawn_at(app: Zktop) -> Millis:
    """The time of the report that the page has drawn last."""
    assert app.page is not None
    assert app.page.view_state is not None
    frame = app.page.view_state.frame
    assert frame is not None
    return frame.at - NOW


async def test_after_a_still_minute_screen_1_waits() -> None:
    """Ten seconds pass before ages move on; a second is not enough."""
    *updates, last = quiet(MINUTE, MINUTE + SECOND)
    app = app_of(*updates)
    feed = fed(app)
    async with app.run_test() as pilot:
        await settled(pilot)
        feed.send(last)
        await settled(pilot)
        assert drawn_at(app) == MINUTE


async def test_within_the_minute_it_is_drawn_each_second() -> None:
    """Ages below a minute are in seconds."""
    *updates, last = quiet(SECOND, 2 * SECOND)
    app = app_of(*updates)
    feed = fed(app)
    async with app.run_test() as pilot:
        await settled(pilot)
        feed.send(last)
        await settled(pilot)
        assert drawn_at(app) == 2 * SECOND


async def test_a_key_draws_the_newest_report() -> None:
    """A user who presses a key sees the current state."""
    *updates, last = quiet(MINUTE, MINUTE + SECOND)
    app = app_of(*updates)
    feed = fed(app)
    async with app.run_test() as pilot:
        await settled(pilot)
        feed.send(last)
        await settled(pilot)
        await pressed(pilot, "slash", "a")
        assert drawn_at(app) == MINUTE + SECOND


async def test_a_change_is_drawn_at_once() -> None:
    """However long it was still before."""
    lock = facts(k("ann", 1))
    more = facts(k("ann", 1), k("bob", 2))
    *updates, last = frames((NOW, lock), (NOW + MINUTE, ()), (NOW + MINUTE + SECOND, more))
    app = app_of(*updates)
    feed = fed(app)
    async with app.run_test() as pilot:
        await settled(pilot)
        feed.send(last)
        await settled(pilot)
        assert drawn_at(app) == MINUTE + SECOND
