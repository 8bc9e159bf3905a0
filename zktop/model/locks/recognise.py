"""Decides which lock layout a root follows, or what it is if it is not a lock.

The decision is about a root as a whole, never about a single child. A layout in the config comes
first, then the shape of the root, then names: names specific to one library before short, generic
ones, and guesses last. A guess is dropped if another match is more certain. Matching names count
only if sessions own the nodes, unless the layout's nodes are persistent. If no child contends, the
owners and the data of the children decide what the root is. Groups, barriers, queues and reference
counts look like locks, but are not.
"""

import re
from collections.abc import Iterable
from itertools import islice
from typing import Final

import msgspec

from zktop.model.layouts.children_by_layout import (
    ParsedChild,
    SortedChildren,
    disambiguate,
    is_probe,
    sort_by_layout,
)
from zktop.model.layouts.layout import LARGEST, MACROS, Layout
from zktop.model.layouts.lock_names import sounds_like_lock
from zktop.model.layouts.lock_site import LockSite
from zktop.model.layouts.not_locks import REGISTRY, is_registry
from zktop.model.layouts.precedence import BY_NAME
from zktop.model.locks.shapes import SHAPE_OF_LAYOUT, layout_named, part_of, shape_of
from zktop.model.locks.shapes.single_node import SINGLE_NODE, is_single
from zktop.model.world.children_of_znode import Family, Znode

_H32, _U36 = MACROS["{H32}"], MACROS["{U36}"]
_HOST_PID: Final = rb".+-\d+"

# Name pattern -> kind. One matching child decides if there are no contenders.
_NAMES: Final = {
    rf"{_H32}__party__": "kazoo-party",
    rf"{_H32}-(?!.*-n_\d{{10}}$)(?!(?:lock|read|write)-).*": "kazoo-shallow-party",
    r"(?:condition|party|countDownLatch)-.*": "menagerie-other",
    rf"{_U36}(?::{_U36}:.*)?\|.*\d{{10}}": "ignite-discovery",
}
_QUEUE: Final = r"(?:qn-|queue-|entry-\d{3}-|message|config_change_)-?\d{9,10}"


_MAX_EXAMINED_CHILDREN: Final = 64  # to see what a root without contenders is


def by_path(path: str) -> str | None:
    """Return the kind of a path that is known not to be a lock, whatever its children are."""
    return "clickhouse-block-numbers" if "/block_numbers/" in path else None


def barrier(family: Family) -> str | None:
    """Return the kind of the double barrier that has these children; None if it is not one."""
    names = family.members.keys()
    if "ready" not in names:
        return None
    if any(re.fullmatch(_H32, name) for name in names):
        return "kazoo-double-barrier"
    return "curator-double-barrier" if any(re.fullmatch(_U36, name) for name in names) else None


def entering_barrier(family: Family) -> str | None:
    """Return the kind of a double barrier that has not opened yet, judging by the data."""
    are_participants = bool(family.members) and all(
        re.fullmatch(_H32, znode.name) and re.fullmatch(_HOST_PID, znode.data or b"")
        for znode in family
    )
    return "kazoo-double-barrier" if are_participants else None


def other_kind(znodes: Iterable[Znode]) -> str | None:
    """Return what the children are if none of them contends for a lock."""
    sampled = list(islice(znodes, _MAX_EXAMINED_CHILDREN))
    for znode in sampled:
        if re.fullmatch(_QUEUE, znode.name) and not (znode.stat and znode.stat.owner):
            return "queue"
        for pattern, kind in _NAMES.items():
            if re.fullmatch(pattern, znode.name):
                return kind
    are_handles = bool(sampled) and all(
        re.fullmatch(_U36, znode.name) and znode.stat and znode.stat.owner for znode in sampled
    )
    return "flink-state-handles" if are_handles else None


UNKNOWN: Final = "unknown"
CONTAINER: Final = "container-of-roots"
PART: Final = "not-a-lock:part-of-another"
_MIXED: Final = "mixed:"  # before the names of several layouts
_MAX_SAMPLED_CHILDREN = 32  # one lock among them makes their parent a container


class Recognised(msgspec.Struct, frozen=True):
    """What a root is. Without layouts it is not a lock, and `kind` says what it is instead."""

    kind: str
    layouts: tuple[Layout, ...] = ()
    matches: dict[str, list[ParsedChild]] = {}  # by layout; empty if the shape decides
    rest: tuple[Znode, ...] = ()  # children that are not contenders
    guessed: bool = False
    asks_watches: bool = False  # watch tables can change the answer

    @property
    def is_lock(self) -> bool:
        return bool(self.layouts)


