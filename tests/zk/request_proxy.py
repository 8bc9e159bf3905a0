"""A proxy that decodes the frames between clients and a server."""

import socket
import struct
import threading
from contextlib import suppress

from zk.listening_port import HOST, ListeningPort

FRAME = struct.Struct("!i")
REQUEST = struct.Struct("!ii")  # xid and operation


class RequestProxy(ListeningPort):
    """Forwards everything; subclasses may inspect requests or answer for the server."""

    def __init__(self, port: int) -> None:
        self.port = port
        super().__init__()

    def word(self, word: bytes) -> bytes:
        """The answer to a four-letter word, by default the server's."""
        with socket.create_connection((HOST, self.port)) as far:
            far.sendall(word)
            return b"".join(iter(lambda: far.recv(65536), b""))

    def refusal(self, _frame: bytes) -> bytes | None:
        """An answer after which the connection closes; None to forward the request."""
        return None

    def attend(self, near: socket.socket) -> None:
        """Follow a connection on a thread of its own."""
        threading.Thread(target=self._follow_to_its_end, args=(near,), daemon=True).start()

    def _follow_to_its_end(self, near: socket.socket) -> None:
        with suppress(OSError, EOFError), near:
            begin = _exactly(near, 4)
            if begin.isalpha():
                near.sendall(self.word(begin))
                return
            with socket.create_connection((HOST, self.port)) as far:
                threading.Thread(target=_pass_on, args=(far, near), daemon=True).start()
                self._follow(begin, near, far)

    def _follow(self, begin: bytes, near: socket.socket, far: socket.socket) -> None:
        """Pass on one frame after another; the first opens the session."""
        far.sendall(begin + _exactly(near, *FRAME.unpack(begin)))
        while True:
            begin = _exactly(near, 4)
            frame = _exactly(near, *FRAME.unpack(begin))
            answer = self.refusal(frame)
            if answer is not None:
                near.sendall(answer)
                return
            far.sendall(begin + frame)


def _exactly(line: socket.socket, size: int) -> bytes:
    """Read this many bytes."""
    found = b""
    while len(found) < size:
        more = line.recv(size - len(found))
        if not more:
            raise EOFError
        found += more
    return found


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_RDWR)
