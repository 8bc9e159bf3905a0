"""The app without its actions: pages between a header and a footer, drawn from reports.

`Shell` receives news from the feeds and draws the visible screen, at most `refresh` times a second
under load. `zktop.ui.navigation_app` switches pages; `zktop.ui.app` adds the actions of keys.
"""

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter

from msgspec.structs import replace
from textual.app import ComposeResult
from textual.message import Message

from zktop.model.facts import Millis
from zktop.model.format import count
from zktop.model.report import Report
from zktop.ui.actions.on_a_thread import on_a_thread
from zktop.ui.dialogs.base import Overlay, T
from zktop.ui.interfaces import (
    ClusterList,
    Complaint,
    ContendersPort,
    Exports,
    Feed,
    Frame,
    News,
    OpenCluster,
)
from zktop.ui.keys import Action, reading_only
from zktop.ui.messages import DrawingFailed, PlayScene, PressKey, ShowMessage
from zktop.ui.navigation_app import NavigationApp
from zktop.ui.notify import brief, summary
from zktop.ui.past.archive import Block, StoredFrame
from zktop.ui.screens.page import Page
from zktop.ui.settings import UiSettings
from zktop.ui.textual_fixes.draw_once import DrawnOnce
from zktop.ui.textual_fixes.work_in_steps import call_after
from zktop.ui.view_state import ViewState
from zktop.ui.visit import Visit
from zktop.ui.widgets.filter_line import FilterLine
from zktop.ui.widgets.footer import PageFooter
from zktop.ui.widgets.header import NO_FILTER_RESULT, FilterResult, PageHeader
from zktop.ui.widgets.panel import PANEL_CSS

MIN_FRAME_S = 0.016  # the time between two frames while little happens
BUSY_EVENTS_PER_S = 100  # from here on, `refresh` limits the frames
RATE_WINDOW_S = 0.5
MIN_REFRESH, MAX_REFRESH = 1, 60  # frames per second
STILL_AFTER_MS = 60_000  # ages below a minute are shown in seconds
NO_CONNECTION_EXIT_CODE = 3
PAGES_WITH_ALERTS = ("locks", "findings")


