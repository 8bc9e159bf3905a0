"""A thread-safe queue of news from the feed's thread to the UI's thread.

A live feed never waits: it adds its news and wakes the UI once. The inbox is bounded, even if the
UI is busy or its terminal blocks: when it is full, each new entry replaces the newest one of its
kind. If that is a frame, its events are kept.
"""

import threading
from collections import deque
from collections.abc import Callable

from msgspec.structs import replace

from zktop.ui.interfaces import Complaint, Frame, News, Status

Wake = Callable[[], None]
MAX_NEWS = 50
MAX_EVENTS = 20_000  # older events of merged frames are left out


class Inbox:
    """A bounded queue that calls `wake` when it is no longer empty."""

    def __init__(self, wake: Wake, *, waits: bool = False) -> None:
        """With `waits`, `put` blocks while the inbox is full, so that no frames are merged."""
        self._wake, self._waits = wake, waits
        self._news: deque[News] = deque()
        self._guard = threading.Lock()
        self._emptied = threading.Condition(self._guard)
        self._awake = False

    def put(self, news: News) -> None:
        """Add news. Called on the feed's thread."""
        with self._guard:
            if isinstance(news, Frame):
                self._emptied.wait_for(self._has_room)
            last = self._news[-1] if self._news else None
            if isinstance(last, Status) and isinstance(news, Status):
                self._news.pop()
            elif len(self._news) >= MAX_NEWS:
                news = self._merged(news)
            self._news.append(news)
        self.wake()

    def _has_room(self) -> bool:
        return len(self._news) < MAX_NEWS or not self._waits

    def _merged(self, news: News) -> News:
        """Remove the newest entry of the same kind, and merge it into this one."""
        same = (index for index, old in enumerate(self._news) if type(old) is type(news))
        newest = max(same, default=None)
        if newest is None:
            return news
        old = self._news[newest]
        del self._news[newest]
        if isinstance(news, Frame) and isinstance(old, Frame):
            return replace(news, events=(*old.events, *news.events)[-MAX_EVENTS:])
        if isinstance(news, Complaint) and isinstance(old, Complaint):
            return replace(news, ends_recording=old.ends_recording or news.ends_recording)
        return news

    def close(self) -> None:
        """Release a waiting feed, because the UI has ended."""
        with self._guard:
            self._waits = False
            self._emptied.notify_all()

    def wake(self) -> None:
        """Make the UI draw without news. Thread-safe."""
        with self._guard:
            wakes, self._awake = not self._awake, True
        if wakes:
            self._wake()

    @property
    def is_awake(self) -> bool:
        """True from a wake up to the next `take`."""
        return self._awake

    def take(self) -> list[News]:
        """Remove and return all news. Called on the UI's thread."""
        with self._guard:
            news = list(self._news)
            self._news.clear()
            self._awake = False
            self._emptied.notify_all()
        return news
