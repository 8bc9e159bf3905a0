"""A picture of the screen that looks the same in every program, with or without a network.

What Textual draws loads its font from elsewhere, and begins pieces of text with blanks, which many
programs leave out: then columns are no columns any more.
"""

import re
from typing import Final

BLANK: Final = "&#160;"
CELL: Final = 12.2  # the width of a letter in a picture
TEXT: Final = (
    r'(?P<before><text class="[^"]*" )x="(?P<x>[\d.]+)" y="(?P<y>[\d.]+)" '
    r'textLength="(?P<width>[\d.]+)"(?P<rest>[^>]*)>(?P<text>[^<]*)</text>'
)


def plain(picture: str) -> str:
    """Take out what loads fonts from elsewhere, and blanks, which not every program draws."""
    picture = re.sub(r"\s*@font-face \{.*?\}", "", picture, flags=re.DOTALL)
    picture = picture.replace("Fira Code", "Fira Code, DejaVu Sans Mono, Menlo, Consolas")
    picture = re.sub(r"terminal-\d+-", "zktop-", picture)  # the number is that of this run
    return re.sub(TEXT, _without_blanks, picture)


def _without_blanks(found: re.Match[str]) -> str:
    """Begin and end a piece of text with what is to be seen of it."""
    text = found["text"].replace(BLANK, " ")
    seen = text.strip(" ")
    if not seen:
        return ""
    left = float(found["x"]) + CELL * (len(text) - len(text.lstrip(" ")))
    width = float(found["width"]) - CELL * (len(text) - len(seen))
    place = f'x="{left:g}" y="{found["y"]}" textLength="{width:g}"'
    return f"{found['before']}{place}{found['rest']}>{seen.replace(' ', BLANK)}</text>"
