"""The time by the wall clock, which never goes back.

Of two facts about one server or about our connection the later one counts. If the wall clock is
set back while zktop runs, a lost connection would not count until the clock has caught up, for an
hour after a step of an hour. So the time then goes on from where it was, at half the pace until
the wall clock has caught up: ages of znodes are differences to the clocks of servers. Meanwhile
waits count half, and rates double. A step forward is followed at once, as after a sleep of the
machine.
"""

import threading
import time
from collections.abc import Callable

from zktop.model.facts import Millis


class WallClock:
    """The wall clock, or a later time if it was set back; any thread may read it."""

    def __init__(
        self,
        wall_ns: Callable[[], int] = time.time_ns,
        steady_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        """Read these clocks; only the first one may be set."""
        self._wall_ns, self._steady_ns = wall_ns, steady_ns
        self._newest_ns, self._read_at_ns = 0, steady_ns()
        self._lock = threading.Lock()

    def now_ms(self) -> Millis:
        """The milliseconds since 1970."""
        with self._lock:
            steady = self._steady_ns()
            passed, self._read_at_ns = steady - self._read_at_ns, steady
            self._newest_ns = max(self._wall_ns(), self._newest_ns + passed // 2)
            return self._newest_ns // 1_000_000


now_ms = WallClock().now_ms  # one for all, so that their times can be compared
