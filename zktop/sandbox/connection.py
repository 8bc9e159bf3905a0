"""One connection as the server sees it: its session, what it has proved, and how busy it is."""

from dataclasses import dataclass, field
from typing import Protocol

from zktop.sandbox import protocol as wire
from zktop.sandbox.acl import Identity
from zktop.sandbox.protocol import ErrorCode, EventType
from zktop.sandbox.sessions import ServerSession


class FrameTransport(Protocol):
    """The way back to a client."""

    def send(self, frame: bytes) -> None:
        """Send the frame as soon as possible, never wait."""

    def close(self) -> None:
        """Close the connection once all is sent."""

    def abort(self) -> None:
        """Close the connection at once."""


@dataclass(slots=True)
class Latency:
    """How long answers took, in milliseconds."""

    last: int = 0
    least: int | None = None
    most: int = 0
    total: int = 0
    count: int = 0

    def add(self, ms: int) -> None:
        """Count one more answer."""
        self.last = ms
        self.least = ms if self.least is None else min(self.least, ms)
        self.most = max(self.most, ms)
        self.total += ms
        self.count += 1

    @property
    def mean(self) -> float:
        """The mean of all, 0 before the first."""
        return round(self.total / self.count, 4) if self.count else 0.0


@dataclass(frozen=True, slots=True)
class LastRequest:
    """A request that was answered, as servers remember it that do not count pings."""

    op: int
    xid: int
    zxid: int
    wall_ms: int


@dataclass(slots=True, eq=False)
class ClientConnection:
    """One connection; it is what sets watches, so they end with it."""

    line: FrameTransport
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
    last_asked: "LastRequest | None" = None  # the last request but pings
    latency: Latency = field(default_factory=Latency)

    def __post_init__(self) -> None:
        """Know the client by its address, whatever else it proves later."""
        self.identities.append(Identity("ip", self.host))

    @property
    def session_id(self) -> int:
        """The session's id, 0 as long as there is none."""
        return self.session.id if self.session else 0

    def send(self, frame: bytes) -> None:
        """Send one frame, and count it."""
        self.sent += 1
        self.line.send(frame)

    def notify(self, event: EventType, path: str) -> None:
        """Tell of a fired watch."""
        self.send(wire.notification(event, path))

    def reply(self, xid: int, zxid: int, code: ErrorCode, body: bytes = b"") -> None:
        """Answer a request; a refusal has no body."""
        self.send(wire.reply(xid, zxid, code, body if code is ErrorCode.OK else b""))
