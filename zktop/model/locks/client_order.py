"""How clients sort members, and how each kind of client sorts all the children it counts.

As long as all numbers are distinct and non-negative, all libraries agree. Once the server's 32-bit
counter has overflowed, they do not: some compare numbers, some text, and some drop the sign.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import merge
from itertools import islice, pairwise
from operator import attrgetter, itemgetter
from typing import Any, Final

from zktop.model.layouts.client_view import FAILS, INTEROP, NameRanker, Rank, bars_of, ranker_of
from zktop.model.layouts.layout import ClientView, Layout, parse_name, sequence_text
from zktop.model.locks.lock import FOREIGN, Member

_FIRST_RANK: Final[Rank] = (0,)  # ranks by a key begin with 1
_LAST_RANK: Final[Rank] = (2,)
_RANK: Final = itemgetter(0)  # of a pair of a rank and a child


class ClientOrder:
    """The children that a client counts, in its order. Those that it cannot read are separate."""

    def __init__(
        self,
        layout: Layout,
        view: ClientView,
        children: Sequence[Member],
        *,
        group: str = "",
        for_readers: bool = False,
    ) -> None:
        """Rank these children; readers wait for only some of them."""
        if for_readers:
            children = list(_barring(view, children))
        self._shares = layout.ties == "share"
        self._view = view
        self._rank_of = rank_in(layout, view, children, group)
        ranked = [(rank, child) for child in children if (rank := self._rank_of(child))]
        self.unreadable = tuple(child for rank, child in ranked if rank == FAILS)
        tie = _TIES_OF_CHILDREN.get(layout.ties)
        self._has_tie_rule = tie is not None
        if tie is not None:
            ranked.sort(key=lambda pair: tie(pair[1]))
        readable = sorted([pair for pair in ranked if pair[0] != FAILS], key=_RANK)
        self.readable = tuple(child for _, child in readable)
        self.ranks: list[Rank] = [rank for rank, _ in readable]
        self._place = {child.node: place for place, child in enumerate(self.readable)}

    def first(self, end: int | None = None) -> Iterator[Member]:
        """Yield the children up to a position, or all of them."""
        return islice(self.readable, end)

    def place_of(self, child: Member) -> int:
        return self._place[child.node]

    def count_before(self, member: Member) -> int:
        """Return how many of the counted children precede a member."""
        place = self._place.get(member.node)
        if place is None:
            return bisect_left(self.ranks, self._rank(member))
        return bisect_left(self.ranks, self.ranks[place]) if self._shares else place

    def is_before(self, child: Member, member: Member) -> bool:
        """Return whether a child is counted and precedes a member."""
        place = self._place.get(child.node)
        return place is not None and place < self.count_before(member)

    def backwards(self, end: int) -> Iterator[Member]:
        """Yield the children before a position, nearest first."""
        return (self.readable[place] for place in range(end - 1, -1, -1))

    def same_rank(self, child: Member) -> tuple[Member, ...]:
        """Return a child and those with the same rank that only the server's listing orders."""
        place = self._place[child.node]
        if self._has_tie_rule:
            return (child,)
        rank = self.ranks[place]
        return self.readable[bisect_left(self.ranks, rank) : bisect_right(self.ranks, rank)]

    def _rank(self, member: Member) -> Rank:
        """Rank a member by its name, or by its number if its client does not read the name."""
        rank = self._rank_of(member)
        if rank is not None:
            return rank
        number = member.sequence or 0
        return (1, number if self._view.compare == "number" else sequence_text(number))


