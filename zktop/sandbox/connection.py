"""One client connection: its session, its identities and its statistics."""

from dataclasses import dataclass, field
from typing import Protocol

from zktop.sandbox import protocol
from zktop.sandbox.acl import Identity
from zktop.sandbox.protocol import ErrorCode, EventType
from zktop.sandbox.sessions import ServerSession


class FrameTransport(Protocol):
    """Sends frames to a client."""

    def send(self, frame: bytes) -> None:
        """Send the frame without waiting."""

    def close(self) -> None:
        """Close the connection after the last frame is sent."""

    def abort(self) -> None:
        """Close the connection at once."""


@dataclass(slots=True)
class Latency:
    """Response times in milliseconds."""

    last: int = 0
    least: int | None = None
    most: int = 0
    total: int = 0
    count: int = 0

    def add(self, ms: int) -> None:
        self.last = ms
        self.least = ms if self.least is None else min(self.least, ms)
        self.most = max(self.most, ms)
        self.total += ms
        self.count += 1

    @property
    def mean(self) -> float:
        return round(self.total / self.count, 4) if self.count else 0.0


@dataclass(frozen=True, slots=True)
class LastRequest:
    """The last request, as ClickHouse Keeper and RaftKeeper report it: pings do not count."""

    op: int
    xid: int
    zxid: int
    wall_ms: int


@dataclass(slots=True, eq=False)
class ClientConnection:
    """One connection of a client. Its watches end with it."""

    transport: FrameTransport
    host: str
    port: int
    established_ms: int = 0
    session: ServerSession | None = None
    identities: list[Identity] = field(default_factory=list)
    received: int = 0
    sent: int = 0
    last_op: str = "NA"
    last_xid: int = 0
    last_zxid: int = 0
    last_reply_ms: int = 0
    last_asked: "LastRequest | None" = None  # the last request that was not a ping
    latency: Latency = field(default_factory=Latency)

    def __post_init__(self) -> None:
        """The address is the first identity. `auth` requests add others."""
        self.identities.append(Identity("ip", self.host))

    @property
    def session_id(self) -> int:
        """The session id, or 0 before the session is opened."""
        return self.session.id if self.session else 0

    def send(self, frame: bytes) -> None:
        self.sent += 1
        self.transport.send(frame)

    def notify(self, event: EventType, path: str) -> None:
        """Send the notification of a watch."""
        self.send(protocol.notification(event, path))

    def reply(self, xid: int, zxid: int, code: ErrorCode, body: bytes = b"") -> None:
        """Send the response to a request. An error has no body."""
        self.send(protocol.reply(xid, zxid, code, body if code is ErrorCode.OK else b""))
