"""The time by the wall clock, which never goes back.

Of two facts about one server or about our connection the later one counts. If the wall clock is
set back while zktop runs, a lost connection would not count until the clock has caught up, for an
hour after a step of an hour. So the time then goes on from where it was. A step forward is
followed at once, as after a sleep of the machine.
"""

import time
from collections.abc import Callable

from zktop.model.facts import Millis


class WallClock:
    """The wall clock, or what it would show if it had not been set back."""

    def __init__(
        self,
        wall_ns: Callable[[], int] = time.time_ns,
        steady_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        """Read these clocks; only the first one may be set."""
        self._wall_ns, self._steady_ns = wall_ns, steady_ns
        self._ahead_ns = 0  # of the wall clock before the other one; it only grows

    def now_ms(self) -> Millis:
        """The milliseconds since 1970."""
        steady = self._steady_ns()
        self._ahead_ns = max(self._ahead_ns, self._wall_ns() - steady)
        return (steady + self._ahead_ns) // 1_000_000


now_ms = WallClock().now_ms  # one for all, so that their times can be compared
