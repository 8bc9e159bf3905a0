"""Sockets that answer a client wrongly: not at all, too slowly, or with something else."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

from zktop.zk.connect.address import Address

WAIT_S = 5.0

Behaviour = Callable[[socket.socket], None]


@contextmanager
def listener(behave: Behaviour) -> Iterator[Address]:
    """Listen on a free port, and treat each connection with `behave`."""
    listening = socket.create_server(("127.0.0.1", 0))
    kept: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            kept.append(connection)
            try:
                behave(connection)
            except OSError:
                connection.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield Address("127.0.0.1", listening.getsockname()[1])
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        for connection in kept:
            with suppress(OSError):  # closed already
                connection.shutdown(socket.SHUT_RDWR)  # ends a `behave` that still reads
        thread.join(WAIT_S)  # it may have accepted another connection just now
        for connection in kept:
            connection.close()


@contextmanager
def dead_port() -> Iterator[int]:
    """A port that drops every attempt to connect, because its queue is full."""
    with socket.socket() as listening, ExitStack() as waiting:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        place = listening.getsockname()
        for _ in range(3):
            one = waiting.enter_context(socket.socket())
            one.settimeout(0)
            one.connect_ex(place)
        yield place[1]


def answers(text: bytes) -> Behaviour:
    """Read a request, send this text, and close."""

    def behave(connection: socket.socket) -> None:
        connection.recv(1000)
        connection.sendall(text)
        connection.shutdown(socket.SHUT_WR)
        connection.close()

    return behave


def silent(connection: socket.socket) -> None:
    """Keep the connection open and send nothing."""


def hangs_up(connection: socket.socket) -> None:
    """Close at once, as a TLS port does for a client without TLS."""
    connection.recv(5)
    connection.close()


def never_finishes(connection: socket.socket) -> None:
    """Begin an answer, and never end it."""
    connection.recv(1000)
    connection.sendall(b"Zookeeper version: 3.8.0\n")


def greets(connection: socket.socket) -> None:
    """Send a line at once, as an SSH server does, and keep the connection open."""
    connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")


def speaks(words: dict[str, str]) -> Behaviour:
    """Send these answers to these words; close the connection for any other word."""

    def behave(connection: socket.socket) -> None:
        word = connection.recv(1000).decode().strip()
        connection.sendall(words.get(word, "").encode())
        connection.shutdown(socket.SHUT_WR)
        connection.close()

    return behave
