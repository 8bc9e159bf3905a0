"""When much happens: what is waited for together, and how files are waited for."""

import fcntl
import socket

import pytest

from zktop.zk import client
from zktop.zk.client import Storm, ring_log
from zktop.zk.ordered import SMALL, Handler


class Hands:
    """A clock that is moved by hand, and by who sleeps."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept = 0

    def monotonic(self) -> float:
        """Tell the time."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let it pass."""
        self.now += seconds
        self.slept += 1


@pytest.mark.parametrize(("per_s", "rests"), [(100, 0), (1_000, 80), (10_000, 95)])
def test_only_in_a_storm_events_are_let_gather(
    monkeypatch: pytest.MonkeyPatch, per_s: int, rests: int
) -> None:
    """A calm event is never kept waiting; in a storm half the time is for reading them."""
    clock = Hands()
    monkeypatch.setattr(client, "time", clock)
    storm, end = Storm(), clock.now + 1.0
    while clock.now < end:
        clock.now += 1 / per_s
        storm.event()

    assert clock.slept == pytest.approx(rests, abs=5)


@pytest.mark.parametrize("least", [0, SMALL])
def test_kazoo_waits_for_files_of_any_number(least: int) -> None:
    """Also where a process has so many open that not every system call can wait for them."""
    here, there = socket.socketpair()
    with here, there, socket.socket(fileno=fcntl.fcntl(there, fcntl.F_DUPFD, least)) as far:
        handler = Handler(ring_log()[0])
        before = handler.select([far], [], [], 0.0)[0]
        here.send(b"x")

        assert (before, handler.select([far], [], [], 1.0)[0]) == ([], [far])
        assert handler.select([], [far], [], 1.0)[1] == [far]
