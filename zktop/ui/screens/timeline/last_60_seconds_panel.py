"""The pane `Last 60 s` of most screens. It is as high as its lines require."""

from collections.abc import Callable
from typing import Final

from zktop.ui.screens.common.throttle import READABLE_S, Throttle
from zktop.ui.screens.timeline.last_60_seconds import MinuteLine
from zktop.ui.widgets.panel import FrameWords, LinkPanel, set_height

MIN_LINES: Final = 8  # a shorter pane would show too little

DrawMinute = Callable[[int, int], list[MinuteLine]]  # width, max. lines


class MinutePanel(LinkPanel):
    """The pane. It is hidden while it has no lines."""

    DEFAULT_CSS = "MinutePanel { height: 0; display: none; }"

    def __init__(self, *, id: str) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self._throttle = Throttle(self, self._draw, READABLE_S)
        self._draw_minute: DrawMinute = _nothing
        self._room = 0, 0  # cells and lines
        self.wanted_height = 0  # lines, with the frame; Textual applies it at the next layout

    def show_minute(self, draw: DrawMinute, chosen: object, width: int, height: int) -> None:
        """Draw in `width` cells and `height` lines, frame included. Hide if that is too low.

        Draws at once if the choice or the size has changed, otherwise when due.
        """
        lines = height - self.gutter.height
        if lines < MIN_LINES:
            self.hide()
        else:
            self._show(draw, chosen, (width, lines))

    def hide(self) -> None:
        self._show(_nothing, None, (0, 0))

    def _show(self, draw: DrawMinute, chosen: object, room: tuple[int, int]) -> None:
        self._draw_minute, self._room = draw, room
        self._throttle.draw_for((chosen, room))

    def _draw(self) -> None:
        drawn = self._draw_minute(*self._room)
        self.display = bool(drawn)
        self.wanted_height = len(drawn) + self.gutter.height if drawn else 0
        set_height(self, self.wanted_height)
        self.frame(FrameWords("Last 60 s", f"{self.key_of('page_5')} timeline"))
        self.show([shown.drawn for shown in drawn], [shown.link for shown in drawn])


def _nothing(_width: int, _lines: int) -> list[MinuteLine]:
    return []
