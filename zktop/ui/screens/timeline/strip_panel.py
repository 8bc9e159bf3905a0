"""The panel of strips, and its mouse actions.

A click sets the cursor, a drag moves it, the wheel zooms, and the first line describes the strip
under the mouse. Left of the strips, the mouse works as in any list.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.message import Message

from zktop.ui.messages import PageReady, SeekTo
from zktop.ui.screens.timeline.time_axis import TimeWindow
from zktop.ui.styled_text import Line
from zktop.ui.widgets.panel import Panel
from zktop.ui.widgets.text_view import TextView


@dataclass
class PointedAt(Message):
    """The mouse is over this place on the strips, or elsewhere (None)."""

    place: "StripPlace | None"

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, PointedAt)


@dataclass(frozen=True)
class StripPlace:
    """A column and line of the strips. Negative lines are headings."""

    column: int
    line: int


@dataclass
class Zoomed(Message):
    """Zoom in (-1) or out (1) around the column under the mouse."""

    by: int
    column: int


class StripPanel(Panel, TextView):
    """The strips of one span of time."""

    ALLOW_SELECT = False  # dragging moves the cursor

    window: TimeWindow | None = None
    label = 0  # cells left of the strips
    _dragged_to: int | None = None  # a column, while the button is down
    _has_pointer = False
    _has_moved = False  # by the user, to another strip

    def show(
        self,
        lines: Sequence[Line],
        targets: Sequence[object | None] = (),
        heads: Sequence[Line] = (),
    ) -> None:
        """Show these strips. The first one is selected until the user moves to another."""
        if not self._has_moved:
            self.target = next((target for target in targets if target is not None), None)
        super().show(lines, targets, heads)

    def moved(self) -> None:
        super().moved()
        self._has_moved = True

    def on_resize(self, _event: events.Resize) -> None:
        """Ask for new strips: the panel can change its size while the screen keeps its own."""
        self.post_message(PageReady())

    def show_words(self, words: Line) -> None:
        """Replace the first line, which describes a strip."""
        if self._heads and self._heads[0] != words:
            self._heads = [words, *self._heads[1:]]
            self.repaint()

    def _place(self, event: events.MouseEvent) -> StripPlace | None:
        at = event.get_content_offset(self)
        if at is None or self.window is None or not 0 <= at.x - self.label < self.window.columns:
            return None
        line = at.y - len(self._heads)
        if line >= 0:
            line += int(self.scroll_offset.y)
        return StripPlace(at.x - self.label, line)

    # Click and drag

    def on_mouse_down(self, event: events.MouseDown) -> None:
        place = self._place(event)
        if place is not None and event.button == 1:
            self.capture_mouse()
            self._go_to_column(place.column)

    def on_mouse_up(self, _event: events.MouseUp) -> None:
        self._let_go()

    def _let_go(self) -> None:
        self.release_mouse()
        self._dragged_to = None

    def on_click(self, event: events.Click) -> None:
        """Select the strip, but never open it: a click here sets the time."""
        place = self._place(event)
        if place is not None:
            event.prevent_default()
            if place.line >= 0 and self.can_rest(place.line):
                self.go_to(place.line)

    def _go_to_column(self, column: int) -> None:
        window = self.window
        if window is None:
            return
        column = min(max(column, 0), window.columns - 1)
        if column != self._dragged_to:
            self._dragged_to = column
            self.post_message(SeekTo(at=window.time(column)))

    # Hover

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._dragged_to is not None:
            at = event.get_content_offset_capture(self)
            self._go_to_column(at.x - self.label)
        self._point(self._place(event))

    def on_leave(self, _event: events.Leave) -> None:
        self._point(None)

    def on_hide(self, _event: events.Hide) -> None:
        """Reset the mouse state: a hidden view gets no leave or release events."""
        self._let_go()
        self._point(None)

    def _point(self, place: StripPlace | None) -> None:
        if place is not None or self._has_pointer:
            self._has_pointer = place is not None
            self.post_message(PointedAt(place))

    # Wheel

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._zoom(event, -1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._zoom(event, 1)

    def _zoom(self, event: events.MouseEvent, by: int) -> None:
        place = self._place(event)
        if place is None and not event.ctrl:
            return
        event.prevent_default()
        event.stop()
        last = self.window.columns - 1 if self.window is not None else 0
        self.post_message(Zoomed(by, place.column if place is not None else last))
