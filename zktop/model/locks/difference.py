"""Which children came, went or changed between two versions of a family.

Both versions list their children in nearly the same order, so the few differences are found by
walking along both at the speed of C. When the order itself changed, every name is looked up.
"""

from collections.abc import Mapping
from itertools import compress, count
from operator import is_not
from typing import NamedTuple

from zktop.model.family import Znode
from zktop.model.text import Text

_FEW = 16  # steps along both; after that, looking up every name is as quick


class Difference(NamedTuple):
    """Children of the earlier version alone, and of the later one; a changed one is in both."""

    gone: list[Znode]
    come: list[Znode]


def difference(before: Mapping[Text, Znode], after: Mapping[Text, Znode]) -> Difference:
    """Tell what differs.

    >>> one, two, three = Znode("a"), Znode("b"), Znode("c")
    >>> found = difference({"a": one, "b": two}, {"b": two, "c": three})
    >>> [z.name for z in found.gone], [z.name for z in found.come]
    (['a'], ['c'])
    """
    walked = _walk(list(before.values()), list(after.values()))
    return walked if walked is not None else _look_up(before, after)


def _walk(before: list[Znode], after: list[Znode]) -> Difference | None:
    found = Difference([], [])
    for _ in range(_FEW):
        rest = min(len(before), len(after))
        if before[:rest] == after[:rest]:  # much quicker than to look for where they differ
            found.gone.extend(before[rest:])
            found.come.extend(after[rest:])
            return found if len(found.gone) + len(found.come) < 4 * _FEW else None
        step = next(compress(count(), map(is_not, before, after)))
        before, after = before[step:], after[step:]
        gone, come = _apart(before, after)
        found.gone.extend(before[:gone])
        found.come.extend(after[:come])
        before, after = before[gone:], after[come:]
    return None


def _apart(before: list[Znode], after: list[Znode]) -> tuple[int, int]:
    """Tell how many to skip on each side at a difference: gone, come, or changed in place."""
    if len(before) > 1 and before[1] is after[0]:
        return 1, 0
    if len(after) > 1 and after[1] is before[0]:
        return 0, 1
    return 1, 1


def _look_up(before: Mapping[Text, Znode], after: Mapping[Text, Znode]) -> Difference:
    gone = [znode for name, znode in before.items() if after.get(name) is not znode]
    come = [znode for name, znode in after.items() if before.get(name) is not znode]
    return Difference(gone, come)
