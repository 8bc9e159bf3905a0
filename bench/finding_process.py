"""Searches an ensemble as the UI does, in a process of its own; prints when locks were found.

Arguments: the hosts, the number of locks, and whether servers are asked for their tables.
"""

import json
import sys
import threading
import time
from pathlib import Path

from bench.figure import memory_mb
from zktop.app.feeds import LiveFeed
from zktop.model.settings import Settings
from zktop.ui.interfaces import Frame, News, Status
from zktop.zk import Access, Plan, parse_hosts

PATIENCE_S = 300


class FoundLocks:
    """Notes the times of the first frame with locks, and of the one with all, after the search."""

    def __init__(self, locks: int) -> None:
        self._locks = locks
        self._began = time.perf_counter()
        self._status = Status("connecting")
        self.at: dict[str, float] = {}
        self.over = threading.Event()

    def on_news(self, news: News) -> None:
        """Receive a frame or a status."""
        seconds = time.perf_counter() - self._began
        if isinstance(news, Status):
            self._status = news
        if isinstance(news, Frame) and news.report.paths:
            self.at.setdefault("first", seconds)
            if len(news.report.paths) >= self._locks and self._status == Status("live"):
                self.at.setdefault("all", seconds)
                self.over.set()


def main() -> None:
    """Follow the feed until all locks are found."""
    hosts, locks, told = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "on"
    imported_mb = memory_mb()
    feed = LiveFeed("bench", Access(parse_hosts(hosts)), Plan(introspect=told), Settings())
    found = FoundLocks(locks)
    feed.start(found.on_news)
    assert found.over.wait(PATIENCE_S), found.at
    feed.stop()
    print(json.dumps({**found.at, "mb": _peak_mb(), "imported_mb": imported_mb}))


def _peak_mb() -> float:
    """The most resident memory that this process ever had; `getrusage` counts its parent's."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


main()
