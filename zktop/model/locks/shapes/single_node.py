"""Single-node locks, held by the node's owner or until a date in its data."""

import re
from collections.abc import Sequence
from typing import Final

from zktop.model.facts import last_name, split
from zktop.model.layouts.layout import Layout, WatchKind
from zktop.model.layouts.lock_names import (
    is_folder_of_locks,
    sounds_like_lock,
    sounds_like_one_lock,
)
from zktop.model.layouts.lock_site import LockSite
from zktop.model.layouts.not_locks import sounds_like_a_registry
from zktop.model.layouts.timed_leases import MAX_DATE_CHARS, lease_end, parse_date, shedlock_end
from zktop.model.locks.lock import Member, QueueDefaults, Target
from zktop.model.locks.queues_by_name import Queues
from zktop.model.locks.shapes.shape import LockShape, ShapeContext, next_end
from zktop.model.world.children_of_znode import Family, Znode
from zktop.model.world.missing_roots import SINGLE_NODE_LAYOUT

LEDGER: Final = re.compile(r"urL\d{10}")  # BookKeeper: the number of a ledger


class SingleNodeQueue(QueueDefaults):
    """Nodes that hold the lock while they exist, and standbys whose nodes are elsewhere."""

    def __init__(
        self,
        holders: Sequence[Member],
        standbys: Sequence[Member] = (),
        *,
        how: WatchKind = "exists",
    ) -> None:
        self.holders = tuple(holders)
        self.waiters = tuple(standbys)
        self.warnings = ()
        self._how = how

    @property
    def members(self) -> Sequence[Member]:
        return self.holders + self.waiters

    def blocked_by(self, member: Member) -> tuple[Member, ...]:
        """Return the holders. After them, any standby may win."""
        return () if self.holds(member) else self.holders

    def expected(self, member: Member) -> tuple[Target, ...]:
        """Return the nodes of the holders, which a standby watches."""
        if self.holds(member):
            return ()
        return tuple(Target(holder.node, self._how) for holder in self.holders)


def _is_shedlock(site: LockSite) -> bool:
    family = site.family
    if not family.members or any(znode.stat is None or znode.stat.owner for znode in family):
        return False
    if last_name(site.path).lower() == "shedlock":
        return True
    texts = [
        (znode.data or b"")[: MAX_DATE_CHARS + 1].decode("utf-8", "replace") for znode in family
    ]
    return all("T" in text and parse_date(text) is not None for text in texts)  # with a time


def _shedlock(context: ShapeContext) -> Queues:
    holders, ends = [], []
    for znode in context.site.family:
        end = shedlock_end(znode.data)
        ends.append(end)
        if context.now < end:
            holders.append(context.single(znode.name, znode))
    return Queues((SingleNodeQueue(holders),), until=next_end(ends, context.now))


SHEDLOCK: Final = LockShape(
    layout=Layout(
        name="shedlock",
        pattern="^.+$",
        order="arrival",
        watch="none",
        kind="lease",
        persistent=True,
        guessed=True,
        about="ShedLock: nodes that stay, held until the date in their data (Java)",
    ),
    fits=_is_shedlock,
    make=_shedlock,
)


def _has_single_nodes(site: LockSite) -> bool:
    """Return whether the children are locks, or the node's data has the end of a lease."""
    if site.family.members:
        return any(map(LEDGER.fullmatch, site.family.members))
    node = site.itself()
    return node is not None and lease_end(node.data) is not None


def _single_node(context: ShapeContext) -> Queues:
    """Make the queue of the root's own node, or of those below it."""
    site, family = context.site, context.site.family
    root = site.itself()
    end = lease_end(root.data) if root else None
    if root is not None and end is not None and not (root.stat and root.stat.owner):
        held = [context.single(".", root)] if context.now < end else []
        return Queues((SingleNodeQueue(held),), until=next_end([end], context.now))
    children = single_children(family, site.path)
    if children or family.members:
        znodes = children or tuple(znode for znode in family if znode.stat and znode.stat.owner)
        return Queues((SingleNodeQueue([context.single(znode.name, znode) for znode in znodes]),))
    stat = site.stat
    if stat is None or not stat.owner:
        return Queues((SingleNodeQueue(()),))
    node = root or Znode(last_name(site.path), stat)
    return Queues((SingleNodeQueue([context.single(".", node)]),))


