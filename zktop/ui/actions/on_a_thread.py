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
    """Run blocking work on a thread that ends with it. Threads of `asyncio.to_thread` would stay.

    If this is cancelled, the work still runs to its end.
    """
    executor = ThreadPoolExecutor(1)
    try:
        return await asyncio.get_running_loop().run_in_executor(executor, work)
    finally:
        executor.shutdown(wait=False)  # waiting for cancelled work would block the UI


async def items_on_a_thread(
    items: Iterable[Item], work: Callable[[Iterator[Item]], Result]
) -> Result:
    """Run blocking work on many items. If this is cancelled, the work gets no further items."""
    stopped = Event()
    items_until_stopped = takewhile(lambda _: not stopped.is_set(), items)
    try:
        return await on_a_thread(partial(work, items_until_stopped))
    finally:
        stopped.set()
