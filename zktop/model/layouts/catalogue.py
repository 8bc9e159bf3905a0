"""All built-in layouts, the surest first: of two that match, the earlier one wins."""

from collections.abc import Mapping
from typing import Final

import msgspec

from zktop.model.layouts import libraries as curator
from zktop.model.layouts import libraries as recipes
from zktop.model.layouts import tutorials
from zktop.model.layouts.infrastructure import ACCUMULO, FIXED_NAMES, MESOS, SERVERS
from zktop.model.layouts.layout import Layout
from zktop.model.layouts.libraries import CURATOR, GO, KAZOO, KAZOO_LOCK, RUBY, ZKTOOLS

# Layouts that are recognised by the names of the children alone.
_NAMES: Final[tuple[Layout, ...]] = (
    KAZOO_LOCK,
    *(layout for layout in CURATOR if layout.name != "curator-semaphore-v2"),
    *ACCUMULO,
    *SERVERS,
    recipes.C_WRITELOCK,
    recipes.JAVA_WRITELOCK,
    *GO,
    *ZKTOOLS,
    *RUBY,
    recipes.ELECTION,
    *tutorials.SHORT,
    curator.CURATOR_CUSTOM,
    *tutorials.LONG,
    recipes.GUID_LOCK,
    *tutorials.PLAIN,
    MESOS,
    tutorials.NAMED,
)

# Layouts that are recognised by sub-nodes, siblings, fixed names or data.
_SHAPES: Final[tuple[Layout, ...]] = (
    *(layout for layout in KAZOO if layout is not KAZOO_LOCK),
    *(layout for layout in CURATOR if layout.name == "curator-semaphore-v2"),
    *FIXED_NAMES,
)

BY_NAME: Final = tuple(msgspec.structs.replace(one, kind=one.means) for one in _NAMES)
BY_SHAPE: Final = tuple(msgspec.structs.replace(one, kind=one.means) for one in _SHAPES)
LAYOUTS: Final[tuple[Layout, ...]] = BY_NAME + BY_SHAPE

_BY_NAME: Final[Mapping[str, Layout]] = {layout.name: layout for layout in LAYOUTS}


def layout_named(name: str, own: tuple[Layout, ...] = ()) -> Layout | None:
    """Return the layout of this name; a user's layout hides a built-in one."""
    return next((layout for layout in own if layout.name == name), _BY_NAME.get(name))
