"""The app is a shell: it takes the news, keeps the tape, and has the page in sight draw it."""

from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual.message import Message
from textual.theme import Theme
from textual.timer import Timer

from zktop.model.facts import Millis
from zktop.ui.filters import parsed
from zktop.ui.inbox import Inbox
from zktop.ui.keys import reading_only
from zktop.ui.messages import PlayScene, SeekTo, ShowMessage
from zktop.ui.navigation import PageApp
from zktop.ui.past.playback import Playback
from zktop.ui.past.tape import REPLAY, Tape
from zktop.ui.ports import Complaint, ContendersPort, Exports, Feed, News, Status
from zktop.ui.settings import UiSettings
from zktop.ui.state import ViewState
from zktop.ui.textual_fixes.key_queue import call_after

if TYPE_CHECKING:
    from zktop.ui.notify import Notifier

QUICK_S = 0.016  # between two pictures while little happens
TICK_S = 0.05  # between two moments of the past while it is played
BUSY_PER_S = 100  # from so many news a second on, `refresh` says how often a picture is drawn
LEAST_REFRESH, MOST_REFRESH = 1, 60
NO_CONNECTION = 3
TRIES = {True: "Connecting to", False: "Opening"}  # until a feed that is live, or not, says more


class Zktop(PageApp):
    """Shows what a feed tells, one page at a time."""

    class Woken(Message):
        """There is news in the inbox."""

    def __init__(
        self,
        feed: Feed,
        stage: ContendersPort | None = None,
        exports: Exports | None = None,
        look: UiSettings | None = None,
    ) -> None:
        look = look or UiSettings()
        super().__init__(look if stage else replace(look, table=reading_only(look.table)))
        self.feed, self.stage, self.exports = feed, stage, exports
        self.refresh_rate: int = self.look.refresh
        self.tape = Tape(None if feed.is_live else REPLAY)
        self.playback = Playback(is_live=feed.is_live, at=self.look.at)
        self.status = Status("connecting", f"{TRIES[feed.is_live]} {feed.name} ...")
        self.tried: dict[str, tuple[Theme, int]] = {}  # themes that can be worn, by name
        self._crier: Notifier | None = None  # comes with the first report
        self._inbox = Inbox(self._wake, waits=not feed.is_live)
        self._clock: Timer | None = None  # goes while the past is played
        self._ticked_at = 0.0
        self._drawn_at, self._rate = 0.0, 0.0
        self._is_due = False

    # Its life

    def on_mount(self) -> None:
        """Show the frame; the page and the feed come after it, for they take longer."""
        if self.look.changed_keys:
            self.set_keymap(self.look.keymap)
        self.obey_signals()
        self.draw()
        self.call_after_refresh(self._begin)

    async def _begin(self) -> None:
        self.mount_filter_line()
        await self.show_page(self.look.page)
        if self.stage is not None:
            self.stage.listen(self._inbox.wake, self._inbox.complain)
        if self.look.scene is not None:
            self.post_message(PlayScene(self.look.scene))
        self.feed.start(self._inbox.put)
        if self.look.leave_after_s is not None:
            self.set_timer(self.look.leave_after_s, self.leave)

    def leave(self) -> None:
        """End; who never saw the ensemble hears it from the exit code."""
        never = self.feed.is_live and self.tape.last is None and self.status.word == "failed"
        self.exit(return_code=NO_CONNECTION if never else 0)

    def on_unmount(self) -> None:
        """Let a feed that waits for room go on, so that it can be stopped."""
        self._inbox.close()

    async def action_quit(self) -> None:
        """End, whatever key it was."""
        self.leave()

    def act(self, what: str) -> None:
        """Do what no page does by itself."""
        from zktop.ui.actions import ACTIONS  # noqa: PLC0415  the first frame needs none

        if what in ACTIONS:
            ACTIONS[what](self)

    def on_play_scene(self, message: PlayScene) -> None:
        """Play a scene, once the user has allowed it."""
        from zktop.ui.actions.contenders import play  # noqa: PLC0415  as above

        self.guarded("That", partial(play, self, message.scene, steps=message.steps))

    def complain(self, sentence: str) -> None:
        """Say what went wrong elsewhere; on any thread."""
        self._inbox.complain(sentence)

    # News

    def _wake(self) -> None:
        self.post_message(self.Woken())

    def on_zktop_woken(self) -> None:
        """Draw at once after a quiet time; under load only so many times a second."""
        gap = 1 / self.refresh_rate if self._rate >= BUSY_PER_S else QUICK_S
        wait = self._drawn_at + gap - perf_counter()
        if wait <= 0:
            self._pump()
        elif not self._is_due:
            self._is_due = True
            call_after(wait, self, self._pump)

    def _pump(self) -> None:
        self._is_due = False
        is_first = self.tape.last is None
        happened = sum(map(self._take, self._inbox.take()))
        now = perf_counter()
        span = max(now - self._drawn_at, 0.001)
        self._rate += min(1.0, span / 0.5) * (happened / span - self._rate)
        self._drawn_at = now
        if is_first and self.tape.last is not None:
            self._play_at_once()
        self.draw()

    def _take(self, news: News) -> int:
        """Take one piece of news; count what happened in it."""
        if isinstance(news, Status):
            self.status = news
            self.playback.is_all_read |= news.is_end
        elif isinstance(news, Complaint):
            self.tell(news.sentence, is_wrong=True)
            self.recording = "" if news.ends_recording else self.recording
        else:
            self.tape.add(news)
            self.guarded("Looking for news", partial(self._crying().look, news.report))
            return len(news.events)
        return 0

    def _crying(self) -> "Notifier":
        if self._crier is None:
            from zktop.ui.notify import Notifier  # noqa: PLC0415  comes with the first report

            self._crier = Notifier(self)
        return self._crier

    @property
    def moment(self) -> ViewState:
        """What is shown now."""
        playback = self.playback
        return ViewState(
            frame=playback.frame(self.tape),
            status=self.status,
            tape=self.tape,
            feed=self.feed,
            stage=self.stage,
            exports=self.exports,
            subject=self.subject,
            filter=parsed(self.filter_text),
            index=playback.index(self.tape),
            at=playback.moment(self.tape),
            is_paused=playback.is_paused,
            is_playing=playback.is_playing,
            speed=playback.speed,
            is_ascii=self.look.is_ascii,
        )

    def set_refresh(self, rate: int) -> None:
        """Draw so many times a second at most."""
        self.refresh_rate = min(max(rate, LEAST_REFRESH), MOST_REFRESH)
        self.tell(f"At most {self.refresh_rate} pictures a second.")

    def on_show_message(self, message: ShowMessage) -> None:
        """Say something to the user."""
        self.tell(message.sentence, is_wrong=message.is_wrong)

    def tell(self, sentence: str, *, is_wrong: bool = False) -> None:
        """Say something to the user, in a corner."""
        self.notify(sentence, severity="error" if is_wrong else "information", markup=False)

    # Time

    def on_seek_to(self, message: SeekTo) -> None:
        """Look at another moment."""
        at = message.at
        if at is None and message.index is not None and len(self.tape):
            at = self.tape[message.index].at
        self.seek(at)

    def seek(self, at: Millis | None) -> None:
        """Look at a moment; None: at the newest, as it comes."""
        if at is None:
            self.playback.return_to_newest()
        else:
            self.playback.go(self.tape, at)
        self.draw()

    def pause(self, *, on: bool) -> None:
        """Hold the picture, or let it go on; either way everything is collected."""
        if on:
            self.playback.hold(self.tape)
        elif self.feed.is_live:
            self.playback.return_to_newest()
        else:
            self.playback.play(self.tape)
        self.run_clock()

    def run_clock(self) -> None:
        """Have time go on by itself while the past is played."""
        if self._clock is None:
            self._clock = self.set_interval(TICK_S, self._tick, pause=True)
        self._ticked_at = perf_counter()
        if self.playback.is_playing:
            self._clock.resume()
        else:
            self._clock.pause()
        self.draw()

    def _tick(self) -> None:
        before, self._ticked_at = self._ticked_at, perf_counter()
        if self.playback.passed(self.tape, self._ticked_at - before):
            self.draw()
        if not self.playback.is_playing:
            self.run_clock()

    def _play_at_once(self) -> None:
        """Begin to play a recording, where that was asked for."""
        if self.look.speed is not None and not self.feed.is_live:
            self.playback.speed = self.look.speed
            self.playback.play(self.tape)
            self.run_clock()
