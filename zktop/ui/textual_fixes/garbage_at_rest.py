"""Collect garbage while the user rests, so that it does not delay the effect of a key.

Every drawing leaves reference cycles of Textual behind. At 10,000 locks and 50,000 sessions Python
would start a full collection at about every seventh key, and the key would take 50 ms longer. It
does so only if the user does not rest for some hundred keys.
"""

import asyncio
import gc
from typing import Final

REST_S: Final = 0.5  # after the last key: its effect is on the screen, and no other has come
MIN_ROUNDS: Final = 3  # small collections since the last full one
MAX_ROUNDS: Final = 30  # from then on, Python may start it between two keys; usually from 10 on


class GarbageAtRest:
    """Waits for a pause between keys."""

    def __init__(self) -> None:
        self._due: asyncio.TimerHandle | None = None
        gc.set_threshold(*gc.get_threshold()[:2], MAX_ROUNDS)

    def after_key(self) -> None:
        """Collect when no other key has come for a moment."""
        if self._due is not None:
            self._due.cancel()
        self._due = asyncio.get_running_loop().call_later(REST_S, collect_if_much)


def collect_if_much() -> None:
    """Collect now what Python would collect soon."""
    if gc.get_count()[2] >= MIN_ROUNDS:
        gc.collect()
