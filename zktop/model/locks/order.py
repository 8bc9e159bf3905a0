"""Queue order, as each client library sees it.

While all numbers are positive and different, everybody agrees. They part once the server's 32-bit
counter has overflown: some lose the sign, some compare text, some let equal numbers share.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import Any, Final

from zktop.model.layouts.layout import Layout
from zktop.model.layouts.names import written
from zktop.model.locks.lock import Member

Key = Callable[[Member], Any]  # keys of one layout compare with one another

_WORD = 1 << 32
_NOWHERE: Final = (1 << 31) - 1  # a member without a number goes last
sequence: Final = attrgetter("sequence")


def in_order(layout: Layout, members: Iterable[Member]) -> tuple[Member, ...]:
    """Sort members as the layout's clients do; they come in the order the server lists them."""
    listed = list(members)
    if is_sane(listed) and agrees(layout):
        listed.sort(key=sequence)
        return tuple(listed)
    tie = _TIES.get(layout.ties)
    if tie is not None:
        listed.sort(key=tie)
    listed.sort(key=key_of(layout, listed))
    return tuple(listed)


def is_sane(members: Sequence[Member]) -> bool:
    """Tell whether all numbers are there, different and not negative."""
    numbers = [member.sequence for member in members]
    if None in numbers:
        return False
    return min(numbers, default=0) >= 0 and len(set(numbers)) == len(numbers)  # type: ignore[type-var,operator]  # no None


def key_of(layout: Layout, members: Sequence[Member]) -> Key:
    """Give what the clients of this layout compare."""
    if layout.order == "unsigned":
        return _unsigned(members)
    return _KEYS[layout.order]


def agrees(layout: Layout) -> bool:
    """Tell whether this layout's order is that of the numbers as long as they are sane."""
    return layout.order not in ("name", "arrival")


def _sequence(member: Member) -> int:
    return _NOWHERE if member.sequence is None else member.sequence


def _unsigned(members: Sequence[Member]) -> Key:
    """Begin behind the widest gap, so that what came after a wrap stays behind what was before."""
    numbers = sorted({_sequence(member) % _WORD for member in members})
    first = numbers[0] if numbers else 0
    if numbers and numbers[-1] - first > _WORD // 2:
        gaps = pairwise([*numbers, first + _WORD])
        before = max(gaps, key=lambda gap: gap[1] - gap[0])
        first = before[1] % _WORD
    return lambda member: (_sequence(member) - first) % _WORD


_KEYS: Final[dict[str, Key]] = {
    "number": _sequence,
    "text": lambda member: written(_sequence(member)),
    "magnitude": lambda member: abs(_sequence(member)),
    "digits": lambda member: written(_sequence(member)).lstrip("-"),
    "name": lambda member: member.node,
    "arrival": lambda member: member.czxid,
}

_TIES: Final[dict[str, Callable[[Member], int | str]]] = {
    "name": lambda member: member.node,
    "arrival": lambda member: member.czxid,
    "share": lambda member: member.czxid,
}
