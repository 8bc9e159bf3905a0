"""Sockets that answer a client wrongly: not at all, too slowly, or with something else."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from zktop.zk.connect.address import Address

WAIT_S = 5.0

Behaviour = Callable[[socket.socket], None]


@contextmanager
def listener(behave: Behaviour) -> Iterator[Address]:
    """Listen on a free port, and treat each connection with `behave`."""
    door = socket.create_server(("127.0.0.1", 0))
    kept: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                line, _ = door.accept()
            except OSError:
                return
            kept.append(line)
            try:
                behave(line)
            except OSError:
                line.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield Address("127.0.0.1", door.getsockname()[1])
    finally:
        door.shutdown(socket.SHUT_RDWR)
        door.close()
        for line in kept:
            with suppress(OSError):  # closed already
                line.shutdown(socket.SHUT_RDWR)  # ends a `behave` that still reads
        thread.join(WAIT_S)  # it may have accepted another connection just now
        for line in kept:
            line.close()


def answers(text: bytes) -> Behaviour:
    """Read a request, send this text, and close."""

    def behave(line: socket.socket) -> None:
        line.recv(1000)
        line.sendall(text)
        line.shutdown(socket.SHUT_WR)
        line.close()

    return behave


def silent(line: socket.socket) -> None:
    """Keep the connection open and send nothing."""


def hangs_up(line: socket.socket) -> None:
    """Close at once, as a TLS port does when it reads no TLS."""
    line.recv(5)
    line.close()


def dribbles(line: socket.socket) -> None:
    """Begin an answer, and never end it."""
    line.recv(1000)
    line.sendall(b"Zookeeper version: 3.8.0\n")


def speaks(words: dict[str, str]) -> Behaviour:
    """Send these answers to these words; close the connection for any other word."""

    def behave(line: socket.socket) -> None:
        word = line.recv(1000).decode().strip()
        line.sendall(words.get(word, "").encode())
        line.shutdown(socket.SHUT_WR)
        line.close()

    return behave
