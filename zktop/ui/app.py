"""The app is a shell: it takes the news, keeps the tape, and has the page in sight draw it."""

import gc
from functools import partial
from time import perf_counter
from typing import ClassVar

from textual.app import ComposeResult
from textual.command import Provider
from textual.message import Message
from textual.timer import Timer
from textual.widgets import ContentSwitcher

from zktop.model.facts import Millis
from zktop.ui.actions import ACTIONS
from zktop.ui.crier import Crier
from zktop.ui.filters import parsed
from zktop.ui.inbox import Inbox
from zktop.ui.keys import Key, bindings, known_on
from zktop.ui.look import Look
from zktop.ui.manners import Mannered
from zktop.ui.messages import Ask, Choose, Failed, Seek, Show, Tell
from zktop.ui.moment import Moment, Subject
from zktop.ui.pages import page_named
from zktop.ui.pages.page import Page
from zktop.ui.ports import Complaint, Exports, Feed, Stage, Status
from zktop.ui.tape import REPLAY, Tape
from zktop.ui.travel import Travel
from zktop.ui.widgets.filter_line import FilterLine
from zktop.ui.widgets.foot import Foot
from zktop.ui.widgets.head import Head

QUICK_S = 0.016  # between two pictures while little happens
TICK_S = 0.05  # between two moments of the past while it is played
BUSY_PER_S = 100  # from so many news a second on, `refresh` says how often a picture is drawn
LEAST_REFRESH, MOST_REFRESH = 1, 60
NO_CONNECTION = 3


def _finder() -> type[Provider]:
    """Give what the palette finds with; it is imported when it is first asked for."""
    from zktop.ui.finder import Finder  # noqa: PLC0415  the first frame needs none

    return Finder


class Zktop(Mannered):
    """Shows what a feed tells, one page at a time."""

    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar = {_finder}
    BINDINGS: ClassVar = list(bindings())
    CSS = """
    ContentSwitcher { height: 1fr; }
    Page { height: 1fr; }
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
        super().__init__(look or Look())
        self.feed, self.stage, self.exports = feed, stage, exports
        self.refresh_rate: int = self.look.refresh
        self.tape = Tape(None if feed.is_live else REPLAY)
        self.travel = Travel(is_live=feed.is_live, at=self.look.at)
        self.status = Status("connecting", "Connecting ...")
        self.subject = Subject()
        self.filter_text = ""
        self.recording = ""
        self.agreed_paths: set[str] = set()  # where contenders may write besides the demo root
        self._crier = Crier(self)
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
        yield Foot()

    async def on_mount(self) -> None:
        """Show the first page, and only then let the feed begin."""
        if self.look.changed_keys:
            self.set_keymap(self.look.keymap)
        await self._bring(self.look.page)
        self.obey_signals()
        self.call_after_refresh(self._begin)

    def _wake(self) -> None:
        self.post_message(self.Woken())

    def _begin(self) -> None:
        if self.stage is not None:
            self.stage.listen(self._inbox.nudge, self._inbox.complain)
        self.feed.start(self._inbox.put)
        if self.look.leave_after_s is not None:
            self.set_timer(self.look.leave_after_s, self.leave)

    def leave(self) -> None:
        """End; who never saw the ensemble hears it from the exit code."""
        never = self.feed.is_live and self.tape.last is None and self.status.word == "failed"
        self.exit(return_code=NO_CONNECTION if never else 0)

    async def action_quit(self) -> None:
        """End, whatever key it was."""
        self.leave()

    @property
    def table(self) -> tuple[Key, ...]:
        """The table of keys as the user has them."""
        return self.look.table

    def complain(self, sentence: str) -> None:
        """Say what went wrong elsewhere; on any thread."""
        self._inbox.complain(sentence)

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
                self.recording = "" if one.ends_recording else self.recording
            else:
                self.tape.add(one)
                self.guarded("Looking for news", partial(self._crier.look, one.report))
                happened += len(one.events)
        now = perf_counter()
        span = max(now - self._drawn_at, 0.001)
        self._rate += min(1.0, span / 0.5) * (happened / span - self._rate)
        self._drawn_at = now
        if is_first and self.tape.last is not None:
            gc.collect()
            gc.freeze()  # the model of ten thousand locks is not worth looking through again
            self._play_at_once()
        self.draw()

    def _play_at_once(self) -> None:
        """Begin to play a recording, where that was asked for."""
        if self.look.speed is not None and not self.feed.is_live:
            self.travel.speed = self.look.speed
            self.travel.play(self.tape)
            self.run_clock()

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
        self.guarded(f"Drawing screen {page.TITLE}", partial(page.show, moment))
        self.screen_stack[0].query_one(Foot).show(known_on(page.NAME, self.table))
        self._draw_head(moment, page.NAME)

    def _draw_head(self, moment: Moment, page: str) -> None:
        head = self.screen_stack[0].query_one(Head)
        try:
            head.show(moment, page, self.recording, self.trouble)
        except Exception as error:  # noqa: BLE001  the head is where an error would be told
            self.mishaps.note("Drawing the head", error)

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
        """Do what a key stands for; an error in it does not end anything else."""
        self.guarded("That", partial(self._do, what))

    def _do(self, what: str) -> None:
        """Ask the widget in focus, which knows first, then the dialog or the page, then us."""
        is_modal = len(self.screen_stack) > 1
        for one in (self.focused, self.screen if is_modal else self.page):
            deed = getattr(one, f"do_{what}", None)
            if deed is not None and deed() is not False:  # False: there was nothing to do for it
                return
        if what in ACTIONS and (not is_modal or what == "quit"):
            ACTIONS[what](self)

    def on_failed(self, message: Failed) -> None:
        """Take note of what could not be drawn."""
        self.failed(message.what, message.error)

    def failed(self, what: str, error: Exception) -> None:
        """Have the head say it; what fails again and again is told, and drawn, once."""
        before = self.trouble
        super().failed(what, error)
        if self.trouble != before and self.page is not None:
            self._draw_head(self.moment, self.page.NAME)

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
