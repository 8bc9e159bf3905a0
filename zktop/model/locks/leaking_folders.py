"""Count the lock folders below each parent; estimate how many are empty, and how fast they grow.

Clients that make a folder for each lock and never delete it fill the parent, until its listing is
larger than clients accept (`jute.maxbuffer`). Counting looks at a sample of the children, so that
it takes milliseconds for a hundred thousand.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from zktop.model.facts import DAY_MS, SECOND_MS, Millis, Stat, join
from zktop.model.locks.lock import Lock
from zktop.model.text import Text
from zktop.model.world.children_of_znode import NO_FAMILY, Family, Znode
from zktop.model.world.persistent_map import PersistentMap
from zktop.model.world.world import World

EVERY_MS: Millis = 60 * SECOND_MS
MIN_FOLDERS = 1_000  # fewer do no harm
SAMPLED_CHILDREN = 200  # approximately
MIN_LOCK_SHARE = 0.8  # of the sampled children that must be lock folders
WEEK_MS: Millis = 7 * DAY_MS
JUTE_MAXBUFFER = 1 << 20  # in bytes, of Java clients from 3.6 on; older ones took 4 MB
_LISTING_BYTES = 88  # of a response without names: header, count, Stat
_NAME_BYTES = 4  # the length before each name


class LockFolders(msgspec.Struct, frozen=True):
    """The lock folders below one parent; `empty` and `per_day` are estimates."""

    parent: Text
    number: int
    empty: int
    per_day: int  # how many of the last week still exist, per day; 0: none or unknown
    listing_bytes: int
    layout: str  # the layout of one of the locks; empty if none is recognised

    def full_at(self, now: Millis, limit: int) -> Millis | None:
        """When the listing reaches this size, if the parent keeps growing at this rate."""
        bytes_per_day = self.per_day * self.listing_bytes / self.number
        if not bytes_per_day:
            return None
        return now + round(max(0, limit - self.listing_bytes) / bytes_per_day * DAY_MS)


class FolderCount:
    """A fold over worlds that counts the lock folders once a minute.

    It looks only at parents that have changed, because going through a hundred thousand takes
    100 ms.
    """

    def __init__(self) -> None:
        self._families: PersistentMap[Text, Family] = PersistentMap()
        self._large: set[Text] = set()  # parents with many children
        self._leaking: tuple[LockFolders, ...] = ()
        self._at: Millis | None = None

    def look(
        self, world: World, locks: Mapping[Text, Lock], now: Millis
    ) -> tuple[LockFolders, ...]:
        """Return the parents with many lock folders, most of them empty."""
        if self._at is None or now - self._at >= EVERY_MS:
            changed = world.families.changed_since(self._families)
            large = {path for path in changed if _size(world, path) >= MIN_FOLDERS}
            self._large = (self._large - changed) | large
            self._families, self._at = world.families, now
            self._leaking = tuple(_leaking(sorted(self._large), world, locks, now))
        return self._leaking


def _size(world: World, path: Text) -> int:
    return len(world.families.get(path, NO_FAMILY).members)


def _leaking(
    parents: Iterable[Text], world: World, locks: Mapping[Text, Lock], now: Millis
) -> Iterator[LockFolders]:
    for parent in parents:
        family = world.families[parent]
        lock = locks.get(parent)  # a root named exactly in the config has one even without members
        if family.listed and (lock is None or not lock.size):
            folders = _folders(parent, family, world, locks, now)
            if folders is not None:
                yield folders


def _folders(
    parent: Text, family: Family, world: World, locks: Mapping[Text, Lock], now: Millis
) -> LockFolders | None:
    names = [*family.members]
    sample = [family.members[name] for name in names[:: max(1, len(names) // SAMPLED_CHILDREN)]]
    stats: list[Stat] = []
    empty, example = 0, None  # a lock in one of the folders
    for znode in sample:
        path = join(parent, znode.name)
        stat, lock = _newest_stat(znode, world.families.get(path, NO_FAMILY)), locks.get(path)
        is_used = lock is not None and lock.size > 0
        if stat is None or not (is_used or _is_empty_folder(znode, stat)):
            continue
        example = lock or example
        stats.append(stat)
        if not is_used:
            empty += 1
    had_clients = any(stat.cversion for stat in stats)  # not merely znodes without data
    is_mostly_empty = 2 * empty > len(sample)
    is_leak = is_mostly_empty and (example is not None or had_clients)
    if len(stats) < MIN_LOCK_SHARE * len(sample) or not is_leak:
        return None
    scale = len(names) / len(sample)
    return LockFolders(
        parent=parent,
        number=len(names),
        empty=round(empty * scale),
        per_day=round(_per_day([stat.ctime for stat in stats], now) * scale),
        listing_bytes=listing_bytes(names),
        layout=example.layout if example else "",
    )


def listing_bytes(names: Sequence[str]) -> int:
    """Return the size of the response that lists these children."""
    return _LISTING_BYTES + _NAME_BYTES * len(names) + len("".join(names).encode())


def _newest_stat(znode: Znode, children: Family) -> Stat | None:
    return children.stat if children.listed and children.stat is not None else znode.stat


def _is_empty_folder(znode: Znode, stat: Stat) -> bool:
    """Whether it once had children or has no data, unlike a record of an application."""
    is_persistent = not stat.owner
    is_numbered = NO_FAMILY.may_have_numbered(znode.name)
    is_folder = is_persistent and not is_numbered and not stat.num_children
    return is_folder and bool(stat.cversion or not stat.data_length)


def _per_day(born: list[Millis], now: Millis) -> float:
    """How many were created per day in the last week, or 0 if all are less than a day old."""
    recent = [at for at in born if now - at <= WEEK_MS]
    days = min(WEEK_MS, now - min(born, default=now)) / DAY_MS
    return len(recent) / days if days >= 1 else 0
