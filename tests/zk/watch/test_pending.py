"""When znodes come and go fast, they are read when they have lived for a while."""

import pytest

from zktop.zk.watch.pending import UnreadZnodes
from zktop.zk.watch.scope import RootPattern, WatchedRoot

SCOPE = WatchedRoot(RootPattern("/l"), recursive=True, flood_per_s=100)


class Hands:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        """Tell the time."""
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Hands:
    """The only clock that newcomers look at."""
    hands = Hands()
    monkeypatch.setattr("zktop.zk.watch.pending.time", hands)
    return hands


def _storm(newcomers: UnreadZnodes, count: int) -> None:
    for number in range(count):
        newcomers.add(f"/l/{number}", SCOPE)


@pytest.mark.usefixtures("clock")
def test_in_calm_weather_they_are_read_at_once() -> None:
    """Nothing is gained by waiting."""
    newcomers = UnreadZnodes()
    _storm(newcomers, 5)

    assert newcomers.grown_up() == {SCOPE: [f"/l/{number}" for number in range(5)]}
    assert not newcomers
    assert newcomers.wait_s() is None


def test_in_a_storm_they_are_read_when_they_have_grown_up(clock: Hands) -> None:
    """And those that are gone by then are never read."""
    newcomers = UnreadZnodes()
    _storm(newcomers, 30)

    assert newcomers.grown_up() == {}
    assert newcomers.wait_s() == pytest.approx(0.05)
    clock.now += 0.03
    for number in range(28):
        newcomers.forget(f"/l/{number}")
    assert newcomers.grown_up() == {}
    clock.now += 0.03
    assert newcomers.grown_up() == {SCOPE: ["/l/28", "/l/29"]}


def test_after_the_storm_it_is_calm_again(clock: Hands) -> None:
    """A second without one is enough."""
    newcomers = UnreadZnodes()
    _storm(newcomers, 30)
    newcomers.clear()
    clock.now += 1.1
    newcomers.add("/l/later", SCOPE)

    assert newcomers.grown_up() == {SCOPE: ["/l/later"]}


def test_in_a_storm_those_that_have_grown_up_are_read_together(clock: Hands) -> None:
    """One request for each would keep the server's other clients waiting."""
    newcomers = UnreadZnodes()
    requests = 0
    for number in range(1_000):
        newcomers.add(f"/l/{number}", SCOPE)
        clock.now += 0.001
        requests += bool(newcomers.grown_up())

    assert 15 <= requests <= 35
