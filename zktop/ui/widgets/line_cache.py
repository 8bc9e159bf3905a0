"""Lines with colours: inks become Textual styles here, and each finished line is cached.

Textual computes borders, opacity and filters again whenever something near a widget changes. A
view of lines rarely has any, so a finished line is reused until the style of the widget changes.

Inks that matter differ by more than their colour, for terminals without colours.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from rich.color import Color, ColorParseError
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Spacing
from textual.strip import Strip
from textual.widget import Widget

from zktop.ui.styled_text import Ink, Line
from zktop.ui.textual_fixes.terminal import AsciiFilter

INK_STYLES: Final[dict[Ink, str]] = {
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


class InkStyles:
    """The style of each ink in one theme."""

    def __init__(self, variables: Mapping[str, str], *, colours: bool = True) -> None:
        """Read the variables of the theme; `ink-NAME` overrides the default style of an ink."""
        self._variables, self._colours = variables, colours
        self._styles: dict[Ink, Style] = {}
        self.cursor = self._style(variables.get("ink-cursor", CURSOR))
        if not self.cursor.bgcolor:
            self.cursor = Style(reverse=True)

    def style(self, ink: Ink) -> Style:
        """The style of an ink."""
        known = self._styles.get(ink)
        if known is None:  # a view uses few of them
            look = self._variables.get(f"ink-{ink}", INK_STYLES[ink])
            known = self._styles[ink] = self._style(look)
        return known

    def _style(self, look: str) -> Style:
        """Parse words like `bold $error on $panel`; ignore unknown colours."""
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


MAX_STYLES = 500
StyleKey = tuple[Ink, str | None, bool]  # ink, link, under the cursor


class LineKey(NamedTuple):
    """Everything that the look of a line depends on."""

    drawn: Line
    is_lit: bool  # under the cursor
    cells: int  # of the text
    width: int  # of the widget; the scroll bar is in the difference


class ScrollbarStrip(Strip):
    """A line beside a scroll bar, at which Textual divides it in every drawing."""

    def __init__(self, line: Strip, rest: Strip) -> None:
        """Join the visible part and the part below the scroll bar."""
        super().__init__([*line, *rest], line.cell_length + rest.cell_length)
        self._parts = line, rest

    def divide(self, cuts: Iterable[int]) -> Sequence[Strip]:
        """Return the two parts if they are cut there; else divide as usual."""
        cuts = list(cuts)
        is_there = cuts == [self._parts[0].cell_length, self.cell_length]
        return self._parts if is_there else super().divide(cuts)


class StyleCache(dict[StyleKey, Style]):
    """Computed styles. Adding Rich styles is slow."""

    def __init__(self, make: Callable[[StyleKey], Style]) -> None:
        """Compute missing styles with this function."""
        super().__init__()
        self._make = make

    def __missing__(self, meant: StyleKey) -> Style:
        """Compute a style. Links are many, so the cache is cleared when it is full."""
        style = self._make(meant)
        if len(self) > MAX_STYLES:
            self.clear()
        self[meant] = style
        return style


class LineCache:
    """Finished lines of one widget, for its current style."""

    def __init__(self, widget: Widget) -> None:
        """Read the style of the widget."""
        self.can_finish = widget.styles.gutter == Spacing() and widget.opacity == 1.0
        self._palette = InkStyles(widget.app.theme_variables, colours=not widget.app.no_color)
        self._base = widget.rich_style
        self._background = widget.background_colors[1]
        filters = widget.get_line_filters()
        self._of_letters = [one for one in filters if isinstance(one, AsciiFilter)]
        self._of_styles = [one for one in filters if not isinstance(one, AsciiFilter)]
        self._styles = StyleCache(self._style)
        self._finished_styles = StyleCache(self._finished_style)
        self._finished: dict[int, tuple[LineKey, Strip]] = {}
        self._free: Strip | None = None

    def finished(self, y: int, look: LineKey) -> Strip:
        """A line with all filters applied, from the cache if it is unchanged."""
        known = self._finished.get(y)
        if known is None or known[0] != look:
            drawn, is_lit, cells, width = look
            styles = self._finished_styles
            segments = [Segment(text, styles[ink, link, is_lit]) for text, ink, link in drawn]
            for one in self._of_letters:
                segments = one.apply(segments, self._background)
            line = Strip(segments, cells)
            if cells < width:
                line = (
                    ScrollbarStrip(line, self._blank(width - cells))
                    if cells
                    else self._blank(width)
                )
            known = self._finished[y] = look, line
        return known[1]

    def _blank(self, cells: int) -> Strip:
        """A blank piece, the same for all lines."""
        if self._free is None or self._free.cell_length != cells:
            blank = self._finished_styles["plain", None, False]
            self._free = Strip([Segment(" " * cells, blank)], cells)
        return self._free

    def strip(self, look: LineKey) -> Strip:
        """A line with styles, to which Textual will apply the filters."""
        drawn, is_lit, _, width = look
        styles = self._styles
        segments = [Segment(text, styles[ink, link, is_lit]) for text, ink, link in drawn]
        return Strip(segments).adjust_cell_length(width, styles["plain", None, False])

    def _finished_style(self, meant: StyleKey) -> Style:
        """The style of a run after all filters; it does not depend on the text."""
        segments = [Segment("x", self._styles[meant])]
        for one in self._of_styles:
            segments = one.apply(segments, self._background)
        return segments[0].style or Style()

    def _style(self, meant: StyleKey) -> Style:
        """The style of a run before the filters."""
        ink, link, is_lit = meant
        style = self._base + self._palette.style(ink)
        style += self._palette.cursor if is_lit else Style()
        return style + Style(meta={"@click": link}) if link else style
