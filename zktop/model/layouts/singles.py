"""Locks without a queue: one ephemeral node, whoever creates it holds the lock."""

import re
from typing import Final

from zktop.model.family import Family, Znode
from zktop.model.layouts.curator import CURATOR_CUSTOM
from zktop.model.layouts.ground import Ground, is_lockish
from zktop.model.layouts.names import read
from zktop.model.layouts.structures import LEDGER

_NUMBERED: Final = re.compile(r".*\d{9}", re.DOTALL)


def is_single(ground: Ground) -> bool:
    """Tell whether the root is a single node, or has one as its lock."""
    stat = ground.stat
    if stat is not None and stat.owner:
        return _stands_alone(ground)
    children = single_children(ground.family, ground.path)
    return bool(children) and not _stand_alone(ground, children)


def single_children(family: Family, path: str) -> tuple[Znode, ...]:
    """Give the children that are locks by themselves."""
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
    """Tell a node that old Spring leaked: its lock's name is the name of a sibling."""
    found = read(CURATOR_CUSTOM, name)
    return found is not None and found.group in siblings.members


def _stands_alone(ground: Ground) -> bool:
    """Tell whether an ephemeral node is a lock: it sounds like one, or the user says so."""
    if ground.told is not None and ground.told.path == ground.path:
        return True
    name = ground.path.rpartition("/")[2]
    return is_lockish(name) and not _NUMBERED.fullmatch(name)


def _stand_alone(ground: Ground, children: tuple[Znode, ...]) -> bool:
    """Tell whether the children are the locks, and what they are in is just a folder."""
    is_named = ground.told is not None and ground.told.path == ground.path
    if is_named or is_lockish(ground.path.rpartition("/")[2]):
        return False
    names = [child.name for child in children]
    return all(is_lockish(name) and not _NUMBERED.fullmatch(name) for name in names)


def is_lock_of_its_parent(parent: Ground, name: str) -> bool:
    """Tell whether the parent is the lock that this child belongs to: its name says so."""
    if not is_lockish(parent.path.rpartition("/")[2]):
        return False
    return any(z.name == name for z in single_children(parent.family, parent.path))
