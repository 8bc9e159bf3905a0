"""A way to a server that can be cut and mended."""

import socket
import threading
from contextlib import suppress

HOST = "127.0.0.1"


class Cable:
    """Listens on a port of its own and passes everything on to a server, while it is whole."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._door = socket.create_server((HOST, 0))
        self._whole = threading.Event()
        self._whole.set()
        self._lines: list[socket.socket] = []
        self.address = f"{HOST}:{self._door.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def cut(self) -> None:
        """Hang up on both sides, and on everybody who calls from now on."""
        self._whole.clear()
        _hang_up(*self._lines)
        self._lines.clear()

    def mend(self) -> None:
        """Let callers through again."""
        self._whole.set()

    def close(self) -> None:
        """Cut it for good."""
        self.cut()
        with suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._door.accept()
                if self._whole.is_set():
                    self._join(near, socket.create_connection((HOST, self._port)))
                else:
                    near.close()

    def _join(self, near: socket.socket, far: socket.socket) -> None:
        self._lines += (near, far)
        for one, other in ((near, far), (far, near)):
            threading.Thread(target=self._pump, args=(one, other), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while self._whole.is_set() and (data := source.recv(65536)):
                sink.sendall(data)
        _hang_up(source, sink)


def _hang_up(*lines: socket.socket) -> None:
    for line in lines:
        with suppress(OSError):
            line.shutdown(socket.SHUT_RDWR)
        line.close()
