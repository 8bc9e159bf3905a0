"""Makes the lines that Textual draws light: each comes with seven caches, nearly all never used.

A strip is one line of one widget, or a part of it, and thousands are in memory. Its caches take
ten times the room of its text, and most of the time that it takes to make one; here they come when
they are first asked for.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any, Final

from rich.segment import Segment
from textual.cache import FIFOCache
from textual.strip import Strip

GIVEN: Final = {"_segments": [Segment("?")], "_cell_length": 1}  # all that a strip is made of


@cache  # once is enough
def lean(kind: type[Strip] = Strip) -> bool:
    """Have strips be made so from now on, unless they are made of more than is known here."""
    whole = kind(*GIVEN.values())  # type: ignore[arg-type]  # in the order of their names
    slots = {slot: getattr(whole, slot) for slot in kind.__slots__}
    caches = {slot: one for slot, one in slots.items() if isinstance(one, FIFOCache)}
    rooms = {slot: one._maxsize for slot, one in caches.items()}  # noqa: SLF001  told nowhere else
    rest = {slot: one for slot, one in slots.items() if slot not in rooms and one is not None}
    if rest != GIVEN:
        return False

    def begin(self: Strip, segments: Iterable[Segment], cell_length: int | None = None) -> None:
        self._segments = list(segments)
        self._cell_length = cell_length

    def missing(self: Strip, name: str) -> Any:
        if name not in slots:
            raise AttributeError(name, name=name, obj=self)
        value = FIFOCache[Any, Any](rooms[name]) if name in rooms else None
        setattr(self, name, value)
        return value

    for name, method in (("__init__", begin), ("__getattr__", missing)):
        setattr(kind, name, method)
    return True
