"""Znodes that were told of and not read yet.

In calm weather they are read at once. When znodes come and go fast, most are gone before an
answer could arrive, so then they are read when they have lived for a while, and all that have
grown up by then with one request: many small ones would keep other clients of the server waiting.

Branches that events have changed since they were listed.

Events tell which children came and went, but not the parent's own counters; and a deletion that
no listing confirms has to be remembered. So a branch is listed again when it has become quiet, or
after a while if it does not.
"""

import time

from zktop.zk.watch.scope import Scope
from zktop.zk.watch.tree import Branch

GROWN_UP_S = 0.05
TOGETHER_S = 0.05
CALM_PER_S = 200


class Newcomers:
    """Paths to read, oldest first."""

    def __init__(self) -> None:
        self._since: dict[str, tuple[float, Scope]] = {}
        self._window = 0.0
        self._in_window = 0
        self._busy_until = 0.0
        self._next = 0.0  # while it is busy

    def __len__(self) -> int:
        """Count them."""
        return len(self._since)

    def __contains__(self, path: object) -> bool:
        """Tell whether one is still to be read."""
        return path in self._since

    def add(self, path: str, scope: Scope) -> None:
        """Note a znode that was created or changed."""
        now = time.monotonic()
        if now - self._window > GROWN_UP_S:
            self._window, self._in_window = now, 0
        self._in_window += 1
        if self._in_window > CALM_PER_S * GROWN_UP_S:
            self._busy_until = now + 1.0
        if path not in self._since:
            self._since[path] = (now, scope)

    def forget(self, path: str) -> None:
        """Drop a znode that is gone."""
        self._since.pop(path, None)

    def clear(self) -> None:
        """Drop all."""
        self._since.clear()

    def grown_up(self) -> dict[Scope, list[str]]:
        """Take out those that it is time to read."""
        now = time.monotonic()
        is_busy = now < self._busy_until
        if is_busy and now < self._next:
            return {}
        oldest_to_wait = now - GROWN_UP_S if is_busy else now
        ready: dict[Scope, list[str]] = {}
        for path, (since, scope) in self._since.items():
            if since > oldest_to_wait:
                break
            ready.setdefault(scope, []).append(path)
        for paths in ready.values():
            for path in paths:
                del self._since[path]
        if ready:
            self._next = now + TOGETHER_S
        return ready

    def wait_s(self) -> float | None:
        """Give how long until the next one has grown up; None when there is none."""
        for since, _ in self._since.values():
            return max(0.005, max(since + GROWN_UP_S, self._next) - time.monotonic())
        return None


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
