"""The app is a shell: it takes the news, keeps the tape, and has the page in sight draw it."""

import asyncio
import gc
import os
import signal
from time import perf_counter
from typing import ClassVar

import msgspec
from textual.app import App, ComposeResult
from textual.message import Message
from textual.timer import Timer
from textual.widgets import ContentSwitcher, Footer

from zktop.model.facts import Millis
from zktop.ui.actions import ACTIONS
from zktop.ui.filters import parsed
from zktop.ui.inbox import Inbox
from zktop.ui.keys import bindings
from zktop.ui.messages import Ask, Choose, Seek, Show, Tell
from zktop.ui.moment import Moment, Subject
from zktop.ui.pages import page_named
from zktop.ui.pages.page import Page
from zktop.ui.ports import Complaint, Exports, Feed, Stage, Status
from zktop.ui.tape import REPLAY, Tape
from zktop.ui.travel import Travel
from zktop.ui.widgets.filter_line import FilterLine
from zktop.ui.widgets.head import Head

QUICK_S = 0.016  # between two pictures while little happens
TICK_S = 0.05  # between two moments of the past while it is played
BUSY_PER_S = 100  # from so many news a second on, `refresh` says how often a picture is drawn
LEAST_REFRESH, MOST_REFRESH = 1, 60
SIGNALLED = 128  # and the signal's number: the exit code of who was ended by one
NO_CONNECTION = 3


class Look(msgspec.Struct, frozen=True):
    """How the UI looks and answers, by the user's settings."""

    theme: str = "zktop-dark"
    refresh: int = 20
    keys: dict[str, str] = {}
    bell: bool = False
    command: str | None = None
    is_ascii: bool = False
    page: str = "locks"
    leave_after_s: float | None = None
    at: Millis | None = None  # of a recording, the moment to begin with
    speed: float | None = None  # of a recording: play it at once


