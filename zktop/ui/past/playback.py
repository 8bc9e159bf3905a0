"""The moment on display: the newest, or an earlier one, paused or playing.

The caller passes in the elapsed time. There is no clock here, so a test can play an hour at once.
"""

from typing import Final

from zktop.model.facts import Millis
from zktop.ui.interfaces import Frame
from zktop.ui.past.tape import Tape

SPEEDS: Final = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 0.25, 0.5)


class Playback:
    """A moment on the tape; `at` is None while it follows the newest frame."""

    def __init__(self, *, is_live: bool = True, at: Millis | None = None) -> None:
        """Start at the newest moment. A recording starts at `at`, or else at its first alert."""
        self.at = at
        self.is_live = is_live
        self.is_playing = False
        self.is_all_read = is_live  # the tape reaches to the end of the recording
        self.speed = 1.0
        self._held: Frame | None = None  # the paused frame, even if the tape does not store it
        self._shown: Frame | None = None  # the last frame from the past

    @property
    def is_newest(self) -> bool:
        """Whether new frames are shown as they arrive."""
        return self.is_live and self.at is None

    @property
    def is_paused(self) -> bool:
        """Whether the display is paused. Going back in a live run does not pause it."""
        return self._held is not None if self.is_live else not self.is_playing

    def frame(self, tape: Tape) -> Frame | None:
        """Return the frame to show. Until the right one is unpacked, that is an earlier one."""
        if self._held is not None:
            return self._held
        at = self.at
        if at is None and not self.is_live:
            at = _start(tape)
        if at is None:
            return tape.last
        self._shown = tape.frame_at(at) or self._shown or tape.last
        return self._shown

    def moment(self, tape: Tape) -> Millis | None:
        if self.at is not None:
            end = tape.end
            return min(self.at, end) if end is not None and self.is_all_read else self.at
        return tape.end if self.is_live else _start(tape)

    def hold(self, tape: Tape) -> None:
        """Pause at the frame on display."""
        self.is_playing = False
        frame = self.frame(tape)
        if self.is_live and frame is not None:
            self._held, self.at = frame, frame.at

    def go(self, tape: Tape, at: Millis) -> None:
        """Go to a moment between the beginning and the end of the tape, and stop there."""
        self.is_playing, self._held = False, None
        self._set_moment(tape, at)

    def play(self, tape: Tape) -> None:
        """Play from here. At the end of a recording, play from its beginning."""
        if self.at is None and self.is_live:
            return
        self._held, end = None, tape.end
        if not self.is_live and self.at is not None and end is not None and self.at >= end:
            self.at = tape.begin
        self.is_playing = True

    def stop(self) -> None:
        self.is_playing = False

    def return_to_newest(self) -> None:
        """Follow the newest frame again."""
        self.at, self._held, self.is_playing = None, None, False

    def next_speed(self) -> float:
        """Go to the next faster speed. After the fastest comes the slowest."""
        at = SPEEDS.index(self.speed) if self.speed in SPEEDS else -1
        self.speed = SPEEDS[(at + 1) % len(SPEEDS)]
        return self.speed

    def advance(self, tape: Tape, seconds: float) -> bool:
        """Advance while playing; return whether the moment has changed."""
        begin, end = tape.begin, tape.end
        if not self.is_playing or begin is None or end is None:
            return False
        before = self.moment(tape)
        self._set_moment(tape, (before or begin) + round(1000 * seconds * self.speed))
        if self.at is not None and self.at >= end and self.is_all_read:
            self._arrive()
        return before != self.moment(tape)

    def _arrive(self) -> None:
        """Stop at the end. In a live run, follow the newest frame."""
        self.is_playing = False
        if self.is_live:
            self.at = None

    def _set_moment(self, tape: Tape, at: Millis) -> None:
        begin, end = tape.begin, tape.end
        if begin is not None and end is not None:
            self.at = min(max(at, begin), end)


def _start(tape: Tape) -> Millis | None:
    """Return the moment at which a recording opens: its first alert, or else its beginning."""
    return tape.begin if tape.first_alarm is None else tape.first_alarm
