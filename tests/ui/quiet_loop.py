"""Pauses of Textual's pilot that end when the app has nothing to do.

The pilot's own pause samples the processor time every 20 ms until the process is idle. That takes
half of the time of all tests here, and more on a busy machine. It also sends a message to every
widget of the screen and waits for all answers, which is most of the work after a key.
"""

import asyncio
from time import monotonic

from textual._context import active_app
from textual.app import App
from textual.pilot import Pilot

SOON_S = 0.02  # timers due by then belong to what is being handled
FOR_THREADS_S = 0.001


async def wait_for_quiet(_min_s: float = 0.0, max_s: float = 1.0) -> None:
    """Wait until no callback is ready, no timer is due soon, and no worker runs."""
    loop, end = asyncio.get_running_loop(), monotonic() + max_s
    while monotonic() < end and (wait_s := _work(loop)) is not None:  # noqa: ASYNC110  no event
        await asyncio.sleep(wait_s)


async def press(pilot: Pilot[App[object]], *keys: str) -> None:
    """Press keys like `Pilot.press`, but do not wait for every widget."""
    await pilot.app._press_keys(keys)


async def pause(pilot: Pilot[App[object]], delay: float | None = None) -> None:
    """Pause like `Pilot.pause`, but do not wait for every widget."""
    await (wait_for_quiet() if delay is None else asyncio.sleep(delay))
    pilot.app.screen._on_timer_update()


def _work(loop: asyncio.AbstractEventLoop) -> float | None:
    """The seconds until there is something to do; None if there is nothing."""
    if loop._ready:
        return 0.0
    due = min((one.when() for one in loop._scheduled if not one.cancelled()), default=None)
    if due is not None and due - loop.time() < SOON_S:
        return max(0.0, due - loop.time())
    if any(one.is_running for one in active_app.get().workers):
        return FOR_THREADS_S
    return None
