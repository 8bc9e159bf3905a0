"""Export a time range of the timeline as a recording."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input
from ui.example_past import BEGIN, past
from ui.example_states import END, STEP, deadlock_frames
from ui.fake_feed import app_of, press_export, settled

from zktop.app.export_formats import ReportExports
from zktop.app.replay import Replay
from zktop.ui.actions.export import LEAD_MS
from zktop.ui.app import Zktop
from zktop.ui.interfaces import Frame
from zktop.ui.screens.timeline.screen import TimelineScreen


@asynccontextmanager
async def shown(
    updates: list[Frame], *, page: str = "timeline", is_live: bool = True
) -> AsyncIterator[tuple[Zktop, Pilot[int]]]:
    """The timeline of these frames, with the real export."""
    app = app_of(*updates, page=page, is_live=is_live)
    app.visit.exports = ReportExports("zk1:2181")
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await settled(pilot)
        yield app, pilot


async def cut(app: Zktop, pilot: Pilot[int], folder: Path) -> Replay:
    """Press x and enter, and open what was written."""
    await press_export(app, pilot)
    return Replay(_only(folder))


def _only(folder: Path) -> Path:
    (file,) = folder.iterdir()
    return file


@pytest.mark.parametrize("is_live", [True, False])
async def test_x_exports_the_time_in_view(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_live: bool
) -> None:
    """The same moments with the same deadlock, live and in a recording."""
    monkeypatch.chdir(tmp_path)
    updates = deadlock_frames()
    async with shown(updates, is_live=is_live) as (app, pilot):
        assert app.page is not None
        stretch = app.page.marked_range
        replay = await cut(app, pilot, tmp_path)
        reports = list(replay.reports())
        ends = [one for one in updates if stretch and one.at <= stretch.end]

        assert replay.path.suffix == ".zktop"
        assert replay.hosts == "zk1:2181"
        assert [report.now for report in reports] == [one.at for one in ends]
        assert [[case.sentence for case in report.deadlocks] for report in reports] == [
            [case.sentence for case in one.report.deadlocks] for one in ends
        ]


async def test_between_the_mark_and_the_cursor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It includes the minute before, which the verdicts need, but nothing after it."""
    monkeypatch.chdir(tmp_path)
    updates = deadlock_frames()
    async with shown(updates) as (app, pilot):
        app.seek(END - 4 * STEP)
        await pilot.press("m")
        app.seek(END - 2 * STEP)
        await settled(pilot)
        screen = "\n".join(await settled(pilot))
        assert isinstance(app.page, TimelineScreen)
        stretch = app.page.marked_range
        reports = list((await cut(app, pilot, tmp_path)).reports())

        assert stretch == (END - 4 * STEP, END - 2 * STEP)
        assert re.search("m═+┃", screen)
        assert reports[-1].now == END - 2 * STEP
        assert reports[0].now == max(updates[0].at, stretch.begin - LEAD_MS)
        assert Replay(_only(tmp_path)).opens_at == stretch.begin


async def test_the_dialog_says_which_time_it_is() -> None:
    """Before anything is written; the file is named as recordings are."""
    async with shown(past()) as (app, pilot):
        await pilot.press("m", "H", "H", "x")
        screen = "\n".join(await settled(pilot))

        assert "recording" in screen
        assert "00:33:39Z to 00:33:41Z, for `zktop replay`" in screen
        assert app.screen.query_one(Input).value.endswith(".zktop")


async def test_m_on_the_mark_removes_it() -> None:
    """The export covers the time in view again."""
    async with shown(past()) as (app, pilot):
        await pilot.press("n", "m")
        await settled(pilot)
        assert isinstance(app.page, TimelineScreen)
        marked = app.page.marked_range
        await pilot.press("m")
        await settled(pilot)
        said = [one.message for one in app._notifications]

        assert marked == (BEGIN + 2_000, BEGIN + 2_000)
        assert app.page.marked_range != marked
        assert said[-1] == "Mark removed."


async def test_other_screens_cut_nothing_out() -> None:
    """They show one moment only."""
    async with shown(past(), page="locks") as (_, pilot):
        await pilot.press("x")
        screen = "\n".join(await settled(pilot))

        assert "JSON" in screen
        assert "recording" not in screen
