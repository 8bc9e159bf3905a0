"""Moving through time, live or in a recording."""

from functools import partial
from time import perf_counter

from textual.timer import Timer

from zktop.model.facts import Millis
from zktop.ui.actions.on_a_thread import items_on_a_thread, on_a_thread
from zktop.ui.dialogs.accounts import AccountsDialog, accounts_of
from zktop.ui.dialogs.compare import CompareDialog, ComparedMoment
from zktop.ui.dialogs.question import SeekDialog
from zktop.ui.interfaces import Frame
from zktop.ui.messages import SeekTo
from zktop.ui.past.tape import Tape
from zktop.ui.shell import Shell
from zktop.ui.view_state import TimeRange

TICK_S = 0.05  # the time between two drawings during playback
NO_DATA = "No data yet."


class TimeActions(Shell):
    """Pause, playback, steps, seek, and comparison of two moments."""

    _clock: Timer | None = None  # ticks during playback
    _ticked_at = 0.0
    _is_unpacking = False

    def on_seek_to(self, message: SeekTo) -> None:
        """Show a moment. At the end of a live run, follow the newest one."""
        end = self.tape.end
        is_newest = self.feed.is_live and end is not None and message.at >= end
        self.seek(None if is_newest else message.at)

    def draw(self) -> None:
        """Draw the current moment. Rebuild its report if it was packed."""
        super().draw()
        if self.visit.is_unpacking and not self._is_unpacking:
            self._is_unpacking = True
            self.run_worker(self._unpack(self.visit.tape), group="past")

    async def _unpack(self, tape: Tape) -> None:
        """Rebuild the report of the current moment on a thread; `draw` asks for further ones."""
        at, last, limit = self.playback.moment(tape), tape.last, tape.in_memory_from
        try:
            if at is not None and last is not None:
                make = partial(tape.archive.unpacked, at, last.report.settings)
                tape.put_unpacked(await on_a_thread(make), limit)
        except Exception as error:  # noqa: BLE001  the newest moment can still be shown
            self.failed("Unpacking the past", error)
            self._leave_the_past(tape)
        finally:
            self._is_unpacking = False
        self.draw()

    def _leave_the_past(self, tape: Tape) -> None:
        if self.feed.is_live:
            self.playback.return_to_newest()
        else:
            self.playback.go(tape, tape.end or 0)

    def after_first_report(self) -> None:
        """Start the playback of a recording if the command line asks for it."""
        if self.settings.speed is not None and not self.feed.is_live:
            self.playback.speed = self.settings.speed
            self.playback.at = self.playback.at or self.tape.begin
            self.playback.play(self.tape)
            self.run_clock()

    def run_clock(self) -> None:
        """Start or stop the playback timer, then draw."""
        if self._clock is None:
            self._clock = self.set_interval(TICK_S, self._tick, pause=True)
        self._ticked_at = perf_counter()
        if self.playback.is_playing:
            self._clock.resume()
        else:
            self._clock.pause()
        self.draw()

    def _tick(self) -> None:
        if self.is_leaving or not self.is_running:
            return  # the widgets may be gone
        last_tick_s, self._ticked_at = self._ticked_at, perf_counter()
        if self.playback.advance(self.tape, self._ticked_at - last_tick_s):
            self.draw()
        if not self.playback.is_playing:
            self.run_clock()

    def action_pause(self) -> None:
        """Pause the display or playback. When pressed again, return to live or play on."""
        playback, is_live = self.playback, self.feed.is_live
        is_moving = playback.is_newest if is_live else playback.is_playing
        if is_moving:
            playback.hold(self.tape)
        elif is_live:
            playback.return_to_newest()
        else:
            playback.play(self.tape)
        self.run_clock()

    def action_play(self) -> None:
        if self.playback.is_newest:
            back, seek, play = map(self.key_of, ("step_back", "seek", "play"))
            hint = f"Go back with {back} or {seek}, then press {play} to play."
            self.show_message(f"This is live. {hint}")
            return
        if self.playback.is_playing:
            self.playback.stop()
        else:
            self.playback.play(self.tape)
        self.run_clock()

    def action_step(self) -> None:
        """Go to the next change. After the last one, go to live."""
        here = self.playback.moment(self.tape)
        if here is None or self.playback.is_newest:
            self.show_message("This is the newest moment.")
            return
        following = self.tape.change_after(here)
        if following is not None:
            self.seek(following)
        elif self.feed.is_live:
            self.seek(None)
        else:
            self.show_message("No later changes.")

    def action_step_back(self) -> None:
        here = self.playback.moment(self.tape)
        previous_change = self.tape.change_before(here) if here is not None else None
        if previous_change is None:
            self.show_message("No earlier changes.")
        else:
            self.seek(previous_change)

    def action_second_on(self) -> None:
        self._go_by(1000)

    def action_second_back(self) -> None:
        self._go_by(-1000)

    def _go_by(self, by: Millis) -> None:
        here, end = self.playback.moment(self.tape), self.tape.end
        if here is None or end is None:
            self.show_message(NO_DATA)
        elif self.feed.is_live and here + by >= end:
            self.seek(None)
        else:
            self.seek(here + by)

    def action_speed(self) -> None:
        self.show_message(f"Playback speed: {self.playback.next_speed():g}x")
        self.draw()

    def action_next_alert_in_time(self) -> None:
        """Go to the time of the next alert. After the last one comes the first."""
        here = self.playback.moment(self.tape)
        if here is None:
            self.show_message(NO_DATA)
            return
        following = self.tape.alarm_after(here)
        if following is None:
            following = self.tape.alarm_after(0)
            if following is not None and following != here:
                self.show_message("No later alerts. This is the first one.")
        if following is None:
            self.show_message("No alerts in the recorded time.")
        else:
            self.seek(following)

    def action_seek(self) -> None:
        begin, end, here = self.tape.begin, self.tape.end, self.playback.moment(self.tape)
        if begin is None or end is None or here is None:
            self.show_message(NO_DATA)
        else:
            self.ask(SeekDialog(begin, end, here), self.seek)

    def action_compare(self) -> None:
        """Compare the cursor with the mark, or with the newest moment if there is no mark."""
        self.run_worker(self._compare(), exclusive=True, group="compare")

    async def _compare(self) -> None:
        frame, newest, at = self.view_state.frame, self.tape.last, self.view_state.at
        if self.view_state.is_unpacking and at is not None:
            frame = await self._frame_at(at)  # the displayed frame belongs to another moment
        mark = self.page.mark if self.page is not None else None
        marked = await self._frame_at(mark) if mark is not None else None
        if frame is None or newest is None or at is None:
            self.show_message(NO_DATA)
            return
        here = ComparedMoment("cursor", at, frame.report)
        if mark is not None and marked is not None and mark != at:
            self.push_screen(CompareDialog(ComparedMoment("mark", mark, marked.report), here))
        elif not self.feed.is_live:
            mark_key, compare_key = map(self.key_of, ("mark", "compare"))
            hint = f"go to another one, then compare them with {compare_key}."
            self.show_message(f"Mark a moment with {mark_key}, {hint}")
        elif frame is newest:
            self.show_message("This is the newest moment. Go back in time to compare with it.")
        else:
            now = ComparedMoment("now", newest.at, newest.report)
            self.push_screen(CompareDialog(here, now))

    async def _frame_at(self, at: Millis) -> Frame | None:
        """Return the frame shown at a moment. If it was packed, rebuild it on a thread."""
        frame = self.tape.frame_at(at)
        if frame is not None or self.tape.last is None:
            return frame
        reports = self.tape.reports(at, at)
        report = await on_a_thread(partial(next, reports, None))
        return Frame(report) if report is not None else None

    def action_accounts(self) -> None:
        """Show who made others wait between the mark and the cursor, or in the time in view."""
        period = self.page.marked_range if self.page is not None else None
        if period is None:
            self.show_message(NO_DATA)
            return
        self.run_worker(self._show_accounts(period), exclusive=True, group="accounts")

    async def _show_accounts(self, period: TimeRange) -> None:
        """Add up on a thread: with thousands of locks it takes a second."""
        begin = max(period.begin, self.tape.begin or 0)
        reports = self.tape.reports(begin, period.end)
        add_up = partial(accounts_of, since=begin, until=period.end)
        accounts = await items_on_a_thread(reports, add_up)
        last = self.tape.last
        expired = last.report.expiries if last is not None else ()
        is_packed = begin < (self.tape.in_memory_from or 0)
        self.push_screen(AccountsDialog(accounts, expired, is_packed=is_packed))
