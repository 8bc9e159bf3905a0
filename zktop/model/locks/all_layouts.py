"""All built-in layouts: those that names show, and those that a shape shows."""

from collections.abc import Mapping
from typing import Final

from zktop.model.layouts.layout import Layout
from zktop.model.layouts.precedence import BY_NAME
from zktop.model.locks.shapes import SHAPES

_NAMED: Final = frozenset(layout.name for layout in BY_NAME)

BY_SHAPE: Final = tuple(shape.layout for shape in SHAPES if shape.layout.name not in _NAMED)
LAYOUTS: Final[tuple[Layout, ...]] = BY_NAME + BY_SHAPE

_OF_NAME: Final[Mapping[str, Layout]] = {layout.name: layout for layout in LAYOUTS}


def layout_named(name: str, own: tuple[Layout, ...] = ()) -> Layout | None:
    """Return the layout of this name; a user's layout hides a built-in one."""
    return next((layout for layout in own if layout.name == name), _OF_NAME.get(name))
