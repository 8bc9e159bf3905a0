"""Sessions that expired lately: many at once are one event, whatever each of them held."""

from collections import deque
from collections.abc import Collection, Iterable
from typing import Final

import msgspec

from zktop.model.facts import Millis, Session
from zktop.model.history.events import Event
from zktop.model.history.sessions import SessionHistories
from zktop.model.text import Text

WITHIN_MS: Final = 15_000  # a host dies at once; its sessions end up to a third of a timeout apart
SHOWN_MS: Final = 120_000
REMEMBERED: Final = 10_000


class ExpiredPlace(msgspec.Struct, frozen=True, gc=False):
    """One place that went with its session."""

    at: Millis
    session: Session
    lock: Text
    held: bool
    server: Text | None
    host: str | None


class RecentExpiries:
    """A fold over events; it remembers two minutes."""

    def __init__(self) -> None:
        """Begin without any."""
        self._lately: deque[ExpiredPlace] = deque(maxlen=REMEMBERED)

    def look(self, events: Iterable[Event], sessions: SessionHistories, now_ms: Millis) -> None:
        """Note the places that went with their sessions."""
        for one in events:
            if one.event == "expired" and one.session:
                server, client = sessions.last_place(one.session)
                host = client.rpartition(":")[0] if client else None
                held = one.held is not None
                place = ExpiredPlace(one.at, one.session, one.lock, held, server, host)
                self._lately.append(place)
        while self._lately and now_ms - self._lately[0].at > SHOWN_MS:
            self._lately.popleft()

    def most_at_once(self) -> Collection[ExpiredPlace]:
        """Give what expired within the quarter of a minute in which most did."""
        best: list[ExpiredPlace] = []
        window: deque[ExpiredPlace] = deque()
        for one in self._lately:
            window.append(one)
            while one.at - window[0].at > WITHIN_MS:
                window.popleft()
            if len(window) > len(best):
                best = list(window)
        return best
