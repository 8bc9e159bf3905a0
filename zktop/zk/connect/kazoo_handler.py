"""How kazoo starts its thread, waits, and receives.

For each message, kazoo's own handler makes three epoll objects and receives twice, and each system
call releases Python's lock. Here one call receives many messages, and one call waits: under load,
kazoo's thread needs half the time.
"""

import logging
import select
import socket
import threading
from collections.abc import Callable, Sequence
from typing import Any

from kazoo.handlers.threading import SequentialThreadingHandler

CHUNK_BYTES = 1 << 14  # about 150 events. Requests wait until these are handled.


class BufferedSocket:
    """A socket that receives more than was asked for and keeps the rest.

    kazoo asks `pending` before it waits, because TLS sockets have such a rest, too.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._received = b""
        self._offset = 0  # of the rest

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def pending(self) -> int:
        """The number of bytes that can be received without waiting."""
        rest = len(self._received) - self._offset
        if rest or not hasattr(self._connection, "pending"):
            return rest
        return int(self._connection.pending())

    def recv(self, size: int) -> bytes:
        """Receive at most this many bytes."""
        if self._offset == len(self._received):
            self._received = self._connection.recv(max(size, CHUNK_BYTES))
            self._offset = 0
        begin, self._offset = self._offset, min(self._offset + size, len(self._received))
        return self._received[begin : self._offset]


class KazooHandler(SequentialThreadingHandler):  # type: ignore[misc]  # kazoo has no types
    """Gives kazoo its connection thread and nothing else: answers bypass kazoo's own queues."""

    def __init__(self, log: logging.Logger) -> None:
        super().__init__()
        self._log = log

    def start(self) -> None:
        """Start no worker threads: nothing uses kazoo's callbacks."""
        self._running = True

    def stop(self) -> None:
        self._running = False

    def spawn(self, func: Callable[..., object], *args: Any, **kwargs: Any) -> threading.Thread:
        """Start a thread that logs an exception instead of printing it on the user's terminal."""

        def logged() -> None:
            try:
                func(*args, **kwargs)
            except Exception:  # noqa: BLE001  threading would print it
                self._log.exception("kazoo's connection thread died")

        thread = threading.Thread(target=logged, name="zktop-connection", daemon=True)
        thread.start()
        return thread

    def create_connection(self, *args: Any, **kwargs: Any) -> BufferedSocket:
        return BufferedSocket(super().create_connection(*args, **kwargs))

    def select(
        self,
        readers: Sequence[Any],
        writers: Sequence[Any],
        _exceptions: Sequence[Any],
        timeout: float | None = None,
    ) -> tuple[list[Any], list[Any], list[Any]]:
        """Return the sockets that are ready. kazoo never waits for exceptional conditions."""
        pending = [
            reader for reader in readers if isinstance(reader, BufferedSocket) and reader.pending()
        ]
        if pending:
            return pending, [], []
        poll = select.poll()
        for sockets, event in ((readers, select.POLLIN), (writers, select.POLLOUT)):
            for connection in sockets:
                poll.register(connection.fileno(), event)
        ready = {fd for fd, _ in poll.poll(None if timeout is None else 1000 * timeout)}
        readable = [reader for reader in readers if reader.fileno() in ready]
        writable = [writer for writer in writers if writer.fileno() in ready]
        return readable, writable, []
