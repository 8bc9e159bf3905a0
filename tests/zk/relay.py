"""Stands between clients and a server, and understands what the clients ask."""

import socket
import struct
import threading
from contextlib import suppress

HOST = "127.0.0.1"
FRAME = struct.Struct("!i")
REQUEST = struct.Struct("!ii")  # its number, and what it asks for


class Relay:
    """Passes everything on; whoever inherits may look at it, or answer in the server's place."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._door = socket.create_server((HOST, 0))
        self.address = f"{HOST}:{self._door.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def word(self, word: bytes) -> bytes:
        """Give the answer to a four-letter word: the server's."""
        with socket.create_connection((HOST, self.port)) as far:
            far.sendall(word)
            return b"".join(iter(lambda: far.recv(65536), b""))

    def refusal(self, _frame: bytes) -> bytes | None:
        """Give an answer after which to hang up; None where the request is to be passed on."""
        return None

    def close(self) -> None:
        """Let nobody in any more."""
        with suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._door.accept()
                threading.Thread(target=self._attend, args=(near,), daemon=True).start()

    def _attend(self, near: socket.socket) -> None:
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
    """Read so many bytes."""
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
