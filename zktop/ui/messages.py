"""Messages from widgets and pages to the app."""

from textual.message import Message

from zktop.model.facts import Millis
from zktop.ui.view_state import Selection


class PressKey(Message):
    """Run the action with this id, as its key does."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__()


class ShowPage(Message):
    """Go to a page and select something there."""

    def __init__(self, page: str, subject: Selection | None = None) -> None:
        self.page, self.subject = page, subject
        super().__init__()


class PlayScene(Message):
    """Play a scene; with `steps`, one step of it."""

    def __init__(self, scene: str, *, steps: bool = False) -> None:
        self.scene, self.steps = scene, steps
        super().__init__()


class PageReady(Message):
    """The panes of a page are mounted, so it can be drawn."""


class SelectionChanged(Message):
    """The user selected something; the other pages show it when they open."""

    def __init__(self, subject: Selection) -> None:
        self.subject = subject
        super().__init__()


class ShowMessage(Message):
    """Show a sentence in the corner for some seconds."""

    def __init__(self, sentence: str, *, is_wrong: bool = False) -> None:
        self.sentence, self.is_wrong = sentence, is_wrong
        super().__init__()


class SeekTo(Message):
    """Show a moment, or the stored frame with this index; neither: return to the newest."""

    def __init__(self, index: int | None = None, at: Millis | None = None) -> None:
        self.index, self.at = index, at
        super().__init__()


class DrawingFailed(Message):
    """A drawing failed; the rest goes on."""

    def __init__(self, what: str, error: Exception) -> None:
        self.what, self.error = what, error
        super().__init__()
