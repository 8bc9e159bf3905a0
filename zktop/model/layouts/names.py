"""Names of contenders: the numbers that a server appends, and the patterns that find them.

A server prints its signed 32-bit counter ten characters wide, so -1 reads `-000000001`. A pattern
says `{SEQ}` for that, `{U36}` for a uuid with dashes and `{H32}` for 32 hexadecimal digits.
`{SEQ}` accepts nothing that no counter can have reached: in `lock-2147483648` the dash must be a
minus sign, and the name ends before it.
"""

import re
from collections.abc import Callable
from functools import lru_cache

import msgspec

from zktop.model.layouts.layout import Layout, Mode

SMALLEST, LARGEST = -(1 << 31), (1 << 31) - 1

# Two billion and something, digit by digit: either the digit is smaller than that of the limit
# and the rest is free, or it is the same and the next one decides.
_TAIL = r"{0}(?:0\d{{8}}|1(?:[0-3]\d{{7}}|4(?:[0-6]\d{{6}}|7(?:[0-3]\d{{5}}|4(?:[0-7]\d{{4}}"
_TAIL += r"|8(?:[0-2]\d{{3}}|3(?:[0-5]\d{{2}}|6(?:[0-3]\d|4[0-{1}]))))))))"
_POSITIVE = r"[01]\d{9}|" + _TAIL.format("2", 7)
_NEGATIVE = r"-\d{9}|-1\d{9}|-" + _TAIL.format("2", 8)

MACROS = {
    "{SEQ}": f"(?P<seq>{_POSITIVE}|{_NEGATIVE})",
    "{U36}": r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    "{H32}": r"[0-9a-f]{32}",
}


# The same without the limits: quick to compile. What it finds within them, `{SEQ}` finds too.
_ANY_NUMBER = r"(?P<seq>[0-2]\d{9}|-\d{9}|-[12]\d{9})"


class Name(msgspec.Struct, frozen=True, gc=False):
    """What a layout reads in the name of a node."""

    mode: Mode
    sequence: int | None
    id: str | None
    group: str


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a layout's pattern; digits are ASCII digits, and `$` is the very end."""
    for macro, expansion in MACROS.items():
        pattern = pattern.replace(macro, expansion)
    return re.compile(pattern, re.ASCII)


# A compiled pattern, and the numbers of its groups (sequence, mode, id, name); 0: it has none.
_Reader = tuple[Callable[[str], re.Match[str] | None], int, int, int, int]


@lru_cache(maxsize=1024)
def _reader(pattern: str, *, exact: bool) -> _Reader:
    expression = compiled(pattern if exact else pattern.replace("{SEQ}", _ANY_NUMBER))
    number = expression.groupindex.get
    return (
        expression.fullmatch,
        number("seq", 0),
        number("mode", 0),
        number("id", 0),
        number("name", 0),
    )


def read(layout: Layout, name: str) -> Name | None:
    """Read a node's name; None when the layout's clients would not have written it.

    >>> lock = Layout(name="plain", pattern="^lock-{SEQ}$")
    >>> read(lock, "lock-0000000007").sequence, read(lock, "lock--000000001").sequence
    (7, -1)
    >>> read(lock, "lock-2147483648") is None
    True
    """
    found = _read(layout, name, _reader(layout.pattern, exact=False))
    if found is None or _is_possible(found.sequence):
        return found
    found = _read(layout, name, _reader(layout.pattern, exact=True))
    return found if found is None or _is_possible(found.sequence) else None


def _read(layout: Layout, name: str, reader: _Reader) -> Name | None:
    fullmatch, seq, mode, id_, group = reader
    found = fullmatch(name)
    if found is None:
        return None
    said = layout.mode
    if layout.modes:
        meant = layout.modes.get((found[mode] if mode else None) or "")
        if meant is None:
            return None
        said = meant
    digits = found[seq] if seq else None
    try:
        sequence = None if digits is None else int(digits)
    except ValueError:  # a user's pattern may let anything in
        return None
    return Name(said, sequence, found[id_] if id_ else None, found[group] or "" if group else "")


def _is_possible(sequence: int | None) -> bool:
    return sequence is None or SMALLEST <= sequence <= LARGEST


def written(sequence: int) -> str:
    """Write a number as the server does.

    >>> written(7), written(-5), written(-2147483648)
    ('0000000007', '-000000005', '-2147483648')
    """
    return f"{sequence:010d}"
