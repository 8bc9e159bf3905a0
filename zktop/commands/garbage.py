"""When to look for garbage: not while much is made that stays.

What was imported or read first lives until the end. Python's collector would look through all of
it again and again while it grows, and find nothing. Afterwards it needs to look less often than it
does by itself: what we drop holds no circles, and is gone without it.

The program begins with this, so it imports nothing that would be collected already.
"""

import gc

SELDOM = 5_000  # more objects made than dropped; Python's own figure is 700


class uncollected:  # noqa: N801  called as those of `contextlib` are
    """Leave what the block makes alone, now and later."""

    def __enter__(self) -> None:
        """Stop looking."""
        self._was_enabled = gc.isenabled()
        gc.disable()

    def __exit__(self, *_error: object) -> None:
        """Never look at what is there now; at the rest, seldom."""
        gc.freeze()
        gc.set_threshold(SELDOM, *gc.get_threshold()[1:])
        if self._was_enabled:
            gc.enable()
