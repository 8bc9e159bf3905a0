"""How often a live run looks: at most 20 times a second, and once a second if nothing changes."""

LOOKS_PER_S = 20
BURST_LOOKS = 9  # looks that may follow each other immediately after a quiet time
BURST_S = (BURST_LOOKS - 1) / LOOKS_PER_S
CPU_SHARE = 1 / 15  # of a core, at most, spent on slow looks; drawing them takes as much again
SLOWEST_S = 3 / LOOKS_PER_S  # between two slow looks
QUIET_S = 1.0  # between two looks if nothing happens, because verdicts depend on time
BEHIND_S = 1 / LOOKS_PER_S  # the same if examinations are overdue


class LookPace:
    """Decides when to look next: a token bucket.

    After a quiet time, a few looks may follow their events immediately. Under load, looks settle
    at LOOKS_PER_S, or at a third of that if they are slow.

    >>> pace = LookPace()
    >>> for _ in range(BURST_LOOKS):
    ...     pace.looked(began=5.0, cpu_s=0.0)
    >>> round(pace.earliest(), 3), pace.latest(is_behind=False)
    (5.05, 6.0)
    """

    def __init__(self) -> None:
        self._began = 0.0
        self._paid_until = 0.0

    def looked(self, began: float, cpu_s: float) -> None:
        """Record when a look began, and the processor time it took if there were new facts."""
        cost = min(max(1 / LOOKS_PER_S, cpu_s / CPU_SHARE), SLOWEST_S)
        self._paid_until = min(max(self._paid_until, began), began + BURST_S) + cost
        self._began = began

    def earliest(self) -> float:
        """Return the earliest time at which new facts may cause a look."""
        return self._paid_until - BURST_S

    def latest(self, *, is_behind: bool) -> float:
        """Return the time of the next look if there are no new facts."""
        return self._began + (BEHIND_S if is_behind else QUIET_S)

    def reading_first_until(self, now: float) -> float:
        """Return until when reading comes first: for as long as the last look and its use took."""
        return now + min(QUIET_S, now - self._began)
