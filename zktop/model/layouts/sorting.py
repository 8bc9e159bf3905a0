"""Sort the children of one node by the layout that their names follow."""

from collections.abc import Iterable

import msgspec

from zktop.model.family import Znode
from zktop.model.layouts.catalogue import BY_NAME
from zktop.model.layouts.layout import Layout
from zktop.model.layouts.names import Name, read


class Place(msgspec.Struct, frozen=True, gc=False):
    """A child, and what its layout reads in its name."""

    znode: Znode
    name: Name


class Sorted(msgspec.Struct, frozen=True, gc=False):
    """Children by layout, in the order of the catalogue's confidence, and the rest."""

    families: dict[str, list[Place]]
    layouts: dict[str, Layout]
    rest: list[Znode]

    def give_up(self, layout: str) -> None:
        """Call the children of one layout strangers after all."""
        self.rest.extend(place.znode for place in self.families.pop(layout))

    def move(self, source: str, target: Layout) -> None:
        """Read the children of one layout by another one, as far as that can."""
        self.layouts[target.name] = target
        for place in self.families.pop(source):
            name = read(target, place.znode.name)
            if name is None:
                self.rest.append(place.znode)
            else:
                self.families.setdefault(target.name, []).append(Place(place.znode, name))


def sort_out(znodes: Iterable[Znode], layouts: Iterable[Layout] = BY_NAME) -> Sorted:
    """Read every name by the first layout that can.

    >>> by_layout = sort_out([Znode("lock-0000000001"), Znode("config")])
    >>> list(by_layout.families), [znode.name for znode in by_layout.rest]
    (['plain-lock'], ['config'])
    """
    known = tuple(layouts)
    result = Sorted({}, {}, [])
    guess: Layout | None = None
    for znode in znodes:
        layout, name = _first(znode.name, known, guess)
        if layout is None or name is None:
            result.rest.append(znode)
            continue
        if layout.name not in result.families:
            result.families[layout.name] = []
            result.layouts[layout.name] = layout
        result.families[layout.name].append(Place(znode, name))
        guess = layout if _is_strict(layout) else None
    return result


def _first(
    text: str, layouts: tuple[Layout, ...], guess: Layout | None
) -> tuple[Layout | None, Name | None]:
    """Find the first layout that can read a name; siblings mostly follow the same one."""
    if guess is not None:
        name = read(guess, text)
        if name is not None:
            return guess, name
    if not text[-1:].isdigit() and layouts is BY_NAME:
        return None, None  # every one of ours ends with a number
    for layout in layouts:
        name = read(layout, text)
        if name is not None:
            return layout, name
    return None, None


def _is_strict(layout: Layout) -> bool:
    """Tell whether no layout before this one could have read the same name."""
    return layout.name in _STRICT


_STRICT = frozenset(
    layout.name
    for layout in BY_NAME
    if not layout.guessed and ".+" not in layout.pattern and layout.name != "zk-writelock-java"
)
