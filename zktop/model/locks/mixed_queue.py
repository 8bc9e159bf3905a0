"""A queue in a folder with other children: foreign nodes, or contenders of other libraries.

A client counts every child whose name its code accepts, even if another library created it.
It decides only when it creates its node or its watch fires. So a later child that sorts
before a holder does not take the lock from it, and a waiter notices it at its next listing.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Literal

from msgspec import Struct

from zktop.model.layouts.client_view import assumed_view
from zktop.model.layouts.layout import ClientView
from zktop.model.locks.client_order import ClientOrder
from zktop.model.locks.folder import Folder, ViewProof
from zktop.model.locks.lock import FOREIGN, Member, Target
from zktop.model.locks.queue import CHILDREN, LayoutMembers, LayoutQueue
from zktop.model.locks.queue_oddities import QueueOddities
from zktop.model.text import Text

MemberOutcome = Literal["holds", "waits", "stranded"]

_MAX_WATCHED_CHILDREN = 8  # examined per session; caches watch all of them


class ClientDecision(Struct, frozen=True, gc=False):
    """How a member's client sees the children, and whether the member holds as a result."""

    outcome: MemberOutcome
    view: ClientView
    order: ClientOrder
    count_before: int  # number of children that precede it
    fails_at: tuple[Member, ...] = ()  # children that it cannot read now or at its next listing


class UnreadableChild(Struct, frozen=True, gc=False):
    """A child whose name some clients cannot read."""

    child: Member
    failed: tuple[Member, ...]  # nodes of clients that gave up and left them behind
    will_fail: tuple[Member, ...]  # nodes of clients that will fail at their next listing


