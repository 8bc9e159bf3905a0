"""Release what closed widgets have drawn.

Textual caches the two colours of a widget's lines by a key that holds the drawn lines themselves,
for the newest 1,024 widgets of the run. One opened and closed help leaves some 450 lines behind,
0.7 MB. In an hour of random keys that took up to 40 MB more than in the first ten minutes, and
30 MB are allowed.
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
