"""Paths that may be locks, and the locks that depend on a changed path."""

from collections.abc import Iterable

from zktop.model.facts import join, last_name, split
from zktop.model.layouts.lock_site import LockSite
from zktop.model.layouts.timed_leases import lease_end
from zktop.model.locks.shapes import decides_above, part_of
from zktop.model.locks.shapes.semaphores import QUEUE_OF_SEMAPHORE
from zktop.model.locks.shapes.single_node import (
    is_lock_of_its_parent,
    is_named_by_user,
    is_unnumbered_lock,
)
from zktop.model.text import Text


def affected_locks(path: Text, children: Iterable[Text] = ()) -> list[Text]:
    """Return the paths of the locks that a change of these unnumbered children can affect.

    >>> affected_locks("/pool/sem-__lock__"), affected_locks("/app/sem/leases")
    (['/pool/sem-__lock__', '/pool/sem'], ['/app/sem/leases', '/app/sem'])
    """
    locks = [path]
    name = last_name(path)
    if name.endswith(QUEUE_OF_SEMAPHORE):
        locks.append(Text(path.removesuffix(QUEUE_OF_SEMAPHORE)))
    if decides_above(name):
        locks.append(split(path)[0])
    for child in dict.fromkeys(children):  # each may be a lock by its data or its owner
        below = join(path, child)
        locks.append(below)
        if child.endswith(QUEUE_OF_SEMAPHORE):
            locks.append(Text(below.removesuffix(QUEUE_OF_SEMAPHORE)))
    return locks


def may_be_lock(site: LockSite) -> bool:
    """Return whether a path may be a lock: it has children, or looks like a lock itself.

    A part of another lock is not a lock itself.
    """
    path, world, settings, family = site.path, site.world, site.settings, site.family
    if any(root.path == path for root in settings.roots):
        return True
    if family.listed or family.members or family.denied:
        return not part_of(site)
    parent, name = split(path)
    znode, parent_site = world.node(path), LockSite(parent, world, settings)
    if znode is None or parent_site.family.may_have_numbered(name):
        return False
    owner, data = znode.stat.owner if znode.stat else 0, znode.data
    if owner and is_named_by_user(site) and parent_site.configured is None:
        return True
    is_lock = is_unnumbered_lock(site) if owner else lease_end(data) is not None
    return is_lock and not is_lock_of_its_parent(parent_site, name)
