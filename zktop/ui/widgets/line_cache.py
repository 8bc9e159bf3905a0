"""Lines as the terminal gets them: in the colours of the theme, and each made once.

Textual asks a widget for its borders, its opacity and much more whenever anything near it has
changed. A view of lines has none of these as a rule, and what it asks for here stays the same
until its style changes: then its cache is thrown away, and the next line is made with a new one.

From inks to colours: the only place where a meaning becomes a look.

Every ink differs from the others by more than its colour wherever it says something that matters,
so that a terminal without colours loses nothing.
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
            look = self._variables.get(f"ink-{ink}", INK_STYLES[ink])
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


MAX_STYLES = 500
StyleKey = tuple[Ink, str | None, bool]  # ink, link, and whether it is under the cursor


class LineKey(NamedTuple):
    """All that the look of a line depends on."""

    drawn: Line
    is_lit: bool  # it is under the cursor
    cells: int  # that it has
    width: int  # of the widget; a scroll bar covers what the line leaves free


class ScrollbarStrip(Strip):
    """A line beside a scroll bar: Textual takes it apart there whenever it draws it."""

    def __init__(self, line: Strip, rest: Strip) -> None:
        """Join what is seen and what the scroll bar covers."""
        super().__init__([*line, *rest], line.cell_length + rest.cell_length)
        self._parts = line, rest

    def divide(self, cuts: Iterable[int]) -> Sequence[Strip]:
        """Give both parts, where that is what is asked for."""
        cuts = list(cuts)
        is_there = cuts == [self._parts[0].cell_length, self.cell_length]
        return self._parts if is_there else super().divide(cuts)


class StyleCache(dict[StyleKey, Style]):
    """Styles by what they mean; each is made once, because to add styles takes long."""

    def __init__(self, make: Callable[[StyleKey], Style]) -> None:
        """Make them so."""
        super().__init__()
        self._make = make

    def __missing__(self, meant: StyleKey) -> Style:
        """Make one; links may be many, so that all are forgotten now and then."""
        style = self._make(meant)
        if len(self) > MAX_STYLES:
            self.clear()
        self[meant] = style
        return style


class LineCache:
    """What gives the lines of one widget their colours."""

    def __init__(self, widget: Widget) -> None:
        """Take what the widget looks like now."""
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
        """Give a line as the terminal gets it; the one that was here before, if it looks so."""
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
        """Give what nothing is written on; the same for all lines."""
        if self._free is None or self._free.cell_length != cells:
            blank = self._finished_styles["plain", None, False]
            self._free = Strip([Segment(" " * cells, blank)], cells)
        return self._free

    def strip(self, look: LineKey) -> Strip:
        """Give a line its styles alone, for somebody who will do the rest."""
        drawn, is_lit, _, width = look
        styles = self._styles
        segments = [Segment(text, styles[ink, link, is_lit]) for text, ink, link in drawn]
        return Strip(segments).adjust_cell_length(width, styles["plain", None, False])

    def _finished_style(self, meant: StyleKey) -> Style:
        """Give the style of a run as the terminal gets it: that is the same for any text."""
        segments = [Segment("x", self._styles[meant])]
        for one in self._of_styles:
            segments = one.apply(segments, self._background)
        return segments[0].style or Style()

    def _style(self, meant: StyleKey) -> Style:
        """Give the style of a run."""
        ink, link, is_lit = meant
        style = self._base + self._palette.style(ink)
        style += self._palette.cursor if is_lit else Style()
        return style + Style(meta={"@click": link}) if link else style
