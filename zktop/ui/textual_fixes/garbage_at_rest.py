"""Collect garbage while the user is idle, so that it does not delay the effect of a key.

Every drawing leaves reference cycles of Textual behind. With 10,000 locks and 50,000 sessions,
Python would start a full collection about every seventh key and delay that key by 50 ms. With this
module, that happens only after some hundred keys without a pause.
"""

import asyncio
import gc
from typing import Final

REST_S: Final = 0.5  # pause after the last key, whose effect is on the screen by then
MIN_ROUNDS: Final = 3  # small collections since the last full one
MAX_ROUNDS: Final = 30  # then Python may start one between two keys; its default is 10


class GarbageAtRest:
    """Waits for a pause between keys."""

    def __init__(self) -> None:
        self._due: asyncio.TimerHandle | None = None
        gc.set_threshold(*gc.get_threshold()[:2], MAX_ROUNDS)

    def after_key(self) -> None:
        """Collect after a pause without keys."""
        if self._due is not None:
            self._due.cancel()
        self._due = asyncio.get_running_loop().call_later(REST_S, collect_if_much)


def collect_if_much() -> None:
    """Run a full collection if there were enough small ones since the last."""
    if gc.get_count()[2] >= MIN_ROUNDS:
        gc.collect()
