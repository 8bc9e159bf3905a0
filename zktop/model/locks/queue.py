"""The ordinary queue of a lock: which member goes first, and which watches its members set.

It covers exclusive, read/write and first-n locks. A queue never changes. The holders are computed
once, from the front; results for one member are computed on demand. A queue is `regular` if its
numbers are distinct and not negative, and all clients count them: then bisection finds the
position of a member by its number.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import islice, takewhile
from typing import Final, Literal

from msgspec import Struct

from zktop.model.layouts.layout import Layout
from zktop.model.locks.client_order import key_of, sequence, sorts_by_number
from zktop.model.locks.lock import Member, QueueDefaults, Target
from zktop.model.locks.queue_oddities import QueueOddities, is_unseen
from zktop.model.text import Text

HERE: Final = Text(".")
CHILDREN: Final = Target(HERE, "children")


QueueRule = Literal["first", "read-write", "first-n"]

_RULES: Final[dict[str, QueueRule]] = {"read-write": "read-write", "semaphore": "first-n"}
_FEW_MEMBERS: Final = 8


def rule_of(layout: Layout, leases: int | None) -> QueueRule:
    """Return the rule of a layout. With several leases, any queue is a semaphore."""
    if leases is not None and leases > 1 and layout.means != "read-write":
        return "first-n"
    return _RULES.get(layout.means, "first")


class LayoutMembers(Struct, frozen=True):
    """The members of one layout in queue order, and their rule."""

    layout: Layout
    rule: QueueRule
    members: tuple[Member, ...]
    name: str = ""  # the lock's name, if several share the folder
    leases: int | None = None
    exempt: frozenset[Text] = frozenset()  # members that hold despite others before them
    marked: tuple[Member, ...] | None = None  # the holders, if the data marks them
    remarks: tuple[str, ...] = ()  # additional warnings


class LayoutQueue(QueueDefaults):
    """A queue whose members all follow the rule of one layout."""

    __slots__ = ("exempt", "holders", "layout", "leases", "members", "oddities", "remarks", "rule")

    def __init__(self, group: LayoutMembers, oddities: QueueOddities) -> None:
        self.layout, self.rule, self.members = group.layout, group.rule, group.members
        self.leases, self.exempt, self.remarks = group.leases, group.exempt, group.remarks
        self.oddities = oddities
        self.holders: tuple[Member, ...] = ()

    @property
    def warnings(self) -> Sequence[str]:
        warnings = self.oddities.warnings(self.layout, self.rule, self.members, self.holders)
        return warnings + self.remarks

    @property
    def room(self) -> int:
        """How many members can hold at once, apart from readers."""
        return (self.leases or 1) if self.rule == "first-n" else 1

    def is_exempt(self, member: Member) -> bool:
        return member.node in self.exempt

    def is_reader(self, member: Member) -> bool:
        """Return whether it can share the lock with other members."""
        return self.rule == "read-write" and member.mode == "read"

    def watched(
        self, member: Member, first: Iterable[Member], before: Iterable[Member]
    ) -> list[Member]:
        """Return the members that a waiter watches, in the order that its client sees.

        `first` starts at the first member that blocks it; `before` lists those ahead, nearest
        first.
        """
        layout, back, room = self.layout, iter(before), self.room
        if layout.watch == "holder" or (layout.watch == "first-writer" and self.is_reader(member)):
            watched = list(islice(first, 1))
        elif layout.watch == "predecessor":
            watched = list(islice(back, room - 1, room))  # the member `room` places before it
        else:
            watched = list(islice(back, room if layout.watch == "nearest" else 1))
        if layout.watch == "run" and watched and watched[0].token is not None:
            watched += takewhile(lambda other: other.token == watched[0].token, back)
            watched = watched[-1:]  # the client's first node, as it deletes its others
        if not layout.watches_negative:
            watched = [other for other in watched if (other.sequence or 0) >= 0]
        return watched

    def targets(self, watched: Iterable[Member]) -> tuple[Target, ...]:
        """Return the watches on these members, relative to the lock."""
        also = [Target(Text(node), "exists") for node in self.layout.also_watches]
        return (*(Target(other.node, self.layout.how) for other in watched), *also)


class RankedQueue(LayoutQueue):
    """Members in queue order. `counted` are those that clients count, usually all."""

    __slots__ = ("_ahead", "_held", "_index", "_walls", "counted", "regular")

    def __init__(self, group: LayoutMembers, oddities: QueueOddities) -> None:
        super().__init__(group, oddities)
        self.counted = self.members
        if oddities.unseen:
            seen = (member for member in self.members if not is_unseen(self.layout, member))
            self.counted = tuple(seen)
        self.regular = oddities.is_sane and sorts_by_number(self.layout)
        self._ahead: dict[Text, int] | None = None
        self._index: dict[Text, Member] | None = None
        self._walls: list[int] | None = None
        self._held: frozenset[Text] | None = None
        self.holders = self._find_holders() if group.marked is None else group.marked

    @property
    def waiters(self) -> Sequence[Member]:
        if self.holders == self.members[: len(self.holders)]:
            return self.members[len(self.holders) :]
        return tuple(member for member in self.members if not self.holds(member))

    @property
    def may_watch_children(self) -> bool:
        layout = self.layout
        return layout.watch in ("children", "marker") or layout.how == "children"

    def find(self, node: str) -> Member | None:
        if len(self.members) <= _FEW_MEMBERS:
            return next((member for member in self.members if member.node == node), None)
        if self._index is None:
            self._index = {member.node: member for member in self.members}
        return self._index.get(Text(node))

    def holds(self, member: Member) -> bool:
        if len(self.holders) <= _FEW_MEMBERS:
            return member.node in [holder.node for holder in self.holders]
        if self._held is None:
            self._held = frozenset(holder.node for holder in self.holders)
        return member.node in self._held

    def ahead(self, member: Member) -> int:
        """Return the number of members before this one that its client counts."""
        if self.regular:
            return bisect_left(self.members, member.sequence, key=sequence)
        if self._ahead is None:
            self._ahead = self._find_ahead()
        return self._ahead[member.node]

    def blocked_by(self, member: Member) -> tuple[Member, ...]:
        if self.holds(member):
            return ()
        ahead = self.ahead(member)
        if self.rule == "first":
            return self._run_before(ahead)
        if self.rule == "first-n":
            return self._pool_before(ahead)
        if member.mode == "read":
            return self._writers_before(self.wall_before(ahead))
        return self._readers_before(ahead)

    def members_before(self, member: Member) -> Sequence[Member]:
        return self.counted[: self.count_before(member)]

    def count_before(self, member: Member) -> int:
        if self.holds(member):
            return 0
        ahead = self.ahead(member)
        return self.wall_before(ahead) if self.is_reader(member) else ahead

    def expected(self, member: Member) -> tuple[Target, ...]:
        if self.holds(member) or self.layout.watch == "none":
            return ()
        if self.layout.watch == "children":
            return (CHILDREN,)
        if self.layout.watch == "marker":
            return (self._marker_target(member),)
        return self.targets(self._watched_by(member))

    def _marker_target(self, member: Member) -> Target:
        """Watch for the mark on the previous node. The first waiter watches the children."""
        ahead = self.ahead(member)
        previous = self.counted[ahead - 1] if ahead else None
        if previous is None or self.holds(previous):
            return CHILDREN
        return Target(previous.node, "data")

    def _watched_by(self, member: Member) -> list[Member]:
        ahead, first = self.ahead(member), 0
        if self.is_reader(member):
            if self.layout.watch == "nearest":
                ahead = self.wall_before(ahead)
            elif self.layout.watch == "first-writer" and self.walls:
                first = self.walls[0]
        before = (self.counted[place] for place in range(ahead - 1, -1, -1))
        return self.watched(member, self.counted[first : first + 1], before)[::-1]

    def wall_before(self, ahead: int) -> int:
        """Return the position after the last member before `ahead` that readers wait for."""
        number = bisect_left(self.walls, ahead)  # of walls before that position
        return self.walls[number - 1] + 1 if number else 0

    @property
    def walls(self) -> list[int]:
        """The positions of the members that readers wait for."""
        if self._walls is None:
            self._walls = [
                place for place, member in enumerate(self.counted) if self.bars_readers(member)
            ]
        return self._walls

    def bars_readers(self, member: Member) -> bool:
        """Return whether readers behind a member wait for it."""
        if member.mode == "exclusive":  # zktools: readers wait only for writers
            return "write" not in self.layout.modes.values()
        return member.mode != "read"

    def _find_holders(self) -> tuple[Member, ...]:
        """Find the holders. In a regular queue, no waiter is examined."""
        if not self.regular:
            return tuple(member for member in self.members if self._holds_by_rule(member))
        held: Sequence[Member]
        if self.rule == "first-n":
            held = self.members[: self.room]
        elif self.rule == "first" or not self.oddities.readers:
            held = self.members[:1]
        else:
            held = self._first_readers() or self.members[:1]
        if not self.exempt:
            return tuple(held)
        later = self.members[len(held) :]
        return (*held, *(member for member in later if member.node in self.exempt))

    def _first_readers(self) -> list[Member]:
        """Return the readers at the front, and a writer only if it is first."""
        free = takewhile(lambda member: not self.bars_readers(member), self.members)
        return [member for place, member in enumerate(free) if member.mode == "read" or place == 0]

    def _holds_by_rule(self, member: Member) -> bool:
        if member.node in self.exempt:
            return True
        ahead = self.ahead(member)
        if self.rule == "first-n":
            return ahead < self.room
        if self.is_reader(member):
            return self.wall_before(ahead) == 0
        return ahead == 0

    def _find_ahead(self) -> dict[Text, int]:
        """Return `ahead` for all members, if numbers do not determine the position."""
        key = key_of(self.layout, self.counted)
        shares = self.layout.ties == "share"
        ahead: dict[Text, int] = {}
        keys = [key(member) for member in self.counted]
        for place, member in enumerate(self.counted):
            ahead[member.node] = bisect_left(keys, keys[place]) if shares else place
        for member in self.members:
            if member.node not in ahead:
                ahead[member.node] = bisect_left(keys, key(member))
        return ahead

    def _run_before(self, ahead: int) -> tuple[Member, ...]:
        """Return the last of the first `ahead` members, with those that share its number."""
        if not ahead:
            return ()
        last = self.counted[ahead - 1]
        if self.regular or self.layout.ties != "share":
            return (last,)
        return self.counted[self.ahead(last) : ahead]

    def _writers_before(self, ahead: int) -> tuple[Member, ...]:
        """Return the same members as `_run_before`, without readers if a writer is among them."""
        before = self._run_before(ahead)
        return tuple(member for member in before if self.bars_readers(member)) or before

    def _readers_before(self, ahead: int) -> tuple[Member, ...]:
        """Return the readers right before a position, and the members right before them."""
        wall = self.wall_before(ahead)
        readers = self.counted[wall:ahead]
        return (*self._run_before(wall), *readers)

    def _pool_before(self, ahead: int) -> tuple[Member, ...]:
        """Return all holders for the first waiter, and the previous waiter for the others."""
        if not ahead:  # it is first, but has not written yet that it holds
            return ()
        previous = self.counted[ahead - 1]
        if self.counted is self.members and self.holds(previous):
            return tuple(self.holders)
        return (previous,)
