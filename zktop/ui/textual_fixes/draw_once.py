"""Draw a new layout once.

Textual draws a screen as soon as it is laid out, and again when the widgets have filled their new
sizes. It draws a scroll bar that was resized in between once more, a screen that comes to the top
three times, and the page below a removed dialog once more. A page that fills its panes causes
several layouts within a tenth of a second, each of which would be drawn. Without this module, the
95th percentile from a key to its effect was 111 to 170 ms with 10,000 locks, instead of 64 to 90
(`bench keys`).

While a dialog opens, Textual lays out and draws it once more, at the size that it has: 20 to 25 ms
of 60 to 90.
"""

from typing import Final, Generic

from textual.await_remove import AwaitRemove
from textual.events import ScreenResume
from textual.geometry import Size
from textual.screen import Screen, ScreenResultType

from zktop.ui.textual_fixes.work_in_steps import call_after

MAX_UNDRAWN: Final = 3  # consecutive layouts that are skipped because another one is due


class DrawnOnce(Screen[ScreenResultType], Generic[ScreenResultType]):
    """A screen that is drawn only when its widgets have filled their new sizes."""

    _is_new_layout = False  # until the widgets have filled it
    _was_drawn = False
    _undrawn = 0  # layouts since the last drawing

    def _on_screen_resume(self, _event: ScreenResume) -> None:
        """Draw everything later, except the first frame. Textual's own handler runs next."""
        if self._has_first_frame:
            self.refresh()

    def _screen_resized(self, size: Size) -> None:
        """Lay the screen out only if its size has changed."""
        if self._size != size:  # its public size leaves out the border
            super()._screen_resized(size)

    def remove(self) -> AwaitRemove:
        """Remove it as Textual does, without a new layout of the screen below."""
        return self.app._prune(self)  # noqa: SLF001  `Screen.remove` calls it, too

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:  # noqa: FBT001, FBT002  as Textual declares it
        """Lay the screen out, and draw it when the widgets have filled their new sizes."""
        self._is_new_layout = self._has_first_frame
        super()._refresh_layout(size, scroll)
        call_after(0, self, self._draw_laid_out)

    @property
    def _has_first_frame(self) -> bool:
        """False for the first frame of the program, which is drawn as early as possible."""
        return self._was_drawn or len(self.app.screen_stack) > 1

    def _draw_laid_out(self) -> None:
        """Draw. If another layout is already due, draw after that."""
        if self._layout_required and self._undrawn < MAX_UNDRAWN and self.is_current:
            self._undrawn += 1
            self._on_timer_update()
            return
        self._is_new_layout, self._undrawn = False, 0
        if self.is_current:
            self._compositor_refresh()

    def _compositor_refresh(self) -> None:
        if not self._is_new_layout and not (self._repaint_required and self._has_first_frame):
            super()._compositor_refresh()
            self._was_drawn = True
