"""A row of blocks: how long a queue was, second by second, in a few cells."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from zktop.model.facts import Millis

BLOCKS: Final = "▁▂▃▄▅▆▇█"
SPARK_ASCII: Final = "_.:-=+*#"
LEAST: Final = 8  # what a full block stands for at least: a queue of one must not look full
SECOND_MS = 1000
ALIKE: Final = 256  # queues of quiet locks look the same, row for row and second for second


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
    span = max(1, -(-len(seconds) // width))
    first = now // SECOND_MS - len(seconds) + 1
    begun = -(first % span)  # the oldest span began before the first second that is known
    return _drawn(tuple(seconds), span, begun, width, SPARK_ASCII if is_ascii else BLOCKS)


@lru_cache(ALIKE)
def _drawn(seconds: tuple[int | None, ...], span: int, begun: int, width: int, levels: str) -> str:
    spans = [seconds[max(0, at) : at + span] for at in range(begun, len(seconds), span)]
    longest = [_most(some) if None in some else max(some) for some in spans[-width:]]  # type: ignore[type-var]  # no None is left
    top, steps = max([LEAST, *filter(None, longest)]), len(levels) - 1
    signs = [" " if one is None else levels[-(-one * steps // top)] for one in longest]
    return "".join(signs).rjust(width)


def _most(queues: Sequence[int | None]) -> int | None:
    return max((queue for queue in queues if queue is not None), default=None)
