"""What moves the user through time: the same while live and in a recording."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from zktop.model.facts import Millis
from zktop.ui.dialogs.time import CompareDialog, SeekDialog

if TYPE_CHECKING:
    from zktop.ui.app import Zktop

NOTHING_YET = "Nothing was read yet."


def _play(app: "Zktop") -> None:
    if app.playback.is_newest:
        app.tell("This is live already: go back first, with [ or t; then space plays from there.")
    elif app.playback.is_playing:
        app.playback.rest()
        app.run_clock()
    else:
        app.playback.play(app.tape)
        app.run_clock()


def _step(app: "Zktop") -> None:
    here = app.playback.moment(app.tape)
    if here is None or app.playback.is_newest:
        app.tell("This is the newest moment.")
        return
    following = app.tape.change_after(here)
    if following is not None:
        app.seek(following)
    elif app.feed.is_live:
        app.seek(None)
    else:
        app.tell("Nothing changes after this.")


def _step_back(app: "Zktop") -> None:
    here = app.playback.moment(app.tape)
    before = app.tape.change_before(here) if here is not None else None
    if before is None:
        app.tell("Nothing is known of before this.")
    else:
        app.seek(before)


def _seconds(by: Millis, app: "Zktop") -> None:
    here, end = app.playback.moment(app.tape), app.tape.end
    if here is None or end is None:
        app.tell(NOTHING_YET)
    elif app.feed.is_live and here + by >= end:
        app.seek(None)
    else:
        app.seek(here + by)


def _speed(app: "Zktop") -> None:
    app.tell(f"A second of yours is {app.playback.next_speed():g} s of the recorded time.")
    app.draw()


def _next_alarm(app: "Zktop") -> None:
    """Go to when something began to be wrong; after the last time, to the first again."""
    here = app.playback.moment(app.tape)
    if here is None:
        app.tell(NOTHING_YET)
        return
    following = app.tape.alarm_after(here)
    if following is None:
        following = app.tape.alarm_after(0)
        if following is not None and following != here:
            app.tell("No alert after this one: this is the first again.")
    if following is None:
        app.tell("No alert in all the time that is kept.")
    else:
        app.seek(following)


def _seek(app: "Zktop") -> None:
    begin, end, here = app.tape.begin, app.tape.end, app.playback.moment(app.tape)
    if begin is None or end is None or here is None:
        app.tell(NOTHING_YET)
        return

    def go(at: Millis | None) -> None:
        if at is not None:
            app.seek(at)

    app.push_screen(SeekDialog(begin, end, here), go)


def _compare(app: "Zktop") -> None:
    frame, newest = app.moment.frame, app.tape.last
    if frame is None or newest is None:
        app.tell(NOTHING_YET)
    elif frame is newest:
        app.tell("This is the newest moment: go back in time to compare with it.")
    else:
        app.push_screen(CompareDialog(frame.report, newest.report))


ACTIONS: "Final[dict[str, Callable[[Zktop], None]]]" = {
    "play": _play,
    "step": _step,
    "step_back": _step_back,
    "second_on": partial(_seconds, 1000),
    "second_back": partial(_seconds, -1000),
    "speed": _speed,
    "next_alarm": _next_alarm,
    "seek": _seek,
    "compare": _compare,
}
