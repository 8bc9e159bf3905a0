"""A way to a server that can be cut and mended."""

import socket
import threading
from contextlib import suppress

from zk.listening_port import HOST, Door


class Cable(Door):
    """Listens on a port of its own and passes everything on to a server, while it is whole."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._whole = threading.Event()
        self._whole.set()
        self._flows = threading.Event()
        self._flows.set()
        self._stops_after: int | None = None
        self.stopped = threading.Event()
        self._lines: list[socket.socket] = []
        super().__init__()

    def cut(self) -> None:
        """Hang up on both sides, and on everybody who calls from now on."""
        self._whole.clear()
        _hang_up(*self._lines)
        self._lines.clear()

    def mend(self) -> None:
        """Let callers through again."""
        self._whole.set()
        self._flows.set()

    def silence(self) -> None:
        """Hang up on nobody and pass nothing on, as a network does whose packets are dropped."""
        self._flows.clear()

    def stop_after(self, size: int) -> None:
        """Fall silent in the middle of an answer: when so many bytes more came from the server."""
        self._stops_after = size

    def close(self) -> None:
        """Cut it for good."""
        self.cut()
        self._flows.set()
        super().close()

    def attend(self, near: socket.socket) -> None:
        """Join the caller with the server, or hang up."""
        if self._whole.is_set():
            self._join(near, socket.create_connection((HOST, self._port)))
        else:
            near.close()

    def _join(self, near: socket.socket, far: socket.socket) -> None:
        self._lines += (near, far)
        for one, other in ((near, far), (far, near)):
            threading.Thread(target=self._pump, args=(one, other), daemon=True).start()

    def _count(self, size: int) -> None:
        self._stops_after = (self._stops_after or 0) - size
        if self._stops_after <= 0:
            self._stops_after = None
            self._flows.clear()
            self.stopped.set()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while self._whole.is_set() and (data := source.recv(65536)):
                self._flows.wait()
                sink.sendall(data)
                if self._stops_after is not None and source in self._lines[1::2]:
                    self._count(len(data))
        _hang_up(source, sink)


def _hang_up(*lines: socket.socket) -> None:
    for line in lines:
        with suppress(OSError):
            line.shutdown(socket.SHUT_RDWR)
        line.close()
