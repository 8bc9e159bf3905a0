"""Two fixes for the terminal: a driver that survives its closing, and ASCII output.

Textual writes in a thread with a queue of 30 entries. When the terminal is closed, the thread ends
and the next write blocks for ever. A closed terminal also sends SIGCONT to its processes, on which
Textual would start a second thread.
"""

import re
import unicodedata
from typing import IO, Any, Final, cast

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual.color import Color
from textual.drivers.linux_driver import LinuxDriver
from textual.filter import LineFilter


class TerminalFile:
    """The terminal as a file. The first write error closes it; later writes are discarded."""

    def __init__(self, file: IO[str] | None) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write, or discard the text."""
        if self._file is not None:
            try:
                return self._file.write(text)
            except OSError:
                self._file = None
        return len(text)

    def flush(self) -> None:
        """Flush, if the terminal is open."""
        if self._file is not None:
            try:
                self._file.flush()
            except OSError:
                self._file = None


class TerminalDriver(LinuxDriver):
    """Textual's driver for Linux, for terminals that are closed or suspended."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._file = cast("Any", TerminalFile(self._file))

    def _sigcont_application(self, *arguments: object) -> None:
        """Resume after a suspend; without one, only redraw."""
        if self._writer_thread is not None and self._writer_thread.is_alive():
            self._loop.call_soon_threadsafe(self._app.post_message, self.SignalResume())
        else:
            super()._sigcont_application(*arguments)


# ruff: noqa: RUF001  look-alike characters are intended here

LOOKALIKES: Final = str.maketrans(
    {
        **dict.fromkeys("─━┅┈┉╌╍╴╶╸╺╼╾", "-"),
        "═": "=",
        **dict.fromkeys("│┃┆┇┋╎╏║╵╷╹╻╽╿▏▎▍▕▐▌", "|"),
        **dict.fromkeys("╭╮╯╰", "+"),
        **dict.fromkeys("█▉▊▋▓▆▇", "#"),
        **dict.fromkeys("▒▄▅■▀", "="),
        **dict.fromkeys("░▂▃□", "-"),
        **dict.fromkeys("▁▔", "_"),
        **dict.fromkeys("←◀◂◄⟵‹«", "<"),
        **dict.fromkeys("→▶▸►⟶›»≥", ">"),
        **dict.fromkeys("↑▲▴△⌃", "^"),
        **dict.fromkeys("↓▼▾▽⌄", "v"),
        **dict.fromkeys("●◉◆⬤⚑✱★", "*"),
        **dict.fromkeys("○◌◇◯", "o"),
        **dict.fromkeys("·•∙⋅", "."),
        **dict.fromkeys("✗✘×╳", "x"),
        **dict.fromkeys("✓✔", "v"),
        **dict.fromkeys("–—−", "-"),
        **dict.fromkeys("‘’‚", "'"),
        **dict.fromkeys("“”„", '"'),
        **dict.fromkeys("⚠❗", "!"),
        **dict.fromkeys(map(chr, range(0x2400, 0x2427)), "^"),  # pictures of control characters
        "┄": ".",  # a soft edge of a drawing
        "┊": ":",
        "…": "~",
        "≤": "<",
        "≈": "~",
        "≠": "!",
        "↻": "@",
        "⇄": "=",
        "⏎": "<",
        "µ": "u",
        "\xa0": " ",
    }
)
_BOX_FIRST, _BOX_LAST = "\u2500", "\u257f"


def to_ascii(text: str) -> str:
    """Replace every character that is not ASCII by one that looks similar and is as wide.

    >>> to_ascii("é→… ╭─╮ 漢 ⣿")
    'e>~ +-+ ?? ?'
    """
    if text.isascii():
        return text
    made = "".join(one if one.isascii() else _plain(one) for one in text.translate(LOOKALIKES))
    cells = cell_len(text)
    return made if len(made) == cells else set_cell_size(made, cells)


def _plain(character: str) -> str:
    if _BOX_FIRST <= character <= _BOX_LAST:
        return "+"
    cells = cell_len(character)
    base = re.sub(r"[^\x20-\x7e]", "", unicodedata.normalize("NFKD", character))
    return base if base and len(base) == cells else "?" * cells


class AsciiFilter(LineFilter):
    """Line filter for terminals without Unicode."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Replace the text of segments, except for control sequences."""
        return [
            segment
            if segment.control or segment.text.isascii()
            else Segment(to_ascii(segment.text), segment.style)
            for segment in segments
        ]
