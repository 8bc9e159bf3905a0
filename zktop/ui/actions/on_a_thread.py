"""Run blocking work beside the UI."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


async def on_a_thread(work: Callable[[], Result]) -> Result:
    """Run blocking work on a thread that ends with it; those of `to_thread` would stay."""
    one = ThreadPoolExecutor(1)
    try:
        return await asyncio.get_running_loop().run_in_executor(one, work)
    finally:
        one.shutdown(wait=False)  # to wait for cancelled work would block the UI
