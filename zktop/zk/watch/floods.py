"""Notices roots with more events than can be processed; these are polled for a while."""

from collections.abc import Callable

from zktop.zk.event_loop import EventLoop
from zktop.zk.watch.watched_roots import WatchedRoot, WatchedRoots

FLOOD_REST_S = 60.0  # from a flood until the root is watched again


class Floods:
    """Counts the events of each watched root, second by second."""

    def __init__(
        self, loop: EventLoop, roots: WatchedRoots, on_flood: Callable[[WatchedRoot], None]
    ) -> None:
        self._loop, self._roots, self._on_flood = loop, roots, on_flood
        self._counting = False

    def count(self, root: WatchedRoot) -> None:
        """Count an event; within a second, the root is checked."""
        root.events += 1
        if not self._counting:
            self._counting = True
            self._loop.after(1.0, self._check)

    def _check(self) -> None:
        self._counting = False
        for root in self._roots:
            is_flooded, root.events = root.events > root.flood_per_s, 0
            if is_flooded and not root.polled:
                self._on_flood(root)
