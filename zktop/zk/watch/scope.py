"""How far a root reaches: which paths are looked at for it, and where its watch goes."""

import re
from collections.abc import Iterable
from typing import Final

from zktop.model.facts import split
from zktop.model.settings import path_pattern

ANY_DEPTH: Final = "**"
ANY_NAME: Final = re.compile("[^/]*")
BESIDE: Final = "-__lock__"  # where kazoo's semaphores queue, beside the znode of their leases

_UUID = r"[0-9a-f]{32}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
_SEQUENCE = 9  # digits at the least: ten, or a minus sign and nine


def looks_like_a_place(name: str) -> bool:
    """Tell whether a name is one that a client takes in a queue, and no folder.

    A place has a sequence number at its end or a uuid in it.

    >>> looks_like_a_place("lock-0000000007"), looks_like_a_place("leases")
    (True, False)
    """
    if len(name) >= _SEQUENCE and name[-_SEQUENCE:].isdigit():
        return True
    return len(name) >= 32 and re.search(_UUID, name) is not None  # noqa: PLR2004  a uuid's length


def upwards(path: str) -> list[str]:
    """Give a path and all those above it.

    >>> upwards("/locks/orders")
    ['/locks/orders', '/locks', '/']
    """
    found = [path]
    while path not in ("", "/"):
        path = split(path)[0]
        found.append(path)
    return found


class Reach:
    """One root, exact or with `*` and `**`, as the paths that it concerns."""

    def __init__(self, path: str) -> None:
        self.path = path
        parts = [part for part in path.split("/") if part]
        literal = next((i for i, part in enumerate(parts) if "*" in part), len(parts))
        self.base = "/" + "/".join(parts[:literal])
        self.exact = literal == len(parts)
        self._pattern = path_pattern(path)
        self._levels = [_level(part) for part in parts]
        self._loose = next((i for i, part in enumerate(parts) if ANY_DEPTH in part), None)
        self._whole = len(parts) if self._loose is None else self._loose

    @property
    def wide(self) -> bool:
        """Tell whether its watch would be on everything that the ensemble serves."""
        return self.base == "/" and not self.exact

    def covers(self, path: str) -> bool:
        """Tell whether a path may be a lock of this root, lead to one, or lie within one."""
        parts = [part for part in path.split("/") if part]
        if parts[:1] == ["zookeeper"] and not self.base.startswith("/zookeeper"):
            return False
        for index, (part, level) in enumerate(zip(parts, self._levels, strict=False)):
            if self._loose is not None and index >= self._loose:
                return True
            if level.fullmatch(part) is None:
                return False
        return len(parts) >= self._depth_of_base

    def covers_children(self, path: str) -> bool:
        """Tell whether every child of a covered path is covered, whatever its name."""
        depth = path.count("/")
        if path == "/":
            return False
        return depth >= self._whole or self._levels[depth] is ANY_NAME

    def matches(self, path: str) -> bool:
        """Tell whether a path may be a lock of this root, by its place in the tree."""
        return self._pattern.fullmatch(path) is not None

    @property
    def loose(self) -> bool:
        """Tell whether it leaves open at which depth its locks are."""
        return self._loose is not None

    def leads_on(self, path: str) -> bool:
        """Tell whether the children of this path are folders or locks rather than contenders."""
        depth = path.count("/") if path != "/" else 0
        return self._loose is None and depth < len(self._levels)

    def contains(self, other: "Reach") -> bool:
        """Tell whether everything that the other reaches is reached by this one."""
        if not self.covers(other.base):
            return False
        depth = other.base.count("/") if other.base != "/" else 0
        whole = len(self._levels) if self._loose is None else self._loose + 1
        return depth >= whole or self.path == other.path

    @property
    def _depth_of_base(self) -> int:
        return self.base.count("/") if self.base != "/" else 0


def reaches_of(roots: Iterable[str]) -> list[Reach]:
    """Read roots as a user writes them; `/` alone, and no root at all, mean everything.

    >>> [reach.path for reach in reaches_of(["/locks/"])]
    ['/locks', '/locks-__lock__']
    """
    reaches: list[Reach] = []
    for root in roots or ("/**",):
        path = root.rstrip("/") or "/**"
        reach = Reach(path)
        reaches.append(reach)
        if reach.exact and not path.endswith(BESIDE):
            reaches.append(Reach(path + BESIDE))
    return reaches


def _level(part: str) -> re.Pattern[str]:
    if part == "*":
        return ANY_NAME
    return re.compile("[^/]*".join(map(re.escape, re.split(r"\*+", part))))


class Scope:
    """One watched base: everything below it that its reach covers is read and kept true."""

    def __init__(self, reach: Reach, *, recursive: bool, flood_per_s: int) -> None:
        self.reach = reach
        self.recursive = recursive  # one persistent watch; else one watch for each listed znode
        self.polled = False  # it flooded us, or the budget is used up
        self.events = 0  # since the last look at how many come
        self.flood_per_s = flood_per_s

    @property
    def watched_singly(self) -> bool:
        """Tell whether each of its listed znodes has a watch of its own."""
        return not self.recursive and not self.polled

    @property
    def base(self) -> str:
        """Give the path of the watch."""
        return self.reach.base

    def __repr__(self) -> str:
        """Show the root."""
        return f"Scope({self.reach.path!r})"
