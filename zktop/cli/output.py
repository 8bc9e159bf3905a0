"""What is printed: data on stdout, narration on stderr, and nothing that a terminal would obey."""

import os
import sys
from collections.abc import Iterable, Sequence
from typing import TextIO

WIDTH = 80


def put(line: str) -> None:
    """Print one line of data."""
    _write(_clean(line))


def put_json(value: object) -> None:
    """Print one object of data, for people who look at it too."""
    import msgspec  # noqa: PLC0415  --help needs none

    _write_utf8(msgspec.json.format(msgspec.json.encode(value), indent=2))


def put_json_line(value: object) -> None:
    """Print one object in one line, now."""
    import msgspec  # noqa: PLC0415  --help needs none

    _write_utf8(msgspec.json.encode(value))
    if sys.stdout:
        sys.stdout.flush()


def put_folded(text: str, indent: int) -> None:
    """Print one long text of data in lines that fit."""
    for line in folded(_clean(text), WIDTH - indent):
        _write(" " * indent + line)


def put_table(rows: Iterable[Sequence[str]]) -> None:
    """Print rows in columns that line up; the last one is as long as it likes."""
    cells = [[_clean(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        _write("  ".join(padded).rstrip())


def narrate(sentence: str) -> None:
    """Say something on stderr, each line cleaned."""
    for line in sentence.splitlines():
        _write(_clean(line), sys.stderr)


def folded(text: str, width: int) -> list[str]:
    """Cut a text into lines, after a space where there is one.

    >>> folded("kazoo: Lock, WriteLock", 14), folded("^lock-(?P<seq>", 8)
    (['kazoo: Lock,', 'WriteLock'], ['^lock-(?', 'P<seq>'])
    """
    lines = []
    while len(text) > width:
        cut = text.rfind(" ", 1, width + 1)
        end = cut if cut > 0 else width
        lines.append(text[:end])
        text = text[end:].lstrip()
    return [*lines, text]


def drop_output() -> None:
    """Let what is still to be flushed go nowhere: nobody reads it any more."""
    if sys.stdout:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _clean(text: str) -> str:
    from zktop.model.text import clean  # noqa: PLC0415  --help needs none

    return clean(text)


def _write_utf8(data: bytes) -> None:
    """JSON is UTF-8, whatever else the terminal expects."""
    if sys.stdout:
        sys.stdout.flush()
        sys.stdout.buffer.write(data + b"\n")


def _write(line: str, stream: TextIO | None = None) -> None:
    """Leave flushing to the end of the command, or to whoever prints a stream of lines."""
    stream = stream or sys.stdout
    if stream:  # it may be closed
        stream.write(f"{line}\n")
