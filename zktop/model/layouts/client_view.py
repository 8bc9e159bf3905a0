"""What a client's code reads in the name of any child: whether it counts, and its rank.

A library sees what its own listing code lets through, and it cuts its sort key out of any name by
the same code. So a foreign name gets a rank, a number by accident, or an error.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

from zktop.model.layouts.layout import ClientView, Layout, LockMode, compiled

Rank = tuple[int] | tuple[int, int | str]  # ranks of one sight compare with one another
NameRanker = Callable[[str], Rank | None]  # None: the name is not counted

FAILS: Final[Rank] = (9,)  # the client cannot read the name, and gives up

BY_NUMBER: Final = r"(-\d{9}|\d{10})$"  # a key: the number that a server appended

_UNREAD: Final[dict[str, Rank | None]] = {
    "ignored": None,
    "first": (0,),
    "last": (2,),
    "zero": (1, 0),
    "fails": FAILS,
}
_NUMBER: Final = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_OWN: Final = (ClientView(),)


def views_of(layout: Layout, own: Iterable[Layout] = ()) -> tuple[ClientView, ...]:
    """Give the sights of a layout; older keys of a user's layout mean one, too."""
    if layout.sights:
        return layout.sights
    if not layout.sees and not layout.unseen:
        return _OWN
    from zktop.model.layouts.catalogue import layout_named  # noqa: PLC0415  it is made of layouts

    seen = [layout_named(name, tuple(own)) for name in layout.sees]
    names = "|".join(_nameless(one.pattern) for one in (layout, *seen) if one is not None)
    unseen = f"(?!.*(?:{layout.unseen}))" if layout.unseen else ""
    return (ClientView(counts=f"^{unseen}(?:{names})", key=BY_NUMBER, compare="number"),)


def assumed(views: Iterable[ClientView], mode: LockMode) -> ClientView:
    """Give the sight of a member that nothing is known of."""
    return next((one for one in views if not one.modes or mode in one.modes), _OWN[0])


@lru_cache(maxsize=512)
def ranker_of(view: ClientView, group: str = "") -> NameRanker:
    """Give the function that ranks a name; `group` is the lock's own name where it has one.

    >>> curator = ClientView(counts="all", key="^(?:.*lock-)?(.*)$")
    >>> rank = ranker_of(curator)
    >>> rank("00-config") < rank("_c_x-lock-0000000001") < rank("config")
    True
    >>> ranker_of(ClientView(counts="all", compare="number", unread="fails"))("x") == FAILS
    True
    """
    is_counted = _search(view.counts if view.counts not in ("all", "own") else "", group)
    cut = _search(view.key, group)
    has_key, is_number = bool(view.key), view.compare == "number"
    unread = _UNREAD[view.unread]

    def rank(name: str) -> Rank | None:
        if is_counted(name) is None:
            return None
        key: str | None = name
        if has_key:
            found = cut(name)
            key = None if found is None else found[1]
        if key is None or (is_number and not _NUMBER.fullmatch(key)):
            return unread
        return (1, int(key)) if is_number else (1, key)

    return rank


@lru_cache(maxsize=512)
def bars_of(view: ClientView) -> Callable[[str], object] | None:
    """Give the search for names that readers wait for; None: their modes tell."""
    return _search(view.bars) if view.bars else None


def _search(pattern: str, group: str = "") -> Callable[[str], re.Match[str] | None]:
    return compiled(pattern.replace("{NAME}", re.escape(group))).search


def _nameless(pattern: str) -> str:
    """Take the names of the groups away, so that patterns can stand side by side."""
    return re.sub(r"\(\?P<\w+>", "(?:", compiled(pattern).pattern)
