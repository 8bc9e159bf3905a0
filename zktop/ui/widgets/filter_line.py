"""The line at the bottom where a filter is typed; it works while it is being typed."""

from textual import events
from textual.message import Message
from textual.widgets import Input


class FilterLine(Input):
    """Enter keeps the filter, escape takes it away."""

    DEFAULT_CSS = """
    FilterLine { display: none; height: 1; border: none; padding: 0 1; background: $panel; }
    FilterLine.-open { display: block; }
    FilterLine:focus { border: none; }
    """

    class Filtered(Message):
        """The filter is this now."""

        def __init__(self, text: str, *, is_done: bool) -> None:
            self.text, self.is_done = text, is_done
            super().__init__()

    def __init__(self) -> None:
        super().__init__(
            placeholder="filter: text  !text  /pattern/  state:waiting  owner:name",
            id="filter",
            compact=True,
        )
        self.cursor_blink = False
        self.can_focus = False  # while it is closed it must not take anybody's keys

    def open(self, text: str) -> None:
        """Let the user type."""
        self.value = text
        self.add_class("-open")
        self.can_focus = True
        self.screen.set_focus(self)  # now: what is typed next is already meant for it

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter while typing."""
        event.stop()
        if self.has_class("-open"):
            self.post_message(self.Filtered(event.value, is_done=False))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep it."""
        event.stop()
        self._end(event.value)

    def on_blur(self) -> None:
        """Keep it: somebody has clicked elsewhere."""
        if self.has_class("-open"):
            self._end(self.value)

    def on_key(self, event: events.Key) -> None:
        """Take it away; what was on its way here when it went is meant for somebody else."""
        if not self.has_class("-open"):
            event.prevent_default()
        elif event.key == "escape":
            event.stop()
            event.prevent_default()
            self._end("")

    def _end(self, text: str) -> None:
        """Go out of the way, take no key any more, and leave this as the filter."""
        self.remove_class("-open")
        self.can_focus = False
        if self.screen.focused is self:  # has_focus is told a moment later
            self.screen.set_focus(None)
        self.post_message(self.Filtered(text, is_done=True))
