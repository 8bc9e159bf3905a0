"""How long something usually takes: the newest samples, their quantiles and their histogram."""

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from math import ceil
from typing import Final

import msgspec

KEPT: Final = 512
ENOUGH: Final = 20  # samples; fewer make no quantile
BUCKETS_MS: Final = (10, 40, 160, 640, 2_560, 10_240, 40_960)  # upper ends; then "more"
LONGEST_MS: Final = 0xFFFF_FFFF  # fifty days, in four bytes


class Durations(msgspec.Struct, frozen=True, eq=False, dict=True):
    """The newest samples in milliseconds, and how many there were in all."""

    samples: Sequence[int] = ()
    count: int = 0
    at_least: int = 0  # how many more ended whose beginning nobody saw

    @property
    def newest(self) -> int | None:
        """The last sample."""
        return self.samples[(self.count - 1) % KEPT] if self.count else None

    @property
    def h50(self) -> int | None:
        """The median; None while there are too few samples."""
        return self.quantile(0.5)

    @property
    def h99(self) -> int | None:
        """The 99th percentile; None while there are too few samples."""
        return self.quantile(0.99)

    @property
    def buckets(self) -> tuple[int, ...]:
        """How many samples are below 10 ms, 40 ms, ... 41 s, and above that."""
        ends = [bisect_right(self._sorted, end - 1) for end in BUCKETS_MS]
        starts = [0, *ends]
        return tuple(b - a for a, b in zip(starts, [*ends, len(self.samples)], strict=True))

    def quantile(self, share: float) -> int | None:
        """Give the smallest sample that at least this share of them does not exceed."""
        known = len(self.samples)
        if known < ENOUGH:
            return None
        return self._sorted[max(0, ceil(share * known) - 1)]

    @cached_property
    def _sorted(self) -> list[int]:
        return sorted(self.samples)


NO_DURATIONS: Final = Durations()


class Stopwatch:
    """A growing collection of durations; it changes, its `durations` do not."""

    __slots__ = ("_at_least", "_count", "_samples")

    def __init__(self) -> None:
        self._samples = array("I")
        self._count = self._at_least = 0

    def add(self, duration_ms: int, *, is_exact: bool) -> None:
        """Take note of one duration; of one that is only a lower bound, that it was."""
        if not is_exact:
            self._at_least += 1
            return
        sample = min(max(0, duration_ms), LONGEST_MS)
        if len(self._samples) < KEPT:
            self._samples.append(sample)
        else:
            self._samples[self._count % KEPT] = sample
        self._count += 1

    @property
    def durations(self) -> Durations:
        """What was collected up to now."""
        if not self._count and not self._at_least:
            return NO_DURATIONS
        return Durations(self._samples[:], self._count, self._at_least)
