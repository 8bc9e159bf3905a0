"""The paths that a root covers, and the path of its watch."""

import re
from collections.abc import Iterable
from typing import Final

from zktop.model.facts import split
from zktop.model.settings import path_pattern

ANY_DEPTH: Final = "**"
ANY_NAME: Final = re.compile("[^/]*")
BESIDE: Final = "-__lock__"  # suffix of the queue of a kazoo semaphore, a sibling of its leases

_UUID = r"[0-9a-f]{32}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
_SEQUENCE = 9  # digits at least: ten, or a minus sign and nine


def looks_like_a_member(name: str) -> bool:
    """True if a name looks like that of a member of a lock rather than a folder.

    Members have a sequence number at the end, or a uuid.

    >>> looks_like_a_member("lock-0000000007"), looks_like_a_member("leases")
    (True, False)
    """
    if len(name) >= _SEQUENCE and name[-_SEQUENCE:].isdigit():
        return True
    return len(name) >= 32 and re.search(_UUID, name) is not None  # noqa: PLR2004  length of a uuid


def upwards(path: str) -> list[str]:
    """A path and all its ancestors.

    >>> upwards("/locks/orders")
    ['/locks/orders', '/locks', '/']
    """
    found = [path]
    while path not in ("", "/"):
        path = split(path)[0]
        found.append(path)
    return found


class RootPattern:
    """One root, exact or with `*` and `**`, as the paths that it covers."""

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
        """True if its watch would cover the whole ensemble."""
        return self.base == "/" and not self.exact

    def covers(self, path: str) -> bool:
        """True if a path may be a lock of this root, an ancestor, or inside one."""
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
        """True if every child of a covered path is covered, whatever its name."""
        depth = path.count("/")
        if path == "/":
            return False
        return depth >= self._whole or self._levels[depth] is ANY_NAME

    def matches(self, path: str) -> bool:
        """True if a path may be a lock of this root."""
        return self._pattern.fullmatch(path) is not None

    @property
    def loose(self) -> bool:
        """True if its locks may lie at any depth."""
        return self._loose is not None

    def leads_on(self, path: str) -> bool:
        """True if the children of this path are folders or locks, not members of a lock."""
        depth = path.count("/") if path != "/" else 0
        return self._loose is None and depth < len(self._levels)

    def contains(self, other: "RootPattern") -> bool:
        """True if this root covers everything that the other covers."""
        if not self.covers(other.base):
            return False
        depth = other.base.count("/") if other.base != "/" else 0
        whole = len(self._levels) if self._loose is None else self._loose + 1
        return depth >= whole or self.path == other.path

    @property
    def _depth_of_base(self) -> int:
        return self.base.count("/") if self.base != "/" else 0


def root_patterns(roots: Iterable[str]) -> list[RootPattern]:
    """Parse the roots of the user; `/` alone, and no root at all, mean everything.

    >>> [pattern.path for pattern in root_patterns(["/locks/"])]
    ['/locks', '/locks-__lock__']
    """
    patterns: list[RootPattern] = []
    for root in roots or ("/**",):
        path = root.rstrip("/") or "/**"
        pattern = RootPattern(path)
        patterns.append(pattern)
        if pattern.exact and not path.endswith(BESIDE):
            patterns.append(RootPattern(path + BESIDE))
    return patterns


def _level(part: str) -> re.Pattern[str]:
    if part == "*":
        return ANY_NAME
    return re.compile("[^/]*".join(map(re.escape, re.split(r"\*+", part))))


class WatchedRoot:
    """A root that is watched at its first fixed path."""

    def __init__(self, pattern: RootPattern, *, recursive: bool, flood_per_s: int) -> None:
        self.pattern = pattern
        self.recursive = recursive  # one persistent watch, not one for each listed znode
        self.polled = False  # after a flood, or beyond the watch budget
        self.events = 0  # since the last flood check
        self.flood_per_s = flood_per_s

    @property
    def watched_singly(self) -> bool:
        """True if each listed znode has a one-shot watch of its own."""
        return not self.recursive and not self.polled

    @property
    def base(self) -> str:
        """The path of the watch."""
        return self.pattern.base

    def __repr__(self) -> str:
        return f"WatchedRoot({self.pattern.path!r})"
