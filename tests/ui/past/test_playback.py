"""Playback: it has no clock, so a test plays an hour at once."""

import pytest
from ui.example_past import BEGIN, past

from zktop.ui.past.memory_limits import TapeLimits
from zktop.ui.past.playback import SPEEDS, Playback
from zktop.ui.past.tape import Tape

END = BEGIN + 21_000


def tape(limits: TapeLimits | None = None) -> Tape:
    """The tape of the past with the deadlock."""
    made = Tape(limits)
    for frame in past():
        made.add(frame)
    return made


def test_live_is_at_the_newest_moment() -> None:
    """New frames are shown as they arrive."""
    playback = Playback()

    assert playback.is_newest
    assert playback.frame(tape()) is not None
    assert playback.moment(tape()) == END


def test_a_recording_opens_at_its_first_alert() -> None:
    """It shows the frame of that moment, not the last frame that was read so far."""
    playback, known = Playback(is_live=False), tape()
    frame = playback.frame(known)

    assert playback.moment(known) == BEGIN + 2_000
    assert frame is not None
    assert frame.at == BEGIN + 2_000
    assert not playback.is_newest


def test_a_recording_without_alerts_opens_at_its_beginning() -> None:
    """There is no better moment."""
    playback, calm = Playback(is_live=False), Tape()
    calm.add(past()[0])

    assert playback.moment(calm) == BEGIN


def test_a_recording_opens_at_the_moment_that_was_asked_for() -> None:
    """Even if it has an alert."""
    assert Playback(is_live=False, at=BEGIN + 500).moment(tape()) == BEGIN + 500


@pytest.mark.parametrize(
    ("wanted", "got"), [(BEGIN - 1, BEGIN), (END + 9, END), (END - 7, END - 7)]
)
def test_playback_stays_on_the_tape(wanted: int, got: int) -> None:
    """A moment before the beginning is the beginning, one beyond the end is the end."""
    playback, known = Playback(), tape()

    playback.go(known, wanted)

    assert playback.moment(known) == got


def test_time_passes_at_the_speed_that_was_chosen() -> None:
    """Two seconds at speed 4 are eight seconds on the tape."""
    playback, known = Playback(is_live=False), tape()
    playback.speed = 4.0
    playback.play(known)

    playback.advance(known, 2.0)

    assert playback.moment(known) == BEGIN + 2_000 + 8_000
    assert playback.is_playing


def test_a_recording_stops_at_its_end() -> None:
    """It does not start over, and is not called live."""
    playback, known = Playback(is_live=False), tape()
    playback.is_all_read = True
    playback.play(known)

    playback.advance(known, 1_000.0)

    assert (playback.moment(known), playback.is_playing, playback.is_newest) == (END, False, False)


def test_playing_waits_for_frames_not_read_yet() -> None:
    """When the file is read more slowly than it is played, playing continues with new frames."""
    playback, known = Playback(is_live=False), tape()
    playback.play(known)

    playback.advance(known, 1_000.0)

    assert playback.is_playing


def test_playing_the_past_ends_in_the_present() -> None:
    """In a live run, playing up to now follows the newest frame again."""
    playback, known = Playback(), tape()
    playback.go(known, BEGIN)
    playback.play(known)

    playback.advance(known, 1_000.0)

    assert playback.is_newest


def test_a_pause_keeps_exactly_this_frame() -> None:
    """Even a frame that the tape does not store."""
    playback, known = Playback(), tape()
    shown = known.last

    playback.hold(known)
    known.add(past()[-1])

    assert playback.frame(known) is shown
    assert playback.is_paused


def test_after_the_fastest_comes_the_slowest() -> None:
    """The speeds wrap around."""
    playback = Playback()

    found = [playback.next_speed() for _ in SPEEDS]

    assert found == [2, 4, 8, 16, 32, 64, 0.25, 0.5, 1]
