"""Locks that are recognised by their shape: sub-nodes, siblings and nodes with fixed names.

The shape also shows which znodes are a part of another lock (its queue, its leases), and which
single ephemeral or dated nodes are locks without a queue: the creator of the node holds it.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

from zktop.model.facts import split
from zktop.model.layouts.catalogue import layout_named
from zktop.model.layouts.layout import MACROS, read
from zktop.model.layouts.libraries import CURATOR_CUSTOM
from zktop.model.layouts.site import LockSite, is_lockish
from zktop.model.layouts.timed_leases import expiring, parse_date
from zktop.model.text import Text
from zktop.model.world.family import Family, Znode

QUEUE_OF_SEMAPHORE: Final = "-__lock__"

# Name -> the layouts that have such a part.
PARTS: Final[dict[str, tuple[str, ...]]] = {
    "leases": ("curator-semaphore-v2",),
    "locks": ("curator-semaphore-v2",),
    "entries": ("kazoo-locking-queue",),
    "taken": ("kazoo-locking-queue",),
    "backup-masters": ("hbase-master",),
}


def may_be_part(name: str) -> bool:
    """Return whether a root may be part of another lock, judging by its name."""
    return name in PARTS or name.isdecimal() or name.endswith(QUEUE_OF_SEMAPHORE)


def by_path(path: str) -> str | None:
    """Return the kind of a path that is known to be no lock, whatever its children are."""
    return "clickhouse-block-numbers" if "/block_numbers/" in path else None


LEDGER: Final = re.compile(r"urL\d{10}")  # BookKeeper: the number of a ledger
_HEX: Final = MACROS["{H32}"]
_HEX_LENGTH: Final = 32
_TELLING: Final = frozenset(
    (
        "leases", "lease_holder", "0", "entries", "leader_ack", "ActiveStandbyElectorLock",
        "ActiveBreadCrumb", "master", "members",
    )
)  # fmt: skip
_PATRONI: Final = frozenset(("initialize", "config", "history", "status", "sync", "failover"))


def structure(site: LockSite) -> str | None:
    """Return the name of the layout that this root has the shape of."""
    if not _is_telling(site.family):
        return None
    return next((name for name, fits in _SHAPES.items() if fits(site)), None)


def _is_telling(family: Family) -> bool:
    """Return quickly whether a root may have a special shape; most do not."""
    members = family.members
    if not members or not _TELLING.isdisjoint(members):
        return True
    first = next(iter(members.values()))
    if LEDGER.fullmatch(first.name):
        return True
    is_lasting = first.stat is None or first.stat.owner == 0
    return is_lasting or any(len(name) == _HEX_LENGTH for name in members)


def part_of(site: LockSite) -> Text | None:
    """Return the lock that this root is only a part of: a queue, a set of leases, one slot."""
    parent, name = split(site.path)
    if name.endswith(QUEUE_OF_SEMAPHORE):
        whole = Text(site.path.removesuffix(QUEUE_OF_SEMAPHORE))
        return whole if site.knows(whole) else None
    if name not in PARTS and not name.isdecimal():
        return None
    above = site.above()
    shape = structure(above) if above is not None else None
    fits = shape in PARTS.get(name, ("kazoo-lease",) if name.isdecimal() else ())
    return parent if fits else None


def _curator_semaphore(site: LockSite) -> bool:
    names = site.family.members
    if "leases" not in names:
        return False
    if "locks" in names:
        return True
    return _has(site.below("leases"), "curator-semaphore-v2")


def _kazoo_semaphore(site: LockSite) -> bool:
    if site.beside(QUEUE_OF_SEMAPHORE) is None:
        return False
    names = site.family.members
    return not names or any(re.fullmatch(_HEX, name) for name in names)


def _kazoo_lease(site: LockSite) -> bool:
    if "lease_holder" in site.family.members:
        return True
    return any("lease_holder" in site.below(name).members for name in lease_slots(site))


def lease_slots(site: LockSite) -> Iterator[str]:
    """Yield the children that may be slots of a lease: 0, 1, 2, ..."""
    names = site.family.members
    for number in range(len(names)):
        if str(number) not in names:
            return
        yield str(number)


def _locking_queue(site: LockSite) -> bool:
    return {"entries", "taken"} <= site.family.members.keys()


def _ruby_election(site: LockSite) -> bool:
    return "leader_ack" in site.family.members


def _hadoop(site: LockSite) -> bool:
    return bool({"ActiveStandbyElectorLock", "ActiveBreadCrumb"} & site.family.members.keys())


def _hbase(site: LockSite) -> bool:
    return {"master", "backup-masters"} <= site.family.members.keys()


def _patroni(site: LockSite) -> bool:
    names = site.family.members.keys()
    return "members" in names and ("leader" in names or len(names & _PATRONI) > 1)


def _shedlock(site: LockSite) -> bool:
    family = site.family
    if not family.members or any(z.stat is None or z.stat.owner for z in family):
        return False
    if site.path.rpartition("/")[2].lower() == "shedlock":
        return True
    dates = (parse_date((z.data or b"")[:65].decode("utf-8", "replace")) for z in family)
    return all(date is not None for date in dates)


def _single(site: LockSite) -> bool:
    """Detect children that are a lock each, or a node whose data names its holder."""
    if site.family.members:
        return any(map(LEDGER.fullmatch, site.family.members))
    node = site.itself()
    return node is not None and expiring(node.data) is not None


def _has(family: Family, layout: str) -> bool:
    known = layout_named(layout)
    return known is not None and any(read(known, name) for name in family.members)


_SHAPES: Final[dict[str, Callable[[LockSite], bool]]] = {
    "curator-semaphore-v2": _curator_semaphore,
    "kazoo-semaphore": _kazoo_semaphore,
    "kazoo-lease": _kazoo_lease,
    "kazoo-locking-queue": _locking_queue,
    "zkruby-election": _ruby_election,
    "hadoop-elector": _hadoop,
    "hbase-master": _hbase,
    "patroni": _patroni,
    "shedlock": _shedlock,
    "single-node": _single,
}


_NUMBERED: Final = re.compile(r".*\d{9}", re.DOTALL)


def is_single(site: LockSite) -> bool:
    """Return whether the root is a single node, or has one as its lock."""
    stat = site.stat
    if stat is not None and stat.owner:
        return _stands_alone(site)
    children = single_children(site.family, site.path)
    return bool(children) and not _stand_alone(site, children)


def single_children(family: Family, path: str) -> tuple[Znode, ...]:
    """Return the children that are locks by themselves."""
    ledgers = tuple(znode for znode in family if LEDGER.fullmatch(znode.name))
    if ledgers:
        return ledgers
    if len(family.members) > 1 and not is_lockish(path.rpartition("/")[2]):
        return ()
    owned = tuple(znode for znode in family if znode.stat and znode.stat.owner)
    if len(owned) != 1 or _NUMBERED.fullmatch(owned[0].name):
        return ()
    return owned if is_lockish(path) or is_lockish(owned[0].name) else ()


def is_probe(name: str, siblings: Family) -> bool:
    """Detect a node that old Spring left behind: it is named after a sibling."""
    found = read(CURATOR_CUSTOM, name)
    return found is not None and found.group in siblings.members


def _stands_alone(site: LockSite) -> bool:
    """Return whether an ephemeral node is a lock, by its name or by the config."""
    if site.configured is not None and site.configured.path == site.path:
        return True
    name = site.path.rpartition("/")[2]
    return is_lockish(name) and not _NUMBERED.fullmatch(name)


def _stand_alone(site: LockSite, children: tuple[Znode, ...]) -> bool:
    """Return whether each child is a lock, and the parent is just a folder."""
    is_named = site.configured is not None and site.configured.path == site.path
    if is_named or is_lockish(site.path.rpartition("/")[2]):
        return False
    names = [child.name for child in children]
    return all(is_lockish(name) and not _NUMBERED.fullmatch(name) for name in names)


def is_lock_of_its_parent(parent: LockSite, name: str) -> bool:
    """Return whether the parent is the lock that a child belongs to, by its name."""
    if not is_lockish(parent.path.rpartition("/")[2]):
        return False
    return any(z.name == name for z in single_children(parent.family, parent.path))