def recognise(site: LockSite, previous: str | None) -> Recognised:
    """Recognise a root; `previous` is the layout that the same root had at the previous look."""
    root = site.configured
    layout = layout_named(root.layout, site.settings.layouts) if root and root.layout else None
    if layout is not None:
        return _as_configured(site, layout)
    if part_of(site):
        return _no_lock(site, PART)
    if kind := by_path(site.path) or barrier(site.family):
        return _no_lock(site, f"not-a-lock:{kind}")
    if shape := shape_of(site):
        return _by_shape(shape.layout, site.family.members.values())
    by_name = _unless_registry(site, _by_name(site, previous))
    if by_name.is_lock or by_name.asks_watches:
        return by_name
    return _without_contenders(site, previous, by_name.rest)


def _unless_registry(site: LockSite, by_name: Recognised) -> Recognised:
    """Reject a registry; a later watch table may still change that."""
    is_rejected = is_registry(site, by_name.matches)
    if is_rejected is None:
        return by_name
    if is_rejected:
        return Recognised(REGISTRY, asks_watches=True)
    return msgspec.structs.replace(by_name, asks_watches=True)


def _as_configured(site: LockSite, layout: Layout) -> Recognised:
    if layout not in BY_NAME and layout not in site.settings.layouts:
        return _by_shape(layout, site.family.members.values())
    by_layout = sort_by_layout(site.family, (layout,))
    listed = by_layout.matches.get(layout.name, ())
    # The config says that these children contend: if no session owns any, they are not leftovers.
    if not all(is_left_over(layout, child.znode) for child in listed):
        _drop_left_over(by_layout, layout.name)
    return Recognised(layout.name, (layout,), by_layout.matches, tuple(by_layout.rest))


def _by_shape(layout: Layout, rest: Iterable[Znode]) -> Recognised:
    return Recognised(layout.name, (layout,), {}, tuple(rest))


def _by_name(site: LockSite, previous: str | None) -> Recognised:
    own = site.settings.layouts
    by_layout = sort_by_layout(site.family, (*own, *BY_NAME) if own else BY_NAME)
    if len(by_layout.matches) > 1 or by_layout.layouts.keys() & _SHARED_NAMES:
        disambiguate(site, by_layout)
    known = layout_names_in(previous or "")  # children of these layouts contended before
    for name in list(by_layout.matches):
        if name not in known and not _contends(site, by_layout, name):
            by_layout.give_up(name)
    _drop_guesses(by_layout)
    for name in list(by_layout.matches):
        _drop_left_over(by_layout, name)
    names = sorted(by_layout.matches)
    kind = f"{_MIXED}{'+'.join(names)}" if len(names) > 1 else "".join(names)
    layouts = tuple(by_layout.layouts[name] for name in names)
    guessed = any(layout.guessed for layout in layouts)
    return Recognised(kind, layouts, by_layout.matches, tuple(by_layout.rest), guessed)


def layout_names_in(kind: str) -> list[str]:
    """Return the names of the layouts of a lock, from the text that has all of them.

    >>> layout_names_in("mixed:go-lock+kazoo-lock"), layout_names_in("kazoo-lock")
    (['go-lock', 'kazoo-lock'], ['kazoo-lock'])
    """
    return kind.removeprefix(_MIXED).split("+")


def is_left_over(layout: Layout, znode: Znode) -> bool:
    """Return whether a node is a leftover: no session owns it, though its layout is ephemeral.

    TTL nodes and nodes made by hand look the same.
    """
    return znode.stat is not None and not znode.stat.owner and not layout.persistent


def _drop_left_over(by_layout: SortedChildren, name: str) -> None:
    """Treat leftover nodes as foreign; they still block their successors.

    Nodes without a number, such as ClickHouse's marker, are never leftovers.
    """
    layout = by_layout.layouts[name]
    by_layout.keep(
        name,
        lambda child: child.name.sequence is None or not is_left_over(layout, child.znode),
    )


_SHARED_NAMES: Final = frozenset(
    (
        "zk-writelock-c",
        "zk-writelock-java",
        "curator-custom",
        "bare-sequence",
        "plain-lock-dashless",
    )
)


def _contends(site: LockSite, by_layout: SortedChildren, name: str) -> bool:
    """Return whether the children of one layout can really be contenders."""
    layout, children = by_layout.layouts[name], by_layout.matches[name]
    if layout.persistent or has_clickhouse_marker(layout, children):
        return True
    if not layout.guessed:
        return any(child.znode.stat is None or child.znode.stat.owner for child in children)
    owned = [child for child in children if _is_owned(child.znode)]
    if not owned or (layout.grouped and not _is_queue(site, owned)):
        return False
    by_layout.keep(name, lambda child: _is_owned(child.znode))
    return True


