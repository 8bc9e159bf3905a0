"""The children of a lock's folder, including foreign ones, and the state of the previous look.

Clients list the children when they create their node and when their watch fires, never in between.
So a client acts on the children at its last listing, not on the present ones.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import accumulate
from typing import Final

import msgspec
from msgspec.structs import replace

from zktop.model.facts import Session
from zktop.model.layouts.client_view import depends_on_group, views_of
from zktop.model.layouts.layout import ClientView, Layout, parse_name
from zktop.model.layouts.main_libraries import AFTER_NAME
from zktop.model.locks.client_order import ClientOrder, NamedOrder, has_two_orders, rank_in
from zktop.model.locks.lock import FOREIGN, Member
from zktop.model.text import Text
from zktop.model.world.children_of_znode import Family, Znode

MIN_MERGED_LOCKS: Final = 50  # with fewer locks of this size, each ranks all children


class ViewProof(msgspec.Struct, frozen=True, gc=False):
    """The view that a watch proves for a member."""

    view: ClientView
    is_fresh: bool  # a table older than the member showed its session without this watch


class SessionWatches(msgspec.Struct, frozen=True, gc=False):
    """The children that a session watches, according to its server's table."""

    zxid: int  # that of the newest table
    since: int  # that of the first table that listed any watch of the session
    children: Mapping[Text, int]  # child -> zxid of the first table that showed the watch

    def proof(self, view: ClientView, node: Text, member: Member) -> ViewProof | None:
        """Return what a watch on this child proves. One older than the member proves nothing."""
        if self.children[node] < member.czxid:
            return None
        return ViewProof(view, self.since < member.czxid)


class FolderMemory(msgspec.Struct, frozen=True):
    """The state of the folder at the previous look."""

    names: frozenset[Text] = frozenset()  # all children that were read
    waited: Mapping[Text, tuple[Text, ...]] = {}  # waiter -> the nodes that its recipe watches
    stranded: Mapping[Text, str] = {}  # node -> layout
    proofs: Mapping[Text, ViewProof] = {}
    watched: Mapping[Session, SessionWatches] = {}
    sessions: Mapping[Text, Session] = {}  # waiter -> its session
    left: Mapping[Session, frozenset[Text]] = {}  # nodes that earlier members may still watch

    def left_watches(
        self, now: frozenset[Text], shown: AbstractSet[Session]
    ) -> dict[Session, frozenset[Text]]:
        """Return, by session, the existing nodes that its deleted members watched.

        This is limited to sessions whose watches a table shows: of others, nothing is known.
        """
        left = dict(self.left)
        for node, targets in self.waited.items():
            session = self.sessions.get(node)
            if session and node not in now:
                left[session] = left.get(session, frozenset()).union(targets)
        existing = {session: nodes & now for session, nodes in left.items() if session in shown}
        return {session: nodes for session, nodes in existing.items() if nodes}

    def has_stranded(self, member: Member) -> bool:
        """Return whether the member's client had failed by the previous look."""
        return self.stranded.get(member.node) == member.layout

    def listed_again(self, member: Member, now: frozenset[Text]) -> bool:
        """Return whether the client must have listed again: every node that it watched is gone."""
        targets = self.waited.get(member.node)
        return targets is not None and now.isdisjoint(targets)


NO_MEMORY = FolderMemory()

FolderMemories = Mapping[Text, FolderMemory]  # by the path of the lock
NO_MEMORIES: Final[FolderMemories] = {}


