"""Print data on stdout and notes on stderr, without characters that a terminal interprets."""

import os
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TextIO

import msgspec

from zktop.model.text import clean

WIDTH = 80
PROGRESS_EVERY_S = 0.5


def put(line: str) -> None:
    _write(clean(line), sys.stdout)


def put_at_once(line: str) -> None:
    """Print a line and flush it."""
    put(line)
    flush()


def put_json(value: object) -> None:
    put_utf8(msgspec.json.format(msgspec.json.encode(value), indent=2))


def put_json_line(value: object) -> None:
    """Print one JSON object as a line, and flush it."""
    put_utf8(msgspec.json.encode(value))
    flush()


def put_utf8(data: bytes) -> None:
    """Write data as UTF-8, whatever the terminal's encoding is, and end the line."""
    flush()
    if sys.stdout:
        sys.stdout.buffer.write(data + b"\n")


def flush() -> None:
    """Flush stdout, for programs that read the output as it is written."""
    if sys.stdout:
        sys.stdout.flush()


def put_table(rows: Iterable[Sequence[str]]) -> None:
    """Print rows in aligned columns."""
    cells = [[clean(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        _write("  ".join(padded).rstrip(), sys.stdout)


def narrate(sentence: str) -> None:
    """Print a note or an error on stderr. Ignore failures to write it."""
    with suppress(OSError):
        for line in sentence.splitlines():
            _write(clean(line), sys.stderr)


class ProgressLine:
    """A progress line on stderr, if stderr is a terminal."""

    def __init__(self) -> None:
        self._is_shown = bool(sys.stderr) and sys.stderr.isatty()
        self._next = time.monotonic() + PROGRESS_EVERY_S
        self._width = 0

    def show(self, progress: str) -> None:
        """Replace the line, at most twice a second."""
        if self._is_shown and time.monotonic() >= self._next:
            self._next = time.monotonic() + PROGRESS_EVERY_S
            self._write(clean(progress).ljust(self._width))
            self._width = len(progress)

    def end(self) -> None:
        """Clear the line."""
        if self._width:
            self._write(" " * self._width + "\r")
            self._width = 0

    def _write(self, line: str) -> None:
        with suppress(OSError):
            sys.stderr.write(f"\r{line}")
            sys.stderr.flush()


def drop_output() -> None:
    """Discard buffered output after the reader has closed the pipe or the disk is full."""
    if sys.stdout:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write(line: str, stream: TextIO | None) -> None:
    """Write a line. The caller or the end of the command flushes it."""
    if stream:  # None if it was closed when Python started
        stream.write(f"{line}\n")
