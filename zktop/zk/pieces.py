"""A connected socket that is read in large pieces, whatever small ones are asked for.

Kazoo reads each message in two parts, and waits for each of them. Events come in crowds: to ask
the system four times for each, and to let go of the interpreter as often, would cost several times
what it takes to understand them. Large answers are read as they come.
"""

import socket
import ssl
import struct
from typing import Final

PIECE: Final = 1 << 14
LENGTH: Final = struct.Struct("!i")
NOTHING_YET: Final = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class Pieces:
    """Has whatever of a piece was not asked for yet."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._piece = b""
        self._at = 0
        self.fileno, self.close, self.send = line.fileno, line.close, line.send
        self.setblocking, self.getpeername = line.setblocking, line.getpeername

    def pending(self) -> int:
        """Count what can be taken without waiting for more to come."""
        return len(self._piece) - self._at

    @property
    def is_drained(self) -> bool:
        """Tell whether everything was taken that had come when we last looked."""
        return self._at == len(self._piece) < PIECE

    def recv(self, size: int) -> bytes:
        """Take as much, or what there is of it."""
        at = self._at
        if at == len(self._piece):
            if size >= PIECE:
                return self._line.recv(size)
            self._piece, at = self._read(), 0
        taken = self._piece[at : at + size]
        self._at = at + len(taken)
        return taken

    def message(self, beginning: bytes) -> bytes | None:
        """Take the next message, if it begins like this and all of it was read already."""
        piece, at = self._piece, self._at + LENGTH.size
        if not piece.startswith(beginning, at):
            return None
        end = at + LENGTH.unpack_from(piece, self._at)[0]
        if end > len(piece):
            return None
        self._at = end
        return piece[at:end]

    def _read(self) -> bytes:
        """Read what is there: encrypted, it comes in records, of which each may be one event."""
        piece = more = self._line.recv(PIECE)
        while more and len(piece) < PIECE:
            try:
                more = self._line.recv(PIECE - len(piece))
            except NOTHING_YET:
                break
            piece += more
        return piece
