"""What widgets and pages ask the app for, without knowing it."""

from textual.message import Message

from zktop.model.facts import Millis
from zktop.ui.state import Selection


class PressKey(Message):
    """Do what this key of the table does."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__()


class ShowPage(Message):
    """Show this page, about this; the way back is kept."""

    def __init__(self, page: str, subject: Selection | None = None) -> None:
        self.page, self.subject = page, subject
        super().__init__()


class PlayScene(Message):
    """Play a scene; `steps`: one move of it."""

    def __init__(self, scene: str, *, steps: bool = False) -> None:
        self.scene, self.steps = scene, steps
        super().__init__()


class PageReady(Message):
    """Draw the page: its panes are there."""


class SelectionChanged(Message):
    """Remember that the user looks at this; no page is changed for it."""

    def __init__(self, subject: Selection) -> None:
        self.subject = subject
        super().__init__()


class ShowMessage(Message):
    """Say a sentence to the user, in a corner, for some seconds."""

    def __init__(self, sentence: str, *, is_wrong: bool = False) -> None:
        self.sentence, self.is_wrong = sentence, is_wrong
        super().__init__()


class SeekTo(Message):
    """Look at a moment, or at the frame of the tape at this index; None: at the newest again."""

    def __init__(self, index: int | None = None, at: Millis | None = None) -> None:
        self.index, self.at = index, at
        super().__init__()


class DrawingFailed(Message):
    """Say that a drawing went wrong, and go on."""

    def __init__(self, what: str, error: Exception) -> None:
        self.what, self.error = what, error
        super().__init__()
