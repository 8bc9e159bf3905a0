"""Output filters for limited terminals: NO_COLOR, and ASCII only."""

# ruff: noqa: RUF001  look-alike characters are intended here

import re
import unicodedata
from functools import lru_cache
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter


class NoColorFilter(LineFilter):
    """Line filter for NO_COLOR: removes all colours, even the codes for default colours."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Remove colours, but keep bold, reverse and the like."""
        return [
            segment
            if segment.style is None or segment.control
            else Segment(segment.text, _without_colours(segment.style))
            for segment in segments
        ]


@lru_cache(1024)
def _without_colours(style: Style) -> Style:
    return style.without_color


LOOKALIKES: Final = str.maketrans(
    {
        **dict.fromkeys("─┅┈┉╌╍╴╶╸╺╼╾", "-"),
        **dict.fromkeys("═━", "="),
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
        **{  # graphs: the height of the higher of two columns of dots
            chr(0x2800 + dots): " .:|#"[max((dots & 0x47).bit_count(), (dots & 0xB8).bit_count())]
            for dots in range(0x100)
        },
    }
)
_BOX_FIRST, _BOX_LAST = "\u2500", "\u257f"


def to_ascii(text: str) -> str:
    """Replace each character that is not ASCII with a similar one of the same width.

    >>> to_ascii("é→… ╭─╮ 漢 ⢀⣴⣿")
    'e>~ +-+ ?? .|#'
    """
    if text.isascii():
        return text
    plain = "".join(map(_plain, text.translate(LOOKALIKES)))
    cells = cell_len(text)
    return plain if len(plain) == cells else set_cell_size(plain, cells)


def _plain(character: str) -> str:
    if character.isascii():
        return character
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
