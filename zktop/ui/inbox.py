"""Where the feed's thread leaves its news for the UI's thread.

The feed never waits: it leaves the news and wakes the UI once. However long the UI is busy or its
terminal is stalled, what waits here is bounded: frames are joined, and only events add up.
"""

import threading
from collections import deque
from collections.abc import Callable

from zktop.ui.ports import Complaint, Frame, News, Status

FRAMES_WAITING = 50
LONGEST_WAIT_S = 1.0  # nobody waits for ever for a UI that may have ended


class Inbox:
    """News from one thread to another."""

    def __init__(self, wake: Callable[[], None], *, waits: bool = False) -> None:
        """Call `wake` when the first news comes after the inbox was emptied.

        Who reads a file may wait for room instead of having frames joined.
        """
        self._wake, self._waits = wake, waits
        self._news: deque[News] = deque()
        self._guard = threading.Lock()
        self._emptied = threading.Condition(self._guard)
        self._awake = False

    def put(self, news: News) -> None:
        """Leave news; called on the feed's thread."""
        with self._guard:
            if self._waits and len(self._news) >= FRAMES_WAITING:
                self._emptied.wait_for(self._has_room, LONGEST_WAIT_S)
            last = self._news[-1] if self._news else None
            is_full = len(self._news) >= FRAMES_WAITING
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
        return len(self._news) < FRAMES_WAITING or not self._waits

    def close(self) -> None:
        """Have nobody wait any more: nothing will be taken."""
        with self._guard:
            self._waits = False
            self._emptied.notify_all()

    def wake(self) -> None:
        """Have the UI look around, although there is no news; called on any thread."""
        with self._guard:
            wakes, self._awake = not self._awake, True
        if wakes:
            self._wake()

    def complain(self, sentence: str) -> None:
        """Leave word of what went wrong; called on any thread."""
        self.put(Complaint(sentence))

    def take(self) -> list[News]:
        """Take all of it; called on the UI's thread."""
        with self._guard:
            news = list(self._news)
            self._news.clear()
            self._awake = False
            self._emptied.notify_all()
        return news
