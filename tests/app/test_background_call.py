"""A call on another thread, and how its end is waited for."""

import threading

import pytest

from zktop.app.live_run import BackgroundCall
from zktop.errors import NoConnectionError


def test_is_under_way_before_anybody_waits() -> None:
    """Who sends somebody on an errand can do something else meanwhile."""
    sent, done = threading.Event(), threading.Event()

    def call() -> None:
        sent.set()
        done.wait()

    errand = BackgroundCall(call)
    was_sent = sent.wait(60)
    done.set()
    errand.wait()

    assert was_sent


def test_fails_where_it_is_waited_for() -> None:
    """The error of the call is the error of whoever waits for it."""

    def call() -> None:
        raise NoConnectionError("Nobody is there.")

    errand = BackgroundCall(call)

    with pytest.raises(NoConnectionError, match="Nobody is there"):
        errand.wait()
