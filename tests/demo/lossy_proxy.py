"""A proxy that breaks the connection when the server answers a create."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from servers import HOST

CREATE = 1


class LossyProxy:
    """Passes frames in both directions, but loses one answer to a create and that connection."""

    def __init__(self, port: int) -> None:
        """Listen, in front of the server at this port."""
        self.port_of_server = port
        self.listener = socket.create_server((HOST, 0))
        self.hosts = f"{HOST}:{self.listener.getsockname()[1]}"
        self.lost = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            server = socket.create_connection((HOST, self.port_of_server))
            awaited: set[bytes] = set()  # xids of creates
            for job in ((self._up, client, server), (self._down, server, client)):
                threading.Thread(target=job[0], args=(*job[1:], awaited), daemon=True).start()

    def _up(self, client: socket.socket, server: socket.socket, awaited: set[bytes]) -> None:
        for number, frame in enumerate(_frames(client)):
            if number and int.from_bytes(frame[4:8]) == CREATE and _is_sequential(frame):
                awaited.add(frame[:4])
            server.sendall(len(frame).to_bytes(4) + frame)
        _close(server)

    def _down(self, server: socket.socket, client: socket.socket, awaited: set[bytes]) -> None:
        for frame in _frames(server):
            if frame[:4] in awaited and not self.lost.is_set():
                self.lost.set()
                break
            client.sendall(len(frame).to_bytes(4) + frame)
        _close(client)
        _close(server)


@contextmanager
def lossy_proxy(hosts: str) -> Iterator[LossyProxy]:
    """A proxy to this server."""
    proxy = LossyProxy(int(hosts.rpartition(":")[2]))
    with proxy.listener:
        yield proxy


def _is_sequential(frame: bytes) -> bool:
    return int.from_bytes(frame[-4:]) == 3  # flags: ephemeral and sequential


def _frames(source: socket.socket) -> Iterator[bytes]:
    try:
        with source.makefile("rb") as stream:
            while head := stream.read(4):
                yield stream.read(int.from_bytes(head))
    except OSError:
        return


def _close(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
