"""Base class of the numbered screens, and their entries in the list of screens."""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

from textual import events
from textual.containers import Vertical

from zktop.model.facts import Millis
from zktop.model.report import Report
from zktop.ui.filters import NO_FILTER, Filter, FilterCount
from zktop.ui.messages import PageReady, ShowMessage
from zktop.ui.screens.common.example_row import ExampleCell
from zktop.ui.textual_fixes.work_in_steps import is_done_after_step
from zktop.ui.view_state import Selection, TimeRange, ViewState
from zktop.ui.widgets.panel import FrameWords, Panel
from zktop.ui.widgets.table import Table


class PageEntry(NamedTuple):
    """One screen in the list of screens: its name, its key, and the class that draws it."""

    name: str
    title: str  # what the header shows
    class_name: str  # in zktop/ui/screens/NAME/screen.py
    key: str
    help: str
    needs_contenders: bool = False  # hidden where zktop starts none
    shows_tables: bool = False  # of servers: the silence of sessions, and their watches

    def new_page(self) -> "Page":
        """Import the page's module, which is not needed earlier, and create the page."""
        module = import_module(f"zktop.ui.screens.{self.name}.screen")
        page: Page = getattr(module, self.class_name)()
        page.id = f"page-{self.name}"
        page.entry = self
        return page


class OrderedTable(NamedTuple):
    """A table whose columns and order the user may choose."""

    table: Table[Any]
    name: str
    usual_order: str


class Page(Vertical):
    """One of the numbered screens. It draws only from a `ViewState`.

    A key of this screen runs the method `action_ID` of its entry in `zktop/ui/keys.py`.
    """

    HELP: ClassVar[str | None] = ""  # about the screen; the first paragraph is the summary
    HELP_KEYS: ClassVar[Mapping[str, str]] = {}  # the most useful actions, and what they do here
    HELP_ROW: ClassVar[tuple[ExampleCell, ...]] = ()  # an example row
    STILL_S: ClassVar[float] = 0.0  # between two drawings while only the time changes
    FIELDS: ClassVar[tuple[str, ...]] = ()  # names that a filter may use, as in owner:ann
    STATES: ClassVar[tuple[str, ...]] = ()  # what `state:` may find, the usual words first

    entry: PageEntry
    view_state: ViewState | None = None  # what was drawn last
    passed: FilterCount | None = None  # rows that match the filter, where the page counts them

    def _on_mount(self, _event: events.Mount) -> None:
        self.post_message(PageReady())

    def show(self, state: ViewState) -> None:
        """Draw this state. The app calls it when something changed and the page is visible."""
        self.view_state = state
        self.draw(state)

    def draw(self, state: ViewState) -> None:
        """Draw a state; for subclasses."""
        raise NotImplementedError

    def redraw(self) -> None:
        """Draw the same state after a key."""
        if self.view_state is not None:
            self.draw(self.view_state)

    def filter_opened(self) -> None:
        """Called before the user types a filter; for subclasses that can prepare for it."""

    def search(
        self, find: Callable[[Filter], Iterator[None]], table: Panel, title: str
    ) -> Iterator[None]:
        """Search the rows of a large table in steps, with "searching ..." in its title."""
        steps = find(self.view_state.filter if self.view_state is not None else NO_FILTER)
        if is_done_after_step(steps):
            return
        self.passed = None
        table.frame(FrameWords(title, "searching ..."))
        yield
        yield from steps
        self.post_message(PageReady())  # the header shows the count

    def on_resize(self) -> None:
        """Make the app draw the newest state in the new size."""
        self.post_message(PageReady())

    @property
    def report(self) -> Report | None:
        return self.view_state.report if self.view_state is not None else None

    @property
    def recipe(self) -> str | None:
        """The recipe under the cursor, for a new contender."""
        return None

    @property
    def footer_words(self) -> Mapping[str, str]:
        """What the footer calls an action where its usual word does not fit."""
        return {}

    @property
    def mark(self) -> Millis | None:
        """The moment that the user marked for a comparison."""
        return None

    @property
    def marked_range(self) -> TimeRange | None:
        return None

    @property
    def ordered_table(self) -> OrderedTable | None:
        """The table whose columns and order the user may choose."""
        return None

    @property
    def subject(self) -> Selection:
        """The lock, session or finding under the cursor."""
        return Selection()

    @property
    def chosen_subject(self) -> Selection:
        """The selection to restore when the user comes back: only what the user selected."""
        return self.subject

    @property
    def selected_alerts(self) -> tuple[str, ...]:
        """The ids of the alerts under the cursor. A group has several."""
        return ()

    @property
    def under_cursor(self) -> Selection:
        """The item under the cursor of the focused pane."""
        return self.subject

    def copied(self) -> str:
        """Return the text of the row under the cursor, for the clipboard."""
        return ""

    def copied_text(self) -> str:
        """Return everything about the selected item as text. `copied` may be shorter."""
        return self.copied()

    def say(self, sentence: str) -> None:
        self.post_message(ShowMessage(sentence))
