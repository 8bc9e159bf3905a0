"""A kazoo client that cannot write.

Every request passes through `_submit` of kazoo's connection, handshakes and pings included. There,
a request of any class not listed here drops the connection instead of being sent. `_call`, one
level up, refuses the same classes with an exception.

ClickHouse Keeper without a leader answers "connection lost" and keeps the connection open. The
client then drops it, because every request must be sent again, perhaps to another server.
"""

import logging
from collections import deque
from typing import Any, Final, Protocol

from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionDropped, ConnectionLoss
from kazoo.protocol import serialization as kazoo
from kazoo.protocol.states import KazooState, KeeperState
from kazoo.retry import KazooRetry

from zktop.model.facts import Millis
from zktop.zk.connect.address import Access, connection_string
from zktop.zk.connect.kazoo_handler import KazooHandler
from zktop.zk.connect.login import LoginGuard
from zktop.zk.read import requests
from zktop.zk.wall_clock import now_ms

LONGEST_RETRY_S = 0.8  # kazoo's default grows to an hour
MAX_LOG_LINES = 100
PING_SHARE = 1 / 3  # of the session timeout: the longest time between two pings
LATE_MS = 1_000  # an answer that takes longer is late

READING: Final = frozenset(
    {
        requests.AddWatch,
        requests.Exists,
        requests.GetData,
        requests.ListChildren,
        requests.MultiRead,
        requests.RemoveWatches,
        requests.Sync,
    }
)
SESSION: Final = frozenset({kazoo.Auth, kazoo.Close, kazoo.Connect, kazoo.Ping, kazoo.SASL})


class WritingError(Exception):
    """Code tried to send a request that is not one of zktop's reads."""


class Listener(Protocol):
    """Receives events and connection states on kazoo's thread. It must return quickly."""

    def event(self, kind: int, path: str, zxid: int) -> None:
        """A watch event arrived."""

    def state(self, state: str, session: int | None, server: str | None) -> None:
        """The connection changed state."""


class ReadOnlyClient(KazooClient):  # type: ignore[misc]  # kazoo has no types
    """kazoo's client, limited to reading and watching."""

    def __init__(self, access: Access, listener: Listener, log: logging.Logger) -> None:
        super().__init__(
            connection_string(access.hosts.addresses),
            timeout=access.session_timeout,
            handler=KazooHandler(log),
            auth_data=set(access.auth),
            sasl_options=dict(access.sasl) if access.sasl else None,
            read_only=access.read_only,
            connection_retry=KazooRetry(
                max_tries=-1, delay=0.05, backoff=2, max_jitter=0.1, max_delay=LONGEST_RETRY_S
            ),
            logger=log,
            **(access.tls.kazoo_options if access.tls else {}),
        )
        self.bytes_in = 0
        self.heard_at: Millis = 0  # when the newest message came, often the answer to a ping
        self.silent_since: Millis | None = None  # when the last long silence began
        self._ping_every = round(1_000 * access.session_timeout * PING_SHARE)
        self._listener = listener
        self._login = LoginGuard()
        self.add_listener(self._on_state)
        self._intercept()

    def _call(self, request: object, async_object: Any) -> Any:
        if type(request) not in READING:
            async_object.set_exception(WritingError(f"not sent: {type(request).__name__}"))
            return False
        return super()._call(request, async_object)

    def _intercept(self) -> None:
        """Intercept sent requests and received messages, on this instance only."""
        connection = self._connection
        submit, read_header = connection._submit, connection._read_header  # noqa: SLF001  no public way

        def guarded(request: object, timeout: float, xid: int | None = None) -> None:
            if type(request) not in READING:
                if type(request) not in SESSION:
                    raise ConnectionDropped(f"not sent: {type(request).__name__}")
                self._login.step(request)
            submit(request, timeout, xid)

        def counted(timeout: float) -> Any:
            header, message, offset = read_header(timeout)
            self.bytes_in += len(message) + 4
            self._heard(now_ms())
            if header.err == ConnectionLoss.code:
                raise ConnectionDropped("the server has no leader")
            return header, message, offset

        connection._submit = guarded  # noqa: SLF001  likewise
        connection._read_header = counted  # noqa: SLF001  likewise
        connection._read_watch_event = self._event  # noqa: SLF001  likewise

    def silent_from(self, at: Millis) -> Millis | None:
        """Return since when the server is silent at this time, or None if no message is due."""
        is_late = self.heard_at and at - self.heard_at > self._ping_every
        return self.heard_at if is_late else None

    def _heard(self, at: Millis) -> None:
        self.silent_since = self.silent_from(at - LATE_MS) or self.silent_since
        self.heard_at = at

    def _event(self, message: bytes, offset: int) -> None:
        self._listener.event(*requests.decode_event(message, offset))

    def _on_state(self, state: str) -> None:
        if state == KazooState.CONNECTED:
            read_only = self.client_state == KeeperState.CONNECTED_RO
            new_state = "read-only" if read_only else "connected"
        elif state == KazooState.SUSPENDED:
            new_state = "suspended"
        else:
            new_state = _LOST.get(self.client_state, "closed")
        session = self.client_id
        self._listener.state(new_state, session[0] if session else None, self._server())

    def _server(self) -> str | None:
        try:
            host, port = self._connection._socket.getpeername()[:2]  # noqa: SLF001  likewise
        except (AttributeError, OSError):
            return None
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


_LOST = {KeeperState.EXPIRED_SESSION: "expired", KeeperState.AUTH_FAILED: "auth-failed"}


class RecentLog(logging.Logger):
    """The newest warnings and errors, in memory only: a terminal UI owns the terminal.

    Only kazoo's log shows why it cannot connect.
    """

    def __init__(self) -> None:
        super().__init__("zktop.zk", logging.WARNING)
        self.lines: deque[str] = deque(maxlen=MAX_LOG_LINES)
        self.cause: BaseException | None = None  # of the newest logged error

    def handle(self, record: logging.LogRecord) -> None:
        """Keep a line. A traceback is reduced to its last line."""
        message = record.getMessage()
        for argument in record.args if isinstance(record.args, tuple) else ():
            if isinstance(argument, BaseException):
                self.cause = argument.__cause__
        if record.exc_info and record.exc_info[1] is not None:
            message += f" ({type(record.exc_info[1]).__name__}: {record.exc_info[1]})"
        self.lines.append(message)