class Shell(NavigationApp):
    """Draws pages between one header and one footer."""

    ENABLE_COMMAND_PALETTE = False  # the key queue does not see Textual's own binding
    CSS = f"""
    ContentSwitcher {{ height: 1fr; }}
    Page {{ height: 1fr; }}
    ContentSwitcher.-past ScrollingView {{ text-style: dim; }}
    ToastRack {{ dock: top; align: right top; margin: 1 0 0 0; }}
    Toast {{ width: auto; max-width: 90%; padding: 0 1; }}
    {PANEL_CSS}
    """
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012  Textual declares it so
        (0, "-narrow"),
        (100, "-normal"),
        (120, "-double"),
        (180, "-triple"),
    ]
    VERTICAL_BREAKPOINTS = [  # noqa: RUF012  likewise
        (0, "-short"),
        (30, "-tall"),
    ]

    class Woken(Message):
        """The inbox is no longer empty."""

    def __init__(
        self,
        feed: Feed,
        contenders: ContendersPort | None = None,
        exports: Exports | None = None,
        settings: UiSettings | None = None,
        clusters: ClusterList | None = None,
    ) -> None:
        """Prepare to show a feed; `clusters` opens the other clusters."""
        settings = settings or UiSettings()
        super().__init__(
            settings if contenders else replace(settings, table=reading_only(settings.table)),
            OpenCluster(feed, contenders, exports),
            clusters,
        )
        self.refresh_rate: int = self.settings.refresh
        self._head, self._foot = PageHeader(), PageFooter()
        self.filter_line = FilterLine(self._foot)
        self._news_at, self._rate = 0.0, 0.0  # when news was handled, and events per second
        self._page_drawn_at = 0.0
        self._is_due = False
        for key in sorted(self.table, key=lambda key: not key.pages):  # a page's own keys first
            self.bind(key.movable, f"act('{key.id}')", show=False)
        for key in settings.table:
            if key not in self.table:
                self.bind(key.movable, "explain_no_contenders", show=False)

    # Start and end

    def compose(self) -> ComposeResult:
        """Yield the header and the footer. The first page follows after the first frame."""
        yield self._head
        yield self.switcher
        yield self._foot

    def get_default_screen(self) -> DrawnOnce[None]:
        """Return the screen below all dialogs."""
        return DrawnOnce(id="_default")

    def on_mount(self) -> None:
        """Draw the first frame, then start the feed. Keys wait for the first page."""
        self.set_keymap(self.settings.keymap)  # the keys inside dialogs
        self.key_queue.wait()
        self.obey_signals()
        self.draw()
        self.call_after_refresh(self._begin)

    async def _begin(self) -> None:
        self.mount(self.filter_line, before=self._foot)
        await self.show_page(self.visit.page)
        if self.is_leaving:
            return
        self.visit.start()
        if self.settings.scene is not None:
            self.post_message(PlayScene(self.settings.scene))
        if self.settings.leave_after_s is not None:
            self.set_timer(self.settings.leave_after_s, self.leave)

    def leave(self) -> None:
        """Exit. The exit code says whether all attempts to connect have failed."""
        never = all(visit.was_never_connected for visit in self.visits.values())
        self.exit(return_code=NO_CONNECTION_EXIT_CODE if never else 0)

    def on_unmount(self) -> None:
        """Release a feed that waits for room in its inbox."""
        for visit in self.visits.values():
            visit.inbox.close()

    # News

    def wake(self) -> None:
        self.post_message(self.Woken())

    def on_shell_woken(self) -> None:
        """Draw at once after a quiet time. Under load, draw `refresh_rate` frames a second."""
        gap = 1 / self.refresh_rate if self._rate >= BUSY_EVENTS_PER_S else MIN_FRAME_S
        wait = self._news_at + gap - perf_counter()
        if wait <= 0:
            self._handle_news()
        elif not self._is_due:
            self._is_due = True
            call_after(wait, self, self._handle_news)

    def _handle_news(self) -> None:
        """Store the news from all clusters, and draw that of the one on display."""
        self._is_due = False
        must_draw, was_empty = self.visit.inbox.is_awake, self.tape.last is None
        news_of = {visit: visit.inbox.take() for visit in self.visits.values()}
        happened = sum(self._take(visit, piece) for visit in news_of for piece in news_of[visit])
        now = perf_counter()
        span = max(now - self._news_at, 0.001)
        self._rate += min(1.0, span / RATE_WINDOW_S) * (happened / span - self._rate)
        self._news_at = now
        if was_empty and self.tape.last is not None:
            self.after_first_report()
        if must_draw:
            self._draw_news(news_of[self.visit])

    def _draw_news(self, news: Sequence[News]) -> None:
        """Draw the page, or only the header while nothing but the time changes."""
        page = self.page
        if page is not None and self._is_still(page, news):
            self._draw_head(self.view_state, page.entry.name)
        else:
            self.draw()

    def _is_still(self, page: Page, news: Sequence[News]) -> bool:
        """True if the page need not be drawn: for a minute, only the time has changed."""
        last = self.tape.last
        return (
            self._news_at - self._page_drawn_at < page.STILL_S
            and last is not None
            and last.at - self.tape.changed_at >= STILL_AFTER_MS
            and self.playback.is_newest
            and bool(news)
            and all(isinstance(piece, Frame) for piece in news)
        )

    def after_first_report(self) -> None:
        """Called after the first report; for subclasses."""

    def _take(self, visit: Visit, news: News) -> int:
        """Store one piece of news and return the number of events in it."""
        visit.keep(news)
        if not visit.is_packing and (surplus := visit.tape.surplus()):
            visit.is_packing = True
            self.run_worker(self._pack(visit, surplus), group="packing")
        if isinstance(news, Complaint):
            self._complain(visit, news.sentence)
        elif isinstance(news, Frame):
            if visit.feed.is_live and not news.is_early:
                announce = partial(self._announce, visit, news.report)
                self.guarded("Announcing findings", announce)
            return len(news.events)
        return 0

    async def _pack(self, visit: Visit, surplus: list[StoredFrame]) -> None:
        """Pack the oldest frames on a thread."""
        tape, blocks = visit.tape, list[Block]()
        try:
            blocks = await on_a_thread(partial(tape.packer.packed, surplus))
        except Exception as error:  # noqa: BLE001  the newest frames are still there
            self.failed("Packing the past", error)
        tape.replace(surplus, blocks)
        visit.is_packing = False

    def _announce(self, visit: Visit, report: Report) -> None:
        """Announce new critical findings: by a message, the bell, and the user's command."""
        new, key = visit.notifier.after(report), self.key_of("next_alert")
        if new.already_there:
            self._alert(visit, summary(new.already_there, key))
        for finding in new.findings:
            self._alert(visit, brief(finding, key))
            if self.settings.finding_hook is not None:
                self.settings.finding_hook.call(finding, visit.name, visit.complain)
        if new.more:
            more = count(new.more, "more critical finding")
            self._alert(visit, f"{more}. Press {key} to step through the alerts.")
        if new.findings and self.settings.bell:
            self.bell()

    def _alert(self, visit: Visit, sentence: str) -> None:
        """Show a message about alerts, unless the page lists them: it would cover some."""
        is_newest = visit is self.visit and visit.playback.is_newest
        if not (is_newest and visit.page in PAGES_WITH_ALERTS):
            self._complain(visit, sentence)

    def _complain(self, visit: Visit, sentence: str) -> None:
        """Show an error message, with the name of the cluster if it is not on display."""
        where = "" if visit is self.visit else f"{visit.name}: "
        self.show_message(f"{where}{sentence}", is_wrong=True)

    def set_refresh(self, rate: int) -> None:
        self.refresh_rate = min(max(rate, MIN_REFRESH), MAX_REFRESH)
        self.show_message(f"Refresh limit: {self.refresh_rate} fps")

    def on_show_message(self, message: ShowMessage) -> None:
        self.show_message(message.sentence)

    def show_message(self, sentence: str, *, is_wrong: bool = False) -> None:
        """Show a sentence in the corner of the screen for a few seconds."""
        self.notify(sentence, severity="error" if is_wrong else "information", markup=False)

    def ask(self, dialog: Overlay[T], then: Callable[[T], object]) -> None:
        """Show a dialog. Call a function with its result, unless the user cancels it."""

        def answered(result: T | None) -> None:
            if result is not None:
                then(result)

        self.push_screen(dialog, answered)

    # Drawing

    @property
    def table(self) -> tuple[Action, ...]:
        return self.settings.table

    def draw(self) -> None:
        if not self.screen_stack:
            return  # the app is closing
        page, state = self.page, self.view_state
        name = page.entry.name if page is not None else self.visit.page
        self.visit.feed.shows_tables = page is not None and page.entry.shows_tables
        self._page_drawn_at = perf_counter()
        if page is not None and page.is_mounted:
            self.guarded(f"Drawing screen {page.entry.title}", partial(page.show, state))
        self._draw_foot()
        self.visit.pages.set_class(state.is_stale, "-past")
        self._draw_head(state, name)

    def _draw_foot(self) -> None:
        """Draw the keys of the page and of the pane with the focus."""
        page, port = self.page, self.contenders
        focused = self.screen_stack[0].focused  # below dialogs
        is_on_page = page is not None and focused is not None and page in focused.ancestors
        self._foot.show(
            self.visit.page,
            (focused.id or "") if focused is not None and is_on_page else "",
            self.table,
            page.footer_words if page is not None else {},
            may_write=port is not None and port.permission.is_given,
        )

    def on_descendant_focus(self) -> None:
        """Draw the keys of another pane."""
        self._draw_foot()

    def _draw_head(self, state: ViewState, page: str) -> None:
        result = self._filter_result(state)
        state = replace(state, subject=self.selection)  # a page may show an unselected item
        try:
            self._head.show(state, page, self.visit.recording, self.trouble, result)
        except Exception as error:  # noqa: BLE001  the header itself cannot show its error
            self.error_log.note("Drawing the header", error)

    def _filter_result(self, state: ViewState) -> FilterResult:
        page = self.page
        if page is None or not state.filter:
            return NO_FILTER_RESULT
        is_empty = page.passed is None or not page.passed.shown
        states = page.STATES if is_empty else ()  # a word that matches is not a mistake
        return FilterResult(page.passed, state.filter.mistakes(page.FIELDS, states))

    def on_drawing_failed(self, message: DrawingFailed) -> None:
        self.failed(message.what, message.error)

    def failed(self, what: str, error: Exception) -> None:
        """Report an error in the header. If the same error is repeated, it is drawn once."""
        before = self.trouble
        super().failed(what, error)
        if self.trouble != before and self.page is not None:
            self._draw_head(self.view_state, self.page.entry.name)

    # Actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the keys of other pages. Textual then tries the next binding of the key."""
        if action == "act":
            key = next((key for key in self.table if key.id == parameters[0]), None)
            page = self.page.entry.name if self.page is not None else ""
            return key is None or not key.pages or page in key.pages
        return super().check_action(action, parameters)

    async def action_act(self, what: str) -> None:
        """Run an action by the id of its key: on the focused widget, dialog, page, or the app.

        A widget passes an action on by raising `SkipAction`.
        """
        action = next((key.run for key in self.table if key.id == what), "") or what
        is_modal = len(self.screen_stack) > 1
        targets = (self.focused, self.screen) if is_modal else (self.focused, self.page, self)
        for target in targets:
            if target is not None and await self.run_action(action, target):
                return

    async def on_press_key(self, message: PressKey) -> None:
        await self.action_act(message.what)

    # Filter

    def set_filter(self, text: str) -> None:
        self.visit.filter_text = text
        self.draw()

    def close_filter(self) -> None:
        """Close the filter line if it is open, and keep the filter for the page on display."""
        if self.filter_line.is_open:
            self.filter_line.close()
            self.visit.filter_text = self.filter_line.value

    def on_filter_line_filtered(self, message: FilterLine.Filtered) -> None:
        if not message.is_done and not self.filter_line.is_open:
            return  # typed before the page was turned
        self.set_filter(message.text)
        if message.is_done and self.page is not None and self.focused is None:
            self._focus_first(self.page)

    # Time

    def seek(self, at: Millis | None) -> None:
        """Show another moment. None returns to the newest moment and follows it."""
        if at is None:
            self.playback.return_to_newest()
        else:
            self.playback.go(self.tape, at)
        self.draw()
