"""Exclude long-lived objects from garbage collection: imported code, the first reading.

Collections during the imports would delay the first frame of the UI by 40 ms (`bench screen`).
The first reading of 10,000 locks creates a million objects. Collections would take an eighth of
its time, and the next full one would stop zktop for 120 ms (`bench live`). A frozen object is
still freed as soon as nothing refers to it. Only cycles would stay, and facts and reports have
none.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collections() -> Iterator[None]:
    """Disable collection in this block. Exempt its new objects from later collections."""
    if not gc.isenabled():  # within another such block
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.freeze()
