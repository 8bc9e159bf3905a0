"""Draw at once, but not more often than a reader can follow."""

from collections.abc import Callable
from time import perf_counter
from typing import Final

from textual.message_pump import MessagePump

from zktop.ui.messages import DrawingFailed
from zktop.ui.textual_fixes.work_in_steps import call_after

READABLE_S: Final = 0.5  # a reader cannot follow drawings that come faster than this
EARLY_SHARE: Final = 1 / 4  # a call may come early by this share of the pause


class Throttle:
    """Calls a function at once, or `pause_s` after its last call.

    A call that is nearly due is made at once, to share a frame with other drawing.
    """

    def __init__(self, owner: MessagePump, draw: Callable[[], object], pause_s: float) -> None:
        self._owner, self._draw, self._pause_s = owner, draw, pause_s
        self._drawn_at = -pause_s
        self._is_scheduled = False
        self._chosen: object = None  # at the last `draw_for`

    def now(self) -> None:
        self._is_scheduled = False
        self._drawn_at = perf_counter()
        self._draw()

    def when_due(self) -> None:
        """Draw now, or as soon as the pause is over."""
        if self._is_nearly_due:
            self.now()
        elif not self._is_scheduled:
            self._is_scheduled = True
            wait = self._drawn_at + self._pause_s - perf_counter()
            call_after(wait, self._owner, self._later)

    def draw_for(self, chosen: object, *, at_once: bool = False) -> None:
        """Draw now if what the user has chosen differs from the last time, else when due."""
        is_other, self._chosen = chosen != self._chosen, chosen
        if is_other or at_once:
            self.now()
        else:
            self.when_due()

    @property
    def _is_nearly_due(self) -> bool:
        return perf_counter() - self._drawn_at >= (1 - EARLY_SHARE) * self._pause_s

    def _later(self) -> None:
        if not (self._is_scheduled and self._is_nearly_due):
            return  # `now` has drawn meanwhile, and a later call is scheduled if one is due
        try:
            self.now()
        except Exception as error:  # noqa: BLE001  the rest of the screen is still useful
            self._owner.post_message(DrawingFailed("Drawing a pane", error))
