"""How a client's code sees the children of a lock: which names it counts and how it sorts them.

A library counts every name that its code accepts, and takes a sort key from it. So a foreign name
may be ranked like any other, be mistaken for a number, or make the client fail.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

from zktop.model.layouts.layout import ClientView, Layout, LockMode, compiled_pattern

Rank = tuple[int] | tuple[int, int | str]  # ranks of one view can be compared
NameRanker = Callable[[str], Rank | None]  # None: the name is not counted

FAILS: Final[Rank] = (9,)  # the client cannot read the name and gives up

# A key: the number that a server appended. Of ten digits, the dash before them is a minus sign
# only at the start, behind a separator, or if the number is too large without it.
BY_NUMBER: Final = r"(-\d{9}|(?<![^_-])-[12]\d{9}|-2147483648|\d{10})$"

# For `interop` in the config: all clients count each other, by the number at the end. The layout
# then has a second view, its usual one, which says how its clients see foreign children.
INTEROP: Final = ClientView(counts="all", key=BY_NUMBER, compare="number", about="interop")

_UNREAD: Final[dict[str, Rank | None]] = {
    "ignored": None,
    "first": (0,),
    "last": (2,),
    "zero": (1, 0),
    "first-or-zero": (0,),
    "fails": FAILS,
}
_NUMBER: Final = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_OWN: Final = (ClientView(),)


def views_of(layout: Layout, own: Iterable[Layout] = ()) -> tuple[ClientView, ...]:
    """Return the views of a layout. A user's layout may define one with `sees` and `unseen`."""
    if layout.sights:
        return layout.sights[:1] if layout.sights[0] is INTEROP else layout.sights
    if not layout.sees and not layout.unseen:
        return _OWN
    from zktop.model.locks.shapes import layout_named  # noqa: PLC0415  circular

    counted = (layout, *(layout_named(name, tuple(own)) for name in layout.sees))
    names = "|".join(_nameless(known.pattern) for known in counted if known is not None)
    unseen = f"(?!.*(?:{layout.unseen}))" if layout.unseen else ""
    return (ClientView(counts=f"^{unseen}(?:{names})", key=BY_NUMBER, compare="number"),)


def assumed_view(views: Iterable[ClientView], mode: LockMode) -> ClientView:
    """Return the view assumed for a member until a watch proves another."""
    return next((view for view in views if not view.modes or mode in view.modes), _OWN[0])


@lru_cache(maxsize=512)
def ranker_of(view: ClientView, group: str = "") -> NameRanker:
    """Return the function that ranks a name. `group` is the lock's name in a shared parent.

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
    no_number = (1, 0) if view.unread == "first-or-zero" else unread

    def rank(name: str) -> Rank | None:
        if is_counted(name) is None:
            return None
        key: str | None = name
        if has_key:
            match = cut(name)
            key = None if match is None else match[1]
        if key is None:
            return unread
        if is_number and not _NUMBER.fullmatch(key):
            return no_number
        return (1, int(key)) if is_number else (1, key)

    return rank


def depends_on_group(view: ClientView) -> bool:
    """Return whether a name ranks differently for locks with different names in one folder."""
    return view.counts == "own" or "{NAME}" in view.counts + view.key


@lru_cache(maxsize=512)
def bars_of(view: ClientView) -> Callable[[str], object] | None:
    """Return a function that matches the names readers wait for; None if they wait for writers."""
    return _search(view.bars) if view.bars else None


def _search(pattern: str, group: str = "") -> Callable[[str], re.Match[str] | None]:
    return compiled_pattern(pattern.replace("{NAME}", re.escape(group))).search


def _nameless(pattern: str) -> str:
    """Remove the names of the groups, so that patterns can be joined."""
    return re.sub(r"\(\?P<\w+>", "(?:", compiled_pattern(pattern).pattern)