class NamedOrder(ClientOrder):
    """The order for clients that treat names containing their lock's name specially.

    They rank all other names alike. Thousands of locks with different names may share a folder.
    All children are ranked once, by their whole names (`others`). Each lock ranks only those that
    contain its name, and its order is merged from both when it is read.
    """

    def __init__(
        self,
        layout: Layout,
        view: ClientView,
        named: Sequence[Member],
        others: ClientOrder,
        *,
        group: str,
    ) -> None:
        """Rank the children that contain the name of the lock, `group`."""
        super().__init__(layout, view, named, group=group)
        self._others = others
        # The places in the shared order of the children that this lock ranks itself.
        self._left_out = sorted(others.place_of(child) for child in self.readable)

    def first(self, end: int | None = None) -> Iterator[Member]:
        own = zip(self.ranks, self.readable, strict=True)
        pairs = zip(self._others.ranks, self._others.readable, strict=True)
        others = (pair for pair in pairs if pair[1].node not in self._place)
        return (child for _, child in islice(merge(own, others, key=_RANK), end))

    def backwards(self, end: int) -> Iterator[Member]:
        others, own_end = self._others, self._own_before(end)
        others_end = self._end_of_others(end - own_end)
        own = ((self.ranks[place], self.readable[place]) for place in range(own_end - 1, -1, -1))
        rest = (
            (others.ranks[place], others.readable[place])
            for place in range(others_end - 1, -1, -1)
            if others.readable[place].node not in self._place
        )
        return (child for _, child in merge(rest, own, key=_RANK, reverse=True))

    def _own_before(self, end: int) -> int:
        """The number of this lock's own children among the first `end` of the merged order."""
        return bisect_left(
            range(len(self.readable)),
            end,
            key=lambda place: place + self._others_before(self.ranks[place]),
        )

    def _end_of_others(self, number: int) -> int:
        """The smallest place in the shared order that has this many other children before it."""
        return bisect_left(
            range(len(self._others.readable) + 1),
            number,
            key=lambda place: place - bisect_left(self._left_out, place),
        )

    def count_before(self, member: Member) -> int:
        return super().count_before(member) + self._others_before(self._rank(member))

    def is_before(self, child: Member, member: Member) -> bool:
        if child.node in self._place:
            place = self.place_of(child) + self._others_before(self._rank(child))
        else:  # own children of the same rank precede it, as in the merged order
            rank = self._rank(child)
            place = bisect_right(self.ranks, rank) + self._others_before(rank)
        return place < self.count_before(member)

    def same_rank(self, child: Member) -> tuple[Member, ...]:
        return (
            super().same_rank(child)
            if child.node in self._place
            else self._others.same_rank(child)
        )

    def _others_before(self, rank: Rank) -> int:
        """The number of other children with a lower rank."""
        end = bisect_left(self._others.ranks, rank)
        return end - bisect_left(self._left_out, end)


def _barring(view: ClientView, children: Sequence[Member]) -> Iterator[Member]:
    """Yield the children that readers wait for."""
    bars = bars_of(view)
    if view is INTEROP:
        number = ranker_of(view)
        children = [
            child for child in children if child.layout != FOREIGN or number(child.znode.name)
        ]
    if bars is None:
        return (child for child in children if child.mode != "read")
    return (child for child in children if bars(child.znode.name))


def rank_in(
    layout: Layout, view: ClientView, children: Sequence[Member], group: str
) -> Callable[[Member], Rank | None]:
    """Return a function that ranks a child in this view, or returns None if it does not count."""
    if view is INTEROP:
        return _interop_rank(layout, children, group)
    if view.counts != "own":
        rank = ranker_of(view, group)
        return _pool_rank(layout, rank) if view.pool else lambda child: rank(child.znode.name)

    def is_own(child: Member) -> bool:
        if child.layout not in (FOREIGN, layout.name):
            return False
        name = parse_name(layout, child.znode.name)
        return name is not None and (not layout.grouped or name.group == group)

    key = key_of(layout, [child for child in children if is_own(child)])
    return lambda child: (1, key(child)) if is_own(child) else None


def _pool_rank(layout: Layout, rank: NameRanker) -> Callable[[Member], Rank | None]:
    """Rank the children of others first: in a pool they take leases wherever they sort."""

    def rank_of(child: Member) -> Rank | None:
        own_rank = rank(child.znode.name)
        keeps_rank = child.layout == layout.name or own_rank in (None, FAILS)
        return own_rank if keeps_rank else _FIRST_RANK

    return rank_of


