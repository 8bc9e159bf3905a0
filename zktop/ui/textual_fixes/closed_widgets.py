"""Release what closed widgets have drawn.

Textual caches two colours for each of the last 1,024 widgets, and each cache key holds the lines
that the widget has drawn. Opening and closing the help once leaves some 450 lines behind, 0.7 MB.
In an hour of random keys, memory grew by up to 40 MB after the first ten minutes (budget: 30).
"""

from functools import lru_cache, partial
from typing import Any, Final

from textual._styles_cache import StylesCache

COLOURS: Final = "get_inner_outer"
MAX_CACHED: Final = 1024


def release_closed_widgets() -> None:
    """Cache the colours by the two backgrounds that they depend on, and by nothing else.

    Does nothing if this version of Textual has no such cache, or if it is fixed already.
    """
    method: Any = vars(StylesCache).get(COLOURS)
    if hasattr(method, "cache_info"):
        colours_of = partial(method.__wrapped__, None)  # it does not use the widget's lines
        setattr(StylesCache, COLOURS, staticmethod(lru_cache(MAX_CACHED)(colours_of)))
