"""Jump letters: one on each pane and tab. The next key goes to the one with that letter."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.geometry import Offset
from textual.widget import Widget
from textual.widgets import Label

from zktop.ui.dialogs.base import Overlay

LETTERS: Final = "asdfghjklqwertyuiop"  # the home row first


class JumpTarget(NamedTuple):
    """A pane or tab: its letter, the position of the letter, and the function that goes there."""

    letter: str
    at: Offset
    go: Callable[[], object]


class JumpDialog(Overlay[JumpTarget]):
    """Returns the target whose letter was pressed; None after any other key."""

    DEFAULT_CSS = """
    JumpDialog { background: $background 0%; }
    JumpDialog Label {
        position: absolute; width: 3; height: 1; text-align: center;
        background: $accent; color: $background; text-style: bold;
    }
    """

    def __init__(self, targets: Sequence[JumpTarget]) -> None:
        super().__init__()
        self._targets = targets
        self._size_at_start = self.app.size

    def compose(self) -> ComposeResult:
        for target in self._targets:
            label = Label(target.letter, markup=False)
            label.styles.offset = target.at
            yield label

    def on_key(self, event: events.Key) -> None:
        event.stop()
        pressed = (target for target in self._targets if target.letter == event.character)
        self.dismiss(next(pressed, None))

    def on_click(self) -> None:
        self.dismiss(None)

    def on_resize(self, event: events.Resize) -> None:
        """Close, because the panes have moved."""
        if event.size != self._size_at_start:
            self.dismiss(None)


def pane_targets(panes: Sequence[Widget]) -> Iterator[JumpTarget]:
    """Give each visible pane a letter, in its upper left corner."""
    visible = (pane for pane in panes if pane.region)  # a new pane has no region yet
    for letter, pane in zip(LETTERS, visible, strict=False):
        yield JumpTarget(letter, pane.region.offset, pane.focus)
