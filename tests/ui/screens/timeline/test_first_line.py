"""The words for a moment whose report is not in memory any more: from tracks alone."""

import pytest
from msgspec.structs import replace
from output.stories import facts, settings
from ui.example_past import BEGIN, A, B, past
from ui.fake_feed import app_of, frames
from ui.past.test_playback import tape

from zktop.model.text import Text
from zktop.ui.interfaces import Status
from zktop.ui.past.tape import Tape
from zktop.ui.screens.timeline.first_line import (
    Moment,
    alert_words,
    group_words,
    lock_words,
    overview,
    session_words,
)
from zktop.ui.screens.timeline.time_axis import latest
from zktop.ui.styled_text import text_of


def moment(after_ms: int) -> Moment:
    """A moment of the past with the deadlock, without its report."""
    return Moment(BEGIN + after_ms, tape().tracks, None)


@pytest.mark.parametrize(
    ("after_ms", "alerts", "lock", "client"),
    [
        (0, "no critical problem", "/locks/y does not exist", "B uses no lock"),
        (5_000, "1 critical problem", "/locks/y held by B; 1 client waiting",
         "B holds a lock and waits for a lock: likely deadlock"),
        (20_000, "no critical problem", "/locks/y held by A", "B uses no lock"),
    ],
)  # fmt: skip
def test_says_what_tracks_know(after_ms: int, alerts: str, lock: str, client: str) -> None:
    """How many problems there were, the holder of a lock, and what a client did."""
    then = moment(after_ms)

    assert alert_words(then) == alerts
    assert lock_words(then, Text("/locks/y")).replace(then.tracks.name(B), "B") == lock
    assert session_words(then, "B", B) == client


def test_says_how_many_of_a_group_wait() -> None:
    """Each of them may both hold and wait."""
    assert group_words(moment(5_000), "g", (A, B)) == "g: 2 holding, 2 waiting"
    assert group_words(moment(20_000), "g", (A, B)) == "g: 1 holding, 1 idle"


def test_a_confirmed_deadlock_is_said_before_a_likely_one() -> None:
    """A session may be in both."""
    made = Tape()
    for frame in past():
        both = [
            replace(dead, confidence=sure, id=f"{dead.id}{sure}")
            for dead in frame.report.deadlocks
            for sure in ("C2", "C4")
        ]
        made.add(replace(frame, report=replace(frame.report, deadlocks=tuple(both))))

    assert session_words(Moment(BEGIN + 5_000, made.tracks, None), "B", B).endswith(": deadlock")


def test_several_holders_need_not_have_leases() -> None:
    """One client may hold a lock for reading and for writing."""
    story = "P sem(2): A C"
    made = Tape()
    for frame in frames((BEGIN, facts(story, at=BEGIN)), settings=settings(story)):
        made.add(frame)

    then = Moment(BEGIN, made.tracks, None)
    assert lock_words(then, Text("/locks/p")) == "/locks/p held by 2 holders"


def test_all_waiters_of_a_long_queue_are_counted() -> None:
    """The first three have names."""
    frame = frames((BEGIN, facts("X x: A " + " ".join(f"W{n}" for n in range(70)), at=BEGIN)))[0]
    then = Moment(BEGIN, tape().tracks, frame.report)

    said = lock_words(then, Text("/locks/x"))
    assert said == "/locks/x held by A; 70 clients waiting: W0, W1, W2 and 67 more"


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("live", "LIVE"),
        ("read-only", "LIVE"),
        *((word, "LAST KNOWN STATE") for word in ("lost", "failed", "connecting", "reading")),
    ],
)
def test_without_a_connection_nothing_is_live(word: str, says: str) -> None:
    """Also while zktop connects again."""
    film = past()
    app = app_of(*film)
    state = replace(app.view_state, frame=film[-1], status=Status(word))

    assert text_of(overview(state, latest(BEGIN, 1_000, 10))).startswith(f" {says} ")
