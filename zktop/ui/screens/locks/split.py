"""The movable border between the table of screen 1 and the columns to its right."""

from textual import events
from textual.containers import Container

from zktop.ui.screens.page import Page

SIDE_PERCENT = {2: 36, 3: 54}  # of the width at the start, for all columns except the first
MIN_PERCENT, MAX_PERCENT = 20, 75
STEP_PERCENT = 4


class SplitPage(Page):
    """A page whose `#side` can be made wider and narrower, with the mouse and with keys."""

    def __init__(self) -> None:
        super().__init__()
        self._percents = dict(SIDE_PERCENT)  # by the number of columns
        self._is_dragging = False

    @property
    def columns(self) -> int:
        """The number of columns of panes; for subclasses."""
        raise NotImplementedError

    @property
    def side_cells(self) -> int:
        """The width of all columns except the first; with one column, the width of the page."""
        return self.size.width * self._percents.get(self.columns, 100) // 100

    @property
    def main_cells(self) -> int:
        """The width of the first column."""
        return self.size.width - (self.side_cells if self.columns in self._percents else 0)

    def apply_split(self) -> None:
        """Set the width of the side if it differs; Textual then lays out the screen again."""
        side, percent = self.query_one("#side", Container), self._percents.get(self.columns)
        width = "1fr" if percent is None else f"{percent}%"
        if str(side.styles.width) != width:
            side.styles.width = width

    def action_side_wider(self) -> None:
        """Move the border to the left."""
        self._split(self._percents.get(self.columns, 0) + STEP_PERCENT)

    def action_side_narrower(self) -> None:
        """Move the border to the right."""
        self._split(self._percents.get(self.columns, 0) - STEP_PERCENT)

    def _split(self, percent: int) -> None:
        if self.columns not in self._percents:
            self.say("This window has one column of panes. Wider windows have two or three.")
            return
        self._percents[self.columns] = min(max(percent, MIN_PERCENT), MAX_PERCENT)
        self.redraw()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Start to drag the border, which is the frames on both sides of it."""
        border = self.query_one("#side", Container).region.x
        if self.columns in self._percents and event.screen_x in (border - 1, border):
            self._is_dragging = True
            self.screen.clear_selection()
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Move the border with the mouse."""
        if self._is_dragging:
            self._split(round(100 * (self.region.right - event.screen_x) / self.size.width))

    def on_mouse_up(self) -> None:
        """Stop dragging the border."""
        if self._is_dragging:
            self._is_dragging = False
            self.release_mouse()
