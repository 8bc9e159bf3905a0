"""The budget for requests: in no second are there more than it says."""

import threading
import time
from collections.abc import Callable

SAVED_S = 0.05  # so much of a second's budget may go at once
SHORTEST_WAIT_S = 0.01  # to wake up sooner would only cost processor time
A_WHOLE_ONE = 1.0 - 1e-6  # sums of fractions are not exact


class Pace:
    """Counts requests out; any thread may ask, and each one waits in its own way.

    A twentieth of the budget may be sent at once after a pause, and the rest comes evenly, so
    that the two together are never more than the budget, wherever a second begins.
    """

    def __init__(self, per_second: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._saved_at_most = max(1.0, per_second * SAVED_S)
        self._per_s = per_second * (1 - SAVED_S)
        self._clock = clock
        self._saved, self._counted = self._saved_at_most, clock()
        self._lock = threading.Lock()

    def wait_s(self) -> float:
        """Take one and give 0, or give the seconds until there is one to take."""
        with self._lock:
            now = self._clock()
            earned = (now - self._counted) * self._per_s
            self._saved = min(self._saved_at_most, self._saved + earned)
            self._counted = now
            if self._saved < A_WHOLE_ONE:
                return max(SHORTEST_WAIT_S, (1.0 - self._saved) / self._per_s)
            self._saved -= 1.0
            return 0.0
