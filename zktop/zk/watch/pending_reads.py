"""New and changed znodes to read after watch events: at once, or in batches while busy."""

import time

from zktop.zk.watch.watched_roots import WatchedRoot

READ_AFTER_S = 0.05  # while busy. Arrivals are counted in windows of the same length.
BATCH_EVERY_S = 0.05
BUSY_PER_S = 200
MIN_WAIT_S = 0.005


class UnreadZnodes:
    """Paths to read, oldest first.

    Normally a new znode is read at once. At more than 200 a second, most would be gone before an
    answer could arrive, and many small requests would delay other clients of the server. So they
    are then read in batches, 50 ms after they appear.
    """

    def __init__(self) -> None:
        self._since: dict[str, tuple[float, WatchedRoot]] = {}
        self._window = 0.0
        self._in_window = 0
        self._busy_until = 0.0
        self._next_batch = 0.0  # when the next batch is due, while busy

    def __len__(self) -> int:
        return len(self._since)

    def __contains__(self, path: object) -> bool:
        return path in self._since

    def add(self, path: str, root: WatchedRoot) -> None:
        """Add a znode that was created or changed."""
        now = time.monotonic()
        if now - self._window > READ_AFTER_S:
            self._window, self._in_window = now, 0
        self._in_window += 1
        if self._in_window > BUSY_PER_S * READ_AFTER_S:
            self._busy_until = now + 1.0
        if path not in self._since:
            self._since[path] = (now, root)

    def forget(self, path: str) -> None:
        """Drop a znode that is gone."""
        self._since.pop(path, None)

    def clear(self) -> None:
        self._since.clear()

    def take_due(self) -> dict[WatchedRoot, list[str]]:
        now = time.monotonic()
        is_busy = now < self._busy_until
        if is_busy and now < self._next_batch:
            return {}
        due_until = now - READ_AFTER_S if is_busy else now  # later ones wait
        ready: dict[WatchedRoot, list[str]] = {}
        for path, (since, root) in self._since.items():
            if since > due_until:
                break
            ready.setdefault(root, []).append(path)
        for paths in ready.values():
            for path in paths:
                del self._since[path]
        if ready:
            self._next_batch = now + BATCH_EVERY_S
        return ready

    def wait_s(self) -> float | None:
        """Seconds until the next path is due, or None if there is none."""
        if not self._since:
            return None
        oldest, _ = next(iter(self._since.values()))
        due = max(oldest + READ_AFTER_S, self._next_batch)
        return max(MIN_WAIT_S, due - time.monotonic())
