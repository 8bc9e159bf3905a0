"""Pages, the way between them, and who of them does what a key asks for."""

from abc import abstractmethod
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.command import Provider
from textual.screen import Screen
from textual.widgets import ContentSwitcher

from zktop.ui.base_app import BaseApp
from zktop.ui.keys import Action, bindings
from zktop.ui.messages import DrawingFailed, PageReady, PressKey, SelectionChanged, ShowPage
from zktop.ui.screens import page_named
from zktop.ui.screens.screen import Page
from zktop.ui.settings import UiSettings
from zktop.ui.state import Selection, ViewState
from zktop.ui.widgets.canvas import Backdrop
from zktop.ui.widgets.filter_line import FilterLine
from zktop.ui.widgets.footer import PageFooter
from zktop.ui.widgets.header import NO_FILTER_RESULT, FilterResult, PageHeader

MAX_HISTORY = 50


def _finder() -> type[Provider]:
    """Give what the palette finds with; it is imported when it is first asked for."""
    from zktop.ui.palette_search import PaletteProvider  # noqa: PLC0415  the first frame needs none

    return PaletteProvider


class PageScreen(Backdrop, Screen[None]):
    """The screen that the pages are on."""


class PageSwitcher(Backdrop, ContentSwitcher):
    """Has one page in sight."""


