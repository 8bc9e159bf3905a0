"""Drawings beside each other, where there is room for two columns."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from zktop.ui.ink import Line, Run, fitted

GAP = 3


def beside(left: Sequence[Line], right: Sequence[Line], left_width: int) -> list[Line]:
    """Put two drawings beside each other; the left one gets so many cells.

    >>> from zktop.ui.ink import line, text_of
    >>> [text_of(one) for one in beside([line("ab")], [line("c"), line("d")], 4)]
    ['ab     c', '       d']
    """
    return [
        (*fitted(one, left_width), Run(" " * GAP), *other)
        for one, other in zip_longest(left, right, fillvalue=())
    ]


def stacked(parts: Iterable[Sequence[Line]]) -> list[Line]:
    """Put drawings below each other, with an empty line between those that are there."""
    lines: list[Line] = []
    for part in parts:
        if part and lines:
            lines.append(())
        lines += part
    return lines
