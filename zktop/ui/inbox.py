"""News from the feed's thread for the UI's thread.

A live feed never waits: it adds its news and wakes the UI once. The inbox is bounded, even if the
UI is busy or its terminal blocks: when it is full, frames are merged and only their events add up.
"""

import threading
from collections import deque
from collections.abc import Callable

from zktop.ui.interfaces import Frame, News, Status

Wake = Callable[[], None]
MAX_FRAMES = 50
MAX_WAIT_S = 1.0  # the UI may have ended


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
            if self._waits and len(self._news) >= MAX_FRAMES:
                self._emptied.wait_for(self._has_room, MAX_WAIT_S)
            last = self._news[-1] if self._news else None
            is_full = len(self._news) >= MAX_FRAMES
            if is_full and isinstance(last, Frame) and isinstance(news, Frame):
                self._news[-1] = Frame(news.report, (*last.events, *news.events))
            elif isinstance(last, Status) and isinstance(news, Status):
                self._news[-1] = news
            else:
                self._news.append(news)
            wakes, self._awake = not self._awake, True
        if wakes:
            self._wake()

    def _has_room(self) -> bool:
        return len(self._news) < MAX_FRAMES or not self._waits

    def close(self) -> None:
        """Release a waiting feed; the UI has ended."""
        with self._guard:
            self._waits = False
            self._emptied.notify_all()

    def wake(self) -> None:
        """Make the UI draw without news. May be called on any thread."""
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
