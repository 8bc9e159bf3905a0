"""How long one lock was held, or waited for: the newest durations, with quantiles and buckets."""

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from math import ceil
from typing import Final

import msgspec

MAX_SAMPLES: Final = 512
MIN_SAMPLES: Final = 20  # for a quantile
# Upper ends; one more bucket has all above.
BUCKETS_MS: Final = (10, 40, 160, 640, 2_560, 10_240, 40_960)
MAX_DURATION_MS: Final = 0xFFFF_FFFF  # fifty days, in four bytes


class Durations(msgspec.Struct, frozen=True, eq=False, dict=True):
    """The newest durations in milliseconds, and how many there were in all."""

    samples: Sequence[int] = ()
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
        """The number of samples in each bucket; the last one has those above all of BUCKETS_MS."""
        ends = [bisect_right(self._sorted, upper - 1) for upper in BUCKETS_MS]
        starts = [0, *ends]
        return tuple(
            end - start for start, end in zip(starts, [*ends, len(self.samples)], strict=True)
        )

    def quantile(self, share: float) -> int | None:
        """The smallest sample that at least this share of all does not exceed."""
        known = len(self.samples)
        if known < MIN_SAMPLES:
            return None
        return self._sorted[max(0, ceil(share * known) - 1)]

    @cached_property
    def _sorted(self) -> list[int]:
        return sorted(self.samples)


NO_DURATIONS: Final = Durations()


class DurationSamples:
    """Collects durations; `durations` is a frozen copy."""

    __slots__ = ("_at_least", "_count", "_samples")

    def __init__(self) -> None:
        self._samples = array("I")
        self._count = self._at_least = 0

    def add(self, duration_ms: int, *, is_exact: bool) -> None:
        """Add a duration, or only count it if it is a lower bound."""
        if not is_exact:
            self._at_least += 1
            return
        sample = min(max(0, duration_ms), MAX_DURATION_MS)
        if len(self._samples) < MAX_SAMPLES:
            self._samples.append(sample)
        else:
            self._samples[self._count % MAX_SAMPLES] = sample
        self._count += 1

    @property
    def durations(self) -> Durations:
        if not self._count and not self._at_least:
            return NO_DURATIONS
        return Durations(self._samples[:], self._count, self._at_least)
