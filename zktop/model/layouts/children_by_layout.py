"""Group the children of a znode by the layout their names follow.

If several clients could have written a name, owners, siblings and the path decide.
"""

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from zktop.model.layouts.layout import Layout, ParsedName, parse_name
from zktop.model.layouts.lock_site import LockSite
from zktop.model.layouts.main_libraries import C_WRITELOCK, CURATOR_CUSTOM, JAVA_WRITELOCK
from zktop.model.layouts.precedence import BY_NAME
from zktop.model.session_ids import session_id
from zktop.model.world.children_of_znode import Family, Znode


class ParsedChild(msgspec.Struct, frozen=True, gc=False):
    """A child and the parts of its name."""

    znode: Znode
    name: ParsedName


class SortedChildren(msgspec.Struct, frozen=True, gc=False):
    """Children by layout, and those that match no layout (`rest`)."""

    matches: dict[str, list[ParsedChild]]
    layouts: dict[str, Layout]
    rest: list[Znode]

    def give_up(self, layout: str) -> None:
        """Treat the children of one layout as unmatched."""
        self.rest.extend(child.znode for child in self.matches.pop(layout))

    def keep(self, layout: str, belongs: Callable[[ParsedChild], bool]) -> None:
        """Treat the children of one layout that fail the check as unmatched."""
        kept_children = []
        for child in self.matches.pop(layout):
            if belongs(child):
                kept_children.append(child)
            else:
                self.rest.append(child.znode)
        if kept_children:
            self.matches[layout] = kept_children

    def move(self, source: str, target: Layout) -> None:
        """Move the children of one layout to another; those that do not match it go to `rest`."""
        self.layouts[target.name] = target
        for child in self.matches.pop(source):
            name = parse_name(target, child.znode.name)
            if name is None:
                self.rest.append(child.znode)
            else:
                self.matches.setdefault(target.name, []).append(ParsedChild(child.znode, name))


def sort_by_layout(znodes: Iterable[Znode], layouts: Iterable[Layout] = BY_NAME) -> SortedChildren:
    """Match every name with the first layout that fits.

    >>> by_layout = sort_by_layout([Znode("lock-0000000001"), Znode("config")])
    >>> list(by_layout.matches), [znode.name for znode in by_layout.rest]
    (['plain-lock'], ['config'])
    """
    known = tuple(layouts)
    strict = _STRICT if known is BY_NAME else ()  # a user's layouts may match any name
    result = SortedChildren({}, {}, [])
    sibling_layout: Layout | None = None
    for znode in znodes:
        layout, name = _first_match(znode.name, known, sibling_layout)
        if layout is None or name is None:
            result.rest.append(znode)
            continue
        if layout.name not in result.matches:
            result.matches[layout.name] = []
            result.layouts[layout.name] = layout
        result.matches[layout.name].append(ParsedChild(znode, name))
        sibling_layout = layout if layout.name in strict else None
    return result


def _first_match(
    text: str, layouts: tuple[Layout, ...], sibling_layout: Layout | None
) -> tuple[Layout | None, ParsedName | None]:
    """Find the first layout that matches a name; try the layout of its sibling first."""
    if sibling_layout is not None:
        name = parse_name(sibling_layout, text)
        if name is not None:
            return sibling_layout, name
    if layouts is BY_NAME and not text[-_DIGITS:].isdigit() and text not in _WITHOUT_SEQUENCE:
        return None, None
    for layout in layouts:
        name = parse_name(layout, text)
        if name is not None:
            return layout, name
    return None, None


# The names of built-in layouts end with at least this many digits, except these.
_DIGITS: Final = 9
_WITHOUT_SEQUENCE: Final = ("leader_election-0",)

# Layouts whose names no earlier built-in layout can match.
_STRICT: Final = frozenset(
    layout.name
    for layout in BY_NAME
    if not layout.guessed and ".+" not in layout.pattern and layout.name != "zk-writelock-java"
)


def disambiguate(site: LockSite, by_layout: SortedChildren) -> None:
    """Choose between layouts that match the same names, by owners, siblings and path."""
    _choose_base_of_session_ids(by_layout)
    # `lock-2147483648` proves that the dash is a minus sign, in its siblings too.
    _join_siblings(by_layout, "plain-lock", "plain-lock-dashless")
    # `-lock--2147483647` has a negative ZkAsyncLock number if its siblings have a single dash.
    _join_siblings(by_layout, "zktools", "guid-lock")
    _move_numbers_to_mesos(site, by_layout)
    if "curator-custom" in by_layout.matches:
        by_layout.keep("curator-custom", lambda child: not is_probe(child.znode.name, site.family))


def _choose_base_of_session_ids(by_layout: SortedChildren) -> None:
    """In `x-<id>-`, the id is the owner's session: in hex from the C client, else in decimal."""
    matches = by_layout.matches
    children = matches.get(C_WRITELOCK.name, []) + matches.get(JAVA_WRITELOCK.name, [])
    if not children:
        return
    decimal = sum(_is_session(child, 10) for child in children)
    hexadecimal = sum(_is_session(child, 16) for child in children)
    if decimal == hexadecimal:
        return
    winner = JAVA_WRITELOCK if decimal > hexadecimal else C_WRITELOCK
    loser = C_WRITELOCK if winner is JAVA_WRITELOCK else JAVA_WRITELOCK
    if loser.name in matches and all(
        parse_name(winner, child.znode.name) for child in matches[loser.name]
    ):
        by_layout.move(loser.name, winner)


def _is_session(child: ParsedChild, base: int) -> bool:
    stat, text = child.znode.stat, child.name.id or ""
    if stat is None or not stat.owner:
        return False
    try:
        return session_id(int(text, base)) == stat.owner
    except ValueError:
        return False


def _join_siblings(by_layout: SortedChildren, source: str, target: str) -> None:
    """Move the children of one layout to that of some siblings, if it can read all of them."""
    layout, children = _LAYOUT[target], by_layout.matches.get(source, ())
    has_both = children and target in by_layout.matches
    if has_both and all(parse_name(layout, child.znode.name) for child in children):
        by_layout.move(source, layout)


def _move_numbers_to_mesos(site: LockSite, by_layout: SortedChildren) -> None:
    """Treat bare numbers as Mesos if they have `info_` siblings or are in its log's folder."""
    if "bare-sequence" not in by_layout.matches:
        return
    if "mesos-group" in by_layout.matches or site.path.endswith("/log_replicas"):
        by_layout.move("bare-sequence", _LAYOUT["mesos-group"])


def is_probe(name: str, siblings: Family) -> bool:
    """Return whether an old version of Spring left this node, which is named after a sibling."""
    parsed = parse_name(CURATOR_CUSTOM, name)
    return parsed is not None and parsed.group in siblings.members


_LAYOUT: Final = {
    layout.name: layout
    for layout in BY_NAME
    if layout.name in ("mesos-group", "plain-lock-dashless", "guid-lock")
}