SINGLE_NODE: Final = LockShape(
    layout=Layout(
        name=SINGLE_NODE_LAYOUT,
        pattern="^.+$",
        order="arrival",
        kind="single",
        watch="holder",
        guessed=True,
        about="One ephemeral node is the lock: Kafka, Canal, Pulsar, Helix, ClickHouse, jfix, "
        "copies of the ZkClient tutorial",
    ),
    fits=_has_single_nodes,
    make=_single_node,
)


def is_single(site: LockSite) -> bool:
    """Return whether the root is a single node, or has one as its lock."""
    stat = site.stat
    if stat is not None and stat.owner:
        return _is_lock_itself(site)
    children = single_children(site.family, site.path)
    return bool(children) and not _are_locks_themselves(site, children)


def _is_lock_itself(site: LockSite) -> bool:
    """Return whether an ephemeral node is a lock, by its name or by the config."""
    return is_named_by_user(site) or is_unnumbered_lock(site)


def is_named_by_user(site: LockSite) -> bool:
    """Return whether the config says that this path is a lock, whatever its name is.

    A pattern with `**` only says where to search.
    """
    root = site.configured
    return root is not None and (root.layout == SINGLE_NODE_LAYOUT or "**" not in root.path)


def is_unnumbered_lock(site: LockSite) -> bool:
    """Return whether a node without a number has a lock's name, or is in a folder of locks.

    Next to numbered nodes, it is a foreign child of their lock.
    """
    above, name = split(site.path)
    family = site.world.family(above)
    if family.may_have_numbered(name):
        return False
    return sounds_like_lock(name) or (is_folder_of_locks(above) and not family.has_numbered)


def _are_locks_themselves(site: LockSite, children: tuple[Znode, ...]) -> bool:
    """Return whether each child is itself a lock, and the parent is just a folder."""
    is_named = site.configured is not None and site.configured.path == site.path
    if is_named or sounds_like_one_lock(site.path):
        return False
    return is_folder_of_locks(site.path) or all(sounds_like_lock(child.name) for child in children)


def single_children(family: Family, path: str) -> tuple[Znode, ...]:
    """Return the children that are locks by themselves."""
    ledgers = tuple(znode for znode in family if LEDGER.fullmatch(znode.name))
    if ledgers:
        return ledgers
    if len(family.members) > 1 and not sounds_like_lock(last_name(path)):
        return ()
    owned = tuple(znode for znode in family if znode.stat and znode.stat.owner)
    if len(owned) != 1 or family.may_have_numbered(owned[0].name):
        return ()
    return owned if sounds_like_lock(owned[0].name) or _is_among_locks(path) else ()


def _is_among_locks(path: str) -> bool:
    """Return whether a folder, or one above it, sounds like a lock, and it is not a registry."""
    *above, name = path.split("/")
    sounds_so = any(map(sounds_like_lock, (name, above[-1]))) or any(map(_is_above_locks, above))
    return sounds_so and not sounds_like_a_registry(name)


def _is_above_locks(folder: str) -> bool:
    """Return whether anything deep below a folder may be a lock: locks, distributed-lock."""
    is_lock = folder.lower().endswith("lock") and sounds_like_lock(folder)
    return is_lock or is_folder_of_locks(folder)


def is_lock_of_its_parent(parent: LockSite, name: str) -> bool:
    """Return whether the parent is the lock that a child belongs to, by its name."""
    if not sounds_like_one_lock(parent.path):
        return False
    return any(child.name == name for child in single_children(parent.family, parent.path))