class Zktop(App[int]):
    """Shows what a feed tells, one page at a time."""

    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar = list(bindings())
    CSS = """
    ContentSwitcher { height: 1fr; }
    Page { height: 1fr; }
    Footer { background: $panel; }
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

    class Woken(Message):
        """There is news in the inbox."""

    def __init__(
        self,
        feed: Feed,
        stage: Stage | None = None,
        exports: Exports | None = None,
        look: Look | None = None,
    ) -> None:
        self.has_colours = "NO_COLOR" not in os.environ
        super().__init__(ansi_color=None if self.has_colours else True)
        self.feed, self.stage, self.exports = feed, stage, exports
        self.look = look or Look()
        self.refresh_rate: int = self.look.refresh
        self.tape = Tape(None if feed.is_live else REPLAY)
        self.travel = Travel(is_live=feed.is_live, at=self.look.at)
        self.status = Status("connecting", "Connecting ...")
        self.subject = Subject()
        self.filter_text = ""
        self.recording = ""
        self.agreed_paths: set[str] = set()  # where contenders may write besides the demo root
        self._trail: list[tuple[str, Subject]] = []  # the way back
        self._inbox = Inbox(self._wake, waits=not feed.is_live)
        self._clock: Timer | None = None  # goes while the past is played
        self._ticked_at = 0.0
        self._drawn_at, self._rate = 0.0, 0.0
        self._is_due = False

    # Its life

    def compose(self) -> ComposeResult:
        """Give the frame around the pages; pages come when they are first looked at."""
        yield Head()
        yield ContentSwitcher(id="pages")
        yield FilterLine()
        yield Footer(compact=True, show_command_palette=False)

    async def on_mount(self) -> None:
        """Show the first page, and only then let the feed begin."""
        if self.look.keys:
            self.set_keymap(self.look.keys)
        await self._bring(self.look.page)
        self._obey_signals()
        self.call_after_refresh(self._begin)

    def _wake(self) -> None:
        self.post_message(self.Woken())

    def _begin(self) -> None:
        if self.stage is not None:
            self.stage.listen(self._inbox.nudge, self._inbox.complain)
        self.feed.start(self._inbox.put)
        if self.look.leave_after_s is not None:
            self.set_timer(self.look.leave_after_s, self.leave)

    def _obey_signals(self) -> None:
        """Leave the terminal as it was when somebody ends us, or takes our terminal away."""
        loop = asyncio.get_running_loop()
        for one in (signal.SIGTERM, signal.SIGHUP):
            try:
                loop.add_signal_handler(one, self.exit, None, SIGNALLED + one)
            except (NotImplementedError, RuntimeError, ValueError):
                return  # not the main thread: a test

    def leave(self) -> None:
        """End; who never saw the ensemble hears it from the exit code."""
        never = self.feed.is_live and self.tape.last is None and self.status.word == "failed"
        self.exit(return_code=NO_CONNECTION if never else 0)

    # News

    def on_zktop_woken(self) -> None:
        """Draw at once after a quiet time; under load only so many times a second."""
        gap = 1 / self.refresh_rate if self._rate >= BUSY_PER_S else QUICK_S
        wait = self._drawn_at + gap - perf_counter()
        if wait <= 0:
            self._pump()
        elif not self._is_due:
            self._is_due = True
            self.set_timer(wait, self._pump)

    def _pump(self) -> None:
        self._is_due = False
        news = self._inbox.take()
        is_first = self.tape.last is None
        happened = 0
        for one in news:
            if isinstance(one, Status):
                self.status = one
                self.travel.is_all_read |= one.is_end
            elif isinstance(one, Complaint):
                self.tell(one.sentence, is_wrong=True)
            else:
                self.tape.add(one)
                happened += len(one.events)
        now = perf_counter()
        span = max(now - self._drawn_at, 0.001)
        self._rate += min(1.0, span / 0.5) * (happened / span - self._rate)
        self._drawn_at = now
        if is_first and self.tape.last is not None:
            gc.collect()
            gc.freeze()  # the model of ten thousand locks is not worth looking through again
        self.draw()

    @property
    def moment(self) -> Moment:
        """What is shown now."""
        travel = self.travel
        return Moment(
            frame=travel.frame(self.tape),
            status=self.status,
            tape=self.tape,
            feed=self.feed,
            stage=self.stage,
            subject=self.subject,
            filter=parsed(self.filter_text),
            index=travel.index(self.tape),
            at=travel.moment(self.tape),
            is_paused=travel.is_paused,
            is_playing=travel.is_playing,
            speed=travel.speed,
            is_ascii=self.look.is_ascii,
        )

    @property
    def pointed(self) -> Subject:
        """What is under the cursor, or else what the user looked at last."""
        page = self.page
        return _joined(self.subject, page.subject) if page else self.subject

    def draw(self) -> None:
        """Have the head and the page in sight show the moment."""
        page = self.page
        if page is None:
            return
        moment = self.moment
        self.query_one(Head).show(moment, page.NAME, self.recording)
        page.show(moment)

    # Pages

    @property
    def page(self) -> Page | None:
        """The page in sight."""
        if not self.screen_stack:
            return None
        found = self.screen_stack[0].query(ContentSwitcher)
        current = found.first().visible_content if found else None
        return current if isinstance(current, Page) else None

    def turn_to(self, name: str, subject: Subject | None = None) -> None:
        """Go to a page, and keep the way back."""
        page = self.page
        if page is not None and (name != page.NAME or subject):
            self._trail.append((page.NAME, self.subject))
            del self._trail[:-50]
        if page is not None and subject is None:
            subject = _joined(self.subject, page.subject)
        self.subject = subject or self.subject
        self.run_worker(self._bring(name), exclusive=True, group="pages")

    def turn_back(self) -> None:
        """Go back the way that was come."""
        if self._trail:
            name, self.subject = self._trail.pop()
            self.run_worker(self._bring(name), exclusive=True, group="pages")

    async def _bring(self, name: str) -> None:
        """Put a page in sight; make it when it is asked for the first time."""
        entry = page_named(name)
        switcher = self.screen_stack[0].query_one(ContentSwitcher)
        ident = f"page-{name}"
        if not switcher.query(f"#{ident}"):
            await switcher.mount(entry.made())
        switcher.current = ident
        page = switcher.query_one(f"#{ident}", Page)
        if page.can_focus_children:
            first = next((one for one in page.query("*") if one.focusable), None)
            if first is not None and self.screen is self.screen_stack[0]:
                first.focus(scroll_visible=False)
        self.call_after_refresh(self.draw)

    # What is asked for

    def action_ask(self, what: str) -> None:
        """Do what a key stands for: the widget in focus knows first, then the page, then we."""
        for one in (self.focused, self.page):
            deed = getattr(one, f"do_{what}", None)
            if deed is not None:
                deed()
                return
        if what in ACTIONS:
            ACTIONS[what](self)

    def on_ask(self, message: Ask) -> None:
        """Do what a widget asks for."""
        self.action_ask(message.what)

    def on_show(self, message: Show) -> None:
        """Go where a page leads."""
        self.turn_to(message.page, message.subject)

    def on_choose(self, message: Choose) -> None:
        """Remember what the user looks at."""
        self.subject = message.subject

    def on_seek(self, message: Seek) -> None:
        """Look at another moment."""
        at = message.at
        if at is None and message.index is not None and len(self.tape):
            at = self.tape[message.index].at
        self.seek(at)

    def seek(self, at: Millis | None) -> None:
        """Look at a moment; None: at the newest, as it comes."""
        if at is None:
            self.travel.return_to_newest()
        else:
            self.travel.go(self.tape, at)
        self.draw()

    def on_tell(self, message: Tell) -> None:
        """Say something to the user."""
        self.tell(message.sentence, is_wrong=message.is_wrong)

    def tell(self, sentence: str, *, is_wrong: bool = False) -> None:
        """Say something to the user, in a corner."""
        self.notify(sentence, severity="error" if is_wrong else "information", markup=False)

    def pause(self, *, on: bool) -> None:
        """Hold the picture, or let it go on; either way everything is collected."""
        if on:
            self.travel.hold(self.tape)
        elif self.feed.is_live:
            self.travel.return_to_newest()
        else:
            self.travel.play(self.tape)
        self.run_clock()

    def run_clock(self) -> None:
        """Have time go on by itself while the past is played."""
        if self._clock is None:
            self._clock = self.set_interval(TICK_S, self._tick, pause=True)
        self._ticked_at = perf_counter()
        if self.travel.is_playing:
            self._clock.resume()
        else:
            self._clock.pause()
        self.draw()

    def _tick(self) -> None:
        before, self._ticked_at = self._ticked_at, perf_counter()
        if self.travel.passed(self.tape, self._ticked_at - before):
            self.draw()
        if not self.travel.is_playing:
            self.run_clock()

    def set_refresh(self, rate: int) -> None:
        """Draw so many times a second at most."""
        self.refresh_rate = min(max(rate, LEAST_REFRESH), MOST_REFRESH)
        self.tell(f"At most {self.refresh_rate} pictures a second.")

    def ask_filter(self) -> None:
        """Let the user type a filter."""
        self.query_one(FilterLine).open(self.filter_text)

    def set_filter(self, text: str) -> None:
        """Show only what passes."""
        self.filter_text = text
        self.draw()

    def on_filter_line_filtered(self, message: FilterLine.Filtered) -> None:
        """Filter while it is typed."""
        self.set_filter(message.text)
        if message.is_done:
            page = self.page
            first = next((one for one in page.query("*") if one.focusable), None) if page else None
            self.set_focus(first)


def _joined(before: Subject, now: Subject) -> Subject:
    """Keep what was looked at, as far as the page says nothing newer."""
    known = {field: value for field, value in now._asdict().items() if value is not None}
    return before._replace(**known)
