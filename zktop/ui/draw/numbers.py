"""Numbers as people read them."""

from typing import Final

from zktop.model.facts import Millis

BLOCKED_CELLS: Final = 9  # of a column of blocked seconds
MANY: Final = 100  # millions


def grouped(number: int) -> str:
    """Write a number so that its size is seen.

    >>> grouped(9998), grouped(28)
    ('9 998', '28')
    """
    return f"{number:,}".replace(",", " ")


def blocked_seconds(ms: Millis, bound: str = "") -> str:
    """Write what several waited together; what does not fit is told in millions, not cut.

    >>> blocked_seconds(9_998_700), blocked_seconds(12_345_678_000), blocked_seconds(0)
    ('9 998', '12.3M', '0')
    >>> blocked_seconds(1_234_567_000), blocked_seconds(1_234_567_000, "≥")
    ('1 234 567', '≥1.2M')
    """
    seconds = ms // 1000
    told = f"{bound}{grouped(seconds)}"
    if len(told) <= BLOCKED_CELLS:
        return told
    millions = seconds / 1_000_000
    return f"{bound}{millions:.1f}M" if millions < MANY else f"{bound}{millions:.0f}M"
