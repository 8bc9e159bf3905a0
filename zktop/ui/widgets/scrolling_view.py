"""A scrolling view of lines that redraws only the lines that changed.

Textual's tables redraw everything for one changed cell. Here the visible lines are drawn as text
with inks, compared with what the terminal shows, and sent to it only where they differ. Lines that
are not visible are never drawn, so the length of the view does not matter.
"""

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter, ne
from typing import Final, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from zktop.ui.messages import DrawingFailed, PressKey
from zktop.ui.styled_text import NOTHING, Line, Run, fitted, merged
from zktop.ui.widgets.ink_styles import Light, RunStyles


class Hovered(NamedTuple):
    """The line and the link under the mouse. `is_row`: a click moves the cursor there."""

    y: int
    is_row: bool = False
    link: str | None = None


NOT_HOVERED: Final = Hovered(-1)


class ScrollingView(ScrollView, can_focus=True, inherit_bindings=False):
    """Base of all views. A subclass returns the number of lines, and draws each line.

    It does not inherit the keys of Textual's scroll views: they scroll instead of moving a cursor.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    ScrollingView {
        height: 1fr; background: $background;
        overflow-x: hidden; scrollbar-size: 1 1; scrollbar-gutter: stable;
        scrollbar-background: $surface; scrollbar-background-hover: $surface;
        scrollbar-background-active: $surface;
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self._shown: list[tuple[Line, bool]] = []
        self._top = -1
        self._styles: RunStyles | None = None  # None: they may have changed
        self._hovered = NOT_HOVERED
        self.cursor: int | None = None  # the line under the cursor, if this view has one

    # For subclasses

    @property
    def count(self) -> int:
        """The number of lines below the heads."""
        return 0

    def heads(self, width: int) -> Sequence[Line]:
        """Draw the lines that stay at the top."""
        return ()

    def draw(self, index: int, width: int) -> Line:
        return NOTHING

    def drawn(self, index: int, width: int) -> Line:
        """Draw one line, exactly `width` cells wide."""
        return merged(fitted(self.draw(index, width), width))

    # Drawing

    @property
    def room(self) -> Size:
        """The visible part, in cells."""
        return self.scrollable_content_region.size

    def lines_in_sight(self) -> int:
        """Return how many lines fit below the heads."""
        return max(0, self.room.height - len(self.heads(self.room.width)))

    def repaint(self) -> None:
        """Draw the visible lines and refresh those that differ."""
        room = self.room  # slow to compute in Textual
        if not self.is_mounted or not room.height:
            return
        self.measure(room)
        before, self._shown = self._shown, self._window(room)
        if len(before) != len(self._shown):
            self.refresh()
            return
        differs = map(ne, before, self._shown)
        for is_changed, lines in groupby(enumerate(differs), key=itemgetter(1)):
            if is_changed:
                ys = [y for y, _ in lines]
                self.refresh(Region(0, ys[0], self.size.width, len(ys)))

    def measure(self, room: Size) -> None:
        """Set the virtual size, which limits the scrolling."""
        wanted = Size(room.width, self.count + len(self.heads(room.width)))
        if wanted != self.virtual_size:
            self.virtual_size = wanted

    def _window(self, room: Size) -> list[tuple[Line, bool]]:
        width, height = room
        heads = [(merged(fitted(head, width)), False) for head in self.heads(width)]
        self._top = int(self.scroll_offset.y)
        lines = [
            (self._guarded(index, width), index == self.cursor)
            for index in range(self._top, min(self.count, self._top + height - len(heads)))
        ]
        blank = [(fitted(NOTHING, width), False)] * (height - len(heads) - len(lines))
        return [*heads, *lines, *blank][:height]

    def _guarded(self, index: int, width: int) -> Line:
        """Draw one line. If that fails, return a line that reports the error."""
        try:
            return self.drawn(index, width)
        except Exception as error:  # noqa: BLE001  the other lines are still useful
            self.post_message(DrawingFailed("Drawing a line", error))
            return fitted((Run("? this line could not be drawn", "unknown"),), width)

    def render_line(self, y: int) -> Strip:
        """Return one line for Textual, which adds a border or an opacity."""
        if not self._shown or self._top != int(self.scroll_offset.y):
            self._shown = self._window(self.room)
        if self._styles is None:
            self._styles = RunStyles(self, is_active=self.is_active)
        drawn, is_under_cursor = self._shown[y] if y < len(self._shown) else (NOTHING, False)
        light: Light = ""
        if is_under_cursor and self.shows_cursor:
            light = "cursor"
        elif y == self._hovered.y and self._hovered.is_row:
            light = "hover"
        styles = self._styles
        at_mouse = self._hovered.link if y == self._hovered.y else None
        segments = [
            Segment(text, styles[ink, link, "link" if link and link == at_mouse else light])
            for text, ink, link in drawn
        ]
        return Strip(segments).adjust_cell_length(self.size.width, styles["plain", None, ""])

    @property
    def shows_cursor(self) -> bool:
        """True if the line under the cursor is highlighted."""
        return self.has_focus or self.keeps_cursor

    @property
    def is_active(self) -> bool:
        """True if the cursor is bright."""
        return True

    keeps_cursor = True  # highlight it even without the focus

    def notify_style_update(self) -> None:
        """Compute the styles again after a change of theme or focus."""
        super().notify_style_update()
        self._styles = None

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Draw the part that became visible."""
        super().watch_scroll_y(old_value, new_value)
        self._shown = []

    def on_resize(self, _event: events.Resize) -> None:
        self._shown = []
        self.repaint()

    # The cursor

    def move(self, by: int) -> None:
        """Move the cursor, or scroll if there is none."""
        if self.cursor is None:
            self.scroll_relative(y=by, animate=False, immediate=True)
        elif self.count:
            self.go_to(min(max(self._start(by) + by, 0), self.count - 1))

    def _start(self, by: int) -> int:
        """Return the line to move from: a visible one if the wheel left the cursor behind."""
        top, room = int(self.scroll_offset.y), self.lines_in_sight()
        at = self.cursor or 0
        if top <= at < top + room or abs(by) >= self.count:
            return at
        return top - 1 if by > 0 else top + room

    def go_to(self, index: int) -> None:
        """Put the cursor on a line and make it visible."""
        if self.cursor is not None:
            self.cursor = index
            self.moved()
        self._reveal(index)
        self.repaint()

    def moved(self) -> None:
        """Called when the cursor has moved."""

    def _reveal(self, index: int) -> None:
        top, room = int(self.scroll_offset.y), self.lines_in_sight()
        if index < top:
            self.scroll_to(y=index, animate=False, immediate=True)
        elif room and index >= top + room:
            self.scroll_to(y=index - room + 1, animate=False, immediate=True)

    def action_up(self) -> None:
        self.move(-1)

    def action_down(self) -> None:
        self.move(1)

    def action_page_up(self) -> None:
        self.move(-max(1, self.lines_in_sight() - 1))

    def action_page_down(self) -> None:
        self.move(max(1, self.lines_in_sight() - 1))

    def action_first(self) -> None:
        self.move(-self.count)

    def action_last(self) -> None:
        self.move(self.count)

    # The mouse

    def watch_hover_style(self, previous_hover_style: Style, hover_style: Style) -> None:
        """Do nothing: Textual would redraw the whole view for each link that the mouse passes."""

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Highlight the row and the link under the mouse."""
        at = event.get_content_offset(self)
        if at is None:
            self._hover(NOT_HOVERED)
        else:
            link = event.style.meta.get("@click")
            self._hover(Hovered(at.y, is_row=self._row_at(at.y) is not None, link=link))

    def on_leave(self, _event: events.Leave) -> None:
        """Highlight nothing."""
        self._hover(NOT_HOVERED)

    def on_hide(self, _event: events.Hide) -> None:
        """Highlight nothing: a hidden view gets no event when the mouse leaves it."""
        self._hovered = NOT_HOVERED

    def _hover(self, hovered: Hovered) -> None:
        """Refresh the line that the mouse has left, and the line that it is on now."""
        before, self._hovered = self._hovered, hovered
        if before != hovered:
            for y in {place.y for place in (before, hovered) if place.is_row or place.link}:
                self.refresh(Region(0, y, self.size.width, 1))

    def _row_at(self, y: int) -> int | None:
        """Return the line in this row of the view; None if the cursor cannot rest there."""
        heads = len(self.heads(self.room.width))
        index = int(y + self.scroll_offset.y) - heads
        is_line = y >= heads and 0 <= index < self.count
        return index if is_line and self.cursor is not None and self.can_rest(index) else None

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked line. A second click opens the line."""
        at = event.get_content_offset(self)
        if at is None or event.style.meta.get("@click") or self.text_selection is not None:
            return  # the mouse was on a border or a link, or has just selected text
        if at.y < len(self.heads(self.room.width)):
            self.head_clicked(at.x)
            return
        index = self._row_at(at.y)
        if index is not None:
            is_second = (index == self.cursor and self.is_cursor_placed) or event.chain > 1
            self.go_to(index)
            if is_second:
                self.post_message(PressKey("open"))

    @property
    def is_cursor_placed(self) -> bool:
        """True if the user moved the cursor. Only then does one click on its line open it."""
        return True

    def can_rest(self, index: int) -> bool:
        """True if the cursor may stay on this line."""
        return True

    def head_clicked(self, x: int) -> None:
        """Called after a click on the head."""
