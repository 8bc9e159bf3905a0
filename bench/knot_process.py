"""The UI on one large knot, for `bench.screen`: forty sessions hold and want each other's locks.

`python -m bench.knot_process RATE`: RATE releases a second, until it is stopped.
"""

import sys
from collections.abc import Iterable

from bench.past import Churn
from bench.screen_process import GeneratedFeed, run
from zktop.model.facts import AnyFact

SESSIONS = 40  # with several threads: each holds many locks and waits for many more
FIRST_SESSION = 0x1000000
STEP = 7  # between the places that one session has in neighbouring locks


class Knot(Churn):
    """Locks of the same few sessions; a holder that releases one queues up again at its end."""

    def _session(self, number: int, turn: int) -> int:
        return FIRST_SESSION + (number + STEP * turn) % SESSIONS


class KnotFeed(GeneratedFeed):
    """A feed of a knot, in which holders release at a given rate."""

    def __init__(self, rate: float) -> None:
        super().__init__(0, rate, None, seconds=float("inf"))
        self._knot = Knot()

    def begin(self) -> Iterable[AnyFact]:
        """The knot as first read."""
        return self._knot.begin()

    def changes(self, numbers: range, at: int) -> Iterable[AnyFact]:
        """One release for each number."""
        for _ in numbers:
            yield from self._knot.release(at)


if __name__ == "__main__":
    run(KnotFeed(float(sys.argv[1])))
