"""Median, 99th percentile and maximum of durations, some of which are only lower bounds.

A lower bound counts as if it were the duration, so a quantile is never too large. A quantile is
exact if it would stay the same no matter how long these durations were.
"""

from array import array
from collections.abc import Iterable
from math import ceil
from typing import Final

import msgspec

from zktop.model.facts import Millis
from zktop.model.history.events import Elapsed

QUANTILES: Final = (0.5, 0.99, 1.0)


class Spread(msgspec.Struct, frozen=True, gc=False):
    """How long something took; None if it never happened."""

    number: int = 0
    p50: Elapsed | None = None
    p99: Elapsed | None = None
    longest: Elapsed | None = None


class DurationTally:
    """Collects durations."""

    __slots__ = ("bounds", "exact")

    def __init__(self) -> None:
        self.exact = array("q")
        self.bounds = array("q")  # lower bounds of durations

    def add(self, elapsed: Elapsed, *, is_over: bool = True) -> None:
        """Add a duration; one that is not over is a lower bound."""
        is_exact = is_over and elapsed.bound == "exact"
        (self.exact if is_exact else self.bounds).append(elapsed.ms)

    def extend(self, other: "DurationTally") -> None:
        self.exact.extend(other.exact)
        self.bounds.extend(other.bounds)

    def spread(self, unfinished: Iterable[Millis]) -> Spread:
        """Summarise the durations, and the present lengths of unfinished ones."""
        return spread_of(self.exact, [*self.bounds, *unfinished])


def spread_of(exact: Iterable[Millis], bounds: Iterable[Millis]) -> Spread:
    """Summarise durations and lower bounds of durations.

    >>> spread_of([10, 20, 30], [25]).p50, spread_of([10, 20, 30], [5]).p50
    (Elapsed(ms=20, bound='exact'), Elapsed(ms=10, bound='at-least'))
    >>> spread_of([10, 20, 30], [25]).longest
    Elapsed(ms=30, bound='at-least')
    """
    known = sorted(exact)
    samples = sorted([*known, *bounds])

    def quantile(share: float) -> Elapsed:
        place = max(0, ceil(share * len(samples)) - 1)
        # If the lower bounds were infinite, the same place of `known` would be the quantile.
        is_exact = place < len(known) and known[place] == samples[place]
        return Elapsed(samples[place], "exact" if is_exact else "at-least")

    return Spread(len(samples), *map(quantile, QUANTILES)) if samples else Spread()
