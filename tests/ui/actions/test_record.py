"""The key r starts a recording, names its file, and stops it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from ui.example_past import BEGIN, past
from ui.fake_feed import FakeFeed, app_of, settled

from zktop.ui.interfaces import Complaint, Status


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


async def test_r_records_and_r_ends_it(tmp_path: Path) -> None:
    """The file is in the current folder, named after the time; the header shows a mark."""
    app = app_of(*past())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("r", "enter")
        during = await settled(pilot)
        await pilot.press("r")
        after = await settled(pilot)

        feed = app.feed
        assert isinstance(feed, FakeFeed)
        begun, ended = feed.recorded
        assert (begun is not None, ended) == (True, None)
        assert begun is not None
        assert begun.parent == tmp_path
        assert datetime.strptime(begun.name, "zktop-%Y%m%d-%H%M%S.zktop").replace(tzinfo=UTC)
        assert "REC" in during[0]
        assert "REC" not in after[0].replace("RECV", "")


@pytest.mark.parametrize(
    ("keys", "seconds"),
    [
        (["enter"], [0, 2, 20, 21]),
        (["up", "enter"], [0, 2, 20, 21]),
        (["down", "enter"], []),
    ],
)
async def test_r_offers_the_past_too(keys: list[str], seconds: list[int]) -> None:
    """The first choice includes all stored frames and the newest; the other one starts now."""
    app = app_of(*past())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("r")
        asked = "\n".join(await settled(pilot))
        await pilot.press(*keys)
        await settled(pilot)

        assert "the last 21s, and from now on" in asked
        assert isinstance(app.feed, FakeFeed)
        assert len(app.feed.recorded) == 1
        assert [at for _, at in app.feed.recorded_past] == [
            BEGIN + 1_000 * second for second in seconds
        ]


async def test_escape_records_nothing() -> None:
    """The question is closed."""
    app = app_of(*past())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("r", "escape")
        screen = await settled(pilot)

        assert isinstance(app.feed, FakeFeed)
        assert app.feed.recorded == []
        assert "REC" not in screen[0]


async def test_a_short_past_is_not_offered() -> None:
    """Soon after zktop starts, r records at once."""
    app = app_of(past()[0])
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("r")
        screen = await settled(pilot)

        assert "REC" in screen[0]


async def test_a_recording_that_cannot_go_on_is_not_shown_as_one() -> None:
    """The mark disappears, and the next r starts a new recording."""
    app = app_of(*past())
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("r", "enter")
        await settled(pilot)
        feed = app.feed
        assert isinstance(feed, FakeFeed)
        feed.send(Complaint("a.zktop cannot be written: no room.", ends_recording=True))
        screen = await settled(pilot)

        assert app.visit.recording == ""
        assert "REC" not in screen[0]


async def test_a_recording_is_not_recorded_again() -> None:
    """Everything in it is in the file already."""
    app = app_of(*past(), is_live=False)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        await pilot.press("r")
        await settled(pilot)

        assert isinstance(app.feed, FakeFeed)
        assert app.feed.recorded == []


@pytest.mark.parametrize("word", ["connecting", "failed"])
async def test_without_a_connection_nothing_is_recorded(word: str) -> None:
    """No file would ever be made, so none is said to be saved."""
    app = app_of(*past())
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await settled(pilot)
        assert isinstance(app.feed, FakeFeed)
        app.feed.send(Status(word))
        await settled(pilot)
        await pilot.press("r")
        screen = "\n".join(await settled(pilot))

        assert app.feed.recorded == []
        assert "there is nothing to record" in screen


async def test_a_connection_given_up_during_the_question_is_not_recorded() -> None:
    """The answer comes too late."""
    app = app_of(*past())
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await settled(pilot)
        await pilot.press("r")
        await settled(pilot)
        assert isinstance(app.feed, FakeFeed)
        app.feed.send(Status("failed"))
        await settled(pilot)
        await pilot.press("enter")
        screen = "\n".join(await settled(pilot))

        assert app.feed.recorded == []
        assert "there is nothing to record" in screen
