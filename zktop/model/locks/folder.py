"""All children of a lock's folder, including foreign ones, and the state of the previous look.

Clients list the children when they create their node and when their watch fires, never in between.
So a client acts on the children at its last listing, not on the present ones.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Final

import msgspec

from zktop.model.facts import Session
from zktop.model.layouts.client_view import views_of
from zktop.model.layouts.layout import ClientView, Layout, parse_name
from zktop.model.locks.client_order import has_two_orders, rank_in
from zktop.model.locks.lock import FOREIGN, Member
from zktop.model.text import Text
from zktop.model.world.children_of_znode import Family, Znode


class ViewProof(msgspec.Struct, frozen=True, gc=False):
    """The view that a watch proves for a member."""

    view: ClientView
    is_fresh: bool  # the watch is certainly no older than the member


class SessionWatches(msgspec.Struct, frozen=True, gc=False):
    """The children that a session watches, according to its server's table."""

    zxid: int  # of the newest table
    since: int  # of the first table in which it was looked up
    children: Mapping[Text, int]  # child -> zxid of the first table that showed the watch

    def proof(self, view: ClientView, node: Text, member: Member) -> ViewProof | None:
        """Return what a watch proves; None if it is older than the member."""
        if self.children[node] < member.czxid:
            return None
        return ViewProof(view, self.since < member.czxid)


NO_WATCHES: Final[Mapping[Text, int]] = {}


class FolderMemory(msgspec.Struct, frozen=True):
    """The state of the folder at the previous look."""

    names: frozenset[Text] = frozenset()  # all children
    waited: Mapping[Text, tuple[Text, ...]] = {}  # members that waited, and what they watched
    stranded: Mapping[Text, str] = {}  # node -> layout
    proofs: Mapping[Text, ViewProof] = {}
    watched: Mapping[Session, SessionWatches] = {}

    def has_stranded(self, member: Member) -> bool:
        """Return whether the member's client had failed by the previous look."""
        return self.stranded.get(member.node) == member.layout

    def looked_again(self, member: Member, now: frozenset[Text]) -> bool:
        """Return whether a member must have listed again: the nodes it waited for are gone."""
        targets = self.waited.get(member.node)
        return targets is not None and now.isdisjoint(targets)


NO_MEMORY = FolderMemory()


class Folder(msgspec.Struct, frozen=True, dict=True):
    """The children in the order of the listing, and the watches on them."""

    children: tuple[Member, ...]
    memory: FolderMemory = NO_MEMORY
    watched: Mapping[Session, SessionWatches] = {}  # from tables; others are unknown
    changed: int = 0  # the transaction of the newest child, or of the newest deletion
    own: tuple[Layout, ...] = ()  # the user's layouts

    @cached_property
    def names(self) -> frozenset[Text]:
        return frozenset(child.node for child in self.children)

    def watched_by(self, session: Session) -> Mapping[Text, int]:
        seen = self.watched.get(session)
        return NO_WATCHES if seen is None else seen.children

    def views(self, layout: Layout) -> tuple[ClientView, ...]:
        return views_of(layout, self.own)

    def matters(self, layout: Layout, members: Sequence[Member], group: str = "") -> bool:
        """Return whether a view of a layout counts other children or has another order.

        Also true if clients of these members failed earlier: their nodes outlive the cause.
        """
        if any(self.memory.has_stranded(member) for member in members):
            return True
        if has_two_orders(layout, members):
            return True
        own = {member.node for member in members}
        return any(self._counts_others(layout, view, own, group) for view in self.views(layout))

    def _counts_others(
        self, layout: Layout, view: ClientView, own: AbstractSet[Text], group: str
    ) -> bool:
        others: Iterable[Member] = (
            child for child in self.seen(layout, view, group) if child.node not in own
        )
        if view.counts == "own":  # few; in the other views the first one is usually counted
            listed = tuple(others)
            rank, others = rank_in(layout, view, listed, group), listed
        else:
            rank = rank_in(layout, view, (), group)
        return any(rank(child) is not None for child in others)

    def seen(self, layout: Layout, view: ClientView, group: str) -> Sequence[Member]:
        """The children that a view may count: of many locks below one parent, those of one."""
        if view.counts != "own" or not layout.grouped:
            return self.children
        if layout.name not in self._by_group:
            by_group = self._by_group[layout.name] = defaultdict(list)
            for child in self.children:
                name = parse_name(layout, child.znode.name)
                if name is not None:
                    by_group[name.group].append(child)
        return self._by_group[layout.name].get(group, ())

    @cached_property
    def _by_group(self) -> dict[str, defaultdict[str, list[Member]]]:
        return {}


def children_of(
    family: Family, members: Iterable[Member], layouts: Sequence[Layout], below: str = ""
) -> tuple[Member, ...]:
    """Return all children of a family, in the order of the listing."""
    contenders = {member.znode.name: member for member in members}
    found = (
        contenders.get(znode.name) or foreign_member(znode, layouts, below)
        for znode in family
        if znode.name in contenders or znode.stat is not None or znode.hidden
    )
    return tuple(found)


def foreign_member(znode: Znode, layouts: Sequence[Layout], below: str = "") -> Member:
    """Make a member of a foreign child."""
    names = (parse_name(layout, znode.name) for layout in layouts)
    number = next((name.sequence for name in names if name is not None), None)
    node = Text(below + znode.name) if below else znode.name
    lasts = znode.stat is None or not znode.stat.owner
    return Member(node, "exclusive", number, FOREIGN, None, None, znode, not lasts)
