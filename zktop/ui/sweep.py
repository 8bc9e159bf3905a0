"""Lets go of what is left of a closed dialog, and of the styles of another theme.

They hold each other in circles, which Python's collector looks for far too seldom, and Rich
and Textual remember how each line was cut, painted and placed. The memory that fills
meanwhile is never given back.
"""

import ctypes
import gc
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import _lru_cache_wrapper, lru_cache
from itertools import chain
from typing import Any, Final
from weakref import WeakSet

from textual.message_pump import MessagePump

from zktop.ui.after import after

SOON_S: Final = 0.05  # the screen is drawn by then; what is left of several dialogs would add up
MUCH: Final = 500  # answers; what remembers fewer is of more use than the room it takes

_due: Final[WeakSet[MessagePump]] = WeakSet()


def sweep_soon(pump: MessagePump) -> None:
    """Sweep when what was closed is gone from the screen, once for all that goes until then."""
    if pump not in _due:
        _due.add(pump)
        after(SOON_S, pump, sweep_if_due)


def sweep_if_due() -> None:
    """Sweep before more is opened, where it was not done yet since something was closed."""
    if not _due:
        return
    _due.clear()
    for one in _remembering(len(sys.modules)):
        if one.cache_info().currsize > MUCH:
            one.cache_clear()
    gc.collect()
    with suppress(OSError, AttributeError):  # what is free goes back where the C library can do it
        ctypes.CDLL(None).malloc_trim(0)


@lru_cache(maxsize=1)
def _remembering(_modules: int) -> "list[_lru_cache_wrapper[Any]]":
    """Find the functions of Rich and Textual that remember; again when more was imported."""
    return [*dict.fromkeys(_found())]


def _found() -> "Iterator[_lru_cache_wrapper[Any]]":
    for name, module in [*sys.modules.items()]:
        if name.partition(".")[0] in ("rich", "textual"):
            here = [*vars(module).values()]
            methods = [vars(one).values() for one in here if isinstance(one, type)]
            for one in chain(here, *methods):
                plain = getattr(one, "__func__", one)  # of a class method
                if isinstance(plain, _lru_cache_wrapper):
                    yield plain
