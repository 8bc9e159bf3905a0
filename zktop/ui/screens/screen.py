"""What every page is: a name in the header, and a way to show a moment."""

from typing import ClassVar

from textual import events
from textual.containers import Vertical

from zktop.ui.filters import FilterCount
from zktop.ui.keys import bindings
from zktop.ui.messages import PageReady, ShowMessage
from zktop.ui.state import Selection, TimeRange, ViewState
from zktop.ui.widgets.canvas import Backdrop


class Page(Backdrop, Vertical):
    """One of the numbered screens; it draws from the moment alone."""

    NAME: ClassVar[str]  # in the table of keys
    TITLE: ClassVar[str]  # in the header
    HELP: ClassVar[str | None] = ""  # what it shows, for the help
    FIELDS: ClassVar[tuple[str, ...]] = ()  # what a filter may look at, as in owner:ann

    passed: FilterCount | None = None  # how many rows pass the filter, where the page counts them

    def __init_subclass__(cls, **options: object) -> None:
        """Give each page the keys that the table has for it."""
        cls.BINDINGS = list(bindings(cls.NAME))
        super().__init_subclass__(**options)  # type: ignore[arg-type]  # Textual's own options

    def _on_mount(self, _event: events.Mount) -> None:
        self.post_message(PageReady())

    def show(self, moment: ViewState) -> None:
        """Draw this moment; called when something changed while the page is in sight."""
        raise NotImplementedError

    @property
    def recipe(self) -> str | None:
        """The recipe that contenders are to be started of, where one is under the cursor."""
        return None

    @property
    def stretch(self) -> TimeRange | None:
        """The time that is to be cut out, where the page is about time."""
        return None

    @property
    def subject(self) -> Selection:
        """Give what is under the cursor, for everything that acts on it."""
        return Selection()

    def copied(self) -> str:
        """Give what is under the cursor as text for somebody else."""
        return ""

    def say(self, sentence: str, *, is_wrong: bool = False) -> None:
        """Tell the user something."""
        self.post_message(ShowMessage(sentence, is_wrong=is_wrong))
