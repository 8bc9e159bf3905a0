"""Make garbage collections cheap: exclude long-lived objects, and let pictures come and go.

Collections during the imports would delay the first frame of the UI by 40 ms (`bench screen`).
The first reading of 10,000 locks creates a million objects. Collections would take an eighth of
its time, and the next full one would stop zktop for 120 ms (`bench live`). A frozen object is
still freed as soon as nothing refers to it. Only cycles would stay, and facts and reports have
none.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

NEW_OBJECTS: Final = 20_000  # Python's default is 700


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


def collect_rarely() -> None:
    """Collect only after many new objects, when most of those of the last picture have gone.

    A picture consists of some thousand objects, which live until the next one. With Python's
    default they soon count as old, and old objects cause full collections: 21 while `bench keys`
    typed among 100,000 locks, instead of 1. Each took 50 ms or more, because it visits every row.
    """
    gc.set_threshold(NEW_OBJECTS)
