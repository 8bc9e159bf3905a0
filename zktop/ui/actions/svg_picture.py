"""Pictures of the screen as SVG that look the same in every program.

Textual's pictures load a font from the web and rely on leading blanks. Many programs drop these,
so columns shift. Braille dots come from any font that has them, often wider than a cell. Here the
font and the blanks are removed, and the dots are drawn as squares.
"""

import re
from typing import Final

BLANK: Final = "&#160;"
CELL: Final = 12.2  # width of a character, in units of the picture
LINE: Final = 24.4  # height of a line
BASELINE: Final = 18.5  # from the top of a line to the baseline of its letters
TEXT: Final = (
    r'<text class="(?P<ink>[^"]*)" x="(?P<x>[\d.]+)" y="(?P<y>[\d.]+)" '
    r'textLength="(?P<width>[\d.]+)"(?P<rest>[^>]*)>(?P<text>[^<]*)</text>'
)
SCREEN: Final = 'clip-path="url(#zktop-clip-terminal)"'  # of the group with all areas and texts
CRISP: Final = ' shape-rendering="crispEdges"'  # without it, areas have visible seams
BRAILLE: Final = range(0x2800, 0x2900)
DOTS: Final = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3))  # column, row
DOT: Final = 3  # width and height of a dot


def portable_svg(picture: str) -> str:
    """Return Textual's picture without web fonts, leading blanks and letters for dots."""
    picture = re.sub(r"\s*@font-face \{.*?\}", "", picture, flags=re.DOTALL)
    picture = picture.replace("Fira Code", "Fira Code, DejaVu Sans Mono, Menlo, Consolas")
    prefix = re.search(r'class="(terminal-\d+-)', picture)  # text never contains quotation marks
    if prefix:
        picture = picture.replace(prefix[1], "zktop-")  # the number differs in each run
    picture = picture.replace(CRISP, "")
    picture = picture.replace(SCREEN, f"{SCREEN}{CRISP}")  # for all areas at once
    return re.sub(TEXT, _drawn, picture)


def _drawn(match: re.Match[str]) -> str:
    """Draw a piece of text without its outer blanks, at the place of its first letter."""
    text = match["text"].replace(BLANK, " ")
    visible = text.strip(" ")
    if not visible:
        return ""
    left = float(match["x"]) + CELL * (len(text) - len(text.lstrip(" ")))
    top = float(match["y"])
    if all(letter == " " or ord(letter) in BRAILLE for letter in visible):
        return f'<path class="{match["ink"]}" d="{_dots(visible, left, top - BASELINE)}"/>'
    width = float(match["width"]) - CELL * (len(text) - len(visible))
    place = f'x="{left:g}" y="{match["y"]}" textLength="{width:g}"'
    shown = visible.replace(" ", BLANK)
    return f'<text class="{match["ink"]}" {place}{match["rest"]}>{shown}</text>'


def _dots(text: str, left: float, top: float) -> str:
    """Return the path of a square for each dot.

    >>> _dots("⠁⡀", 0, 0)
    'M2 2h3v3h-3zM14 20h3v3h-3z'
    """
    return "".join(
        f"M{left + CELL * at + _middle(CELL / 2, column):.0f} {top + _middle(LINE / 4, row):.0f}"
        f"h{DOT}v{DOT}h-{DOT}z"
        for at, letter in enumerate(text)
        for bit, (column, row) in enumerate(DOTS)
        if letter != " " and ord(letter) & 1 << bit
    )


def _middle(step: float, number: int) -> float:
    """Return where a dot begins, centred in its part of the cell."""
    return step * number + (step - DOT) / 2
