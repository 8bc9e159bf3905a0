"""Lets go of what is left of a closed dialog.

Its widgets hold each other in circles, which Python's collector looks for far too seldom, and Rich
and Textual remember how each of its lines was cut and painted. The memory that fills meanwhile is
never given back.
"""

import ctypes
import gc
from contextlib import suppress
from typing import Final
from weakref import WeakSet

from rich.segment import Segment
from textual.message_pump import MessagePump
from textual.strip import Strip

from zktop.ui.after import after

SOON_S: Final = 5.0  # several dialogs may be closed until then

_due: Final[WeakSet[MessagePump]] = WeakSet()


def sweep_soon(pump: MessagePump) -> None:
    """Sweep when what was closed is gone from the screen, once for all that goes until then."""
    if pump not in _due:
        _due.add(pump)
        after(SOON_S, pump, lambda: _sweep(pump))


def _sweep(pump: MessagePump) -> None:
    _due.discard(pump)
    Segment._split_cells.cache_clear()  # noqa: SLF001  up to sixteen thousand pieces of lines
    Strip.render_ansi.cache_clear()  # and as many styles, each with its colours
    gc.collect()
    with suppress(OSError, AttributeError):  # what is free goes back where the C library can do it
        ctypes.CDLL(None).malloc_trim(0)
