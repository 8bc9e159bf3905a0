"""A queue among children of other families and of none, by what its own clients make of them.

A client counts what its own code lets through, whoever made it. It decides when it makes its node
and when its watch fires: what came later and goes before it takes nothing away from a holder, and
a waiter meets it at its next look.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Literal

from msgspec import Struct

from zktop.model.layouts.client_view import assumed
from zktop.model.layouts.layout import ClientView, Layout
from zktop.model.locks.client_order import ClientOrder
from zktop.model.locks.folder import Folder, ViewProof
from zktop.model.locks.lock import FOREIGN, Member, Target
from zktop.model.locks.queue import DEFAULT_OPTIONS, HERE, QueueOptions, QueueRule
from zktop.model.locks.warnings import QueueOddities
from zktop.model.text import Text

Does = Literal["holds", "waits", "stranded"]

MANY_WATCHED = 8  # children that one session watches: a cache watches them all


class LayoutMembers(Struct, frozen=True):
    """The members of one layout in their order, and the rule they go by."""

    layout: Layout
    rule: QueueRule
    members: tuple[Member, ...]
    special: QueueOptions = DEFAULT_OPTIONS
    group: str = ""  # the name of the lock, where several share the folder


class ClientDecision(Struct, frozen=True, gc=False):
    """What one member's client makes of the children."""

    does: Does
    view: ClientView
    ranking: ClientOrder
    before: int  # so many of the ranking go before it
    came_first: bool = False  # it holds although others go before it: they came later
    fails_at: tuple[Member, ...] = ()  # names that it cannot read, now or at its next look


class UnreadableChild(Struct, frozen=True, gc=False):
    """A child whose name some clients cannot read."""

    child: Member
    failed: tuple[Member, ...]  # they left their nodes behind
    will_fail: tuple[Member, ...]  # at their next look


