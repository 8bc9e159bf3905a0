"""Locks that are recognised by their shape: the first of `SHAPES` that fits decides.

`LAYOUTS` are all built-in layouts, recognised by names or by shape.
"""

from collections.abc import Container
from typing import Final

from zktop.model.facts import split
from zktop.model.layouts.layout import Layout
from zktop.model.layouts.lock_site import LockSite
from zktop.model.layouts.precedence import BY_NAME
from zktop.model.locks.shapes import hadoop_hbase_patroni, semaphores, single_node
from zktop.model.locks.shapes.semaphores import QUEUE_OF_SEMAPHORE
from zktop.model.locks.shapes.shape import LockShape
from zktop.model.text import Text

SHAPES: Final = (
    semaphores.CURATOR_SEMAPHORE,
    semaphores.KAZOO_SEMAPHORE,
    semaphores.KAZOO_LEASE,
    semaphores.KAZOO_LOCKING_QUEUE,
    hadoop_hbase_patroni.RUBY,
    hadoop_hbase_patroni.HADOOP,
    hadoop_hbase_patroni.HBASE,
    hadoop_hbase_patroni.PATRONI,
    single_node.SHEDLOCK,
    single_node.SINGLE_NODE,
)

_RECOGNISED_BY_NAME: Final = frozenset(layout.name for layout in BY_NAME)
_BY_SHAPE: Final = tuple(
    shape.layout for shape in SHAPES if shape.layout.name not in _RECOGNISED_BY_NAME
)
LAYOUTS: Final[tuple[Layout, ...]] = BY_NAME + _BY_SHAPE
_LAYOUT_BY_NAME: Final = {layout.name: layout for layout in LAYOUTS}

SHAPE_OF_LAYOUT: Final = {shape.layout.name: shape for shape in SHAPES}

_WITH_PART: Final = {
    name: tuple(shape for shape in SHAPES if name in shape.parts)
    for name in {name for shape in SHAPES for name in shape.parts}
}
_LEAVES: Final = frozenset(shape.leaf for shape in SHAPES if shape.leaf)
_WITH_NUMBERED_PARTS: Final = tuple(shape for shape in SHAPES if shape.has_numbered_parts)


def layout_named(name: str, own: tuple[Layout, ...] = ()) -> Layout | None:
    """Return the layout of this name. A user's layout hides a built-in one."""
    return next((layout for layout in own if layout.name == name), _LAYOUT_BY_NAME.get(name))


def shape_of(site: LockSite) -> LockShape | None:
    return next((shape for shape in SHAPES if shape.fits(site)), None)


def shapes_with_part(name: str) -> tuple[LockShape, ...]:
    """Return the shapes that may have a part of this name."""
    return _WITH_NUMBERED_PARTS if name.isdecimal() else _WITH_PART.get(name, ())


def decides_above(name: str) -> bool:
    """Return whether the children of a node of this name may decide what its parent is."""
    return bool(shapes_with_part(name)) or name in _LEAVES


def is_part_by_name(name: str, siblings: Container[str]) -> bool:
    """Return whether a folder seems to be part of the lock above it.

    `locks` is also a common name of a folder of locks, so it needs another part next to it.

    >>> is_part_by_name("leases", ()), is_part_by_name("locks", ()), is_part_by_name("7", ())
    (True, False, False)
    """
    parts = {part for shape in _WITH_PART.get(name, ()) for part in shape.parts}
    has_other_part = any(part in siblings for part in parts - {name})
    return name in parts and (name != "locks" or has_other_part)


def may_be_part(name: str) -> bool:
    """Return whether a root may be part of another lock, by its name."""
    return bool(shapes_with_part(name)) or name.endswith(QUEUE_OF_SEMAPHORE)


def part_of(site: LockSite) -> Text | None:
    """Return the lock that this root is part of, as its queue, leases or slot."""
    parent, name = split(site.path)
    if name.endswith(QUEUE_OF_SEMAPHORE):
        whole = Text(site.path.removesuffix(QUEUE_OF_SEMAPHORE))
        return whole if site.knows(whole) else None
    shapes = shapes_with_part(name)
    above = site.above() if shapes else None
    if above is None or not any(shape.fits(above) for shape in shapes):
        return None
    return parent if shape_of(above) in shapes else None  # an earlier shape may fit, too
