"""Sessions: ids, passwords, timeouts and deadlines. The time is always passed in.

`server_core` ends the sessions that are due and removes their znodes.
"""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from zktop.sandbox.flavours import ZOOKEEPER, Flavour

TICK_MS = 2000
PASSWORD_BYTES = 16
SERVER_ID = 1

Key = TypeVar("Key")


class Deadlines(Generic[Key]):
    """Deadlines by key, rounded up to the next tick, so that many expire together."""

    def __init__(self, tick_ms: int) -> None:
        self._tick = tick_ms
        self._due: dict[Key, int] = {}
        self._buckets: dict[int, dict[Key, None]] = {}

    def __len__(self) -> int:
        return len(self._due)

    def put(self, key: Key, timeout_ms: int, now_ms: int) -> None:
        due = ((now_ms + timeout_ms) // self._tick + 1) * self._tick
        if self._due.get(key) != due:
            self.drop(key)
            self._due[key] = due
            self._buckets.setdefault(due, {})[key] = None

    def drop(self, key: Key) -> None:
        due = self._due.pop(key, None)
        if due is not None:
            bucket = self._buckets[due]
            del bucket[key]
            if not bucket:
                del self._buckets[due]

    def take_due(self, now_ms: int) -> list[Key]:
        """Remove and return the keys whose deadline has passed."""
        late = [
            key for due in sorted(self._buckets) if due <= now_ms for key in self._buckets[due]
        ]
        for key in late:
            self.drop(key)
        return late

    def buckets(self) -> Iterator[tuple[int, list[Key]]]:
        """The deadlines in order, each with its keys."""
        return ((due, list(self._buckets[due])) for due in sorted(self._buckets))


@dataclass(slots=True, eq=False)
class ServerSession:
    """One session, over any number of connections."""

    id: int
    timeout_ms: int
    password: bytes = field(default_factory=lambda: secrets.token_bytes(PASSWORD_BYTES))


class ServerSessions:
    """All live sessions."""

    def __init__(self, now_ms: int, tick_ms: int = TICK_MS, flavour: Flavour = ZOOKEEPER) -> None:
        """`now_ms` makes the ids differ from those of an earlier run."""
        self._flavour = flavour
        self.shortest_ms, self.longest_ms = 2 * tick_ms, 20 * tick_ms
        self.deadlines: Deadlines[int] = Deadlines(tick_ms)
        self._alive: dict[int, ServerSession] = {}
        # The form of real ids: the server in the top byte, then the time of its start.
        self._next = SERVER_ID << 56 | (now_ms << 24 & 0xFFFF_FFFF_FFFF_FFFF) >> 8
        if flavour.short_ids:
            self._next = 1

    def __len__(self) -> int:
        return len(self._alive)

    def negotiate(self, asked_ms: int) -> int:
        """The timeout granted to a client that asks for this one."""
        if self._flavour.any_timeout:
            return asked_ms
        return min(max(asked_ms, self.shortest_ms), self.longest_ms)

    def open(self, asked_ms: int, now_ms: int) -> ServerSession:
        session = ServerSession(self._next, self.negotiate(asked_ms))
        if self._flavour.short_ids:
            session.password = bytes(PASSWORD_BYTES)
        self._next += 1
        self._alive[session.id] = session
        self.touch(session, now_ms)
        return session

    def reattach(
        self, session_id: int, password: bytes | None, asked_ms: int, now_ms: int
    ) -> ServerSession | None:
        """Resume a session. Return None if it has expired or the password is wrong."""
        session = self._alive.get(session_id)
        if session is None or not secrets.compare_digest(session.password, password or b""):
            return None
        session.timeout_ms = self.negotiate(asked_ms)
        self.touch(session, now_ms)
        return session

    def touch(self, session: ServerSession, now_ms: int) -> None:
        """Move the deadline: the client has sent something."""
        if session.id in self._alive:
            self.deadlines.put(session.id, session.timeout_ms, now_ms)

    def close(self, session_id: int) -> None:
        self._alive.pop(session_id, None)
        self.deadlines.drop(session_id)
