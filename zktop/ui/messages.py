"""Messages from widgets and pages to the app."""

from dataclasses import dataclass, field

from textual.message import Message

from zktop.model.facts import Millis
from zktop.ui.view_state import Selection


@dataclass
class PressKey(Message):
    """Run the action with this id, as its key does."""

    what: str


@dataclass
class ShowPage(Message):
    """Go to a page and select something there."""

    page: str
    subject: Selection | None = None


@dataclass
class PlayScene(Message):
    """Play a scene. With `steps`, play one step of it."""

    scene: str
    steps: bool = field(default=False, kw_only=True)


class PageReady(Message):
    """The panes of a page are mounted, so it can be drawn."""


@dataclass
class SelectionChanged(Message):
    """The user selected something. The other pages show it when they open."""

    subject: Selection


@dataclass
class ShowMessage(Message):
    """Show a sentence in the corner for some seconds."""

    sentence: str


@dataclass
class SeekTo(Message):
    """Show this moment."""

    at: Millis

    def can_replace(self, message: Message) -> bool:
        """True if a newer moment makes this one unnecessary, as when the cursor is dragged."""
        return isinstance(message, SeekTo)


@dataclass
class DrawingFailed(Message):
    """A drawing failed. The other drawings continue."""

    what: str
    error: Exception
