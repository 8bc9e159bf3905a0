"""In a fast churn, new znodes are read only after they have lived for a while."""

import pytest

from zktop.zk.watch.pending_reads import UnreadZnodes
from zktop.zk.watch.root_pattern import RootPattern
from zktop.zk.watch.watched_roots import WatchedRoot

SCOPE = WatchedRoot(RootPattern("/l"), recursive=True, flood_per_s=100)


class ManualClock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        """The time that the test has set."""
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> ManualClock:
    """Replaces the clock of the pending reads."""
    manual = ManualClock()
    monkeypatch.setattr("zktop.zk.watch.pending_reads.time", manual)
    return manual


def _arrivals(unread: UnreadZnodes, count: int) -> None:
    for number in range(count):
        unread.add(f"/l/{number}", SCOPE)


@pytest.mark.usefixtures("clock")
def test_few_arrivals_are_read_at_once() -> None:
    """A delay would gain nothing."""
    unread = UnreadZnodes()
    _arrivals(unread, 5)

    assert unread.take_due() == {SCOPE: [f"/l/{number}" for number in range(5)]}
    assert not unread
    assert unread.wait_s() is None


def test_many_arrivals_are_read_after_a_delay(clock: ManualClock) -> None:
    """Znodes that are gone by then are never read."""
    unread = UnreadZnodes()
    _arrivals(unread, 30)

    assert unread.take_due() == {}
    assert unread.wait_s() == pytest.approx(0.05)
    clock.now += 0.03
    for number in range(28):
        unread.forget(f"/l/{number}")
    assert unread.take_due() == {}
    clock.now += 0.03
    assert unread.take_due() == {SCOPE: ["/l/28", "/l/29"]}


def test_the_delay_ends_after_a_quiet_second(clock: ManualClock) -> None:
    """After a quiet second, arrivals are read at once again."""
    unread = UnreadZnodes()
    _arrivals(unread, 30)
    unread.clear()
    clock.now += 1.1
    unread.add("/l/later", SCOPE)

    assert unread.take_due() == {SCOPE: ["/l/later"]}


def test_delayed_arrivals_are_read_together(clock: ManualClock) -> None:
    """One request for each would keep the server's other clients waiting."""
    unread = UnreadZnodes()
    requests = 0
    for number in range(1_000):
        unread.add(f"/l/{number}", SCOPE)
        clock.now += 0.001
        requests += bool(unread.take_due())

    assert 15 <= requests <= 35
