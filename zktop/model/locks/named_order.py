"""The order of clients that rank only names with their lock's name differently from others.

Thousands of locks with names of their own may share a folder. All children are ranked once, by
their whole names; each lock ranks only those that contain its name, and its order is merged from
both when it is read.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import islice
from typing import Final

from zktop.model.layouts.client_view import Rank
from zktop.model.layouts.layout import ClientView, Layout
from zktop.model.locks.client_order import ClientOrder
from zktop.model.locks.lock import Member

AFTER_NAME: Final = "^(?:.*{NAME})?(.*)$"  # the key of such views


class NamedOrder(ClientOrder):
    """The order of one lock's clients; `others` ranks all children by their whole names."""

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
        self._left_out = sorted(others.place_of(child) for child in self.readable)

    def first(self, end: int | None = None) -> Iterator[Member]:
        here = zip(self.ranks, self.readable, strict=True)
        pairs = zip(self._others.ranks, self._others.readable, strict=True)
        there = (pair for pair in pairs if pair[1].node not in self._place)
        return (child for _, child in islice(merge(here, there, key=_rank), end))

    def back(self, end: int) -> Iterator[Member]:
        return reversed(list(self.first(end)))

    def before(self, member: Member) -> int:
        return super().before(member) + self._others_before(self._rank(member))

    def is_before(self, child: Member, member: Member) -> bool:
        if child.node in self._place:
            place = self.place_of(child) + self._others_before(self._rank(child))
        else:
            rank = self._rank(child)
            place = bisect_right(self.ranks, rank) + self._others_before(rank)
        return place < self.before(member)

    def equals(self, child: Member) -> tuple[Member, ...]:
        return super().equals(child) if child.node in self._place else self._others.equals(child)

    def _rank(self, member: Member) -> Rank:
        return self._rank_of(member) or self._by_number(member)

    def _others_before(self, rank: Rank) -> int:
        end = bisect_left(self._others.ranks, rank)
        return end - bisect_left(self._left_out, end)


def _rank(ranked: tuple[Rank, Member]) -> Rank:
    return ranked[0]
