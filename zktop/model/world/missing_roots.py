"""The roots that the user named: whether they exist and may be listed."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Final

import msgspec

from zktop.model.facts import join, split
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text, nearest
from zktop.model.world.children_of_znode import NEVER, NO_FAMILY
from zktop.model.world.world import World

# The layout of locks whose node exists only while they are held.
SINGLE_NODE_LAYOUT: Final = "single-node"
MAX_SIBLINGS: Final = 1_000  # comparing a name with that many takes 20 ms


class MissingRoot(msgspec.Struct, frozen=True, gc=False):
    """A root that does not exist."""

    root: str
    base: Text
    meant: str | None  # the root, corrected to a similar name that exists


class DeniedRoot(msgspec.Struct, frozen=True, gc=False):
    """A root whose children an ACL hides."""

    root: str
    base: Text
    children: int | None  # how many, if a Stat shows it


def named_roots(settings: Settings) -> Sequence[Root]:
    """Return the roots that the user named, without those that zktop added."""
    return [root for root in settings.roots if root.path not in settings.own_roots]


def missing_roots(world: World, settings: Settings) -> Iterator[MissingRoot]:
    """Find the roots that do not exist, except locks that have no node while they are free."""
    for root in named_roots(settings):
        if root.layout == SINGLE_NODE_LAYOUT:
            continue
        base = base_of(root.path)
        absent = _first_absent(base, world)
        if absent is not None:
            yield MissingRoot(root.path, base, _corrected(root.path, absent, world))


def denied_roots(world: World, settings: Settings) -> Iterator[DeniedRoot]:
    """Find the patterns whose first znode may not be listed; exact roots appear as locks."""
    for root in named_roots(settings):
        base = base_of(root.path)
        if "*" in root.path and world.families.get(base, NO_FAMILY).denied:
            znode = world.node(base)
            stat = znode.stat if znode else None
            yield DeniedRoot(root.path, base, stat.num_children if stat else None)


def are_idle(world: World, settings: Settings) -> bool:
    """Whether all named roots were listed, and no znode below them can be a client's.

    A lock may be deeper than a pattern without `**` reaches, or be of an unknown layout.
    """
    roots = tuple(named_roots(settings))
    if not roots:
        return False
    bases = {base_of(root.path) for root in roots}
    may_be_missing = {base_of(root.path) for root in roots if root.layout == SINGLE_NODE_LAYOUT}
    for base in bases:
        is_free = base in may_be_missing and _first_absent(base, world) is not None
        if not is_free and not world.family(base).listed:
            return False
    named = Settings(roots=roots)
    below = (path for path in world.families if path in bases or named.root_of(path) is not None)
    return all(
        member.stat is not None
        and not member.stat.owner
        and named.root_of(join(path, name)) is not None
        for path in below
        for name, member in world.family(path).members.items()
    )


def base_of(root: str) -> Text:
    """Return the znode at which a root begins.

    >>> base_of("/app/*/locks"), base_of("/locks/"), base_of("/**")
    ('/app', '/locks', '/')
    """
    parts = [part for part in root.split("/") if part]
    literal = takewhile(lambda part: "*" not in part, parts)
    return Text("/" + "/".join(literal))


def _first_absent(base: Text, world: World) -> Text | None:
    """Return the first znode on a path that is known to be missing, or None.

    Only the last one is watched: those above it may have been created since.
    """
    parent, name = split(base)
    if name in world.family(parent).members:
        return None
    path = Text("/")
    for part in filter(None, base.split("/")):
        above, path = world.family(path), join(path, part)
        if Text(part) not in above.members and above.absent_at(Text(part)) != NEVER:
            return path
    return None


def _corrected(root: str, absent: Text, world: World) -> str | None:
    """Replace the absent name with its most similar sibling; None if none is similar."""
    parent, name = split(absent)
    siblings = world.family(parent).members
    alike = _alike(name, tuple(sorted(siblings))) if len(siblings) <= MAX_SIBLINGS else None
    return None if alike is None else join(parent, alike) + root[len(absent) :]


@lru_cache(maxsize=32)  # the arguments are the same at nearly every look
def _alike(name: Text, siblings: tuple[Text, ...]) -> str | None:
    return nearest(name, siblings)