class PageApp(BaseApp):
    """An app of pages between one head and one foot; a page comes when it is first asked for."""

    ENABLE_COMMAND_PALETTE = False  # Textual's own key for it would overtake those before it
    COMMANDS: ClassVar = {_finder}
    BINDINGS: ClassVar = list(bindings())
    CSS = """
    ContentSwitcher { height: 1fr; }
    Page { height: 1fr; }
    PageSwitcher.-past Canvas { text-style: dim; }
    """
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012  Textual declares it so
        (0, "-narrow"),
        (100, "-normal"),
        (160, "-wide"),
    ]
    VERTICAL_BREAKPOINTS = [  # noqa: RUF012
        (0, "-short"),
        (30, "-tall"),
    ]

    def __init__(self, look: UiSettings) -> None:
        super().__init__(look)
        self.subject = Selection()
        self.filter_text = ""
        self.recording = ""
        self._head, self._foot = PageHeader(), PageFooter()
        self._switcher = PageSwitcher(id="pages")
        self._trail: list[tuple[str, Selection]] = []  # the way back
        self._early: list[str] = []  # keys pressed before the first page was there

    def get_default_screen(self) -> Screen[None]:
        """Give the screen that the pages are on."""
        return PageScreen(id="_default")  # as Textual calls its own

    def compose(self) -> ComposeResult:
        """Give the frame around the pages."""
        yield self._head
        yield self._switcher
        yield self._foot

    def mount_filter_line(self) -> None:
        """Add what is out of sight at first: the first frame need not wait for it.

        Nor does the first page: who is ended meanwhile would have nothing to put it into.
        """
        self.mount(FilterLine(), before=self._foot)

    @property
    @abstractmethod
    def moment(self) -> ViewState:
        """What is shown now."""

    @property
    def table(self) -> tuple[Action, ...]:
        """The table of keys as the user has them."""
        return self.look.table

    # Drawing

    def draw(self) -> None:
        """Have the head, the foot, and the page in sight show the moment."""
        page, moment = self.page, self.moment
        name = page.NAME if page is not None else self.look.page
        if page is not None and page.is_mounted:
            self.guarded(f"Drawing screen {page.TITLE}", partial(page.show, moment))
        self._foot.show(name, self.table)
        self._switcher.set_class(moment.is_stale, "-past")
        self._draw_head(moment, name)

    def _draw_head(self, moment: ViewState, page: str) -> None:
        try:
            self._head.show(moment, page, self.recording, self.trouble, self._sifted(moment))
        except Exception as error:  # noqa: BLE001  the head is where an error would be told
            self.error_log.note("Drawing the head", error)

    def _sifted(self, moment: ViewState) -> FilterResult:
        """Give what the page in sight makes of the filter."""
        page = self.page
        if page is None or not moment.filter:
            return NO_FILTER_RESULT
        return FilterResult(page.passed, moment.filter.mistake(page.FIELDS))

    def on_drawing_failed(self, message: DrawingFailed) -> None:
        """Take note of what could not be drawn."""
        self.failed(message.what, message.error)

    def failed(self, what: str, error: Exception) -> None:
        """Have the head say it; what fails again and again is told, and drawn, once."""
        before = self.trouble
        super().failed(what, error)
        if self.trouble != before and self.page is not None:
            self._draw_head(self.moment, self.page.NAME)

    # Turning pages

    @property
    def page(self) -> Page | None:
        """The page in sight."""
        current = self._switcher.visible_content if self._switcher.is_mounted else None
        return current if isinstance(current, Page) else None

    @property
    def pointed(self) -> Selection:
        """What is under the cursor, or else what the user looked at last."""
        page = self.page
        return _joined(self.subject, page.subject) if page else self.subject

    def turn_to(self, name: str, subject: Selection | None = None) -> None:
        """Go to a page, and keep the way back."""
        page = self.page
        if page is not None and (name != page.NAME or subject):
            self._trail.append((page.NAME, self.subject))
            del self._trail[:-MAX_HISTORY]
        if page is not None and subject is None:
            subject = _joined(self.subject, page.subject)
        self.subject = subject or self.subject
        self._soon(name)

    def turn_back(self) -> None:
        """Go back the way that was come."""
        if self._trail:
            name, self.subject = self._trail.pop()
            self._soon(name)

    def _soon(self, name: str) -> None:
        """Bring a page, unless another is asked for before; no coroutine is left unawaited."""
        self.key_queue.wait()
        bring = partial(self.show_page, name)
        self.run_worker(bring, exclusive=True, group="pages")  # type: ignore[arg-type]  # Textual's own type knows no coroutine that ends in nothing

    async def show_page(self, name: str) -> None:
        """Put a page in sight; make it when it is asked for the first time."""
        entry = page_named(name)
        switcher = self._switcher
        ident = f"page-{name}"
        if not switcher.query(f"#{ident}"):
            await switcher.mount(entry.made())
        switcher.current = ident
        page = switcher.query_one(f"#{ident}", Page)
        if page.can_focus_children and not self.is_asking:
            self._focus_first(page)
        self.call_after_refresh(self._came)

    def _came(self) -> None:
        """Draw the page that has come, and do what was asked before it had."""
        self.draw()
        self.key_queue.follow(self.screen, 1)
        early, self._early = self._early, []
        for what in early:
            self.action_ask(what)

    def _focus_first(self, page: Page) -> None:
        first = next((one for one in page.query("*") if one.focusable), None)
        if first is not None:
            self.screen.set_focus(first, scroll_visible=False)

    def on_show_page(self, message: ShowPage) -> None:
        """Go where a page leads."""
        self.turn_to(message.page, message.subject)

    def on_page_ready(self, _message: PageReady) -> None:
        """Draw a page that has got its panes only now: the way to it was crossed by another."""
        self.draw()

    def on_selection_changed(self, message: SelectionChanged) -> None:
        """Remember what the user looks at."""
        self.subject = message.subject

    # What is asked for

    def action_ask(self, what: str) -> None:
        """Do what a key stands for; an error in it does not end anything else."""
        if self.page is None and what != "quit":
            self._early.append(what)
        else:
            self.guarded("That", partial(self._do, what))

    def on_press_key(self, message: PressKey) -> None:
        """Do what a widget asks for."""
        self.action_ask(message.what)

    def _do(self, what: str) -> None:
        """Ask the widget in focus, which knows first, then the dialog or the page, then us."""
        is_modal = len(self.screen_stack) > 1
        for one in (self.focused, self.screen if is_modal else self.page):
            deed = getattr(one, f"do_{what}", None)
            if deed is not None and deed() is not False:  # False: there was nothing to do for it
                return
        if not is_modal or what == "quit":
            self.act(what)

    @abstractmethod
    def act(self, what: str) -> None:
        """Do what no page does by itself."""

    # Filters

    def ask_filter(self) -> None:
        """Let the user type a filter."""
        self.query_one(FilterLine).open(self.filter_text)

    @property
    def is_asking(self) -> bool:
        """Tell whether what is typed is meant for a dialog or for the filter."""
        return len(self.screen_stack) > 1 or isinstance(self.focused, FilterLine)

    def set_filter(self, text: str) -> None:
        """Show only what passes."""
        self.filter_text = text
        self.draw()

    def on_filter_line_filtered(self, message: FilterLine.Filtered) -> None:
        """Filter while it is typed."""
        self.set_filter(message.text)
        if message.is_done and self.page is not None and self.focused is None:
            self._focus_first(self.page)


def _joined(before: Selection, now: Selection) -> Selection:
    """Keep what was looked at, as far as the page says nothing newer."""
    known = {field: value for field, value in now._asdict().items() if value is not None}
    return before._replace(**known)
