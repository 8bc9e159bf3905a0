"""Has the C library give memory back, instead of keeping it for later.

By itself it keeps a heap for each thread, and with each large piece that is dropped it learns to
take larger ones from these heaps, where a little that stays holds much that is free: after ten
thousand locks were read that is five megabytes. Python lets one thread run at a time, so that one
heap is enough for all.
"""

import ctypes
from typing import Final

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
