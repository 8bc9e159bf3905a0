"""How many members of a queue may hold the lock at once: the number of leases.

The number comes from the config, from data or from watches, or is unknown. The same data may mark
the holders, or show which variant of a layout the clients follow.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import msgspec

from zktop.model.layouts.layout import Layout
from zktop.model.layouts.other_libraries import ACQUIRED
from zktop.model.locks.lock import Member, WatchLookup

_MAX_EXAMINED_WAITERS = 8
_LONGEST_NUMBER = 10


class Leases(msgspec.Struct, frozen=True):
    """The number of leases, where it comes from, and what else the same data shows."""

    number: int | None = None
    are: Literal["known", "inferred"] | None = None
    holders: tuple[Member, ...] | None = None  # if the data marks them
    layout: Layout | None = None  # the variant of the layout, if the data shows it
    asks_watches: bool = False  # watch tables can change the answer
    warnings: tuple[str, ...] = ()


def leases_of(
    layout: Layout, members: Sequence[Member], configured: int | None, watching: WatchLookup
) -> Leases:
    if layout.name == "medallion-semaphore":
        return _by_markers(members, configured)
    if layout.name == "permit-semaphore":
        return _by_votes(layout, members, configured)
    if layout.name == "member-group":
        return _by_group(layout, members, watching)
    if configured is not None:
        return Leases(configured, "known")
    if layout.name == "curator-mutex" and len(members) > 1:
        return _by_watches(members, watching)
    return Leases(warnings=("low-confidence",) if layout.means == "semaphore" else ())


def number_in(data: bytes | None) -> int | None:
    """Read a decimal number, as kazoo writes its number of leases.

    >>> number_in(b"3"), number_in(b""), number_in(b"three")
    (3, None, None)
    """
    text = (data or b"")[: _LONGEST_NUMBER + 1].strip()
    return int(text) if text.isdigit() and len(text) <= _LONGEST_NUMBER else None


def _by_markers(members: Sequence[Member], configured: int | None) -> Leases:
    """In DistributedLock.ZooKeeper, each holder writes a marker."""
    marked = tuple(member for member in members if member.znode.data == ACQUIRED)
    if configured is not None:
        return Leases(configured, "known", marked or None)
    if not marked or len(marked) == len(members):
        return Leases(holders=marked)  # a lease may be free
    return Leases(len(marked), "inferred", marked)


def _by_votes(layout: Layout, members: Sequence[Member], configured: int | None) -> Leases:
    """Count Twitter's votes: each client writes its own number, and all watch the root."""
    votes = Counter(number_in(member.znode.data) for member in members)
    votes.pop(None, None)
    if not votes:
        unsure = () if configured else ("low-confidence",)
        return Leases(configured, "known" if configured else None, warnings=unsure)
    number, _ = votes.most_common(1)[0]
    variant = msgspec.structs.replace(layout, watch="children")
    return Leases(configured or number or 1, "known", layout=variant)


def _by_group(layout: Layout, members: Sequence[Member], watching: WatchLookup) -> Leases:
    """Twitter's group is a lock if members watch predecessors. Candidates watch the children."""
    neighbours = list(pairwise(members[:_MAX_EXAMINED_WAITERS]))
    watches = [watching(after, before.node) for before, after in neighbours]
    if not watches or None in watches or any(watches):
        return Leases(asks_watches=bool(watches))
    election = msgspec.structs.replace(layout, watch="children", kind="election")
    return Leases(layout=election, asks_watches=True)


def _by_watches(members: Sequence[Member], watching: WatchLookup) -> Leases:
    """In the old semaphore of Curator, a waiter watches the node `leases` places before it."""
    for place in range(1, min(len(members), _MAX_EXAMINED_WAITERS)):
        for back in range(1, place + 1):
            is_watching = watching(members[place], members[place - back].node)
            if is_watching is None or (is_watching and back == 1):
                return Leases(asks_watches=True)
            if is_watching:
                return Leases(back, "inferred", asks_watches=True)
    return Leases(asks_watches=True)