class FolderQueue:
    """The members of one family in their order, each waiting by its own client's sight."""

    __slots__ = (
        "_group", "_members", "_rankings", "_standings",
        "exempt", "folder", "holders", "layout", "leases", "members", "oddities", "proofs",
        "remarks", "rule", "waiters",
    )  # fmt: skip

    def __init__(self, family: LayoutMembers, oddities: QueueOddities, folder: Folder) -> None:
        """Judge every member."""
        self.layout, self.rule, self.members = family.layout, family.rule, family.members
        special = family.special
        self.leases, self.exempt, self.remarks = special.leases, special.exempt, special.remarks
        self.oddities, self.folder, self._group = oddities, folder, family.group
        self._rankings: dict[tuple[ClientView, bool], ClientOrder] = {}
        self.proofs: dict[Text, ViewProof] = dict(self._proofs())
        self._members = {member.node: member for member in self.members}
        self._standings = {member.node: self._judged(member) for member in self.members}
        self.holders = tuple(m for m in self.members if self._standings[m.node].does == "holds")
        self.waiters = tuple(m for m in self.members if self._standings[m.node].does != "holds")

    @property
    def warnings(self) -> Sequence[str]:
        """What is wrong with it."""
        said = self.oddities.warnings(self.layout, self.rule, self.members, self.holders)
        return said + self.remarks

    def find(self, node: str) -> Member | None:
        """Return the member of this name."""
        return self._members.get(Text(node))

    def standing(self, member: Member) -> ClientDecision:
        """Return what its client makes of the children."""
        return self._standings[member.node]

    def holds(self, member: Member) -> bool:
        """Return whether this member is among the holders."""
        return self._standings[member.node].does == "holds"

    def is_stranded(self, member: Member) -> bool:
        """Return whether its client failed, and left this node behind."""
        return self._standings[member.node].does == "stranded"

    def is_pending(self, member: Member) -> bool:
        """Tell nobody: there is nothing between held and waiting."""
        return False

    def is_exempt(self, member: Member) -> bool:
        """Return whether it holds although others are before it."""
        return member.node in self.exempt

    def blocked_by(self, member: Member) -> tuple[Member, ...]:
        """Return those who must go first, back to one that waits for all the others itself."""
        standing = self._standings[member.node]
        if standing.does != "waits":
            return ()
        found: list[Member] = []
        for child in standing.ranking.back(standing.before):
            found.append(child)
            if self._waits_for_all(child, standing):
                break
        return tuple(reversed(found))

    def before(self, member: Member) -> Sequence[Member]:
        """Return all who must go first, near and far."""
        standing = self._standings[member.node]
        return standing.ranking.children[: standing.before] if standing.does == "waits" else ()

    def count_before(self, member: Member) -> int:
        """Count them."""
        standing = self._standings[member.node]
        return standing.before if standing.does == "waits" else 0

    def nearest(self, member: Member) -> Member | None:
        """Return the last of those who must go before a member that waits."""
        standing = self._standings[member.node]
        if standing.does != "waits":
            return None
        return next(standing.ranking.back(standing.before), None)

    def counts(self, member: Member, child: Member) -> bool:
        """Return whether a child goes before a member, for the member's client."""
        return self._standings[member.node].ranking.is_before(child, member)

    def expected(self, member: Member) -> tuple[Target, ...]:
        """Return the watches that this member's recipe keeps."""
        standing = self._standings[member.node]
        if standing.does != "waits" or self.layout.watch == "none":
            return ()
        if self.layout.watch == "children":
            return (Target(HERE, "children"),)
        watched = self._seen_target(member, standing) or self._likely_target(member, standing)
        also = [Target(Text(node), "exists") for node in self.layout.also_watches]
        return (*(Target(child.node, self.layout.how) for child in watched), *also)

    @property
    def obstacles(self) -> Iterator[Member]:
        """The foreign children before members that wait."""
        ends: dict[int, tuple[ClientOrder, int]] = {}
        for member in self.waiters:
            standing = self._standings[member.node]
            if standing.does == "waits":
                _, end = ends.get(id(standing.ranking), (None, 0))
                ends[id(standing.ranking)] = standing.ranking, max(end, standing.before)
        for ranking, end in ends.values():
            yield from (child for child in ranking.children[:end] if child.layout == FOREIGN)

    @property
    def fails(self) -> bool:
        """Whether a client of this queue failed at a name, or will at its next look."""
        return any(self._standings[member.node].fails_at for member in self.waiters)

    @property
    def unreadable(self) -> Iterator[UnreadableChild]:
        """The children that clients of this queue fail at."""
        failing: dict[Text, tuple[Member, list[Member], list[Member]]] = {}
        for member in self.waiters:
            standing = self._standings[member.node]
            for child in standing.fails_at:
                _, *sides = failing.setdefault(child.node, (child, [], []))
                sides[standing.does == "waits"].append(member)
        for child, failed, will_fail in failing.values():
            yield UnreadableChild(child, tuple(failed), tuple(will_fail))

    def _waits_for_all(self, child: Member, standing: ClientDecision) -> bool:
        """Return whether a child waits for everything that goes before it in the same ranking."""
        other = self._standings.get(child.node)
        if other is None or other.does != "waits" or child.mode == "read":
            return False
        return other.view is standing.view

    def _judged(self, member: Member) -> ClientDecision:
        proof = self.proofs.get(member.node)
        view = proof.view if proof else self._assumed(member)
        return self._by(member, view, is_proven=proof is not None)

    def _assumed(self, member: Member) -> ClientView:
        return assumed(self.folder.views(self.layout), member.mode)

    def _by(self, member: Member, view: ClientView, *, is_proven: bool = False) -> ClientDecision:
        """Judge a member by one sight."""
        ranking = self._ranking(view, member)
        before = ranking.before(member)
        fails_at = tuple(c for c in ranking.unreadable if c.node != member.node)
        if not is_proven and self.folder.memory.has_stranded(member):
            return ClientDecision("stranded", view, ranking, before, fails_at=fails_at)
        failed = tuple(child for child in fails_at if self._has_met(member, child))
        if failed:
            return ClientDecision("stranded", view, ranking, before, fails_at=failed)
        room = self.leases or 1 if self.rule == "first-n" else 1
        if before < room or member.node in self.exempt:
            return ClientDecision("holds", view, ranking, before)
        older = islice((c for c in ranking.back(before) if self._is_older(c, member)), room)
        if len(list(older)) < room and not self._watches_nearest(member, ranking, before):
            return ClientDecision("holds", view, ranking, before, came_first=True)
        return ClientDecision("waits", view, ranking, before, fails_at=fails_at)

    def _ranking(self, view: ClientView, member: Member) -> ClientOrder:
        for_readers = self.rule == "read-write" and member.mode == "read"
        key = view, for_readers
        if key not in self._rankings:
            self._rankings[key] = ClientOrder(
                self.layout,
                view,
                self.folder.children,
                group=self._group,
                for_readers=for_readers,
            )
        return self._rankings[key]

    def _has_met(self, member: Member, child: Member) -> bool:
        """Return whether the client has listed a child whose name it cannot read."""
        if _came_before(child, member):
            return True
        memory = self.folder.memory
        return child.node in memory.names and memory.looked_again(member, self.folder.names)

    def _is_older(self, child: Member, member: Member) -> bool:
        """Return whether a child was there when the member's client looked, as far as is known."""
        if _came_before(child, member):
            return True
        memory = self.folder.memory
        return member.node in memory.waited and child.node in memory.names

    def _watches_nearest(self, member: Member, ranking: ClientOrder, before: int) -> bool:
        nearest = next(ranking.back(before), None)
        return nearest is not None and nearest.node in self.folder.watched_by(member.owner)

    def _watchable(
        self, member: Member, standing: ClientDecision
    ) -> tuple[list[Member], list[Member]]:
        """Return what it watches if it looks now, and what if it has not looked since it came."""
        older = partial(_came_before, member=member)
        return self._looked_at(member, standing), self._looked_at(member, standing, older)

    def _seen_target(self, member: Member, standing: ClientDecision) -> list[Member]:
        """Return what its session is seen to watch and its client watches, if it looked in time.

        A client looked no sooner than its own node and the node that it watches were there.
        """
        here = self.folder.watched_by(member.owner)
        if not here:
            return []
        watched = (child for child in standing.ranking.back(standing.before) if child.node in here)
        for last in islice(watched, MANY_WATCHED):
            there = partial(_was_there, at=max(last.czxid, member.czxid))
            found = self._looked_at(member, standing, there)
            if found and all(child.node in here for child in found):
                return found
        return []

    def _likely_target(self, member: Member, standing: ClientDecision) -> list[Member]:
        """Return what it watches if it has not looked since it came, else what it would now."""
        now, then = self._watchable(member, standing)
        return then or now

    def _looked_at(
        self,
        member: Member,
        standing: ClientDecision,
        there: Callable[[Member], bool] = lambda _: True,
    ) -> list[Member]:
        """Return what it watches among those that were there."""
        watch, ranking = self.layout.watch, standing.ranking
        is_reader = self.rule == "read-write" and member.mode == "read"
        if watch == "holder" or (watch == "first-writer" and is_reader):
            ahead = ranking.children[: standing.before]
            return list(islice(filter(there, ahead), 1))
        room = self.leases or 1 if self.rule == "first-n" else 1
        back = list(islice(filter(there, ranking.back(standing.before)), room))
        if watch == "predecessor":
            back = back[room - 1 :]
        elif watch != "nearest":
            back = back[:1]
        if watch == "run" and back and back[0].token is not None:
            back = [self._first_of_run(back[0], standing)]
        if not self.layout.watches_negative:
            back = [child for child in back if (child.sequence or 0) >= 0]
        return back

    def _first_of_run(self, nearest: Member, standing: ClientDecision) -> Member:
        """Return the lowest of the nodes of one client right ahead."""
        for child in standing.ranking.back(standing.ranking.before(nearest)):
            if child.token != nearest.token:
                return nearest
            nearest = child
        return nearest

    def _proofs(self) -> Iterator[tuple[Text, ViewProof]]:
        """Find the members whose watch proves another sight than the assumed one."""
        views = self.folder.views(self.layout)
        for member in self.members if len(views) > 1 else ():
            known = self.folder.memory.proofs.get(member.node)
            proof = known or self._proof(member, views)
            if proof is not None:
                yield member.node, proof

    def _proof(self, member: Member, views: Sequence[ClientView]) -> ViewProof | None:
        """Find the sight that explains what a member's session watches, and the assumed does not.

        Its session must watch nothing else here: caches watch every child, and left-over watches
        are no sign of a wait.
        """
        seen = self.folder.watched.get(member.owner)
        if seen is None or not seen.here or seen.zxid < max(member.czxid, self.folder.changed):
            return None
        first = assumed(views, member.mode)
        usual = self._predicted(member, first)
        for view in views:
            if view is first or (view.modes and member.mode not in view.modes):
                continue
            told = (self._predicted(member, view) - usual) & seen.here.keys()
            others = self._explained(member, (first, view))
            if len(told) == 1 and seen.here.keys() - others == told:
                return seen.proof(view, next(iter(told)), member)
        return None

    def _predicted(self, member: Member, view: ClientView) -> set[Text]:
        """Return what a member watches by one sight, whenever its client looked last."""
        standing = self._by(member, view, is_proven=True)
        if standing.does != "waits" or self.layout.watch in ("none", "children"):
            return set()
        return {child.node for some in self._watchable(member, standing) for child in some}

    def _explained(self, member: Member, views: Sequence[ClientView]) -> set[Text]:
        """Return what the other members of its session watch."""
        others = [
            one
            for one in self.members
            if member.owner and one.owner == member.owner and one.node != member.node
        ]
        return {node for one in others for by in views for node in self._predicted(one, by)}


def _was_there(child: Member, at: int) -> bool:
    """Return whether a child was there at a transaction."""
    return child.czxid <= at


def _came_before(child: Member, member: Member) -> bool:
    """Tell who came first: by the transaction, or by the numbers of the same counter."""
    if not member.czxid or child.czxid < member.czxid:
        return True
    if child.layout == FOREIGN or child.sequence is None or member.sequence is None:
        return False
    return 0 <= child.sequence < member.sequence
