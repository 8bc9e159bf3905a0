"""The line at the bottom for typing a filter, which is applied after each letter."""

from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input


class FilterLine(Input):
    """A text field that replaces the footer. Enter keeps the filter, Escape removes it."""

    DEFAULT_CSS = """
    FilterLine { display: none; height: 1; border: none; padding: 0 1; background: $panel; }
    FilterLine.-open { display: block; }
    FilterLine:focus { border: none; }
    """

    @dataclass
    class Filtered(Message):
        """The filter has changed."""

        text: str
        is_done: bool

    def __init__(self, footer: Widget) -> None:
        super().__init__(
            placeholder="filter: text  !text  /pattern/  state:waiting  owner:name",
            id="filter",
            compact=True,
        )
        self.cursor_blink = False
        self.can_focus = False  # while it is closed, keys go elsewhere
        self._footer = footer

    @property
    def is_open(self) -> bool:
        return self.has_class("-open")

    def open(self, text: str) -> None:
        self.value = text
        self.add_class("-open")
        self._footer.display = False  # so the page keeps its height
        self.can_focus = True
        self.screen.set_focus(self)  # at once: the next key belongs to it

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self.is_open:
            self.post_message(self.Filtered(event.value, is_done=False))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter keeps the filter."""
        event.stop()
        self._end(event.value)

    def on_blur(self) -> None:
        """Keep the filter after a click elsewhere. Stay open while the terminal has no focus."""
        if self.is_open and self.app.app_focus:
            self._end(self.value)

    def on_key(self, event: events.Key) -> None:
        """Escape removes the filter. A key that arrives after closing is ignored."""
        if not self.is_open:
            event.prevent_default()
        elif event.key == "escape":
            event.stop()
            event.prevent_default()
            self._end("")

    def close(self) -> None:
        """Show the footer again, and let keys go elsewhere."""
        self.remove_class("-open")
        self._footer.display = True
        self.can_focus = False
        if self.screen.focused is self:  # `has_focus` changes later
            self.screen.set_focus(None)

    def _end(self, text: str) -> None:
        self.close()
        self.post_message(self.Filtered(text, is_done=True))
