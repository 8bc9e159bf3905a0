"""Blocking work beside the UI."""

import asyncio
import threading
from collections.abc import Iterator
from functools import partial

import pytest

from zktop.ui.actions.on_a_thread import items_on_a_thread, on_a_thread


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


async def test_cancelled_work_gets_no_further_items() -> None:
    """The same key again and again leaves no threads that go through the whole past."""
    has_begun, may_go_on = asyncio.Event(), threading.Event()
    seen: list[int] = []
    is_over = threading.Event()
    begin = partial(asyncio.get_running_loop().call_soon_threadsafe, has_begun.set)

    def items() -> Iterator[int]:
        yield 0
        begin()
        may_go_on.wait(5)
        yield from range(1, 10)

    def work(left: Iterator[int]) -> None:
        seen.extend(left)
        is_over.set()

    waiting = asyncio.ensure_future(items_on_a_thread(items(), work))
    await has_begun.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    may_go_on.set()

    assert is_over.wait(5)
    assert seen == [0]


async def test_the_result_comes_back() -> None:
    """To the caller, which waited for it."""
    assert await on_a_thread(lambda: 42) == 42