def _is_owned(znode: Znode) -> bool:
    return znode.stat is not None and bool(znode.stat.owner)


def has_clickhouse_marker(layout: Layout, children: Iterable[ParsedChild]) -> bool:
    """Return whether ClickHouse left its marker there.

    In that case several replicas may lead, including ones without a node.
    """
    is_clickhouse = layout.name == "clickhouse-leader-election"
    return is_clickhouse and any(child.name.sequence is None for child in children)


def _is_queue(site: LockSite, children: list[ParsedChild]) -> bool:
    """Return whether these numbers come from the parent's counter, and the nodes contend.

    We know the counter, of 31 bits, only as of the listing, so children created later are skipped.
    """
    stat = site.family.stat
    following = stat.next_sequence if stat and stat.cversion else None
    if following is not None:
        if following == LARGEST:  # it stays there: several nodes may have this number
            following += 1
        listed_at = site.family.listed_at
        listed = (child for child in children if _was_created_by(child.znode, listed_at))
        if any((child.name.sequence or 0) & LARGEST >= following for child in listed):
            return False
    groups = [child.name.group for child in children]
    if len(groups) > len(set(groups)):
        return True
    return sounds_like_lock(site.path) and not all(map(_is_left_by_spring, children))


def _was_created_by(znode: Znode, zxid: int) -> bool:
    return znode.stat is not None and znode.stat.czxid <= zxid


def _is_left_by_spring(child: ParsedChild) -> bool:
    """Return whether a node alone in its group looks as if an old version of Spring leaked it.

    Spring named it after a lock of the application, without a separator before the number.
    """
    name = child.name
    return child.znode.name.startswith("_c_") and not name.group.endswith(("-", "_"))


def _drop_guesses(by_layout: SortedChildren) -> None:
    """Drop all guesses if a more certain layout matches, else all but the first by name."""
    guesses = sorted(name for name in by_layout.matches if by_layout.layouts[name].guessed)
    has_sure_match = len(guesses) < len(by_layout.matches)
    dropped = guesses if has_sure_match else guesses[1:]
    for name in dropped:
        by_layout.give_up(name)


def _without_contenders(
    site: LockSite, previous: str | None, children: tuple[Znode, ...]
) -> Recognised:
    """Decide what a root is if none of its children contends."""
    family = site.family
    is_free = not any(map(_is_owned, children))
    if previous is not None and is_free and not _is_refuted(site, previous):
        return _as_before(site, previous)
    kind = entering_barrier(family) or other_kind(children)
    if kind is not None:
        return _no_lock(site, f"not-a-lock:{kind}")
    if is_single(site):
        return _by_shape(SINGLE_NODE.layout, family.members.values())
    if _contains_roots(site):
        return _no_lock(site, CONTAINER)
    return _no_lock(site, UNKNOWN)


def _is_refuted(site: LockSite, previous: str) -> bool:
    """Return whether the nodes of a shape that was recognised before are folders now.

    A lock whose nodes have merely disappeared, or are all empty, is free. Other folders in the
    root do not count.
    """
    shape = SHAPE_OF_LAYOUT.get(previous)
    if shape is None:
        return False
    nodes = (shape.leaf,) if shape.leaf else shape.parts
    return not all(map(site.is_empty, nodes))


def _as_before(site: LockSite, previous: str) -> Recognised:
    own = site.settings.layouts
    known = (layout_named(name, own) for name in layout_names_in(previous))
    layouts = tuple(filter(None, known))
    guessed = any(layout.guessed for layout in layouts)
    return Recognised(previous, layouts, {}, tuple(site.family), guessed)


def _contains_roots(site: LockSite) -> bool:
    names = list(site.family.members)[:_MAX_SAMPLED_CHILDREN]
    if any(is_probe(name, site.family) for name in names):
        return True
    return any(_looks_like_a_lock(site, name) for name in names)


def _looks_like_a_lock(site: LockSite, name: str) -> bool:
    members = list(site.below(name).members.values())[:_MAX_SAMPLED_CHILDREN]
    return any(not layout.guessed for layout in sort_by_layout(members).layouts.values())


def _no_lock(site: LockSite, kind: str) -> Recognised:
    """Return the result for a root that is not a lock; a container lists its owned children."""
    owned = filter(_is_owned, site.family) if kind == CONTAINER else ()
    return Recognised(kind, rest=tuple(owned))
