"""Expired sessions: what they freed and who got it, and how many expired at once."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import msgspec
from msgspec.structs import replace

from zktop.model.facts import Millis, Session
from zktop.model.history.events import Event
from zktop.model.history.session_activity import SessionHistories
from zktop.model.text import Text

MAX_SESSIONS: Final = 200
MAX_NODES: Final = 10_000
WITHIN_MS: Final = 15_000  # sessions of one dead host expire up to a third of a timeout apart
KEPT_MS: Final = 120_000
NO_LOCKS: Final[Mapping[Text, Millis]] = MappingProxyType({})


class FreedLock(msgspec.Struct, frozen=True):
    """A lock that an expired session held, and the first client that got it afterwards."""

    lock: Text
    next: Text | None = None  # its label
    next_session: Session | None = None  # None: zktop had not read its node
    after_ms: Millis | None = None  # from the expiry until then; None: not acquired yet


class ExpiredSession(msgspec.Struct, frozen=True):
    """One session whose nodes were removed when it expired."""

    at: Millis
    session: Session
    owner: Text | None
    client: Text | None  # its last address
    freed: tuple[FreedLock, ...] = ()
    left: tuple[Text, ...] = ()  # locks in whose queue it waited


class ExpiryLedger:
    """Keeps the last 200 expired sessions, oldest first."""

    def __init__(self) -> None:
        self._kept: deque[ExpiredSession] = deque(maxlen=MAX_SESSIONS)
        self._free: frozenset[Text] = frozenset()  # locks that were freed, and not acquired since

    def look(self, events: Iterable[Event], sessions: SessionHistories) -> None:
        """Add the sessions that expired, and note who acquired the locks that they held."""
        events = [*events]
        expired: dict[Session, list[Event]] = {}
        for event in events:
            if event.session and event.is_expiry:
                expired.setdefault(event.session, []).append(event)
        for session, own_events in expired.items():
            self._expired(session, own_events, sessions)
        if expired:
            self._note_free()
        first: dict[Text, Event] = {}
        for event in events:
            if event.event == "acquired" and event.lock in self._free:
                first.setdefault(event.lock, event)
        if first:
            self._acquired(first)
            self._note_free()

    @property
    def entries(self) -> tuple[ExpiredSession, ...]:
        return tuple(self._kept)

    def _expired(self, session: Session, events: list[Event], sessions: SessionHistories) -> None:
        place = next(
            (index for index, kept in enumerate(self._kept) if kept.session == session), None
        )
        if place is None:
            client = sessions.last_place(session)[1]
            self._kept.append(ExpiredSession(events[0].at, session, events[0].owner, client))
            place = len(self._kept) - 1
        entry = self._kept[place]
        # A session may have had several nodes in one lock.
        freed = {known.lock: known for known in entry.freed}
        for event in events:
            if event.held is not None:
                freed.setdefault(event.lock, FreedLock(event.lock))
        left = dict.fromkeys(
            (*entry.left, *(event.lock for event in events if event.held is None))
        )
        self._kept[place] = replace(entry, freed=tuple(freed.values()), left=tuple(left))

    def _acquired(self, first: Mapping[Text, Event]) -> None:
        """Note who got the freed locks, from the first acquisition of each lock."""
        for place, expired in enumerate(self._kept):
            freed = tuple(
                _with_next(freed, first.get(freed.lock), expired.at) for freed in expired.freed
            )
            if freed != expired.freed:
                self._kept[place] = replace(expired, freed=freed)

    def _note_free(self) -> None:
        self._free = frozenset(
            freed.lock
            for expired in self._kept
            for freed in expired.freed
            if freed.after_ms is None
        )


def _with_next(freed: FreedLock, event: Event | None, since: Millis) -> FreedLock:
    if event is None or freed.after_ms is not None:
        return freed
    return FreedLock(freed.lock, event.owner, event.session, max(0, event.at - since))


class ExpiredPlace(msgspec.Struct, frozen=True, gc=False):
    """One node that was removed with its session."""

    at: Millis
    session: Session
    lock: Text
    held: bool
    server: Text | None
    host: str | None
    unseen_from: Millis | None = None  # removed between then and `at`, while zktop saw nothing


class RecentExpiries:
    """Keeps the nodes that expired together until two minutes after the last of them.

    They are forgotten together: the rest of them would look like a smaller failure.
    """

    def __init__(self) -> None:
        self._recent: deque[ExpiredPlace] = deque(maxlen=MAX_NODES)
        self._together: Sequence[ExpiredPlace] = ()

    def look(
        self,
        events: Iterable[Event],
        sessions: SessionHistories,
        now_ms: Millis,
        unseen_from: Mapping[Text, Millis] = NO_LOCKS,
    ) -> None:
        """Add the nodes removed with their sessions, unless an administrator ended the session.

        `unseen_from` has the locks that may have changed while zktop saw nothing, and since when.
        """
        has_new = False
        for event in events:
            if event.session and event.is_expiry:
                server, client = sessions.last_place(event.session)
                host = client.rpartition(":")[0] if client else None
                held = event.held is not None
                unseen = unseen_from.get(event.lock)
                place = ExpiredPlace(
                    event.at, event.session, event.lock, held, server, host, unseen
                )
                self._recent.append(place)
                has_new = True
        if has_new:
            self._together = _most_at_once(self._recent)
        while self._together and now_ms - self._together[-1].at > KEPT_MS:
            last = self._together[-1].at
            while self._recent and self._recent[0].at <= last:
                self._recent.popleft()
            self._together = _most_at_once(self._recent)

    def most_at_once(self) -> Sequence[ExpiredPlace]:
        """The nodes removed in the 15 seconds with the most removals."""
        return self._together


def _most_at_once(recent: Iterable[ExpiredPlace]) -> Sequence[ExpiredPlace]:
    nodes, start, best = list(recent), 0, slice(0, 0)
    for end, node in enumerate(nodes, start=1):
        while node.at - nodes[start].at > WITHIN_MS:
            start += 1
        if end - start > best.stop - best.start:
            best = slice(start, end)
    return nodes[best]
