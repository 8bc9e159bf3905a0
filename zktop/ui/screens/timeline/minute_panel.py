"""A pane with the last minute of some clients, as high as its lines."""

from collections.abc import Callable
from typing import Final

from zktop.ui.screens.common.throttle import Throttle
from zktop.ui.screens.timeline.minute_strips import MinuteLine
from zktop.ui.widgets.panel import FrameWords, LinkPanel, set_height

MIN_LINES: Final = 8  # a lower pane would say too little
PAUSE_S: Final = 0.5  # from one drawing to the next

DrawMinute = Callable[[], list[MinuteLine]]


class MinutePanel(LinkPanel):
    """Hidden while it has no lines."""

    DEFAULT_CSS = "MinutePanel { height: 0; display: none; }"

    def __init__(self, *, id: str) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self._throttle = Throttle(self, self._draw, PAUSE_S)
        self._draw_minute: DrawMinute = list
        self._chosen: object = None
        self.wanted_height = 0  # in lines with the frame; Textual gives it with its next layout

    def show_minute(self, draw: DrawMinute, chosen: object) -> None:
        """Draw at once if the user has chosen something else, otherwise when it is due."""
        is_other, self._chosen = chosen != self._chosen, chosen
        self._draw_minute = draw
        if is_other:
            self._throttle.now()
        else:
            self._throttle.when_due()

    def hide(self) -> None:
        """Show nothing."""
        self.show_minute(list, None)

    def _draw(self) -> None:
        drawn = self._draw_minute()
        self.display = bool(drawn)
        self.wanted_height = len(drawn) + self.gutter.height if drawn else 0
        set_height(self, self.wanted_height)
        self.frame(FrameWords("Last 60 s", "5 timeline"))
        self.show([one.drawn for one in drawn], [one.link for one in drawn])
