"""While the connection is lost, the page is dimmed, and no screen says that all is well."""

import pytest
from model.make_facts import NOW, lock, own
from msgspec.structs import replace
from ui.fake_feed import app_of, frames, settled

from zktop.ui.interfaces import FeedState, Frame, Status
from zktop.ui.screens import PAGES
from zktop.ui.widgets.scrolling_view import ScrollingView

LOST = replace(own(state="suspended", at=NOW + 1_000), lost_at=NOW + 1_000)


def lost() -> list[Frame]:
    """A quiet lock, and then no connection."""
    return frames((NOW, (own(at=NOW), *lock("/a", "ann"))), (NOW + 30_000, (LOST,)))


@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("locks", "Locks"),
        ("lock", "Queue"),
        ("findings", "Deadlocks and findings"),
        ("sessions", "Sessions"),
        ("timeline", "Timeline"),
    ],
)
async def test_without_a_connection_one_pane_says_what_to_do(page: str, title: str) -> None:
    """It has a title, and there are no empty panes beside it."""
    app = app_of(Status("failed", "Nothing answers."), page=page)
    async with app.run_test(size=(120, 36)) as pilot:
        lines = await settled(pilot)

    assert [line.strip("╭─╮ ") for line in lines if line.startswith("╭")] == [title]
    assert sum("No connection" in line for line in lines) == 1
    assert any("try `zktop demo`" in line for line in lines)


@pytest.mark.parametrize(
    ("word", "is_dim"), [("lost", True), ("failed", True), ("live", False), ("read-only", False)]
)
async def test_the_page_is_dimmed(word: FeedState, *, is_dim: bool) -> None:
    """The whole page, but not the header, which says why."""
    app = app_of(*lost(), Status(word, "Why that is."))
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        drawn = [one for one in app.screen.query(ScrollingView) if one.display]
        dimmed = {one.id or type(one).__name__ for one in drawn if one.rich_style.dim}

        assert bool(dimmed) is is_dim
        assert not dimmed & {"head", "foot"}


async def test_the_page_is_clear_again_when_the_connection_is_back() -> None:
    """Without a key being pressed."""
    app = app_of(*lost(), Status("lost", "Why that is."))
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        app.feed.send(Status("live"))
        await settled(pilot)

        assert not any(one.rich_style.dim for one in app.screen.query(ScrollingView))


@pytest.mark.parametrize("page", [page.name for page in PAGES])
async def test_no_screen_shows_an_all_clear(page: str) -> None:
    """There were no problems when the connection was lost; the current state is unknown."""
    app = app_of(*lost(), Status("lost", "Why that is."), page=page)
    async with app.run_test(size=(120, 36)) as pilot:
        text = "\n".join(await settled(pilot))

        assert "✓" not in text
        assert "00:16:41Z" in text.splitlines()[0]