class Folder(msgspec.Struct, frozen=True, dict=True):
    """The children in the order of the listing, and the watches on them."""

    children: tuple[Member, ...]
    memory: FolderMemory = NO_MEMORY
    watched: Mapping[Session, SessionWatches] = {}  # those of sessions not listed are unknown
    changed: int = 0  # zxid at which a child was last created or deleted
    user_layouts: tuple[Layout, ...] = ()  # defined in the user's config

    @cached_property
    def names(self) -> frozenset[Text]:
        return frozenset(child.node for child in self.children)

    @cached_property
    def left_watches(self) -> Mapping[Session, frozenset[Text]]:
        """The children that earlier members of a session watched: it may still watch them."""
        return self.memory.left_watches(self.names, self.watched.keys())

    def has_met(self, member: Member, child: Member) -> bool:
        """Return whether a waiter of the previous look has listed this child since."""
        if not self.memory.listed_again(member, self.names):
            return False
        return child.node in self.memory.names or 0 < child.czxid < self._removed_at

    @cached_property
    def _removed_at(self) -> int:
        """The zxid of the removal, if one child was removed since the previous look, or 0.

        It is that of the last change, unless a child was created then.
        """
        was_creation = any(child.czxid >= self.changed for child in self.children)
        is_single = len(self.memory.names - self.names) == 1
        return self.changed if is_single and not was_creation else 0

    def watched_by(self, session: Session) -> Mapping[Text, int]:
        watches = self.watched.get(session)
        return {} if watches is None else watches.children

    def views(self, layout: Layout) -> tuple[ClientView, ...]:
        return views_of(layout, self.user_layouts)

    def matters(self, layout: Layout, members: Sequence[Member], group: str) -> bool:
        """Return whether the queue of these members must take other children into account.

        It must if a client of the layout counts one of them, or failed at one earlier: that
        client's node stays when the child is gone. It also must if clients disagree on the order.
        """
        if any(self.memory.has_stranded(member) for member in members):
            return True
        if has_two_orders(layout, members):
            return True
        nodes = {member.node for member in members}
        return any(self._counts_others(layout, view, nodes, group) for view in self.views(layout))

    def _counts_others(
        self, layout: Layout, view: ClientView, nodes: AbstractSet[Text], group: str
    ) -> bool:
        others: Iterable[Member] = (
            child for child in self.countable(layout, view, group) if child.node not in nodes
        )
        if view.counts == "own":  # these ranks depend on all listed children
            listed = tuple(others)
            rank, others = rank_in(layout, view, listed, group), listed
        else:
            rank = rank_in(layout, view, (), group)
        return any(rank(child) is not None for child in others)

    def countable(self, layout: Layout, view: ClientView, group: str) -> Sequence[Member]:
        """Return the children that a view may count: its own group, if locks share the parent."""
        if view.counts != "own" or not layout.grouped:
            return self.children
        if layout.name not in self._by_group:
            by_group = self._by_group[layout.name] = defaultdict(list)
            for child in self.children:
                name = parse_name(layout, child.znode.name)
                if name is not None:
                    by_group[name.group].append(child)
        return self._by_group[layout.name].get(group, ())

    def order(
        self, layout: Layout, view: ClientView, group: str, *, for_readers: bool
    ) -> ClientOrder:
        """Return the order in which clients see the children. Groups share it if they can."""
        if not depends_on_group(view):
            group = ""
        key = layout.name, view, group, for_readers
        if key not in self._orders:
            is_after_name = (view.counts, view.key) == (AFTER_NAME.counts, AFTER_NAME.key)
            if group and is_after_name and not for_readers:
                order = self._named_order(layout, view, group)
            else:
                children = self.countable(layout, view, group)
                order = ClientOrder(layout, view, children, group=group, for_readers=for_readers)
            self._orders[key] = order
        return self._orders[key]

    def _named_order(self, layout: Layout, view: ClientView, group: str) -> ClientOrder:
        """Rank children whose names contain the lock's. All locks share the order of the rest."""
        by_whole_name = self.order(layout, replace(view, key=""), "", for_readers=False)
        text, starts = self._all_names
        named, at = [], text.find(group)
        while at >= 0:
            place = bisect_right(starts, at) - 1
            named.append(self.children[place])
            at = text.find(group, starts[place + 1])
        if len(named) * MIN_MERGED_LOCKS > len(self.children):  # few locks with many members
            return ClientOrder(layout, view, self.children, group=group)
        return NamedOrder(layout, view, named, by_whole_name, group=group)

    @cached_property
    def _all_names(self) -> tuple[str, Sequence[int]]:
        """The names of all children as one text, and their offsets, then the text's length."""
        names = [f"{child.znode.name}\n" for child in self.children]
        return "".join(names), [0, *accumulate(map(len, names))]

    @cached_property
    def _orders(self) -> dict[tuple[str, ClientView, str, bool], ClientOrder]:
        return {}

    @cached_property
    def _by_group(self) -> dict[str, defaultdict[str, list[Member]]]:
        return {}


def children_of(
    family: Family, members: Iterable[Member], layouts: Sequence[Layout], below: str
) -> tuple[Member, ...]:
    """Return the children of a family in the order of the listing, without those not read yet."""
    members_by_name = {member.znode.name: member for member in members}
    return tuple(
        members_by_name.get(znode.name) or foreign_member(znode, layouts, below)
        for znode in family
        if znode.name in members_by_name or znode.stat is not None or znode.hidden
    )


def foreign_member(znode: Znode, layouts: Sequence[Layout], below: str = "") -> Member:
    """Make a Member that stands for a foreign child."""
    names = (parse_name(layout, znode.name) for layout in layouts)
    number = next((name.sequence for name in names if name is not None), None)
    node = Text(below + znode.name) if below else znode.name
    lasts = znode.stat is None or not znode.stat.owner
    return Member(node, "exclusive", number, FOREIGN, None, None, znode, not lasts)
