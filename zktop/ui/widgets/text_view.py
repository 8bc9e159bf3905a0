"""Views of ready-made lines: a text, a list to choose from, and a log that follows its end."""

from collections.abc import Sequence

from rich.cells import cell_len
from rich.style import Style
from textual import events
from textual.message import Message
from textual.selection import Selection as TextSelection
from textual.strip import Strip

from zktop.ui.styled_text import Line, text_of
from zktop.ui.widgets.scrolling_view import ScrollingView


class TextView(ScrollingView):
    """Shows lines. With targets it has a cursor, which stops only at lines with a target."""

    ALLOW_SELECT = True

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self._lines: Sequence[Line] = ()
        self._heads: Sequence[Line] = ()
        self._targets: Sequence[object | None] = ()
        self.target: object | None = None

    @property
    def count(self) -> int:
        return len(self._lines)

    def heads(self, width: int) -> Sequence[Line]:
        return self._heads

    def draw(self, index: int, width: int) -> Line:
        return self._lines[index]

    def show(
        self,
        lines: Sequence[Line],
        targets: Sequence[object | None] = (),
        heads: Sequence[Line] = (),
    ) -> None:
        """Show these lines. The cursor follows its target."""
        before = self._lines, self._heads, self.cursor
        self._lines, self._targets, self._heads = lines, targets, heads
        at = None
        if self.target is not None:
            at = next((i for i, target in enumerate(targets) if target == self.target), None)
        if at is None:
            at = self._nearest(self.cursor or 0, 1)
        if at is None:  # the last targets are gone
            at = self._nearest(len(targets) - 1, -1)
        self.cursor = at
        self.target = None if at is None else targets[at]
        if (lines, heads, at) != before:
            self.repaint()
        self.scroll_to_lines(has_moved=at != before[-1])

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        self.scroll_to_lines(has_moved=True)

    def scroll_to_lines(self, *, has_moved: bool) -> None:
        """Called after new lines or a resize, for views that scroll automatically."""

    # Selecting text with the mouse

    @property
    def allow_select(self) -> bool:
        """True for a text. A click on a list selects a row, not a character."""
        return self.ALLOW_SELECT and bool(self._lines)

    def text_select_all(self) -> None:
        """Select everything after a double click, unless that opens the line under the cursor."""
        if self.cursor is None:
            super().text_select_all()

    def render_line(self, y: int) -> Strip:
        """Highlight the selected text, and record the text positions for Textual."""
        strip = super().render_line(y)
        number = y if y < len(self._heads) else y + int(self.scroll_offset.y)
        if not self.allow_select or number >= len(self._heads) + len(self._lines):
            return strip
        selection = self.text_selection
        span = selection.get_span(number) if selection is not None else None
        if span is not None:
            style = self.screen.get_component_rich_style("screen--selection")
            strip = highlighted(strip, *span, style)
        return strip.apply_offsets(0, number)

    def get_selection(self, selection: TextSelection) -> tuple[str, str] | None:
        """Return the selected text, and the separator before the text of the next widget."""
        texts = [text_of(drawn).rstrip() for drawn in (*self._heads, *self._lines)]
        if selection.start is not None and selection.start.y >= len(texts):
            return None
        return selection.extract("\n".join(texts)), "\n"

    def find(self, text: str) -> int | None:
        """Return the number of the first line that contains this text."""
        numbers = (number for number, drawn in enumerate(self._lines) if text in text_of(drawn))
        return next(numbers, None)

    def move(self, by: int) -> None:
        """Move to the next line in this direction that has a target. If there is none, scroll."""
        if self.cursor is None or abs(by) > 1:
            self._move_far(by)
        elif (at := self._nearest(self.cursor + by, by)) is not None:
            self.go_to(at)
        else:
            self.scroll_relative(y=by, animate=False, immediate=True)
            self.repaint()

    def _move_far(self, by: int) -> None:
        """Move by several lines, then back to the nearest line that has a target."""
        super().move(by)
        if self.cursor is not None:
            at = self._nearest(self.cursor, 1 if by < 0 else -1)
            if at is not None:
                self.go_to(at)

    def moved(self) -> None:
        if self.cursor is not None and self.cursor < len(self._targets):
            self.target = self._targets[self.cursor]

    def can_rest(self, index: int) -> bool:
        return index < len(self._targets) and self._targets[index] is not None

    def _nearest(self, start: int, by: int) -> int | None:
        index = start
        while 0 <= index < len(self._targets):
            if self._targets[index] is not None:
                return index
            index += by
        return None


def highlighted(strip: Strip, start: int, end: int, style: Style) -> Strip:
    """Draw the characters from `start` to `end` in a style. An `end` of -1 is that of the text."""
    text = strip.text
    last = len(text.rstrip()) if end < 0 else end
    begin, stop = cell_len(text[:start]), cell_len(text[:last])
    before, inside, after = strip.crop(0, begin), strip.crop(begin, stop), strip.crop(stop)
    return Strip.join([before, inside.apply_style(style), after])


class StaticText(TextView, can_focus=False):
    """Lines without a cursor."""


class TextList(TextView):
    """A list to choose from. Its selected line stays visible."""

    ALLOW_SELECT = False

    class Moved(Message):
        """The user has moved the cursor to another line."""

    def moved(self) -> None:
        super().moved()
        self.post_message(self.Moved())

    def scroll_to_lines(self, *, has_moved: bool) -> None:
        room = self.lines_in_sight()
        if self.cursor is None or not room or not has_moved:
            return
        self.measure(self.room)
        top = int(self.scroll_offset.y)
        wanted = min(max(top, self.cursor - room + 1), self.cursor)
        if wanted != top:  # forced: the scroll bar may not exist yet
            self.scroll_to(y=wanted, animate=False, force=True, immediate=True)
            self.repaint()


class LogView(TextView):
    """Shows its last lines until the user scrolls back."""

    follows = True

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Stop following when the user scrolls back. Follow again at the end."""
        super().watch_scroll_y(old_value, new_value)
        self.follows = new_value >= self._end or (self.follows and new_value > old_value)

    @property
    def _end(self) -> int:
        return max(0, self.count - self.lines_in_sight())

    def scroll_to_lines(self, *, has_moved: bool) -> None:
        if self.follows and int(self.scroll_offset.y) != self._end:
            self.scroll_to(y=self._end, animate=False, force=True)
            self.follows = True
            self.repaint()
