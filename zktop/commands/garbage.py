"""When to look for garbage: not while much is made that stays.

What was imported or read first lives until the end. Python's collector would look through all of
it again and again while it grows, and find nothing.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Leave what the block makes alone, now and later."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()
