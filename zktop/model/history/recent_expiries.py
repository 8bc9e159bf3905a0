"""Nodes that were recently removed with their sessions, to see how many expired at once."""

from collections import deque
from collections.abc import Collection, Iterable
from typing import Final

import msgspec

from zktop.model.facts import Millis, Session
from zktop.model.history.events import Event
from zktop.model.history.session_activity import SessionHistories
from zktop.model.text import Text

WITHIN_MS: Final = 15_000  # sessions of one dead host expire up to a third of a timeout apart
KEPT_MS: Final = 120_000
MAX_KEPT: Final = 10_000


class ExpiredPlace(msgspec.Struct, frozen=True, gc=False):
    """One node that was removed with its session."""

    at: Millis
    session: Session
    lock: Text
    held: bool
    server: Text | None
    host: str | None


class RecentExpiries:
    """Keeps the nodes that expired in the last two minutes."""

    def __init__(self) -> None:
        self._recent: deque[ExpiredPlace] = deque(maxlen=MAX_KEPT)

    def look(self, events: Iterable[Event], sessions: SessionHistories, now_ms: Millis) -> None:
        """Add the nodes that were removed with their sessions, unless an administrator did it."""
        for event in events:
            if event.session and event.is_expiry:
                server, client = sessions.last_place(event.session)
                host = client.rpartition(":")[0] if client else None
                held = event.held is not None
                place = ExpiredPlace(event.at, event.session, event.lock, held, server, host)
                self._recent.append(place)
        while self._recent and now_ms - self._recent[0].at > KEPT_MS:
            self._recent.popleft()

    def most_at_once(self) -> Collection[ExpiredPlace]:
        """The nodes removed in the 15 seconds with the most removals."""
        nodes, start, best = list(self._recent), 0, slice(0, 0)
        for end, node in enumerate(nodes, start=1):
            while node.at - nodes[start].at > WITHIN_MS:
                start += 1
            if end - start > best.stop - best.start:
                best = slice(start, end)
        return nodes[best]
