"""Which layouts could have written these node names: for somebody who does not know."""

from collections.abc import Sequence

import msgspec

from zktop.model.layouts.catalogue import LAYOUTS
from zktop.model.layouts.layout import Layout
from zktop.model.layouts.names import Name, read


class Match(msgspec.Struct, frozen=True):
    """One layout, and what it reads in each of the names; None where it cannot."""

    layout: Layout
    names: tuple[Name | None, ...]

    @property
    def score(self) -> int:
        """How many of the names it can read."""
        return sum(name is not None for name in self.names)


def matches(names: Sequence[str], own: tuple[Layout, ...] = ()) -> list[Match]:
    """Give the layouts that fit, best first: most names read, then the surest layout.

    >>> [match.layout.name for match in matches(["lock-0000000001", "lock-0000000002"])]
    ['plain-lock', 'named-sequence']
    """
    layouts = own + tuple(layout for layout in LAYOUTS if layout.pattern != "^.+$")
    found = [Match(layout, tuple(read(layout, name) for name in names)) for layout in layouts]
    fitting = [match for match in found if match.score]
    return sorted(fitting, key=lambda match: (-match.score, match.layout.guessed))
