"""A proxy to a server whose connections can be cut, silenced and restored."""

import socket
import threading
from contextlib import suppress

from zk.listening_port import HOST, ListeningPort


class CutProxy(ListeningPort):
    """Listens on a free port and forwards to a server, until it is cut."""

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
        """Close all connections, and every new one."""
        self._whole.clear()
        _hang_up(*self._lines)
        self._lines.clear()

    def mend(self) -> None:
        """Accept connections again."""
        self._whole.set()
        self._flows.set()

    def silence(self) -> None:
        """Forward nothing and keep the connections, like a network that drops packets."""
        self._flows.clear()

    def stop_after(self, size: int) -> None:
        """Fall silent within an answer, after this many more bytes from the server."""
        self._stops_after = size

    def close(self) -> None:
        """Cut it for good."""
        self.cut()
        self._flows.set()
        super().close()

    def attend(self, near: socket.socket) -> None:
        """Connect the client to the server, or close the connection."""
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
