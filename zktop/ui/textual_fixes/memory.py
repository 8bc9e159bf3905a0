"""Makes the lines that Textual draws light: each comes with seven caches, nearly all never used.

A strip is one line of one widget, or a part of it, and thousands are in memory. Its caches take
ten times the room of its text, and most of the time that it takes to make one; here they come when
they are first asked for.

Has the C library give memory back, instead of keeping it for later.

By itself it keeps a heap for each thread, and with each large piece that is dropped it learns to
take larger ones from these heaps, where a little that stays holds much that is free: after ten
thousand locks were read that is five megabytes. Python lets one thread run at a time, so that one
heap is enough for all.

Lets go of what is left of a closed dialog, and of the styles of another theme.

They hold each other in circles, which Python's collector looks for far too seldom, and Rich
and Textual remember how each line was cut, painted and placed. The memory that fills
meanwhile is never given back.
"""

import ctypes
import gc
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import _lru_cache_wrapper, cache, lru_cache
from itertools import chain
from typing import Any, Final
from weakref import WeakSet

from rich.segment import Segment
from textual.cache import FIFOCache
from textual.message_pump import MessagePump
from textual.strip import Strip

from zktop.ui.textual_fixes.key_queue import call_after

GIVEN: Final = {"_segments": [Segment("?")], "_cell_length": 1}  # all that a strip is made of


@cache  # once is enough
def lean(kind: type[Strip] = Strip) -> bool:
    """Have strips be made so from now on, unless they are made of more than is known here."""
    whole = kind(*GIVEN.values())  # type: ignore[arg-type]  # in the order of their names
    slots = {slot: getattr(whole, slot) for slot in kind.__slots__}
    caches = {slot: one for slot, one in slots.items() if isinstance(one, FIFOCache)}
    rooms = {slot: one._maxsize for slot, one in caches.items()}  # noqa: SLF001  told nowhere else
    rest = {slot: one for slot, one in slots.items() if slot not in rooms and one is not None}
    if rest != GIVEN:
        return False

    def begin(self: Strip, segments: Iterable[Segment], cell_length: int | None = None) -> None:
        self._segments = list(segments)
        self._cell_length = cell_length

    def missing(self: Strip, name: str) -> Any:
        if name not in slots:
            raise AttributeError(name, name=name, obj=self)
        value = FIFOCache[Any, Any](rooms[name]) if name in rooms else None
        setattr(self, name, value)
        return value

    for name, method in (("__init__", begin), ("__getattr__", missing)):
        setattr(kind, name, method)
    return True


# As <malloc.h> of glibc numbers them. What has been set is not learned anew.
_TRIM_THRESHOLD: Final = -1  # free bytes at the end of the heap that go back
_MMAP_THRESHOLD: Final = -3  # bytes of a piece that has pages of its own, which go back with it
_ARENA_MAX: Final = -8

LARGE: Final = 128 * 1024  # as glibc has it before it learns


def be_thrifty() -> bool:
    """Do so from now on, before other threads begin; False where the library is another one."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    wanted = ((_ARENA_MAX, 1), (_MMAP_THRESHOLD, LARGE), (_TRIM_THRESHOLD, LARGE))
    return 0 not in {mallopt(what, value) for what, value in wanted}


SOON_S: Final = 0.05  # the screen is drawn by then; what is left of several dialogs would add up
MUCH: Final = 500  # answers; what remembers fewer is of more use than the room it takes

_due: Final[WeakSet[MessagePump]] = WeakSet()


def sweep_soon(pump: MessagePump) -> None:
    """Sweep when what was closed is gone from the screen, once for all that goes until then."""
    if pump not in _due:
        _due.add(pump)
        call_after(SOON_S, pump, sweep_if_due)


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
