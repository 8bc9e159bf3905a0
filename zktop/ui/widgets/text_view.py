"""A view of ready-made lines: sentences, drawings, logs.

A sheet that grows at its end, and shows the end until somebody scrolls back to read.
"""

from collections.abc import Sequence

from textual import events

from zktop.ui.styled_text import Line
from zktop.ui.widgets.canvas import Canvas


class TextView(Canvas):
    """Shows lines that somebody else has drawn; some of them may be opened.

    `targets` gives what each line stands for, where it stands for something. With targets the
    sheet has a cursor, which rests on lines that have one.
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002  Textual's names
        super().__init__(id=id, classes=classes)
        self._lines: Sequence[Line] = ()
        self._heads: Sequence[Line] = ()
        self._targets: Sequence[object | None] = ()
        self.target: object | None = None

    @property
    def count(self) -> int:
        """How many lines there are."""
        return len(self._lines)

    def heads(self, width: int) -> Sequence[Line]:
        """Give the lines that stay."""
        return self._heads

    def draw(self, index: int, width: int) -> Line:
        """Give one of the lines."""
        return self._lines[index]

    def show(
        self,
        lines: Sequence[Line],
        targets: Sequence[object | None] = (),
        heads: Sequence[Line] = (),
    ) -> None:
        """Show these lines from now on; the cursor stays on its target, wherever that is now."""
        before = self._lines, self._heads, self.cursor
        self._lines, self._targets, self._heads = lines, targets, heads
        at = next(
            (i for i, one in enumerate(targets) if one is not None and one == self.target), None
        )
        if at is None:
            at = self._nearest(self.cursor or 0, 1)
        self.cursor = at
        self.target = None if at is None else targets[at]
        if (lines, heads, at) != before:
            self.repaint()

    def move(self, by: int) -> None:
        """Move to the next line in this direction that stands for something."""
        if self.cursor is None or abs(by) > 1:
            super().move(by)
            if self.cursor is None:
                return
            by = 1 if by < 0 else -1  # at an end: back to the nearest that can be opened
            at = self._nearest(self.cursor, by)
        else:
            at = self._nearest(self.cursor + by, by)
        if at is None:  # nothing more this way: show what is beyond
            self.scroll_relative(y=by, animate=False, immediate=True)
            self.repaint()
        else:
            self.go_to(at)

    def moved(self) -> None:
        """Remember what the cursor is on."""
        if self.cursor is not None and self.cursor < len(self._targets):
            self.target = self._targets[self.cursor]

    def can_rest(self, index: int) -> bool:
        """Rest on what can be opened."""
        return index < len(self._targets) and self._targets[index] is not None

    def _nearest(self, start: int, by: int) -> int | None:
        index = start
        while 0 <= index < len(self._targets):
            if self._targets[index] is not None:
                return index
            index += by
        return None


class TextList(TextView):
    """A sheet to choose from: the line that is chosen is in sight, whoever has chosen it."""

    def show(
        self,
        lines: Sequence[Line],
        targets: Sequence[object | None] = (),
        heads: Sequence[Line] = (),
    ) -> None:
        """Show these lines; go with the cursor where it is elsewhere now."""
        before = self.cursor
        super().show(lines, targets, heads)
        if self.cursor != before:
            self._keep_in_sight()

    def on_resize(self, event: events.Resize) -> None:
        """Keep it in sight in a smaller room."""
        super().on_resize(event)
        self._keep_in_sight()

    def _keep_in_sight(self) -> None:
        room = self.lines_in_sight()
        if self.cursor is None or not room:
            return
        self.measure(self.room)
        top = int(self.scroll_offset.y)
        wanted = min(max(top, self.cursor - room + 1), self.cursor)
        if wanted != top:  # by force: there may be no scrollbar yet
            self.scroll_to(y=wanted, animate=False, force=True, immediate=True)
            self.repaint()


class LogView(TextView):
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
