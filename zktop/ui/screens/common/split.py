"""The movable border between panes that are side by side."""

from typing import ClassVar, Final

from textual import events

from zktop.ui.screens.page import Page

MIN_PERCENT: Final = 20
MAX_PERCENT: Final = 75
STEP_PERCENT: Final = 4


class SplitPage(Page):
    """A page whose panes on the right can be made wider or narrower, with the mouse or keys."""

    SIDE: ClassVar[str]  # the selector of everything to the right of the border
    WIDE_FROM: ClassVar[int]  # cells; in a narrower window there is one column of panes

    def __init__(self) -> None:
        super().__init__()
        self._percents: dict[int, int] = {}  # width of the side, by the number of columns
        self._is_dragging = False

    @property
    def columns(self) -> int:
        """The number of columns of panes. A single column has no border to drag."""
        return 2 if self.size.width >= self.WIDE_FROM else 1

    @property
    def usual_side_cells(self) -> int:
        """The width of the side until the user moves the border. Subclasses define it."""
        raise NotImplementedError

    @property
    def side_cells(self) -> int:
        """The width of all columns except the first, or of the page if it has only one column."""
        width, percent = self.size.width, self._percents.get(self.columns)
        if self.columns == 1:
            return width
        return self.usual_side_cells if percent is None else width * percent // 100

    @property
    def main_cells(self) -> int:
        """The width of the first column."""
        return self.size.width - (self.side_cells if self.columns > 1 else 0)

    def apply_split(self) -> None:
        """Set the width of the side if it differs. Textual then lays out the screen again."""
        side = self.query_one(self.SIDE)
        width = "1fr" if self.columns == 1 else str(self.side_cells)
        if str(side.styles.width) != width:
            side.styles.width = width

    def action_side_wider(self) -> None:
        """Move the border to the left."""
        self._set_percent(self._percent + STEP_PERCENT)

    def action_side_narrower(self) -> None:
        """Move the border to the right."""
        self._set_percent(self._percent - STEP_PERCENT)

    @property
    def _percent(self) -> int:
        return round(100 * self.side_cells / max(1, self.size.width))

    def _set_percent(self, percent: int) -> None:
        if self.columns == 1:
            self.say("This window has only one column of panes. A wider window has more.")
            return
        self._percents[self.columns] = min(max(percent, MIN_PERCENT), MAX_PERCENT)
        self.redraw()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Start to drag the border. A click on the pane frame on either side of it counts."""
        border = self.query_one(self.SIDE).region.x
        if self.columns > 1 and event.screen_x in (border - 1, border):
            self._is_dragging = True
            self.screen.clear_selection()
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Move the border with the mouse."""
        if self._is_dragging:
            self._set_percent(round(100 * (self.region.right - event.screen_x) / self.size.width))

    def on_mouse_up(self) -> None:
        """Stop dragging the border."""
        if self._is_dragging:
            self._is_dragging = False
            self.release_mouse()
