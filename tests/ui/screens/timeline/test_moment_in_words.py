"""The words for a moment whose report is not in memory any more: from tracks alone."""

import pytest
from ui.example_past import BEGIN, A, B
from ui.past.test_playback import tape

from zktop.model.text import Text
from zktop.ui.screens.timeline.moment_in_words import (
    Moment,
    alert_words,
    group_words,
    lock_words,
    session_words,
)


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
