"""Sentences in the corner."""

import pytest
from ui.example_ensemble import trouble
from ui.fake_feed import app_of, settled

from zktop.ui.base_app import CornerMessage
from zktop.ui.interfaces import Status


def test_a_note_drawn_too_late_has_a_moment_left() -> None:
    """A timer with a negative time would never fire."""
    note = CornerMessage("late", timeout=-5.0)

    assert note.has_expired
    assert note.time_left > 0


async def test_all_messages_are_corner_messages() -> None:
    """Also those of Textual's own widgets come through the app."""
    app = app_of()
    async with app.run_test(notifications=True) as pilot:
        app.screen.notify("a word")
        screen = "\n".join(await settled(pilot))

        assert "a word" in screen
        assert all(isinstance(one, CornerMessage) for one in app._notifications)


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_a_message_is_at_the_top_right_below_the_tabs(size: tuple[int, int]) -> None:
    """There it covers at most the end of a title, and no keys."""
    app = app_of(*trouble())
    async with app.run_test(size=size, notifications=True) as pilot:
        await settled(pilot)
        app.notify("a word")
        await pilot.pause()
        lines = await settled(pilot)

    assert [y for y, line in enumerate(lines) if "▌ a word" in line] == [2]


async def test_a_message_covers_no_line_of_the_header() -> None:
    """One says why the connection is lost; without it messages are at the top again."""
    app = app_of(*trouble(), Status("lost", "Nothing answers. " * 8))
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        app.notify("a word")
        await pilot.pause()
        lost = await settled(pilot)
        app.feed.send(Status("live"))
        live = await settled(pilot)

    assert " ".join("".join(lost[2:4]).split()) == ("Nothing answers. " * 8).strip()
    assert "▌ a word" in lost[4]
    assert "▌ a word" in live[2]


async def test_most_messages_are_one_line() -> None:
    """More lines would cover the first alert in a window of 80 columns."""
    app = app_of(*trouble())
    message = "The file /var/lib/zktop/2026-11-27-payments is written"
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settled(pilot)
        app.notify(message)
        await pilot.pause()
        lines = await settled(pilot)

    assert f"▌ {message}" in lines[2]


async def test_nothing_is_left_of_an_earlier_message() -> None:
    """Textual may leave behind the container of a message that it removed late."""
    app = app_of()
    async with app.run_test(notifications=True) as pilot:
        app.notify("the first")
        await settled(pilot)
        app.clear_notifications()
        await settled(pilot)
        app.notify("the second")
        screen = "\n".join(await settled(pilot))

        assert "the second" in screen
        assert len(app.screen.query("ToastHolder")) == 1
