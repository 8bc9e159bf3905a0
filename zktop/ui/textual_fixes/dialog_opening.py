"""Open a dialog with less drawing of the page behind it.

While a dialog opens, Textual draws it and the page behind it several times. For each piece of text
on the page it computes six colours and styles again. When it then sends the new screen its size,
which has not changed, it lays out and draws everything once more.
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
    """Tint each style of the page once, and lay out a screen only if its size changes."""
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
