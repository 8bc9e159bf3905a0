"""The middle of a few whole numbers.

The standard library's way loads decimal fractions, which take longer to load than a small
ensemble takes to read.
"""

from collections.abc import Collection


def median(samples: Collection[int]) -> int:
    """Give the middle one, or the rounded mean of the two in the middle.

    >>> median([30, 10, 20]), median([10_000, 10_200])
    (20, 10100)
    """
    ordered = sorted(samples)
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return round((low + high) / 2)
