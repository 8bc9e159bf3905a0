"""How long one lock was held, or waited for: the newest durations, with quantiles and buckets."""

from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from math import ceil
from typing import Final

import msgspec
from msgspec.structs import replace

MAX_SAMPLES: Final = 512
MIN_SAMPLES: Final = 20  # with fewer, there are no quantiles
# Upper ends; one more bucket counts all longer durations.
BUCKETS_MS: Final = (10, 40, 160, 640, 2_560, 10_240, 40_960)
MAX_DURATION_MS: Final = 0xFFFF_FFFF  # fifty days, in four bytes


class Durations(msgspec.Struct, frozen=True, eq=False):
    """The newest durations in milliseconds, and how many there were in all."""

    samples: Sequence[int] = ()  # in ascending order
    count: int = 0
    at_least: int = 0  # number of durations whose beginning was not observed

    @property
    def median(self) -> int | None:
        """The median; None while there are too few samples."""
        return self.quantile(0.5)

    @property
    def p99(self) -> int | None:
        """The 99th percentile; None while there are too few samples."""
        return self.quantile(0.99)

    @property
    def buckets(self) -> tuple[int, ...]:
        """The number of samples in each bucket; the last one counts those above all BUCKETS_MS."""
        ends = [bisect_right(self.samples, upper - 1) for upper in BUCKETS_MS]
        starts = [0, *ends]
        return tuple(
            end - start for start, end in zip(starts, [*ends, len(self.samples)], strict=True)
        )

    def quantile(self, share: float) -> int | None:
        """The smallest sample that at least this share of all samples does not exceed."""
        known = len(self.samples)
        if known < MIN_SAMPLES:
            return None
        return self.samples[max(0, ceil(share * known) - 1)]


NO_DURATIONS: Final = Durations()


class DurationSamples:
    """Collects durations. `durations` has the newest ones, and is replaced with each addition.

    They are kept in order: sorting 512 of them at each change of a busy lock would take longer
    than anything else that is done for the change.
    """

    __slots__ = ("_ring", "durations")

    def __init__(self) -> None:
        self._ring = array("I")  # the samples in order of arrival
        self.durations = NO_DURATIONS

    def add(self, duration_ms: int, *, is_exact: bool) -> None:
        """Add a duration, or only count it if it is a lower bound."""
        known = self.durations
        if not is_exact:
            self.durations = replace(known, at_least=known.at_least + 1)
            return
        sample = min(max(0, duration_ms), MAX_DURATION_MS)
        samples = array("I", known.samples)
        if len(self._ring) < MAX_SAMPLES:
            self._ring.append(sample)
        else:
            oldest = known.count % MAX_SAMPLES
            del samples[bisect_left(samples, self._ring[oldest])]
            self._ring[oldest] = sample
        insort(samples, sample)
        self.durations = Durations(samples, known.count + 1, known.at_least)
