"""A shape: a lock layout recognised by more than the names of children.

A shape is one object: its layout, how to recognise a root of it, and how to make its queues. To
add one, write it in a module here, and list it in `SHAPES`.
"""

from collections.abc import Callable, Iterable

import msgspec

from zktop.model.facts import Millis
from zktop.model.layouts.children_by_layout import sort_by_layout
from zktop.model.layouts.layout import Layout
from zktop.model.layouts.lock_site import LockSite
from zktop.model.layouts.owner_labels import label_of
from zktop.model.layouts.timed_leases import FOREVER
from zktop.model.locks.lock import LockQueue, Member
from zktop.model.locks.members import KnownMembers, members_of
from zktop.model.locks.open_folder import FolderOpener
from zktop.model.locks.queues_by_name import Queues
from zktop.model.text import Text
from zktop.model.world.children_of_znode import Family, Znode


class ShapeContext(msgspec.Struct, frozen=True):
    """Everything that a shape needs to make its queues."""

    site: LockSite
    layout: Layout
    now: Millis
    leases: int | None  # the configured number
    known: KnownMembers
    folders: FolderOpener
    previous_queues: tuple[LockQueue, ...] = ()

    def single(self, node: str, znode: Znode) -> Member:
        """Make a member of a node with a fixed name."""
        label = label_of(znode.data, self.layout.name) if znode.data else None
        lasts = znode.stat is not None and znode.stat.owner == 0
        member = Member(
            Text(node), "exclusive", None, self.layout.name, label, None, znode, not lasts
        )
        known = self.known.get(member.node)
        if known is None or known.znode is not znode or known.layout != member.layout:
            return member
        return known

    def sorted_children(
        self, layout: Layout, family: Family, below: str = ""
    ) -> tuple[list[Member], list[Znode]]:
        """Return the members of a layout among some children, and the other children."""
        by_layout = sort_by_layout(family, (layout,))
        children = by_layout.matches.get(layout.name, ())
        return members_of(layout, children, self.known, below), by_layout.rest


class LockShape(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A lock layout recognised by sub-nodes, siblings, nodes with fixed names, or data."""

    layout: Layout
    fits: Callable[[LockSite], bool]
    make: Callable[[ShapeContext], Queues]
    leaf: str = ""  # the child that is a node of the lock only while it has no children
    parts: tuple[str, ...] = ()  # children that may look like locks but belong to this one
    has_numbered_parts: bool = False  # the children 0, 1, 2, ... are such parts too


def next_end(ends: Iterable[Millis], now: Millis) -> Millis | None:
    """Return when the next lease ends; None if all have ended or last forever."""
    return min((end for end in ends if now < end < FOREVER), default=None)
