"""A wall clock that never goes back.

Of two facts about one server, or about our connection, the later one counts. If the clock were
set back by an hour, a lost connection would go unnoticed for an hour. So the time continues from
where it was, at half speed until the wall clock has caught up. It must catch up, because ages of
znodes are computed from the clocks of servers. Meanwhile waits appear half as long, and rates
twice as high. A step forward is followed at once, as after the machine has slept.
"""

import threading
import time
from collections.abc import Callable

from zktop.model.facts import Millis


class WallClock:
    """The wall clock, or a later time if it was set back. Thread-safe."""

    def __init__(
        self,
        wall_ns: Callable[[], int] = time.time_ns,
        steady_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        """Read these two clocks. Only the wall clock may be set while zktop runs."""
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


now_ms = WallClock().now_ms  # shared, so that all times can be compared