class MixedQueue(LayoutQueue):
    """The members of one layout. Each holds or waits according to its own client's view."""

    def __init__(self, group: LayoutMembers, oddities: QueueOddities, folder: Folder) -> None:
        super().__init__(group, oddities)
        self.folder, self._group = folder, group.name
        self.proofs: dict[Text, ViewProof] = dict(self._proofs())
        self._members = {member.node: member for member in self.members}
        self._decisions = {member.node: self._decide(member) for member in self.members}
        self.holders = tuple(
            member for member in self.members if self._decisions[member.node].outcome == "holds"
        )
        self.waiters = tuple(
            member for member in self.members if self._decisions[member.node].outcome != "holds"
        )

    @property
    def counts_others(self) -> bool:
        return any(
            child.layout != FOREIGN and child.node not in self._members
            for child in self._counted()
        )

    @property
    def counts_foreign(self) -> bool:
        return any(child.layout == FOREIGN for child in self._counted())

    def find(self, node: str) -> Member | None:
        return self._members.get(Text(node))

    def decision(self, member: Member) -> ClientDecision:
        return self._decisions[member.node]

    def holds(self, member: Member) -> bool:
        return self._decisions[member.node].outcome == "holds"

    def is_stranded(self, member: Member) -> bool:
        """Return whether a client failed and left this node behind."""
        return self._decisions[member.node].outcome == "stranded"

    def blocked_by(self, member: Member) -> tuple[Member, ...]:
        """Return the members before it, back to one that waits for all the others."""
        decision = self._decisions[member.node]
        if decision.outcome != "waits":
            return ()
        nearest: list[Member] = []
        for child in decision.order.backwards(decision.count_before):
            nearest.append(child)
            if self._waits_for_all(child, decision):
                break
        return tuple(reversed(nearest))

    def members_before(self, member: Member) -> Sequence[Member]:
        decision = self._decisions[member.node]
        is_waiting = decision.outcome == "waits"
        return tuple(decision.order.first(decision.count_before)) if is_waiting else ()

    def count_before(self, member: Member) -> int:
        decision = self._decisions[member.node]
        return decision.count_before if decision.outcome == "waits" else 0

    def nearest(self, member: Member) -> Member | None:
        """Return the child right before a waiter."""
        decision = self._decisions[member.node]
        if decision.outcome != "waits":
            return None
        return next(decision.order.backwards(decision.count_before), None)

    def counts(self, member: Member, child: Member) -> bool:
        """Return whether a child precedes a member, as the member's client sees it."""
        return self._decisions[member.node].order.is_before(child, member)

    def waiters_behind(self, children: Collection[Member]) -> list[Member]:
        """Return the waiters whose clients count any of these children, without stranded ones."""
        return [
            waiter
            for waiter in self.waiters
            if not self.is_stranded(waiter)
            and any(self.counts(waiter, child) for child in children)
        ]

    def expected(self, member: Member) -> tuple[Target, ...]:
        decision = self._decisions[member.node]
        if decision.outcome != "waits" or self.layout.watch == "none":
            return ()
        if self.layout.watch == "children":
            return (CHILDREN,)
        if self.layout.watch == "marker":
            return (self._marker_target(decision),)
        now, at_first = self._watched_now_and_at_first(member, decision)
        return self.targets(self._targets_shown(member, decision) or at_first or now)

    def _marker_target(self, decision: ClientDecision) -> Target:
        """Watch for the mark on the previous node. The first waiter watches the children."""
        previous = next(decision.order.backwards(decision.count_before))
        previous_decision = self._decisions.get(previous.node)
        if previous_decision is None or previous_decision.outcome == "holds":
            return CHILDREN
        return Target(previous.node, "data")

    @property
    def obstacles(self) -> Iterator[Member]:
        """Yield the foreign children that block waiters."""
        ends: dict[int, tuple[ClientOrder, int]] = {}
        for member in self.waiters:
            decision = self._decisions[member.node]
            if decision.outcome == "waits":
                _, end = ends.get(id(decision.order), (None, 0))
                ends[id(decision.order)] = decision.order, max(end, decision.count_before)
        for order, end in ends.values():
            yield from (child for child in order.first(end) if child.layout == FOREIGN)

    @property
    def fails(self) -> bool:
        """Whether a client failed at a name, or will at its next listing."""
        decisions = (self._decisions[member.node] for member in self.waiters)
        return any(decision.outcome == "stranded" or decision.fails_at for decision in decisions)

    @property
    def left_behind(self) -> tuple[Member, ...]:
        """The stranded nodes of clients that failed at a child that is gone."""
        decided = ((member, self._decisions[member.node]) for member in self.waiters)
        return tuple(
            member
            for member, decision in decided
            if decision.outcome == "stranded" and not decision.fails_at
        )

    @property
    def unreadable(self) -> Iterator[UnreadableChild]:
        """Yield the children whose names clients of this queue cannot read."""
        failing: dict[Text, tuple[Member, list[Member], list[Member]]] = {}
        for member in self.waiters:
            decision = self._decisions[member.node]
            for child in decision.fails_at:
                _, failed, will_fail = failing.setdefault(child.node, (child, [], []))
                (will_fail if decision.outcome == "waits" else failed).append(member)
        for child, failed, will_fail in failing.values():
            yield UnreadableChild(child, tuple(failed), tuple(will_fail))

    def _counted(self) -> Iterator[Member]:
        """Yield the children that some client counts."""
        orders = {id(decision.order): decision.order for decision in self._decisions.values()}
        return (child for order in orders.values() for child in order.first())

    def _waits_for_all(self, child: Member, decision: ClientDecision) -> bool:
        """Return whether a child waits for everything that precedes it in the same order."""
        other = self._decisions.get(child.node)
        if other is None or other.outcome != "waits" or child.mode == "read":
            return False
        return other.view is decision.view

    def _decide(self, member: Member) -> ClientDecision:
        proof = self.proofs.get(member.node)
        view = proof.view if proof else assumed_view(self.folder.views(self.layout), member.mode)
        return self._decide_by(member, view, is_proven=proof is not None)

    def _decide_by(self, member: Member, view: ClientView, *, is_proven: bool) -> ClientDecision:
        """Decide what a member does if its client has this view."""
        order = self._order(view, member)
        before = order.count_before(member)
        fails_at = tuple(child for child in order.unreadable if child.node != member.node)
        if not is_proven and self.folder.memory.has_stranded(member):
            return ClientDecision("stranded", view, order, before, fails_at=fails_at)
        failed = tuple(child for child in fails_at if self._has_met(member, child))
        if failed:
            return ClientDecision("stranded", view, order, before, fails_at=failed)
        if before < self.room or member.node in self.exempt:
            return ClientDecision("holds", view, order, before)
        older = (child for child in order.backwards(before) if self._is_older(child, member))
        had_room = len(list(islice(older, self.room))) < self.room  # at its last listing
        nearest = next(order.backwards(before))
        if had_room and nearest.node not in self.folder.watched_by(member.owner):
            return ClientDecision("holds", view, order, before)
        return ClientDecision("waits", view, order, before, fails_at=fails_at)

    def _order(self, view: ClientView, member: Member) -> ClientOrder:
        is_reader = self.is_reader(member)
        return self.folder.order(self.layout, view, self._group, for_readers=is_reader)

    def _has_met(self, member: Member, child: Member) -> bool:
        """Return whether the client has listed a child whose name it cannot read."""
        return _came_before(child, member) or self.folder.has_met(member, child)

    def _is_older(self, child: Member, member: Member) -> bool:
        """Return whether a child existed when the member's client last listed the children."""
        if _came_before(child, member):
            return True
        memory = self.folder.memory
        if member.node in memory.waited and child.node in memory.names:
            return True
        return self.folder.has_met(member, child)

    def _watched_now_and_at_first(
        self, member: Member, decision: ClientDecision
    ) -> tuple[list[Member], list[Member]]:
        """Return what it watches if it has just listed again, and if it listed only once."""
        older = partial(_came_before, member=member)
        return self._targets_among(member, decision), self._targets_among(member, decision, older)

    def _targets_shown(self, member: Member, decision: ClientDecision) -> list[Member]:
        """Return the children that a waiter with its view may watch, if tables show all of them.

        The client set these watches after both its own node and the watched node existed.
        """
        order, shown = decision.order, self.folder.watched_by(member.owner)
        if not shown:
            return []
        watched = (
            child for child in order.backwards(decision.count_before) if child.node in shown
        )
        for last in islice(watched, _MAX_WATCHED_CHILDREN):
            existed = partial(_existed_at, at=max(last.czxid, member.czxid))
            watched_then = [
                next((tied for tied in order.same_rank(child) if tied.node in shown), child)
                for child in self._targets_among(member, decision, existed)
            ]
            if watched_then and all(child.node in shown for child in watched_then):
                return watched_then
        return []

    def _targets_among(
        self,
        member: Member,
        decision: ClientDecision,
        existed: Callable[[Member], bool] = lambda _: True,
    ) -> list[Member]:
        """Return what it watches if only these children existed."""
        order, before = decision.order, decision.count_before
        first = filter(existed, order.first(before))
        return self.watched(member, first, filter(existed, order.backwards(before)))

    def _proofs(self) -> Iterator[tuple[Text, ViewProof]]:
        """Find the members whose watch proves a view other than the assumed one."""
        views = self.folder.views(self.layout)
        if len(views) == 1:
            return
        for member in self.members:
            known = self.folder.memory.proofs.get(member.node)
            proof = known or self._proof(member, views)
            if proof is not None:
                yield member.node, proof

    def _proof(self, member: Member, views: Sequence[ClientView]) -> ViewProof | None:
        """Find the view that explains the watches of a session if the assumed one does not.

        The session must watch nothing else here, except for what its other members and its
        earlier tries explain: caches watch every child, and old watches prove nothing.
        """
        watches = self.folder.watched.get(member.owner)
        if watches is None or not watches.children:
            return None
        if watches.zxid < max(member.czxid, self.folder.changed):
            return None
        assumed = assumed_view(views, member.mode)
        usual = self._possible_targets(member, assumed)
        for view in views:
            if view is assumed or (view.modes and member.mode not in view.modes):
                continue
            proving = (self._possible_targets(member, view) - usual) & watches.children.keys()
            others = self._targets_of_others(member, (assumed, view))
            others |= self.folder.left_watches.get(member.owner, frozenset())
            if len(proving) == 1 and watches.children.keys() - others == proving:
                return watches.proof(view, next(iter(proving)), member)
        return None

    def _possible_targets(self, member: Member, view: ClientView) -> set[Text]:
        """Return all nodes that a member may watch in a view, depending on its last listing."""
        decision = self._decide_by(member, view, is_proven=True)
        if decision.outcome != "waits" or self.layout.watch in ("none", "children"):
            return set()
        now, at_first = self._watched_now_and_at_first(member, decision)
        return {
            tied.node for child in (*now, *at_first) for tied in decision.order.same_rank(child)
        }

    def _targets_of_others(self, member: Member, views: Sequence[ClientView]) -> set[Text]:
        """Return all nodes that the other members of its session may watch."""
        others = [
            other
            for other in self.members
            if member.owner and other.owner == member.owner and other.node != member.node
        ]
        return {
            node
            for other in others
            for view in views
            for node in self._possible_targets(other, view)
        }


def _existed_at(child: Member, at: int) -> bool:
    """Return whether a child existed at a transaction."""
    return child.czxid <= at


def _came_before(child: Member, member: Member) -> bool:
    """Return whether a child was created before a member, by transaction or by number."""
    if not member.czxid or child.czxid < member.czxid:
        return True
    if child.layout == FOREIGN or child.sequence is None or member.sequence is None:
        return False
    return 0 <= child.sequence < member.sequence
