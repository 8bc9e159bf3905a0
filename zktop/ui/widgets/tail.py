"""A sheet that grows at its end, and shows the end until somebody scrolls back to read."""

from collections.abc import Sequence

from textual import events

from zktop.ui.ink import Line
from zktop.ui.widgets.sheet import Sheet


class Tail(Sheet):
    """Follows its newest line."""

    follows = True

    def show(
        self,
        lines: Sequence[Line],
        targets: Sequence[object | None] = (),
        heads: Sequence[Line] = (),
    ) -> None:
        """Show these lines, the newest in sight."""
        super().show(lines, targets, heads)
        self._follow()

    def on_resize(self, event: events.Resize) -> None:
        """Keep the newest in sight."""
        super().on_resize(event)
        self._follow()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Stop following when somebody goes back, and begin again at the end."""
        super().watch_scroll_y(old_value, new_value)
        self.follows = new_value >= self._end or (self.follows and new_value > old_value)

    @property
    def _end(self) -> int:
        return max(0, self.count - self.lines_in_sight())

    def _follow(self) -> None:
        if self.follows and int(self.scroll_offset.y) != self._end:
            self.scroll_to(y=self._end, animate=False, force=True)
            self.follows = True
            self.repaint()
