"""The screen at moments whose reports were packed."""

import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager

from textual.pilot import Pilot
from ui.fake_feed import app_of, pressed, settled, until
from ui.past.churn import BEGIN, churn

from zktop.model.facts import Millis
from zktop.ui.dialogs.compare import CompareDialog
from zktop.ui.interfaces import Frame
from zktop.ui.past.archive import _pieces_by_step
from zktop.ui.past.memory_limits import FRAME_BYTES, TapeLimits
from zktop.ui.past.tape import Tape
from zktop.ui.view_state import Selection

ROOM = 20 * 2 * FRAME_BYTES
AT_ONCE = 40
END = BEGIN + 199_000


@asynccontextmanager
async def busy(page: str = "locks", *, is_live: bool = True) -> AsyncIterator[Pilot[int]]:
    """The UI after three minutes of churn, with memory for some twenty seconds of frames."""
    app = app_of(page=page, is_live=is_live)
    app.visit.tape = Tape(TapeLimits(frames_bytes=ROOM))
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        for some in batched(churn(200), AT_ONCE):
            for frame in some:
                app.feed.send(frame)
            await settled(pilot)
            await until(pilot, lambda: not app.visit.is_packing, "packed frames")
        yield pilot


def batched(frames: Sequence[Frame], size: int) -> Iterator[Sequence[Frame]]:
    """The inbox would merge more frames than these."""
    return (frames[first : first + size] for first in range(0, len(frames), size))


async def shown_at(pilot: Pilot[int], at: Millis) -> Millis:
    """Go to a moment; the time of the report that is shown."""
    pilot.app.seek(at)
    return await unpacked(pilot)


async def unpacked(pilot: Pilot[int]) -> Millis:
    """Wait for the report of the moment."""
    app = pilot.app
    await until(pilot, lambda: not app.visit.is_unpacking, "the report of the moment")
    return app.view_state.report.now


async def test_all_of_the_past_is_there() -> None:
    """Its reports are made again where the user goes, and steps go from second to second."""
    async with busy("timeline") as pilot:
        tape = pilot.app.tape

        assert tape.begin == BEGIN
        assert len(tape) < 100
        for at in (BEGIN + 50_000, BEGIN + 10_000, BEGIN + 49_000):
            assert await shown_at(pilot, at + 500) == at
        await pressed(pilot, "left_square_bracket", "left_square_bracket")
        assert await unpacked(pilot) == BEGIN + 48_000
        shown = "\n".join(await settled(pilot))
        assert "older moments: one per second" in shown
        assert "3m19s kept" in shown
        assert "LOADING" not in shown


async def test_until_a_report_is_unpacked_the_one_before_is_shown() -> None:
    """The header says so: no page is ever empty."""
    async with busy() as pilot:
        app, is_free = pilot.app, threading.Event()
        unpack = app.tape.archive.unpacked
        app.tape.archive.unpacked = lambda *words: is_free.wait() and unpack(*words)
        app.seek(BEGIN + 20_000)
        shown = "\n".join(await settled(pilot))
        assert "/locks/x07" in shown
        assert "LOADING" in shown
        assert "IN THE PAST" in shown
        is_free.set()
        assert await unpacked(pilot) == BEGIN + 20_000


async def test_a_report_is_shown_for_its_own_second_only() -> None:
    """More is packed while that of the last packed second is made."""
    async with busy() as pilot:
        app, is_free = pilot.app, threading.Event()
        tape, unpack = app.tape, app.tape.archive.unpacked
        first = tape.in_memory_from
        tape.archive.unpacked = lambda *words: (unpack(*words), is_free.wait())[0]
        app.seek(first - 500)
        await settled(pilot)
        tape.add(churn(201)[-1])
        surplus = [*tape.stored()][: len(tape) // 2]
        tape.replace(surplus, tape.packer.packed(surplus))
        is_free.set()
        assert await unpacked(pilot) == first - 1_000
        assert tape.is_packed(first)


async def test_a_moment_is_compared_before_it_is_unpacked() -> None:
    """The dialog has its locks, not those on display."""
    async with busy("timeline") as pilot:
        app, is_free = pilot.app, threading.Event()
        unpack = app.tape.archive.unpacked
        app.tape.archive.unpacked = lambda *words: is_free.wait() and unpack(*words)
        app.seek(BEGIN + 20_000)
        await settled(pilot)
        await pressed(pilot, "c")
        await until(pilot, lambda: isinstance(app.screen, CompareDialog), "the dialog")
        is_free.set()
        assert app.screen._then.report.now == BEGIN + 20_000


async def test_it_plays_through_packed_moments() -> None:
    """At the speed that the user has chosen."""
    async with busy("timeline") as pilot:
        app = pilot.app
        await shown_at(pilot, BEGIN + 5_000)
        app.playback.speed = 4.0  # fast, yet the packed moments last for longer than any wait
        await pressed(pilot, "space")
        packed = range(BEGIN + 8_000, app.tape.in_memory_from)
        await until(pilot, lambda: app.view_state.report.now in packed, "a packed report")
        app.playback.speed = 64.0
        await until(pilot, lambda: app.view_state.report.now >= packed.stop, "later ones")


async def test_two_packed_moments_are_compared() -> None:
    """The mark and the cursor."""
    async with busy("timeline") as pilot:
        await shown_at(pilot, BEGIN + 20_000)
        await pressed(pilot, "m")
        await shown_at(pilot, BEGIN + 25_000)
        await pressed(pilot, "c")
        await until(pilot, lambda: len(pilot.app.screen_stack) > 1, "the dialog")
        shown = "\n".join(await settled(pilot))
        assert "mark" in shown
        assert "cursor" in shown


async def test_a_recording_begins_with_the_packed_past() -> None:
    """`r` offers all of it."""
    async with busy() as pilot:
        feed = pilot.app.feed
        await pressed(pilot, "r")
        assert "the last 3m19s" in "\n".join(await settled(pilot))
        await pressed(pilot, "enter")
        await until(pilot, lambda: feed.recorded, "the order to record")
        assert [at for _, at in feed.recorded_past] == list(range(BEGIN, END + 1, 1_000))


async def test_after_an_error_the_end_of_a_recording_is_shown() -> None:
    """It is not tried again and again."""
    async with busy(is_live=False) as pilot:
        app, tried = pilot.app, []
        app.tape.archive.unpacked = lambda *_: tried.append(1) or 1 / 0
        app.seek(BEGIN + 20_000)
        await until(pilot, lambda: app.view_state.report.now == END, "the end")
        await pilot.pause()
        assert not app.visit.is_unpacking
        assert len(tried) == 1


async def test_after_an_error_the_newest_moment_is_shown() -> None:
    """The header tells it."""
    async with busy() as pilot:
        app = pilot.app
        app.tape.archive.unpacked = lambda *_: 1 / 0
        app.seek(BEGIN + 20_000)
        await until(pilot, lambda: app.playback.is_newest, "the newest moment")
        assert "Unpacking the past" in app.trouble


async def test_the_name_of_a_client_that_has_left_unpacks_nothing() -> None:
    """After half an hour, that would take seconds for the clients of all earlier deadlocks."""
    async with busy("timeline") as pilot:
        app = pilot.app
        app.subject = Selection(session=0xDEAD)
        before = _pieces_by_step.cache_info()

        app.draw()

        assert _pieces_by_step.cache_info() == before
