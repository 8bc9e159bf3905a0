"""Expired sessions: the locks they freed, who acquired those next, and the queues they left."""

from collections import deque
from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec.structs import replace

from zktop.model.facts import Millis, Session
from zktop.model.history.events import Event
from zktop.model.history.sessions import SessionHistories
from zktop.model.text import Text

MAX_KEPT: Final = 200


class FreedLock(msgspec.Struct, frozen=True):
    """A lock that an expired session held, and the first client that got it afterwards."""

    lock: Text
    next: Text | None = None  # its label
    next_session: Session | None = None  # None: nobody has got it yet
    after_ms: Millis | None = None  # from the expiry until then


class ExpiredSession(msgspec.Struct, frozen=True):
    """One session whose nodes were removed when it expired."""

    at: Millis
    session: Session
    owner: Text | None
    client: Text | None  # its last address
    freed: tuple[FreedLock, ...] = ()
    left: tuple[Text, ...] = ()  # locks in whose queue it waited


class ExpiryLedger:
    """A fold over events that keeps the last 200 expired sessions, oldest first."""

    def __init__(self) -> None:
        self._kept: deque[ExpiredSession] = deque(maxlen=MAX_KEPT)
        self._free: frozenset[Text] = frozenset()  # freed, and not acquired since

    def look(self, events: Iterable[Event], sessions: SessionHistories) -> None:
        """Add the sessions that expired, and note who acquired the locks that they held."""
        events = [*events]
        for one in events:
            if one.event == "expired" and one.session:
                self._expired(one, sessions)
        for one in events if self._free else ():
            if one.event == "acquired" and one.lock in self._free:
                self._acquired(one)

    @property
    def entries(self) -> tuple[ExpiredSession, ...]:
        return tuple(self._kept)

    def _expired(self, event: Event, sessions: SessionHistories) -> None:
        session = event.session or 0
        place = next((i for i, one in enumerate(self._kept) if one.session == session), None)
        if place is None:
            client = sessions.last_place(session)[1]
            self._kept.append(ExpiredSession(event.at, session, event.owner, client))
            place = len(self._kept) - 1
        known = self._kept[place]
        if event.held is not None:
            known = replace(known, freed=(*known.freed, FreedLock(event.lock)))
        else:
            known = replace(known, left=(*known.left, event.lock))
        self._kept[place] = known
        self._note_free()

    def _acquired(self, event: Event) -> None:
        for place, one in enumerate(self._kept):
            freed = tuple(_given(freed, event, one.at) for freed in one.freed)
            if freed != one.freed:
                self._kept[place] = replace(one, freed=freed)
        self._note_free()

    def _note_free(self) -> None:
        freed = (freed for one in self._kept for freed in one.freed)
        self._free = frozenset(one.lock for one in freed if one.next_session is None)


def _given(freed: FreedLock, event: Event, since: Millis) -> FreedLock:
    if freed.lock != event.lock or freed.next_session:
        return freed
    return FreedLock(freed.lock, event.owner, event.session, max(0, event.at - since))
