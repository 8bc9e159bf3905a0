"""What lies behind other widgets: blank lines, of which one is made for all.

Textual makes every line of a screen and of its containers whenever one of them is drawn, although
other widgets cover them.
"""

from typing import TYPE_CHECKING

from textual.geometry import Region
from textual.strip import Strip

if TYPE_CHECKING:
    from textual.widget import Widget as Base
else:
    Base = object  # Textual takes the styles of a class from its first base that is a widget


class Backdrop(Base):
    """What makes a widget one that shows its background alone."""

    def render_lines(self, crop: Region) -> list[Strip]:
        """Give lines that are all alike."""
        first = super().render_lines(Region(crop.x, crop.y, crop.width, min(1, crop.height)))
        return first * crop.height


class Framed(Base):
    """What makes a widget one that shows its border and its background alone."""

    def render_lines(self, crop: Region) -> list[Strip]:
        """Give lines that are all alike between the first and the last."""
        last = self.outer_size.height - 1
        made: dict[int, Strip] = {}
        for y in (ys := [y if y in (0, last) else 1 for y in crop.line_range]):
            if y not in made:
                made[y] = super().render_lines(Region(crop.x, y, crop.width, 1))[0]
        return [made[y] for y in ys]
