"""The clock of all facts: it goes on when the wall clock is set back."""

from zktop.zk.wall_clock import WallClock

HOUR_NS = 3600 * 10**9


class Clocks:
    """A wall clock that can be set, and one that cannot."""

    def __init__(self) -> None:
        self.wall_ns, self.steady_ns = 1_000 * HOUR_NS, HOUR_NS
        self.now_ms = WallClock(lambda: self.wall_ns, lambda: self.steady_ns).now_ms

    def pass_s(self, seconds: int, *, set_by_ns: int = 0) -> int:
        """Let time pass, and set the wall clock; return by how many ms our time has moved."""
        before = self.now_ms()
        self.steady_ns += seconds * 10**9
        self.wall_ns += seconds * 10**9 + set_by_ns
        return self.now_ms() - before


def test_it_shows_the_wall_clock() -> None:
    """In milliseconds since 1970."""
    clocks = Clocks()

    assert clocks.now_ms() == clocks.wall_ns // 10**6


def test_a_clock_that_is_set_back_hides_no_later_fact() -> None:
    """A connection that is lost afterwards is lost later than it was made."""
    clocks = Clocks()

    assert clocks.pass_s(5, set_by_ns=-HOUR_NS) == 2_500
    assert clocks.pass_s(2) == 1_000


def test_a_clock_that_was_set_back_catches_up() -> None:
    """An hour back is right again after two: ages are wrong no longer than that."""
    clocks = Clocks()
    clocks.pass_s(0, set_by_ns=-HOUR_NS)
    clocks.pass_s(7_199)

    assert clocks.now_ms() > clocks.wall_ns // 10**6
    assert clocks.pass_s(2) == 1_500
    assert clocks.now_ms() == clocks.wall_ns // 10**6


def test_a_clock_that_is_read_often_goes_on() -> None:
    """Half of a moment is more than nothing."""
    clocks = Clocks()
    clocks.pass_s(0, set_by_ns=-HOUR_NS)
    before = clocks.now_ms()
    for _ in range(1_000):
        clocks.steady_ns += 10_000
        clocks.now_ms()

    assert clocks.now_ms() == before + 5


def test_a_step_forward_is_followed() -> None:
    """Also after one back: a machine that slept shows how long."""
    clocks = Clocks()
    clocks.pass_s(1, set_by_ns=-HOUR_NS)

    assert clocks.pass_s(1, set_by_ns=2 * HOUR_NS) == HOUR_NS // 10**6 + 1_500
    assert clocks.now_ms() == clocks.wall_ns // 10**6
