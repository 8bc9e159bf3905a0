"""Sockets of the sandbox: read and write frames, and limit the memory used by slow clients."""

import asyncio
from contextlib import suppress
from typing import cast

from zktop.sandbox.connection import ClientConnection
from zktop.sandbox.four_letter_flavours import WORDS_OF
from zktop.sandbox.protocol import MAX_ANSWER_BYTES, MAX_FRAME_BYTES, Malformed
from zktop.sandbox.server_core import ServerCore

HEADER_BYTES = 4
FLUSH_AT_BYTES = 256 * 1024
PAUSE_AT_BYTES = 1024 * 1024
MAX_UNREAD_BYTES = MAX_ANSWER_BYTES + PAUSE_AT_BYTES
TICK_S = 0.1


class SocketProtocol(asyncio.Protocol):
    """One client's socket.

    While a client leaves too much unread, its requests wait. Watch notifications cannot wait,
    because other clients cause them: above `MAX_UNREAD_BYTES` the connection is closed.
    """

    def __init__(self, core: ServerCore) -> None:
        self._core = core
        self._loop = asyncio.get_running_loop()
        self._received = bytearray()
        self._unsent: list[bytes] = []
        self._unsent_bytes = 0
        self._paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=PAUSE_AT_BYTES)
        host, port, *_ = transport.get_extra_info("peername") or ("", 0)  # gone already
        self.client = ClientConnection(self, host, port)
        self._core.add_client(self.client)

    def connection_lost(self, exc: Exception | None) -> None:
        self._core.remove_client(self.client)

    def data_received(self, data: bytes) -> None:
        """Handle all complete frames."""
        self._received += data
        self._read()

    def pause_writing(self) -> None:
        """Stop reading requests: the client has too many unread answers."""
        self._paused = True
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._paused = False
        if not self._transport.is_closing():
            self._transport.resume_reading()
            self._read()

    def send(self, frame: bytes) -> None:
        """Send the frame, together with others from this iteration of the event loop."""
        if self._transport.is_closing():
            return
        if not self._unsent:
            self._loop.call_soon(self._flush)
        self._unsent.append(frame)
        self._unsent_bytes += len(frame)
        if self._unsent_bytes + self._transport.get_write_buffer_size() > MAX_UNREAD_BYTES:
            self.abort()
        elif self._unsent_bytes > FLUSH_AT_BYTES:
            self._flush()

    def close(self) -> None:
        """Close the connection after the last frame is sent."""
        self._flush()
        self._transport.close()

    def abort(self) -> None:
        """Close the connection at once."""
        self._unsent.clear()
        self._unsent_bytes = 0
        self._transport.abort()

    def _flush(self) -> None:
        if self._unsent:
            frames, self._unsent, self._unsent_bytes = self._unsent, [], 0
            self._transport.write(b"".join(frames))

    def _read(self) -> None:
        at, arrived = 0, self._core.clock.monotonic_ms()
        while not self._paused and not self._transport.is_closing():
            head = self._received[at : at + HEADER_BYTES]
            if len(head) < HEADER_BYTES or self._answer_word(head) or self._swallow_word(head):
                break
            end = at + HEADER_BYTES + int.from_bytes(head, signed=True)
            if not at + HEADER_BYTES <= end <= at + HEADER_BYTES + MAX_FRAME_BYTES:
                self.abort()
            elif end > len(self._received):
                break
            else:
                self._take(bytes(self._received[at + HEADER_BYTES : end]), arrived)
                at = end
        del self._received[:at]

    def _take(self, body: bytes, arrived_ms: int) -> None:
        try:
            self._core.receive(self.client, body, arrived_ms)
        except Malformed:
            self.close()

    def _answer_word(self, head: bytearray) -> bool:
        """Answer a four-letter word that begins this connection. Return False if there is none."""
        if self.client.received:
            return False
        flavour, allowed = self._core.flavour, self._core.allowed
        word = WORDS_OF[flavour.name].get(bytes(head))
        if word is None:
            return False
        self._core.count_received(self.client)
        if allowed is None or head.decode() in allowed:
            self._transport.write(word(self._core).encode())
        self.close()
        return True

    def _swallow_word(self, head: bytearray) -> bool:
        """Wait forever after a four-letter word, like zetcd, which reads it as a length."""
        if self._core.flavour.name != "zetcd" or self.client.received or not head.isalpha():
            return False
        self._core.idle.drop(self.client)
        return True


class SandboxServer:
    """A `ServerCore` that listens on a socket."""

    def __init__(self, core: ServerCore, server: asyncio.Server) -> None:
        self._core = core
        self._server = server
        self._ticking = asyncio.create_task(self._tick())

    @classmethod
    async def start(cls, host: str, port: int, core: ServerCore) -> "SandboxServer":
        """Listen on the address. Port 0 means any free port."""
        loop = asyncio.get_running_loop()
        listening = await loop.create_server(lambda: SocketProtocol(core), host, port, backlog=512)
        core.address = listening.sockets[0].getsockname()[:2]
        return cls(core, listening)

    @property
    def address(self) -> tuple[str, int]:
        return self._core.address

    async def stop(self) -> None:
        """Stop listening and close all connections."""
        self._ticking.cancel()
        with suppress(asyncio.CancelledError):
            await self._ticking
        self._server.close()
        for client in list(self._core.clients):
            client.transport.abort()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            self._core.tick()
