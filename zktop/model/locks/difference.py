"""Which children came, went or changed between two versions of a family.

Both versions list their children in nearly the same order, so the few differences are found by
walking along both.
"""

from collections.abc import Mapping
from itertools import chain

import msgspec

from zktop.model.family import Znode
from zktop.model.strides import splits
from zktop.model.text import Text


class Difference(msgspec.Struct, frozen=True, gc=False):
    """Children of the earlier version alone, and of the later one; a changed one is in both."""

    before: Mapping[Text, Znode]
    after: Mapping[Text, Znode]
    gone: list[Znode]
    come: list[Znode]

    @property
    def names(self) -> list[Text]:
        """Name the children that came, went or changed; a changed one twice."""
        return [znode.name for znode in chain(self.gone, self.come)]


def difference(before: Mapping[Text, Znode], after: Mapping[Text, Znode]) -> Difference:
    """Tell what differs.

    >>> one, two, three = Znode("a"), Znode("b"), Znode("c")
    >>> found = difference({"a": one, "b": two}, {"b": two, "c": three})
    >>> [z.name for z in found.gone], [z.name for z in found.come]
    (['a'], ['c'])
    """
    was, now = list(before.values()), list(after.values())
    found = Difference(before, after, [], [])
    for split in splits(was, now):
        found.gone.extend(was[split.here : split.here + split.left])
        found.come.extend(now[split.there : split.there + split.joined])
    return _without_moved(found) if len(found.gone) > 1 and len(found.come) > 1 else found


def _without_moved(found: Difference) -> Difference:
    """Leave out children that are the same, and only listed in another order."""
    moved = set(map(id, found.gone)).intersection(map(id, found.come))
    if not moved:
        return found
    return Difference(
        found.before,
        found.after,
        [znode for znode in found.gone if id(znode) not in moved],
        [znode for znode in found.come if id(znode) not in moved],
    )
