"""Slow work in steps, with keys handled in between, and calls after a delay.

Textual handles keys and draws on one thread, so work in one piece would freeze the screen.
"""

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Final

from textual.message_pump import MessagePump

from zktop.ui.messages import DrawingFailed

if TYPE_CHECKING:
    from zktop.ui.textual_fixes.key_queue import KeyQueue  # which uses `call_after`

WORK_S: Final = 0.008  # how long to work between two checks for keys
MAX_PAUSE_S: Final = 0.2  # how long the work may pause while keys keep coming


def call_after(seconds: float, pump: MessagePump, do: Callable[[], object]) -> None:
    """Call a function after a delay, between two messages.

    On a busy machine the time of a Textual timer may pass before it starts to wait, and it then
    never fires.
    """
    asyncio.get_running_loop().call_later(seconds, pump.call_later, do)


def is_done_after_step(steps: Iterator[None]) -> bool:
    """Take one step. Return True if that has finished the work."""
    for _pause in steps:
        return False
    return True


def call_in_steps(
    pump: MessagePump, steps: Iterator[None], then: Callable[[], object] = lambda: None
) -> None:
    """Run steps after the next drawing, a few milliseconds at a time. Keys come first.

    A key passes through several widgets, and so does the drawing of its effect. Work in between
    would delay both at each widget. `then` is called at the end, even if a step failed; the error
    is reported.
    """
    pump.call_after_refresh(partial(_run_steps, pump, steps, then, perf_counter()))


def _run_steps(
    pump: MessagePump, steps: Iterator[None], then: Callable[[], object], paused_s: float
) -> None:
    """Run some steps, and the others later. `paused_s` is when the last one ended."""
    queue: KeyQueue | None = getattr(pump.app, "key_queue", None)
    begun_s = perf_counter()
    if queue is not None and queue.is_answering and begun_s - paused_s < MAX_PAUSE_S:
        call_after(WORK_S, pump, partial(_run_steps, pump, steps, then, paused_s))
        return
    try:
        while not (is_over := is_done_after_step(steps)) and perf_counter() < begun_s + WORK_S:
            pass
    except Exception as error:  # noqa: BLE001  the rest of the screen is still useful
        is_over = True
        pump.post_message(DrawingFailed("A step", error))
    if is_over:
        then()
    else:
        call_after(0, pump, partial(_run_steps, pump, steps, then, perf_counter()))
