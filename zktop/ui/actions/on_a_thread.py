"""Run blocking work on threads, so that it does not block the UI."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import takewhile
from threading import Event
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


async def on_a_thread(work: Callable[[], Result]) -> Result:
    """Run blocking work on its own thread, which ends with it; those of `to_thread` would stay.

    If this is cancelled, the work still runs to its end.
    """
    one = ThreadPoolExecutor(1)
    try:
        return await asyncio.get_running_loop().run_in_executor(one, work)
    finally:
        one.shutdown(wait=False)  # waiting for cancelled work would block the UI


async def through_on_a_thread(
    items: Iterable[Item], work: Callable[[Iterator[Item]], Result]
) -> Result:
    """Run blocking work on many items; if this is cancelled, the work gets no further items."""
    stopped = Event()
    left = takewhile(lambda _: not stopped.is_set(), items)
    try:
        return await on_a_thread(partial(work, left))
    finally:
        stopped.set()
