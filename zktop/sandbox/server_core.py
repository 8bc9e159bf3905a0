"""The server without its sockets: answers requests, expires sessions, removes old znodes."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from time import monotonic_ns, time_ns

from zktop.sandbox.acl import authenticate
from zktop.sandbox.connection import ClientConnection, LastRequest, Latency
from zktop.sandbox.flavours import ZOOKEEPER, Flavour
from zktop.sandbox.plan_write import Deleted
from zktop.sandbox.protocol import (
    NO_ZXID,
    ConnectRequest,
    ErrorCode,
    FrameReader,
    Malformed,
    Op,
    Refused,
)
from zktop.sandbox.read_requests import REQUESTS
from zktop.sandbox.sessions import PASSWORD_BYTES, TICK_MS, Deadlines, ServerSessions
from zktop.sandbox.write_requests import Store

CONNECT_WITHIN_MS = 10_000
REMOVE_EVERY_MS = 60_000
_KNOWN = frozenset({*REQUESTS, Op.PING, Op.CLOSE_SESSION})


@dataclass(frozen=True, slots=True)
class SandboxClock:
    """The clocks of the server, in milliseconds. Tests pass their own."""

    monotonic_ms: Callable[[], int] = lambda: monotonic_ns() // 1_000_000
    wall_ms: Callable[[], int] = lambda: time_ns() // 1_000_000


class ServerCore:
    """A standalone server: tree, sessions and connections. It reads no socket itself."""

    def __init__(
        self,
        clock: SandboxClock | None = None,
        tick_ms: int = TICK_MS,
        flavour: Flavour = ZOOKEEPER,
        allowed: Collection[str] | None = None,
    ) -> None:
        """`allowed` lists the four-letter words that are answered. None allows all."""
        self.flavour, self.allowed = flavour, allowed
        self.clock = clock or SandboxClock()
        self.tick_ms = tick_ms
        self.address = ("", 0)
        self.store = Store(self.clock.wall_ms, flavour)
        self.started_ms = self.clock.monotonic_ms()
        self.sessions = ServerSessions(self.clock.wall_ms(), tick_ms, flavour)
        self.clients: dict[ClientConnection, None] = {}
        self.idle: Deadlines[ClientConnection] = Deadlines(CONNECT_WITHIN_MS)
        self.received = 0
        self._sent_by_gone = 0
        self.latency = Latency()
        self._attached: dict[int, ClientConnection] = {}
        self._next_removal = self.started_ms + REMOVE_EVERY_MS

    def add_client(self, client: ClientConnection) -> None:
        """Add a connection, which has at least ten seconds to send its first frame."""
        client.established_ms = self.clock.wall_ms()
        self.clients[client] = None
        self.idle.put(client, CONNECT_WITHIN_MS, self.clock.monotonic_ms())

    def remove_client(self, client: ClientConnection) -> None:
        """Remove a connection and its watches. Its session remains until it expires."""
        self._detach(client)
        self.idle.drop(client)
        if client in self.clients:
            del self.clients[client]
            self._sent_by_gone += client.sent

    def receive(self, client: ClientConnection, body: bytes, arrived_ms: int) -> None:
        """Handle one frame. After `Malformed` the connection must be closed."""
        self.count_received(client)
        if client.session is None:
            self._connect(client, FrameReader(body))
        else:
            self.sessions.touch(client.session, arrived_ms)
            self.idle.put(client, client.session.timeout_ms, arrived_ms)
            self._request(client, FrameReader(body), arrived_ms)

    @property
    def sent(self) -> int:
        """How many frames were sent, including notifications."""
        return self._sent_by_gone + sum(client.sent for client in self.clients)

    def count_received(self, client: ClientConnection) -> None:
        """Count one received packet: a frame or a four-letter word."""
        client.received += 1
        self.received += 1

    def tick(self) -> None:
        """Expire sessions, close idle connections, remove old znodes."""
        now = self.clock.monotonic_ms()
        for session_id in self.sessions.deadlines.take_due(now):
            client = self._attached.get(session_id)
            self._end_session(session_id)
            if client:
                client.transport.close()
        for client in self.idle.take_due(now):
            client.transport.abort()
        if now >= self._next_removal:
            self._next_removal = now + REMOVE_EVERY_MS
            self.reap()

    def reap(self) -> None:
        """Remove empty containers, and znodes older than their TTL."""
        for path in self.store.tree.outlived(self.clock.wall_ms()):
            self.store.apply(Deleted(path), self.store.begin())

    def _connect(self, client: ClientConnection, reader: FrameReader) -> None:
        request = ConnectRequest.read(reader)
        if self.flavour.refuses_newer_clients and request.last_zxid > self.store.zxid:
            raise Malformed("a client that has seen a later state than this server's")
        now = self.clock.monotonic_ms()
        if request.session and self.flavour.resumes:
            self._close_former_connection(request.session)
            session = self.sessions.reattach(
                request.session, request.password, request.timeout, now
            )
        else:
            session = self.sessions.open(request.timeout, now)
            self.store.begin()
        if session is None:
            client.send(self._connect_answer(request, 0, 0, bytes(PASSWORD_BYTES)))
            client.transport.close()
            return
        self._attached[session.id] = client
        client.session = session
        client.last_op, client.last_zxid = "SESS", self.store.zxid
        client.last_reply_ms = now
        self.idle.put(client, session.timeout_ms, now)
        client.send(
            self._connect_answer(request, session.timeout_ms, session.id, session.password)
        )

    def _connect_answer(
        self, request: ConnectRequest, timeout_ms: int, session: int, password: bytes
    ) -> bytes:
        sends_read_only_flag = self.flavour.sends_read_only_flag
        return request.answer(
            timeout_ms, session, password, sends_read_only_flag=sends_read_only_flag
        )

    def _close_former_connection(self, session_id: int) -> None:
        """Close the old connection of a session that resumes on a new one.

        As in the real server, this happens before the password check.
        """
        if former := self._attached.get(session_id):
            self._detach(former)
            former.transport.close()

    def _detach(self, client: ClientConnection) -> None:
        self.store.watches.forget(client)
        if self._attached.get(client.session_id) is client:
            del self._attached[client.session_id]

    def _request(self, client: ClientConnection, reader: FrameReader, arrived_ms: int) -> None:
        xid, number = reader.int32(), reader.int32()
        if number == Op.AUTH:
            self._authenticate(client, xid, reader)
            return
        if number not in _KNOWN or number not in self.flavour.requests:
            self._answer_unknown(client, xid)
            return
        code, body, stays_open = ErrorCode.OK, b"", number != Op.CLOSE_SESSION
        try:
            body = self._answer(client, number, reader)
        except Refused as refusal:
            code = refusal.code
        except Malformed:
            code = ErrorCode.MARSHALLING_ERROR
            stays_open = stays_open and self.flavour.survives_malformed
        self._note(client, number, xid, arrived_ms)
        if number != Op.CLOSE_SESSION or self.flavour.answers_close:
            client.reply(xid, self.store.zxid, code, body)
        if not stays_open:
            client.transport.close()

    def _answer_unknown(self, client: ClientConnection, xid: int) -> None:
        if self.flavour.unknown == "ignored":
            return
        if self.flavour.unknown == "refused":
            client.reply(xid, NO_ZXID, ErrorCode.UNIMPLEMENTED)
        client.transport.close()

    def _answer(self, client: ClientConnection, number: int, reader: FrameReader) -> bytes:
        if number == Op.PING:
            client.last_op = "PING"
        elif number == Op.CLOSE_SESSION:
            client.last_op = "CLOS"
            self._end_session(client.session_id)
        else:
            client.last_op, run = REQUESTS[number]
            return run(self.store, client, reader)
        return b""

    def _authenticate(self, client: ClientConnection, xid: int, reader: FrameReader) -> None:
        _kind, scheme, credentials = reader.int32(), reader.string(), reader.buffer()
        identity = authenticate(scheme, credentials or b"", client.host)
        code = ErrorCode.OK if identity else ErrorCode.AUTH_FAILED
        if identity and identity not in client.identities:
            client.identities.append(identity)
        client.reply(xid, 0, code)
        if identity is None:
            client.transport.close()

    def _end_session(self, session_id: int) -> None:
        """Remove the session and, in one transaction, its ephemeral znodes."""
        moment = self.store.begin()
        for path in self.store.tree.ephemerals(session_id):
            self.store.apply(Deleted(path, by_request=False), moment)
        self.sessions.close(session_id)

    def _note(self, client: ClientConnection, number: int, xid: int, arrived_ms: int) -> None:
        if number != Op.PING:
            client.last_asked = LastRequest(number, xid, self.store.zxid, self.clock.wall_ms())
        now = self.clock.monotonic_ms()
        client.last_xid = xid if xid >= 0 else client.last_xid
        client.last_zxid, client.last_reply_ms = self.store.zxid, now
        client.latency.add(now - arrived_ms)
        self.latency.add(now - arrived_ms)
