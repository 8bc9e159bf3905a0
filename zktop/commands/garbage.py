"""When to look for garbage: not while much is made that stays.

What was imported or read first lives until the end. Python's collector would look through all of
it again and again while it grows, and find nothing. Afterwards it needs to look less often than it
does by itself: what we drop holds no circles, and is gone without it.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

SELDOM: Final = 5_000  # more objects made than dropped; Python's own figure is 700


@contextmanager
def uncollected() -> Iterator[None]:
    """Leave what the block makes alone, now and later."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(SELDOM, *gc.get_threshold()[1:])
        if was_enabled:
            gc.enable()
