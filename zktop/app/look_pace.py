"""When to look for the next report: in a live run, and in an import of logs.

A live run looks at most 20 times a second on average, and once a second if nothing changes. An
import looks at each transaction that changes a lock, or every 50 ms if there are many. While
nothing changes, its looks become rarer.
"""

from typing import Final

from zktop.model.facts import DAY_MS, HOUR_MS, MINUTE_MS, Millis

LOOKS_PER_S = 20
BURST_LOOKS = 9  # looks that may follow each other immediately after a quiet time
BURST_S = (BURST_LOOKS - 1) / LOOKS_PER_S
CPU_SHARE = 1 / 15  # of a core for slow looks, until these are SLOWEST_S apart
SLOWEST_S = 3 / LOOKS_PER_S  # the longest pause between two slow looks
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
        """Return until when to read before the next look: as long as the last one kept us busy."""
        return now + min(QUIET_S, now - self._began)


LOOK_EVERY_MS: Millis = 50  # on average, while many locks change
MAX_SAVED_LOOKS: Final = 200  # while little changes
# When to look after a change: soon, then every minute, then every hour for a week.
REST_MS: Final[tuple[Millis, ...]] = (
    *(1_000, 2_000, 5_000, 10_000, 20_000, 30_000),
    *range(MINUTE_MS, HOUR_MS, MINUTE_MS),
    *range(HOUR_MS, 7 * DAY_MS + 1, HOUR_MS),
)


class ImportPace:
    """Decides when an import looks: as soon as a transaction is later than `due`.

    >>> pace = ImportPace()
    >>> pace.changed(at=HOUR_MS)  # after an hour, there are enough looks left for this one
    >>> pace.due == HOUR_MS
    True
    >>> pace.looked(at=HOUR_MS)
    >>> pace.due - HOUR_MS
    1000
    """

    def __init__(self) -> None:
        self.due: Millis = 0
        self._looks_left: float = MAX_SAVED_LOOKS
        self._earned_at: Millis = 0  # the time up to which looks are counted as earned
        self._looked_at: Millis = 0  # time of the look after the last change
        self._rests = 0  # looks since then

    def changed(self, at: Millis) -> None:
        """Schedule the look at a first change: at once if looks are left, else later."""
        earned = (at - self._earned_at) / LOOK_EVERY_MS
        self._looks_left, self._earned_at = min(self._looks_left + earned, MAX_SAVED_LOOKS), at
        self.due = at + int(max(0, 1 - self._looks_left) * LOOK_EVERY_MS)

    def spend(self) -> None:
        """Use up one look. A look that must come before the next change of a lock is free."""
        self._looks_left -= 1

    def looked(self, at: Millis) -> None:
        """Rest after a look at changes."""
        self._looked_at, self._rests, self.due = at, 0, at + REST_MS[0]

    def rested(self) -> None:
        """Rest longer after a look at no change."""
        self._rests += 1
        self.due = self._looked_at + rest_ms(self._rests)


def rest_ms(number: int) -> Millis:
    """Return how long after a change to look for the nth time.

    After a week, this doubles each time: a damaged record may be dated a million years ahead.

    >>> [rest_ms(number) / HOUR_MS for number in (64, 65, 66, 232, 233, 234)]
    [0.9833333333333333, 1.0, 2.0, 168.0, 336.0, 672.0]
    """
    doublings = max(0, number + 1 - len(REST_MS))
    return REST_MS[number - doublings] << doublings
