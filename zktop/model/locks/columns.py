"""Names of one shape, cut into columns: many at one go, for each by itself takes far longer.

A first reading meets tens of thousands of names, nearly all made in the same way: something fixed,
a token of the client, something fixed, and the number that the server appends.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from struct import Struct
from typing import Final

import msgspec

HEX: Final = b"h" * 32  # tokens; `h` stands for a digit of sixteen
UUID: Final = b"hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh"
_DIGITS_AS_H: Final = bytes.maketrans(b"0123456789abcdefh", b"hhhhhhhhhhhhhhhh?")
_NUMBER: Final = 10  # characters
_RUN: Final = 64  # names that are cut together

Shape = tuple[bytes, ...]  # what is before the number: fixed text, and a token at most


class Columns(msgspec.Struct, frozen=True, gc=False):
    """The parts of many names, in their order."""

    tokens: list[bytes]  # none where such names have none
    numbers: list[int]


def length(shape: Shape) -> int:
    """Count the characters of each name."""
    return sum(map(len, shape)) + _NUMBER


def columns(shape: Shape, names: Sequence[str]) -> Columns | None:
    """Give the parts of these names, if all are of this shape and their numbers below a billion.

    >>> columns((b"lock-",), ["lock-0000000007", "lock-0000000012"]).numbers
    [7, 12]
    """
    number, size = len(names), length(shape) + 1
    text = ("\n".join(names) + "\n").encode()
    if len(text) != number * size:
        return None
    parts: list[bytes] = []
    for begin in range(0, number, _RUN):
        parts += _cutter(shape, min(_RUN, number - begin))(text, begin * size)
    step = len(shape) + 1
    numbers, tokens = parts[step - 1 :: step], []
    for place, field in enumerate(shape):
        column = parts[place::step]
        if field not in (HEX, UUID):
            fits = column.count(field) == number
        else:
            fits = b"".join(column).translate(_DIGITS_AS_H) == field * number
            tokens = column
        if not fits:
            return None
    return Columns(tokens, list(map(int, numbers))) if _are_numbers(numbers) else None


def _are_numbers(texts: Sequence[bytes]) -> bool:
    """Tell whether these are digits alone, the first of each a 0: all clients agree on those."""
    text = b"".join(texts)
    return text.isdigit() and text[::_NUMBER].count(b"0") == len(texts)


@lru_cache(maxsize=512)
def _cutter(shape: Shape, number: int) -> Callable[[bytes, int], tuple[bytes, ...]]:
    """Give what cuts so many names at once, each with an end of line behind it."""
    fields = "".join([f"{len(field)}s" for field in shape])
    return Struct(f"{fields}{_NUMBER}sx" * number).unpack_from
