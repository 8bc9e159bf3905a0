"""The sockets: frames in, frames out, and a bound on what a client that does not read can cost."""

import asyncio
from contextlib import suppress
from typing import cast

from zktop.sandbox.connection import ClientConnection
from zktop.sandbox.core import ServerCore
from zktop.sandbox.four_letter_flavours import WORDS_OF
from zktop.sandbox.protocol import LARGEST_ANSWER, LARGEST_FRAME, Malformed

HEADER = 4
FLUSH_AT = 256 * 1024
PAUSE_AT = 1024 * 1024
MOST_UNREAD = LARGEST_ANSWER + PAUSE_AT
TICK_SECONDS = 0.1


class SocketProtocol(asyncio.Protocol):
    """One client's socket.

    While much of what was sent is unread, no further request is taken. What others cause, watch
    notifications, cannot be held back: beyond a limit the connection is cut.
    """

    def __init__(self, keeper: ServerCore) -> None:
        """Belong to this keeper."""
        self._keeper = keeper
        self._loop = asyncio.get_running_loop()
        self._came = bytearray()
        self._goes: list[bytes] = []
        self._goes_bytes = 0
        self._paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Announce the client."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=PAUSE_AT)
        host, port, *_ = transport.get_extra_info("peername") or ("", 0)  # gone already
        self.client = ClientConnection(self, host, port)
        self._keeper.welcome(self.client)

    def connection_lost(self, exc: Exception | None) -> None:
        """Take leave of the client."""
        self._keeper.farewell(self.client)

    def data_received(self, data: bytes) -> None:
        """Handle all frames that are whole now."""
        self._came += data
        self._read()

    def pause_writing(self) -> None:
        """Take no more requests: the answers pile up."""
        self._paused = True
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        """Go on where reading was paused."""
        self._paused = False
        if not self._transport.is_closing():
            self._transport.resume_reading()
            self._read()

    def send(self, frame: bytes) -> None:
        """Send the frame with all others of this turn of the loop."""
        if self._transport.is_closing():
            return
        if not self._goes:
            self._loop.call_soon(self._flush)
        self._goes.append(frame)
        self._goes_bytes += len(frame)
        if self._goes_bytes + self._transport.get_write_buffer_size() > MOST_UNREAD:
            self.abort()
        elif self._goes_bytes > FLUSH_AT:
            self._flush()

    def close(self) -> None:
        """Close the connection once all is sent."""
        self._flush()
        self._transport.close()

    def abort(self) -> None:
        """Close the connection at once."""
        self._goes.clear()
        self._goes_bytes = 0
        self._transport.abort()

    def _flush(self) -> None:
        if self._goes:
            frames, self._goes, self._goes_bytes = self._goes, [], 0
            self._transport.write(b"".join(frames))

    def _read(self) -> None:
        at, arrived = 0, self._keeper.clock.monotonic_ms()
        while not self._paused and not self._transport.is_closing():
            head = self._came[at : at + HEADER]
            if len(head) < HEADER or self._is_word(head) or self._is_swallowed(head):
                break
            end = at + HEADER + int.from_bytes(head, signed=True)
            if not at + HEADER <= end <= at + HEADER + LARGEST_FRAME:
                self.abort()
            elif end > len(self._came):
                break
            else:
                self._take(bytes(self._came[at + HEADER : end]), arrived)
                at = end
        del self._came[:at]

    def _take(self, body: bytes, arrived_ms: int) -> None:
        try:
            self._keeper.receive(self.client, body, arrived_ms)
        except Malformed:
            self.close()

    def _is_word(self, head: bytearray) -> bool:
        """Answer a four-letter word, if this connection has said nothing else."""
        if self.client.received:
            return False
        flavour, allowed = self._keeper.flavour, self._keeper.allowed
        word = WORDS_OF[flavour.name].get(bytes(head))
        if word is None:
            return False
        self._keeper.count_received(self.client)
        if allowed is None or head.decode() in allowed:
            self._transport.write(word(self._keeper).encode())
        self.close()
        return True

    def _is_swallowed(self, head: bytearray) -> bool:
        """Tell whether this is a word, which zetcd takes for a length: it waits, and for ever."""
        if self._keeper.flavour.name != "zetcd" or self.client.received or not head.isalpha():
            return False
        self._keeper.idle.drop(self.client)
        return True


class SandboxServer:
    """A keeper that listens."""

    def __init__(self, keeper: ServerCore, server: asyncio.Server) -> None:
        """Let the keeper's time run."""
        self._keeper = keeper
        self._server = server
        self._ticking = asyncio.create_task(self._tick())

    @classmethod
    async def start(
        cls, host: str, port: int, keeper: ServerCore | None = None
    ) -> "SandboxServer":
        """Listen on the address; port 0 takes a free one."""
        keeper = keeper or ServerCore()
        loop = asyncio.get_running_loop()
        listening = await loop.create_server(
            lambda: SocketProtocol(keeper), host, port, backlog=512
        )
        keeper.address = listening.sockets[0].getsockname()[:2]
        return cls(keeper, listening)

    @property
    def address(self) -> tuple[str, int]:
        """Host and port that clients connect to."""
        return self._keeper.address

    async def stop(self) -> None:
        """Listen no more and cut all connections."""
        self._ticking.cancel()
        with suppress(asyncio.CancelledError):
            await self._ticking
        self._server.close()
        for client in list(self._keeper.clients):
            client.line.abort()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            self._keeper.tick()