def _interop_rank(
    layout: Layout, children: Sequence[Member], group: str
) -> Callable[[Member], Rank | None]:
    """Rank children by number; rank foreign ones without a number as the layout's own view does.

    Such a child comes before or after all numbers: it has no place between them.
    """
    number = ranker_of(INTEROP, group)
    own = rank_in(layout, layout.sights[1], children, group)
    own_ranks = (own(child) for child in children if child.layout == layout.name)
    first = min(filter(None, own_ranks), default=None)

    def rank(child: Member) -> Rank | None:
        by_number = number(child.znode.name)
        if by_number is not None or child.layout != FOREIGN:
            return by_number
        own_rank = own(child)
        if own_rank is None or own_rank == FAILS:
            return own_rank
        return _FIRST_RANK if first is None or own_rank < first else _LAST_RANK

    return rank


def has_two_orders(layout: Layout, members: Sequence[Member]) -> bool:
    """Return whether some clients of a layout would sort these members differently.

    Negative numbers show an overflow, after which no order is certain.
    """
    return (
        sorts_by_id(layout)
        and any(before.node > after.node for before, after in pairwise(members))
        and is_sane(members)
    )


def sorts_by_id(layout: Layout) -> bool:
    """Return whether some clients compare whole names, in which an id precedes the number."""
    is_whole = any(view.counts == "all" and not view.key for view in layout.sights)
    return is_whole and "(?P<id>" in layout.pattern


SortKey = Callable[[Member], Any]  # returns keys that can be compared within one layout

_WORD = 1 << 32
_LAST_NUMBER: Final = (1 << 31) - 1  # stands in for the number of a member without one
sequence: Final = attrgetter("sequence")


def in_order(layout: Layout, members: Iterable[Member]) -> tuple[Member, ...]:
    """Sort members, given in the order of the listing, as the layout's clients do."""
    listed = list(members)
    if is_sane(listed) and sorts_by_number(layout):
        listed.sort(key=sequence)
        return tuple(listed)
    tie = _TIES.get(layout.ties)
    if tie is not None:
        listed.sort(key=tie)
    listed.sort(key=key_of(layout, listed))
    return tuple(listed)


def is_sane(members: Sequence[Member]) -> bool:
    """Return whether all numbers are known, distinct and not negative."""
    numbers = [member.sequence for member in members]
    if None in numbers:
        return False
    return min(numbers, default=0) >= 0 and len(set(numbers)) == len(numbers)  # type: ignore[type-var,operator]  # no None


def key_of(layout: Layout, members: Sequence[Member]) -> SortKey:
    """Return the key that the clients of this layout compare."""
    if layout.order == "unsigned":
        return _unsigned_key(members)
    return _KEYS[layout.order]


def sorts_by_number(layout: Layout) -> bool:
    """Return whether this layout sorts by number, provided the numbers are sane."""
    return layout.order not in ("name", "arrival")


def _sequence(member: Member) -> int:
    return _LAST_NUMBER if member.sequence is None else member.sequence


def _unsigned_key(members: Sequence[Member]) -> SortKey:
    """Start after the widest gap, so that numbers after an overflow come last."""
    numbers = sorted({_sequence(member) % _WORD for member in members})
    first = numbers[0] if numbers else 0
    if numbers and numbers[-1] - first > _WORD // 2:
        gaps = pairwise([*numbers, first + _WORD])
        _, after_widest = max(gaps, key=lambda gap: gap[1] - gap[0])
        first = after_widest % _WORD
    return lambda member: (_sequence(member) - first) % _WORD


_KEYS: Final[dict[str, SortKey]] = {
    "number": _sequence,
    "text": lambda member: sequence_text(_sequence(member)),
    "magnitude": lambda member: abs(_sequence(member)),
    "digits": lambda member: sequence_text(_sequence(member)).lstrip("-"),
    "name": lambda member: member.node,
    "arrival": lambda member: member.czxid,
}

# With the rule "server", members stay in the order of the listing.
_TIES: Final[dict[str, Callable[[Member], int | str]]] = {
    "name": lambda member: member.node,
    "arrival": lambda member: member.czxid,
    "share": lambda member: member.czxid,
}

# With "share", neither child precedes the other, so their order does not matter.
_TIES_OF_CHILDREN: Final[dict[str, Callable[[Member], int | str]]] = {
    "name": lambda child: child.znode.name,
    "arrival": lambda child: child.czxid,
}
