"""The request budget: an upper limit on the requests in any one second."""

import threading
import time
from collections.abc import Callable

SAVED_S = 0.05  # share of a second's budget that may be sent at once
SHORTEST_WAIT_S = 0.01  # a shorter timer only costs CPU
WHOLE_TOKEN = 1.0 - 1e-6  # tolerance for sums of floats


class RequestBudget:
    """Thread-safe token bucket.

    After a pause, a twentieth of the budget may be sent at once and the rest follows evenly, so
    no second exceeds the budget.
    """

    def __init__(self, per_second: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._saved_at_most = max(1.0, per_second * SAVED_S)
        self._per_s = per_second * (1 - SAVED_S)
        self._clock = clock
        self._saved, self._counted_at = self._saved_at_most, clock()
        self._lock = threading.Lock()

    def wait_s(self) -> float:
        """Take a token and return 0, or return the seconds until there is one."""
        with self._lock:
            now = self._clock()
            earned = (now - self._counted_at) * self._per_s
            self._saved = min(self._saved_at_most, self._saved + earned)
            self._counted_at = now
            if self._saved < WHOLE_TOKEN:
                return max(SHORTEST_WAIT_S, (1.0 - self._saved) / self._per_s)
            self._saved -= 1.0
            return 0.0
