"""Blocking work beside the UI."""

import asyncio
import threading
from functools import partial

import pytest

from zktop.ui.actions.on_a_thread import on_a_thread


async def test_cancelled_work_does_not_block_the_ui() -> None:
    """The same key again cancels what the first one began; the thread ends when it is done."""
    has_begun, may_end = asyncio.Event(), threading.Event()
    begin = partial(asyncio.get_running_loop().call_soon_threadsafe, has_begun.set)
    is_stuck = threading.Timer(5, may_end.set)  # so that a failure ends, too
    is_stuck.start()
    work = asyncio.ensure_future(on_a_thread(lambda: (begin(), may_end.wait())))
    await has_begun.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    is_free = not may_end.is_set()
    may_end.set()
    is_stuck.cancel()

    assert is_free


async def test_the_result_comes_back() -> None:
    """To the caller, which waited for it."""
    assert await on_a_thread(lambda: 42) == 42
