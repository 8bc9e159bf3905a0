"""From inks to colours: the only place where a meaning becomes a look.

Every ink differs from the others by more than its colour wherever it says something that matters,
so that a terminal without colours loses nothing.
"""

from collections.abc import Mapping
from typing import Final

from rich.color import Color, ColorParseError
from rich.style import Style

from zktop.ui.ink import Ink

LOOKS: Final[dict[Ink, str]] = {
    "plain": "$foreground",
    "dim": "dim $foreground",
    "strong": "bold $foreground",
    "title": "bold $primary",
    "key": "bold $accent",
    "holds": "bold $success",
    "waits": "$warning",
    "standby": "$secondary",
    "critical": "bold $error",
    "warning": "bold $warning",
    "info": "$secondary",
    "good": "$success",
    "unknown": "italic $secondary",
    "ours": "underline $primary",
    "selected": "bold $accent",
    "paused": "bold reverse $warning",
}
CURSOR: Final = "on $surface-lighten-2"


class Palette:
    """The styles of all inks in one theme."""

    def __init__(self, variables: Mapping[str, str], *, colours: bool = True) -> None:
        """Read the theme's variables; `ink-NAME` replaces what an ink looks like by default."""
        self._variables, self._colours = variables, colours
        self._styles: dict[Ink, Style] = {}
        self.cursor = self._style(variables.get("ink-cursor", CURSOR))
        if not self.cursor.bgcolor:
            self.cursor = Style(reverse=True)

    def style(self, ink: Ink) -> Style:
        """Give the style of an ink."""
        known = self._styles.get(ink)
        if known is None:  # a view uses few of them, and the first picture is waited for
            look = self._variables.get(f"ink-{ink}", LOOKS[ink])
            known = self._styles[ink] = self._style(look)
        return known

    def _style(self, look: str) -> Style:
        """Read words like `bold $error on $panel`; a colour that is none is left out."""
        attributes: dict[str, bool] = {}
        colours: dict[str, Color] = {}
        where = "color"
        for word in look.split():
            if word == "on":
                where = "bgcolor"
            elif word in ("bold", "dim", "italic", "underline", "reverse"):
                attributes[word] = True
            elif self._colours and (colour := self._colour(word)) is not None:
                colours[where] = colour
        return Style(
            color=colours.get("color"),
            bgcolor=colours.get("bgcolor"),
            bold=attributes.get("bold"),
            dim=attributes.get("dim"),
            italic=attributes.get("italic"),
            underline=attributes.get("underline"),
            reverse=attributes.get("reverse"),
        )

    def _colour(self, word: str) -> Color | None:
        text = self._variables.get(word[1:], "") if word.startswith("$") else word
        text = text.split()[0] if text else ""
        try:
            return Color.parse(
                text.removeprefix("ansi_")[:7]
                if text.startswith("#")
                else text.removeprefix("ansi_")
            )
        except ColorParseError:
            return None
