"""The cluster and page that the app shows, and how it goes back.

Each cluster has a visit with its own pages. A page is created when it is first shown.
"""

from functools import partial

from textual.css.query import NoMatches
from textual.widget import MountError
from textual.widgets import ContentSwitcher

from zktop.ui.base_app import BaseApp
from zktop.ui.interfaces import ClusterList, ContendersPort, Feed, OpenCluster
from zktop.ui.messages import PageReady, SelectionChanged, ShowPage
from zktop.ui.navigation_history import NavigationEntry
from zktop.ui.past.playback import Playback
from zktop.ui.past.tape import Tape
from zktop.ui.screens import page_named
from zktop.ui.screens.page import Page
from zktop.ui.settings import UiSettings
from zktop.ui.view_state import Selection, ViewState
from zktop.ui.visit import Visit


class NavigationApp(BaseApp):
    """Keeps a visit for each cluster, and turns the pages of the one on display."""

    def __init__(
        self, settings: UiSettings, first: OpenCluster, clusters: ClusterList | None
    ) -> None:
        """Prepare the first visit; `clusters` opens the others."""
        super().__init__(settings)
        self.clusters = clusters
        self.hides_notes = False
        self.visits: dict[str, Visit] = {}  # keys: the names of the clusters
        self.visit = self._prepared(first)
        self.switcher = ContentSwitcher(id="clusters")
        self._is_turning = False  # a new page will be drawn in a moment

    def _prepared(self, cluster: OpenCluster) -> Visit:
        settings, number = self.settings, len(self.visits) + 1
        visit = Visit(number, cluster, self.wake, settings.page, settings.at)
        self.visits[visit.name] = visit
        return visit

    def visit_cluster(self, name: str) -> None:
        """Switch to a cluster, as the user left it. On the first visit, connect to it.

        Playback stops in the cluster that was on display.
        """
        if name not in self.visits and self.clusters is not None:
            self._prepared(self.clusters.open(name)).start()
        self.playback.stop()
        self.visit = self.visits[name]

    def wake(self) -> None:
        """Take news from all visits. Thread-safe; for subclasses."""
        raise NotImplementedError

    def draw(self) -> None:
        """Draw the page, the header and the footer; for subclasses."""
        raise NotImplementedError

    def close_filter(self) -> None:
        """Close the filter line before another page is shown; for subclasses."""
        raise NotImplementedError

    @property
    def view_state(self) -> ViewState:
        """What the pages draw: the report at the cursor in time, and everything around it."""
        return self.visit.view_state(
            self.key_of, is_ascii=self.settings.is_ascii, hides_notes=self.hides_notes
        )

    @property
    def feed(self) -> Feed:
        return self.visit.feed

    @property
    def contenders(self) -> ContendersPort | None:
        return self.visit.contenders

    @property
    def tape(self) -> Tape:
        return self.visit.tape

    @property
    def playback(self) -> Playback:
        return self.visit.playback

    @property
    def subject(self) -> Selection:
        return self.visit.subject

    @subject.setter
    def subject(self, selection: Selection) -> None:
        self.visit.subject = selection

    @property
    def is_typing(self) -> bool:
        """True while keys go to a dialog or to the filter, even if the terminal has no focus."""
        return len(self.screen_stack) > 1 or bool(self.screen.query("FilterLine.-open"))

    # Pages

    @property
    def page(self) -> Page | None:
        pages = self.visit.pages
        current = next((child for child in pages.children if child.id == pages.current), None)
        return current if isinstance(current, Page) else None

    @property
    def selection(self) -> Selection:
        """The item under the cursor, completed from the last selection."""
        page = self.page
        return self.subject.updated(page.subject) if page else self.subject

    def turn_to(self, name: str, subject: Selection | None = None) -> None:
        """Go to a page and remember where the user came from."""
        page = self.page
        if page is not None and (name != page.entry.name or subject):
            self.visit.navigation = self.visit.navigation.after_leaving(self._here(page))
        self.subject = subject or self.selection
        self._load_page(name)

    def turn_back(self) -> None:
        """Return to the previous entry, if there is one."""
        visit, page = self.visit, self.page
        if visit.navigation.before and page is not None:
            entry = visit.navigation.before[-1]
            visit.navigation = visit.navigation.back(self._here(page))
            self._go_to(entry)

    def turn_forward(self) -> None:
        visit, page = self.visit, self.page
        if visit.navigation.following and page is not None:
            entry = visit.navigation.following[-1]
            visit.navigation = visit.navigation.forward(self._here(page))
            self._go_to(entry)

    def _here(self, page: Page) -> NavigationEntry:
        """Return the visible page, and what the user has selected there."""
        return NavigationEntry(page.entry.name, self.subject.updated(page.chosen_subject))

    def _go_to(self, entry: NavigationEntry) -> None:
        self.subject = entry.subject
        self._load_page(entry.page)

    def turn_to_cluster(self, name: str) -> None:
        """Switch to a cluster, and to the page that it showed last."""
        self.close_filter()
        self.visit_cluster(name)
        self._load_page(self.visit.page)

    def _load_page(self, name: str) -> None:
        """Show a page in a worker. A newer call cancels this one. Keys wait for the page."""
        self.close_filter()
        self.key_queue.wait()
        show = partial(self.show_page, name)
        self.run_worker(show, exclusive=True, group="pages")  # type: ignore[arg-type]  # a coroutine that returns None is fine

    async def show_page(self, name: str) -> None:
        """Make a page of the cluster visible, unless zktop is ending."""
        try:
            await self._show_page(name)
        except (MountError, NoMatches):
            if not self.is_leaving:
                raise

    async def _show_page(self, name: str) -> None:
        """Make a page visible. Create it on its first use."""
        visit = self.visit
        if not visit.pages.is_attached:
            await self.switcher.mount(visit.pages)
        self.switcher.current = visit.pages.id
        self._is_turning = True
        ident = f"page-{name}"
        if not visit.pages.query(f"#{ident}"):
            await visit.pages.add_content(page_named(name).new_page())
        if name == "findings" and visit.page != name:
            self.clear_notifications()  # they would cover the findings that they announce
        visit.page, visit.pages.current = name, ident
        page = visit.pages.query_one(f"#{ident}", Page)
        self._focus_first(page)
        self.call_after_refresh(self._page_shown)

    def _page_shown(self) -> None:
        self._is_turning = False
        self.draw()
        focused = self.focused
        if self.page is not None and focused is not None and not focused.display:
            self._focus_first(self.page)  # the page has hidden the pane that had the focus
        self.key_queue.follow(self.screen, 1)

    def _focus_first(self, page: Page) -> None:
        """Give the focus to the first pane in sight, unless the user is typing."""
        if self.is_typing:
            return
        panes = (widget for widget in page.query("*") if widget.focusable and widget.display)
        if (first := next(panes, None)) is not None:
            self.screen.set_focus(first, scroll_visible=False)

    def on_show_page(self, message: ShowPage) -> None:
        self.turn_to(message.page, message.subject)

    def on_page_ready(self, _message: PageReady) -> None:
        """Draw a page whose panes were mounted later than the page."""
        if self.page is not None and self.focused is None:
            self._focus_first(self.page)
        if not self._is_turning:
            self.draw()

    def on_selection_changed(self, message: SelectionChanged) -> None:
        self.subject = message.subject
