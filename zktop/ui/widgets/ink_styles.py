"""The colours and attributes of inks in a theme.

Important inks also differ in bold, underline or reverse, for terminals without colours.
"""

from collections.abc import Mapping
from typing import Final, Literal

from rich.color import Color, ColorParseError, blend_rgb
from rich.style import Style
from textual.widget import Widget

from zktop.ui.inks import Ink

INK_STYLES: Final[dict[Ink, str]] = {
    "plain": "$foreground",
    "dim": "dim $foreground",
    "strong": "bold $foreground",
    "title": "bold $secondary",
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
    "address": "$secondary",
    "election": "$accent",
    "alarm": "bold reverse $error",
    "caution": "bold reverse $warning",
    "allowed": "bold reverse $success",
    "tab": "bold reverse $primary",
    "medium": "$warning",
    "warm": "$warning",
    "hot": "$error",
    "high": "$error",
}
BLENDS: Final[dict[Ink, float]] = {"warm": 1 / 3, "hot": 2 / 3}  # shares of `high` in `medium`
CURSOR: Final = "on $surface-lighten-2"
LIGHT_CURSOR: Final = "on $surface-darken-2"  # in light themes: nothing is lighter than white
FAINT_CURSOR: Final = "on $panel"  # used in a panel without the focus
HOVER: Final = "on $panel"


class InkStyles:
    """The style of each ink in one theme."""

    def __init__(self, variables: Mapping[str, str], *, colours: bool = True) -> None:
        """Read the variables of the theme. `ink-NAME` overrides the default style of an ink."""
        self._variables, self._colours = variables, colours
        self.cursor = self._style(variables.get("ink-cursor", CURSOR))
        if not self.cursor.bgcolor:
            self.cursor = Style(reverse=True)
        self.faint_cursor = self._style(FAINT_CURSOR)
        if not self.faint_cursor.bgcolor:
            self.faint_cursor = Style(underline=True)
        self.hover = self._style(HOVER)

    def style(self, ink: Ink) -> Style:
        if ink in BLENDS:
            low, high = (self.style(end).color for end in ("medium", "high"))
            if low and high and low.triplet and high.triplet:
                return Style(
                    color=Color.from_triplet(blend_rgb(low.triplet, high.triplet, BLENDS[ink]))
                )
        return self._style(self._variables.get(f"ink-{ink}", INK_STYLES[ink]))

    def _style(self, style: str) -> Style:
        """Parse words like `bold $error on $panel`, and ignore unknown colours."""
        attributes: dict[str, bool] = {}
        colours: dict[str, Color] = {}
        place = "color"
        for word in style.split():
            if word == "on":
                place = "bgcolor"
            elif word in ("bold", "dim", "italic", "underline", "reverse"):
                attributes[word] = True
            elif self._colours and (colour := self._colour(word)) is not None:
                colours[place] = colour
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
        if len(text) == len("#abc") and text.startswith("#"):  # Rich knows six digits only
            text = "#" + "".join(2 * digit for digit in text[1:])
        try:
            return Color.parse(text[:7] if text.startswith("#") else text.removeprefix("ansi_"))
        except ColorParseError:
            return None


MAX_STYLES: Final = 500  # each link needs its own
Light = Literal["", "cursor", "hover", "link"]  # the cursor; a row or a link under the mouse
RunLook = tuple[Ink, str | None, Light]  # ink, link, light


class RunStyles(dict[RunLook, Style]):
    """The styles of text on one widget, each computed once: adding Rich styles is slow."""

    def __init__(self, widget: Widget, *, is_active: bool = True) -> None:
        super().__init__()
        self._inks = InkStyles(widget.app.theme_variables, colours=not widget.app.no_color)
        inks = self._inks
        self._lights: dict[Light, Style] = {
            "": Style.null(),
            "cursor": inks.cursor if is_active else inks.faint_cursor,
            "hover": inks.hover,
            "link": inks.hover + Style(underline=True),
        }
        self._base = widget.rich_style

    def __missing__(self, look: RunLook) -> Style:
        ink, link, light = look
        own, lit = self._inks.style(ink), self._lights[light]
        if lit.reverse:  # a colour for each text would make a patchwork of the line
            own = own.without_color
        elif own.reverse:  # the ground of the line would become the colour of the text
            lit = Style.null()
        style = self._base + own + lit
        if link:
            style += Style(meta={"@click": link})
        if len(self) >= MAX_STYLES:
            self.clear()
        self[look] = style
        return style
