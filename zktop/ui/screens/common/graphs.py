"""Graphs made of text: areas of braille dots with a gradient, sparklines, and bars.

A cell of braille is two dots wide and four high, so an area shows two values in each cell.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import Final

from zktop.model.facts import SECOND_MS, Millis
from zktop.ui.inks import Ink
from zktop.ui.styled_text import Line, Run

CELL_DOTS: Final = 4  # from the bottom of a cell to its top
LEFT_DOTS: Final = (0x00, 0x40, 0x44, 0x46, 0x47)  # the lowest 0 to 4 dots of a column
RIGHT_DOTS: Final = (0x00, 0x80, 0xA0, 0xB0, 0xB8)
BRAILLE: Final = 0x2800
BAR: Final = "▏▎▍▌▋▊▉█"
MIN_TOP: Final = 4  # at least this many clients fill a column, so that one does not look like many
HEAT: Final[tuple[Ink, ...]] = ("medium", "warm", "hot", "high")  # for graphs in which high is bad
MIN_SPARK_TOP: Final = 8  # at least this many waiters fill a column; one waiter does not
SPARK_INKS: Final[tuple[Ink, ...]] = ("dim", "dim", "medium", "medium", "high")  # for 0 to 4 dots
MAX_CACHED: Final = 256  # most locks have the same queue: none


def area(
    values: Sequence[float | None],
    width: int,
    *,
    height: int = 1,
    top: float,
    inks: Sequence[Ink] = ("plain",),
) -> list[Line]:
    """Draw values as an area, the newest at the right edge. Unknown values leave gaps.

    `top` is the value of a full column. The inks go from the lowest to the highest dots.

    >>> from zktop.ui.styled_text import text_of
    >>> text_of(area([0, 1, 2, 3, 4, 4], 4, top=4)[0])
    ' ⢀⣴⣿'
    >>> text_of(area([1, None, 4, 4], 2, top=4)[0])
    '⡀⣿'
    """
    shown: list[float | None] = list(values[-2 * width :]) if width else []
    shown[:0] = [None] * (2 * width - len(shown))
    total = CELL_DOTS * height
    levels = [_level(value, top, total) for value in shown]
    return [_row(levels, CELL_DOTS * row, total, inks) for row in reversed(range(height))]


def _level(value: float | None, top: float, total: int) -> int:
    """Return the number of dots in a column. Any value above zero has at least one."""
    if not value:
        return 0
    return max(1, min(total, round(value / top * total)))


def _row(levels: Sequence[int], below: int, total: int, inks: Sequence[Ink]) -> Line:
    """Return one line of an area, `below` dots above its base."""
    drawn: list[tuple[Ink, str]] = []
    for left, right in zip(levels[::2], levels[1::2], strict=True):
        most = max(left, right)
        ink = inks[max(0, min(most, below + CELL_DOTS) - 1) * len(inks) // total]
        drawn.append((ink, _cell(left - below, right - below)))
    return _grouped(drawn)


def _cell(left: int, right: int) -> str:
    left, right = max(0, min(CELL_DOTS, left)), max(0, min(CELL_DOTS, right))
    return chr(BRAILLE + LEFT_DOTS[left] + RIGHT_DOTS[right]) if left or right else " "


def sparkline(seconds: Sequence[int | None], now: Millis, width: int) -> Line:
    """Draw the longest queue in each span of time: a dot for 0, a blank if it is unknown.

    Spans begin at fixed times of day, so that past columns do not change.

    >>> from zktop.ui.styled_text import text_of
    >>> queue = [None] * 30 + [0] * 10 + [4] * 10 + [8] * 10
    >>> text_of(sparkline(queue, 59_000, 6))
    '   ⣀⣤⣿'
    """
    span = max(1, -(-len(seconds) // (2 * width)))
    first = now // SECOND_MS - len(seconds) + 1
    begun = -(first % span)  # the oldest span begins before the first known second
    return _sparkline(tuple(seconds), span, begun, width)


@lru_cache(MAX_CACHED)
def _sparkline(seconds: tuple[int | None, ...], span: int, begun: int, width: int) -> Line:
    spans = [seconds[max(0, at) : at + span] for at in range(begun, len(seconds), span)]
    known = ([waiters for waiters in queue if waiters is not None] for queue in spans)
    longest = [max(queue, default=None) for queue in known]
    longest = [*[None] * (2 * width - len(longest)), *longest[-2 * width :]]
    top = max([MIN_SPARK_TOP, *filter(None, longest)])
    dots = [_spark_dots(waiters, top) for waiters in longest]
    drawn = [
        (SPARK_INKS[max(left, right)], _cell(left, right))
        for left, right in zip(dots[::2], dots[1::2], strict=True)
    ]
    return _grouped(drawn)


def _spark_dots(waiters: int | None, top: int) -> int:
    """Return the dots of a column: none if unknown, one for no waiters, else two or more."""
    if waiters is None:
        return 0
    return max(2, -(-CELL_DOTS * waiters // top)) if waiters else 1


def _grouped(drawn: Sequence[tuple[Ink, str]]) -> Line:
    """Join cells to a line. Neighbours with the same ink are one run."""
    return tuple(
        Run("".join(text for _, text in cells), ink)
        for ink, cells in groupby(drawn, key=lambda cell: cell[0])
    )


def bar(value: float, top: float, width: int, *, is_ascii: bool = False) -> str:
    """Draw a number as a bar. Any value above zero is visible.

    >>> bar(1, 2, 4), bar(0, 2, 4), bar(0.01, 2, 4), bar(1, 2, 4, is_ascii=True)
    ('██  ', '    ', '▏   ', '##  ')
    """
    steps = 1 if is_ascii else len(BAR)
    eighths = min(steps * width, round(value / top * steps * width)) if top > 0 else 0
    if value > 0:
        eighths = max(1, eighths)
    full, rest = divmod(eighths, steps)
    if is_ascii:
        return ("#" * full).ljust(width)
    return (BAR[-1] * full + (BAR[rest - 1] if rest else "")).ljust(width)
