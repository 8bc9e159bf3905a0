"""Open a dialog with less drawing of the page behind it.

While a dialog opens, Textual draws it and the page behind it several times. It tints each piece of
the page's text anew, with six new colours and styles for each, and it lays out and draws all of it
once more when it tells the new screen its size, which the screen already has.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.geometry import Size
from textual.renderables.background_screen import BackgroundScreen
from textual.screen import Screen

MAX_STYLES: Final = 1024

_tint = BackgroundScreen.process_segments
_lay_out = Screen._screen_resized  # noqa: SLF001  it has no public name


def draw_page_behind_faster() -> None:
    """Tint each style of the page once, and lay out a screen only for another size."""
    setattr(BackgroundScreen, _tint.__name__, staticmethod(tinted))
    setattr(Screen, _lay_out.__name__, _lay_out_for)


def tinted(segments: Iterable[Segment], color: Color) -> Iterator[Segment]:
    """Tint segments as Textual does."""
    for segment in segments:
        if segment.control:
            yield segment
        else:
            yield Segment(segment.text, _tinted_style(segment.style, color))


@lru_cache(MAX_STYLES)
def _tinted_style(style: Style | None, color: Color) -> Style | None:
    return next(iter(_tint([Segment("", style)], color))).style


def _lay_out_for(screen: Screen[Any], size: Size) -> None:
    if screen._size != size:  # noqa: SLF001  its public size leaves out the border
        _lay_out(screen, size)
