"""Quantiles and histograms of the newest samples."""

import pytest

from zktop.model.history.duration_samples import (
    MAX_SAMPLES,
    MIN_SAMPLES,
    NO_DURATIONS,
    Durations,
    DurationSamples,
)


def taken(*samples: int) -> Durations:
    """The durations after these samples."""
    watch = DurationSamples()
    for sample in samples:
        watch.add(sample, is_exact=True)
    return watch.durations


def test_too_few_samples_make_no_quantile() -> None:
    """Nineteen are too few, twenty are enough."""
    assert taken(*range(MIN_SAMPLES - 1)).median is None
    assert taken(*range(MIN_SAMPLES)).median == 9


@pytest.mark.parametrize(("share", "expected"), [(0.0, 1), (0.5, 50), (0.99, 99), (1.0, 100)])
def test_quantiles(share: float, expected: int) -> None:
    """Of the numbers from one to a hundred, in any order."""
    assert taken(*range(100, 0, -1)).quantile(share) == expected


def test_the_newest_stay() -> None:
    """The ring forgets the oldest sample first."""
    durations = taken(*range(MAX_SAMPLES + 3))

    assert (min(durations.samples), max(durations.samples)) == (3, MAX_SAMPLES + 2)
    assert durations.count == MAX_SAMPLES + 3


def test_of_equal_samples_only_the_oldest_is_forgotten() -> None:
    """The others still count, in ascending order."""
    durations = taken(7, 7, *range(100, 100 + MAX_SAMPLES - 2), 5)

    assert list(durations.samples) == [5, 7, *range(100, 100 + MAX_SAMPLES - 2)]


def test_buckets_grow_by_four() -> None:
    """Each bucket ends before its upper bound."""
    durations = taken(9, 10, 39, 40, 160, 640, 2_560, 10_240, 40_959, 40_960, 10**12, -5)

    assert durations.buckets == (2, 2, 1, 1, 1, 1, 2, 2)


def test_a_lower_bound_is_no_sample() -> None:
    """A hold whose begin was not observed is counted, not averaged."""
    watch = DurationSamples()
    watch.add(5_000, is_exact=False)

    assert (watch.durations.count, watch.durations.at_least) == (0, 1)
    assert DurationSamples().durations is NO_DURATIONS


def test_handed_out_durations_do_not_change() -> None:
    """The stopwatch goes on with a copy of its own."""
    watch = DurationSamples()
    watch.add(1, is_exact=True)
    before = watch.durations
    watch.add(2, is_exact=True)

    assert list(before.samples) == [1]
