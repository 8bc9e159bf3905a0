"""Sizes of measurements: full ones, or small ones that only show that a measurement runs."""

import os
from typing import TypeVar

T = TypeVar("T")

SHORT = "ZKTOP_BENCH_SHORT"  # in the environment, for the processes that a measurement starts


def size(full: T, short: T) -> T:
    """Choose the full or the short size."""
    return short if SHORT in os.environ else full
