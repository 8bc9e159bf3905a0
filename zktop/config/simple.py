"""The simple part of YAML: keys and one-line values, mappings in mappings, comments.

Themes and most config files are no more than that, and to import a YAML reader takes longer than
all the rest of reading them. Whatever is not simple beyond doubt is left to the YAML reader; what
is read here is read as it would be there.
"""

import re
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from zktop.config.tree import Mapping, Origin, Scalar, Tree

LARGEST = 16 * 1024  # bytes
SIMPLE_DEPTH = 8  # levels
_BLANK = r" *(?:#[ -~]*)?"
_PLAIN = "[A-Za-z0-9/][A-Za-z0-9_./;,()@%+'-]*(?: [A-Za-z0-9_./;,()@%+'-]+)*"
_LINE = (
    r"(?P<indent> *)(?P<key>[A-Za-z][A-Za-z0-9_-]{0,99}):"
    rf"(?: +(?:(?P<plain>{_PLAIN})|\"(?P<double>[ !#-\[\]-~]*)\"|'(?P<single>[ -&(-~]*)'))?"
    r"(?: +#[ -~]*| *)"
)


class _Line(NamedTuple):
    indent: int
    key: Scalar
    value: Scalar | None  # None: a mapping follows


class _NotSimpleError(Exception):
    """The YAML reader has to have a look."""


def simple(data: bytes, name: str) -> Mapping | None:
    """Read a simple file; None: it is none, or there is nothing in it."""
    if len(data) > LARGEST or not data.isascii():
        return None
    try:
        lines = deque(_lines(data.decode(), name))
        return _mapping(lines, 0, 1) if lines else None
    except _NotSimpleError:
        return None


def _lines(text: str, name: str) -> Iterator[_Line]:
    for number, line in enumerate(text.split("\n"), start=1):
        if re.fullmatch(_BLANK, line):
            continue
        match = re.fullmatch(_LINE, line)
        if match is None:
            raise _NotSimpleError
        origin = Origin(name, number)
        texts = [text for text in match.group("plain", "double", "single") if text is not None]
        plain = match["plain"] is not None
        value = Scalar(texts[0], plain=plain, origin=origin) if texts else None
        yield _Line(len(match["indent"]), Scalar(match["key"], plain=True, origin=origin), value)


def _mapping(lines: deque[_Line], indent: int, depth: int) -> Mapping:
    """Take the lines that begin here, and all that belong to them."""
    pairs: list[tuple[Scalar, Tree]] = []
    while lines and lines[0].indent == indent:
        _, key, value = lines.popleft()
        if value is None and lines and lines[0].indent > indent and depth < SIMPLE_DEPTH:
            pairs.append((key, _mapping(lines, lines[0].indent, depth + 1)))
        elif value is not None:
            pairs.append((key, value))
        else:
            raise _NotSimpleError
    if not pairs or (lines and lines[0].indent > indent) or (lines and depth == 1):
        raise _NotSimpleError
    return Mapping(tuple(pairs), pairs[0][0].origin)
