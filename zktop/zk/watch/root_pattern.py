"""The paths that a root covers."""

import re
from collections.abc import Iterable
from typing import Final

from zktop.model.facts import split
from zktop.model.root_entry import path_pattern

ANY_DEPTH: Final = "**"
ANY_NAME: Final = re.compile("[^/]*")
SEMAPHORE_QUEUE: Final = "-__lock__"  # suffix of the sibling in which kazoo's clients queue

_UUID = r"[0-9a-f]{32}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
_MIN_SEQUENCE_DIGITS = 9  # a sequential name ends with ten digits, or a minus sign and nine


def looks_like_a_member(name: str) -> bool:
    """True if a name looks like a lock member's, not like a folder's.

    Members have a sequence number at the end, or a uuid.

    >>> looks_like_a_member("lock-0000000007"), looks_like_a_member("leases")
    (True, False)
    """
    if len(name) >= _MIN_SEQUENCE_DIGITS and name[-_MIN_SEQUENCE_DIGITS:].isdecimal():
        return True
    return len(name) >= 32 and re.search(_UUID, name) is not None  # noqa: PLR2004  length of a uuid


def upwards(path: str) -> list[str]:
    """A path and all its ancestors.

    >>> upwards("/locks/orders")
    ['/locks/orders', '/locks', '/']
    """
    paths = [path]
    while path not in ("", "/"):
        path = split(path)[0]
        paths.append(path)
    return paths


def depth(path: str) -> int:
    """The number of names in a path.

    >>> depth("/"), depth("/locks/orders")
    (0, 2)
    """
    return path.count("/") if path != "/" else 0


class RootPattern:
    """One root, exact or with `*` and `**`, and the paths that it covers."""

    def __init__(self, path: str) -> None:
        self.path = path
        parts = [part for part in path.split("/") if part]
        fixed = next((index for index, part in enumerate(parts) if "*" in part), len(parts))
        self.base = "/" + "/".join(parts[:fixed])
        self.is_exact = fixed == len(parts)
        self._pattern = path_pattern(path)
        self._levels = [_level(part) for part in parts]
        any_depth = next((index for index, part in enumerate(parts) if ANY_DEPTH in part), None)
        self.is_any_depth = any_depth is not None  # its locks may lie at any depth
        # From this level on, any name is covered.
        self._covered_from = len(parts) if any_depth is None else any_depth

    @property
    def is_ensemble_wide(self) -> bool:
        """True if its watch would cover the whole ensemble."""
        return self.base == "/" and not self.is_exact

    def covers(self, path: str) -> bool:
        """True if a path may be a lock of this root, or lies above or below one.

        Paths above the base are not covered.
        """
        parts = [part for part in path.split("/") if part]
        if parts[:1] == ["zookeeper"] and not self.base.startswith("/zookeeper"):
            return False
        levels = self._levels[: self._covered_from]
        if any(level.fullmatch(part) is None for part, level in zip(parts, levels, strict=False)):
            return False
        return len(parts) >= depth(self.base)

    def covers_children(self, path: str) -> bool:
        """True if every child of a covered path is covered, whatever its name."""
        if path == "/":  # /zookeeper is not covered
            return False
        level = depth(path)
        return level >= self._covered_from or self._levels[level] is ANY_NAME

    def matches(self, path: str) -> bool:
        """True if a path may be a lock of this root."""
        return self._pattern.fullmatch(path) is not None

    def leads_to_locks(self, path: str) -> bool:
        """True if the children of this path must be folders or locks, not members of a lock."""
        return not self.is_any_depth and depth(path) < len(self._levels)

    def contains(self, other: "RootPattern") -> bool:
        """True if the other root needs no separate watch: this one covers everything in it.

        `/a/*` contains `/a/b/c`: everything below a lock is read too. `/a/**` contains no
        narrower root, because a flood of events ends its watch.
        """
        if self.path == other.path:
            return True
        if self.is_any_depth or not self.covers(other.base):
            return False
        return depth(other.base) >= len(self._levels)


def root_patterns(roots: Iterable[str]) -> list[RootPattern]:
    """Parse the user's roots. `/`, like no root at all, stands for every path.

    An exact root comes with a second one: the path where kazoo would queue for a semaphore.

    >>> [pattern.path for pattern in root_patterns(["/locks/"])]
    ['/locks', '/locks-__lock__']
    """
    patterns: list[RootPattern] = []
    for root in roots or ("/**",):
        path = root.rstrip("/") or "/**"
        pattern = RootPattern(path)
        patterns.append(pattern)
        if pattern.is_exact and not path.endswith(SEMAPHORE_QUEUE):
            patterns.append(RootPattern(path + SEMAPHORE_QUEUE))
    return patterns


def _level(part: str) -> re.Pattern[str]:
    if part == "*":
        return ANY_NAME
    return re.compile("[^/]*".join(map(re.escape, re.split(r"\*+", part))))
