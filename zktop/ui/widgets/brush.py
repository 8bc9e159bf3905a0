"""Lines as the terminal gets them: in the colours of the theme, and each made once.

Textual asks a widget for its borders, its opacity and much more whenever anything near it has
changed. A view of lines has none of these as a rule, and what it asks for here stays the same
until its style changes: then its brush is thrown away, and the next line is made with a new one.
"""

from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Spacing
from textual.strip import Strip
from textual.widget import Widget

from zktop.ui.ascii import Ascii
from zktop.ui.ink import Ink, Line
from zktop.ui.palette import Palette

STYLES = 500
Meant = tuple[Ink, str | None, bool]  # ink, link, and whether it is under the cursor


class Look(NamedTuple):
    """All that the look of a line depends on."""

    drawn: Line
    is_lit: bool  # it is under the cursor
    cells: int  # that it has
    width: int  # of the widget; a scroll bar covers what the line leaves free


class Brush:
    """What gives the lines of one widget their colours."""

    def __init__(self, widget: Widget) -> None:
        """Take what the widget looks like now."""
        self.can_finish = widget.styles.gutter == Spacing() and widget.opacity == 1.0
        self._palette = Palette(widget.app.theme_variables, colours=not widget.app.no_color)
        self._base = widget.rich_style
        self._background = widget.background_colors[1]
        filters = widget.get_line_filters()
        self._of_letters = [one for one in filters if isinstance(one, Ascii)]
        self._of_styles = [one for one in filters if not isinstance(one, Ascii)]
        self._styles: dict[Meant, Style] = {}
        self._finished_styles: dict[Meant, Style] = {}
        self._finished: dict[int, tuple[Look, Strip]] = {}

    def finished(self, y: int, look: Look) -> Strip:
        """Give a line as the terminal gets it; the one that was here before, if it looks so."""
        known = self._finished.get(y)
        if known is None or known[0] != look:
            drawn, is_lit, cells, width = look
            segments = [
                Segment(text, self._finished_style((ink, link, is_lit)))
                for text, ink, link in drawn
            ]
            if cells < width:
                blank = self._finished_style(("plain", None, False))
                segments.append(Segment(" " * (width - cells), blank))
            for one in self._of_letters:
                segments = one.apply(segments, self._background)
            known = self._finished[y] = look, Strip(segments, width)
        return known[1]

    def strip(self, look: Look) -> Strip:
        """Give a line its styles alone, for somebody who will do the rest."""
        drawn, is_lit, _, width = look
        segments = [Segment(text, self._style((ink, link, is_lit))) for text, ink, link in drawn]
        return Strip(segments).adjust_cell_length(width, self._style(("plain", None, False)))

    def _finished_style(self, meant: Meant) -> Style:
        """Give the style of a run as the terminal gets it: that is the same for any text."""
        known = self._finished_styles.get(meant)
        if known is None:
            segments = [Segment("x", self._style(meant))]
            for one in self._of_styles:
                segments = one.apply(segments, self._background)
            known = segments[0].style or Style()
            if len(self._finished_styles) > STYLES:
                self._finished_styles.clear()
            self._finished_styles[meant] = known
        return known

    def _style(self, meant: Meant) -> Style:
        """Give the style of a run; made once, because to add styles takes long."""
        known = self._styles.get(meant)
        if known is None:
            ink, link, is_lit = meant
            known = self._base + self._palette.style(ink)
            known += self._palette.cursor if is_lit else Style()
            known += Style(meta={"@click": link}) if link else Style()
            if len(self._styles) > STYLES:  # links may be many
                self._styles.clear()
            self._styles[meant] = known
        return known
