"""What the UI must not keep: whoever presses keys all day has it as small as in the morning."""

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.pilot import Pilot
from textual.strip import Strip
from ui.example_ensemble import trouble
from ui.fake_feed import app_of, pressed, settled

from zktop.ui.textual_fixes import memory as sweep

MANY = sweep.MUCH + 100


def strips() -> int:
    """Count the drawn lines in memory."""
    gc.collect()
    return sum(type(one) is Strip for one in gc.get_objects())


def sweeps() -> int:
    """Count how often all of memory was looked through for what nobody needs."""
    return int(gc.get_stats()[2]["collections"])


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


@asynccontextmanager
async def sweeping_in(
    delay_s: float, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Pilot[int]]:
    """Give an app in which nothing but our own sweeps looks through memory, after a delay."""
    monkeypatch.setattr(sweep, "SOON_S", delay_s)
    async with app_of(*trouble()).run_test(size=(120, 36)) as pilot:
        await settled(pilot)  # the first report has memory looked through as well
        gc.disable()
        try:
            yield pilot
        finally:
            gc.enable()


async def test_what_is_left_of_a_closed_dialog_is_swept_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its widgets hold each other; Python alone may look for such circles ten minutes later."""
    async with sweeping_in(0.01, monkeypatch) as pilot:
        await pressed(pilot, "x")
        for cell in range(1, MANY + 1):
            Segment("あ" * MANY).split_cells(cell)
            Strip.render_ansi(Style(meta={"cell": cell}), ColorSystem.TRUECOLOR)
            Region(0, 0, cell, 1).grow((1, 1, 1, 1))
        before = sweeps()
        await pressed(pilot, "escape")
        while sweeps() == before:
            await pilot.pause()

    for remembering in (Segment._split_cells, Strip.render_ansi, Region.grow):
        assert remembering.cache_info().currsize < MANY


async def test_what_is_left_is_swept_away_before_the_next_dialog(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever is quicker than the sweep never has what is left of two of them."""
    async with sweeping_in(1_000.0, monkeypatch) as pilot:
        await pressed(pilot, "x", "escape")
        before = sweeps()
        await pressed(pilot, "question_mark")
        after_the_first = sweeps()
        await pressed(pilot, "escape")

        assert (before + 1, before + 1) == (after_the_first, sweeps())
