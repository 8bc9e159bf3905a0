"""A row of blocks: how long a queue was, second by second, in a few cells."""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from zktop.model.facts import Millis

BLOCKS: Final = "▁▂▃▄▅▆▇█"
SIGNS: Final = "_.:-=+*#"
LEAST: Final = 8  # what a full block stands for at least: a queue of one must not look full
SECOND_MS: Final = 1000


def sparkline(
    seconds: Sequence[int | None], now: Millis, width: int, *, is_ascii: bool = False
) -> str:
    """Draw the longest queue of each span; a blank where nobody looked.

    A span begins at a fixed time of day, so that what is past stays as it was drawn.

    >>> sparkline([None] * 30 + [0] * 10 + [4] * 10 + [8] * 10, 59_000, 6)
    '   ▁▅█'
    >>> sparkline([None] * 30 + [0] * 10 + [4] * 10 + [8] * 10, 59_000, 6, is_ascii=True)
    '   _=#'
    """
    levels = SIGNS if is_ascii else BLOCKS
    span = max(1, -(-len(seconds) // width))
    last = now // SECOND_MS
    first = last - len(seconds) + 1
    spans = groupby(enumerate(seconds, start=first), key=lambda pair: pair[0] // span)
    longest = [_most([queue for _, queue in some]) for _, some in spans][-width:]
    top = max(LEAST, *(one or 0 for one in longest))
    return "".join(_sign(one, top, levels) for one in longest).rjust(width)


def _most(queues: Sequence[int | None]) -> int | None:
    return max((queue for queue in queues if queue is not None), default=None)


def _sign(queue: int | None, top: int, levels: str) -> str:
    if queue is None:
        return " "
    steps = len(levels) - 1
    return levels[-(-queue * steps // top)]
