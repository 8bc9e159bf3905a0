"""When much happens: what is waited for together, and how files are waited for."""

import fcntl
import socket

import pytest

from zktop.zk.connect import client
from zktop.zk.connect.client import BURST_WINDOW_S, CALM_EVENTS, BurstPause, ring_log
from zktop.zk.event_loop import SELECTABLE_FILES, KazooHandler


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


@pytest.mark.parametrize(("per_s", "rests"), [(10, 0), (100, 0), (190, 0), (1_000, 48)])
def test_only_in_a_storm_events_are_let_gather(
    monkeypatch: pytest.MonkeyPatch, per_s: int, rests: int
) -> None:
    """A calm event is never kept waiting; in a storm those that have come are read together."""
    clock = Hands()
    monkeypatch.setattr(client, "time", clock)
    storm, end, told = BurstPause(), clock.now + 1.0, clock.now
    while clock.now < end:
        clock.now = max(clock.now, told + 1 / per_s)
        while told + 1 / per_s <= clock.now:
            told += 1 / per_s
            storm.event()
        storm.rest()

    assert clock.slept == pytest.approx(rests, abs=5)


def test_a_storm_is_over_when_nothing_came_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first event after it is told at once."""
    clock = Hands()
    monkeypatch.setattr(client, "time", clock)
    storm = BurstPause()
    for _ in range(CALM_EVENTS + 1):
        storm.event()
    storm.rest()
    in_storm = clock.slept
    clock.now += 2.5 * BURST_WINDOW_S
    storm.event()
    storm.rest()

    assert (in_storm, clock.slept) == (1, 1)


@pytest.mark.parametrize("least", [0, SELECTABLE_FILES])
def test_kazoo_waits_for_files_of_any_number(least: int) -> None:
    """Also where a process has so many open that not every system call can wait for them."""
    here, there = socket.socketpair()
    with here, there, socket.socket(fileno=fcntl.fcntl(there, fcntl.F_DUPFD, least)) as far:
        handler = KazooHandler(ring_log()[0])
        before = handler.select([far], [], [], 0.0)[0]
        here.send(b"x")

        assert (before, handler.select([far], [], [], 1.0)[0]) == ([], [far])
        assert handler.select([], [far], [], 1.0)[1] == [far]
