"""Release text that was drawn but is no longer on screen.

Textual caches two colours for each of the last 1,024 widgets, and each cache key holds the lines
that the widget has drawn. Opening and closing the help once leaves some 450 lines behind, 0.7 MB.

Rich and Textual also cache the colour codes of 16,384 styles and the halves of 16,384 texts that
were cut in two. Text that the mouse can select has a different style at each place on the screen,
so both caches fill with entries that are never used again: 30 MB in an hour of random keys, which
is the whole memory budget.
"""

from functools import lru_cache, partial
from typing import Any, Final

from rich.segment import Segment
from textual._styles_cache import StylesCache
from textual.strip import Strip

COLOURS: Final = "get_inner_outer"
LARGE_CACHES: Final[tuple[tuple[type, str], ...]] = (
    (Strip, "render_ansi"),
    (Segment, "_split_cells"),
)
MAX_CACHED: Final = 1024


def release_drawn() -> None:
    """Cache colours only by the two backgrounds that they depend on. Make other caches smaller.

    Skips caches that this version of Textual or Rich does not have, or that are small already.
    """
    method: Any = vars(StylesCache).get(COLOURS)
    if hasattr(method, "cache_info"):
        colours_of = partial(method.__wrapped__, None)  # it does not use the widget's lines
        setattr(StylesCache, COLOURS, staticmethod(lru_cache(MAX_CACHED)(colours_of)))
    for owner, name in LARGE_CACHES:
        cached: Any = getattr(vars(owner).get(name), "__func__", None)
        if hasattr(cached, "cache_info") and cached.cache_info().maxsize > MAX_CACHED:
            smaller: Any = lru_cache(MAX_CACHED)(cached.__wrapped__)
            setattr(owner, name, classmethod(smaller))
