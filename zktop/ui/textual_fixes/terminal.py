"""The way to the terminal: it outlasts the terminal, and does not take a wake-up for a return.

Textual writes on a thread of its own, through a queue of thirty places. A terminal that was
closed would end that thread, and leave whoever writes next waiting for ever. Terminals that are
closed also tell every process in them to go on, for which Textual would begin anew, beside the
old thread.

For terminals without Unicode: every character that is none of ASCII becomes one that is.
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
    """A file that can be written to also when nobody is at the other end any more."""

    def __init__(self, file: IO[str] | None) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write, while somebody can read it."""
        if self._file is not None:
            try:
                return self._file.write(text)
            except OSError:
                self._file = None
        return len(text)

    def flush(self) -> None:
        """Have it written out."""
        if self._file is not None:
            try:
                self._file.flush()
            except OSError:
                self._file = None


class TerminalDriver(LinuxDriver):
    """Textual's driver, for terminals that come and go."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._file = cast("Any", TerminalFile(self._file))

    def _sigcont_application(self, *said: object) -> None:
        """Take the terminal again if it was given back; otherwise draw what may be gone."""
        if self._writer_thread is not None and self._writer_thread.is_alive():
            self._loop.call_soon_threadsafe(self._app.post_message, self.SignalResume())
        else:
            super()._sigcont_application(*said)


# ruff: noqa: RUF001  characters that look like others are what this is about


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
        **dict.fromkeys(map(chr, range(0x2400, 0x2427)), "^"),  # what was a control character
        "┄": ".",  # an edge that is not a hard one
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
    """Write a text in ASCII, in as many cells as before.

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
    """Takes everything but ASCII off the screen."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Rewrite the text of segments, not what controls the terminal."""
        return [
            segment
            if segment.control or segment.text.isascii()
            else Segment(to_ascii(segment.text), segment.style)
            for segment in segments
        ]
