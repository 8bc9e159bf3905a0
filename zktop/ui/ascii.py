"""For terminals without Unicode: every character that is none of ASCII becomes one that is."""

# ruff: noqa: RUF001  characters that look like others are what this is about

import re
import unicodedata
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

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


def plain(text: str) -> str:
    """Write a text in ASCII, in as many cells as before.

    >>> plain("é→… ╭─╮ 漢 ⣿")
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


class Ascii(LineFilter):
    """Takes everything but ASCII off the screen."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Rewrite the text of segments, not what controls the terminal."""
        return [
            segment
            if segment.control or segment.text.isascii()
            else Segment(plain(segment.text), segment.style)
            for segment in segments
        ]
