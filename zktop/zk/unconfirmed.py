"""Branches that events have changed since they were listed.

Events tell which children came and went, but not the parent's own counters; and a deletion that
no listing confirms has to be remembered. So a branch is listed again when it has become quiet, or
after a while if it does not.
"""

import time

from zktop.zk.branch import Branch
from zktop.zk.reach import Scope

QUIET_S = 0.5
QUIET_PER_NAME_S = 0.0001  # a large listing is dear: rather late than often
LONGEST_S = 5.0
LONGEST_PER_NAME_S = 0.001
MOST_AT_ONCE = 200
MOST_DELETIONS = 256  # or twice the children where there are more


class Unconfirmed:
    """Branches to list again, by path."""

    def __init__(self) -> None:
        self._branches: dict[str, Branch] = {}

    def __len__(self) -> int:
        """Count them."""
        return len(self._branches)

    def __contains__(self, path: object) -> bool:
        """Tell whether one is going to be listed again anyway."""
        return path in self._branches

    def add(self, branch: Branch) -> None:
        """Note that an event changed this one."""
        branch.touched = time.monotonic()
        if branch.path not in self._branches:
            branch.changed = branch.touched
            self._branches[branch.path] = branch

    def forget(self, path: str) -> None:
        """Drop a branch: it was listed, or is gone."""
        self._branches.pop(path, None)

    def clear(self) -> None:
        """Drop all."""
        self._branches.clear()

    def due(self) -> dict[Scope, list[str]]:
        """Take out those that it is time for, not too many at once."""
        now = time.monotonic()
        due: dict[Scope, list[str]] = {}
        ready = [branch for branch in self._branches.values() if _is_due(branch, now)]
        for branch in ready[:MOST_AT_ONCE]:
            due.setdefault(branch.scope, []).append(branch.path)
            del self._branches[branch.path]
        return due


def has_many_deletions(branch: Branch) -> bool:
    """Tell whether so many are remembered that it cannot wait."""
    return branch.deletions > max(MOST_DELETIONS, 2 * len(branch.names))


def _is_due(branch: Branch, now: float) -> bool:
    names = len(branch.names)
    if now - branch.touched >= QUIET_S + names * QUIET_PER_NAME_S:
        return True
    return now - branch.changed >= LONGEST_S + names * LONGEST_PER_NAME_S
