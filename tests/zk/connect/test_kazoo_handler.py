"""How kazoo's thread waits and receives."""

import socket
from collections.abc import Iterator

import pytest

from zktop.zk.connect.kazoo_handler import BufferedSocket, KazooHandler
from zktop.zk.connect.read_only_client import RecentLog

HANDLER = KazooHandler(RecentLog())


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Two connected sockets: the server's, and the client's, which does not block."""
    server, client = socket.socketpair()
    client.settimeout(0.0)
    with server, client:
        yield server, client


def test_one_call_receives_many_messages(pair: tuple[socket.socket, socket.socket]) -> None:
    """What was received beyond the size that was asked for is returned by the next calls."""
    server, client = pair
    connection = BufferedSocket(client)
    server.sendall(b"firstsecond")
    assert connection.recv(5) == b"first"
    assert connection.pending() == 6
    with pytest.raises(BlockingIOError):
        client.recv(1)
    assert connection.recv(100) == b"second"
    assert connection.pending() == 0


def test_a_socket_with_a_rest_is_ready(pair: tuple[socket.socket, socket.socket]) -> None:
    """Waiting ends at once while a message is buffered, though nothing more arrives."""
    server, client = pair
    connection = BufferedSocket(client)
    server.sendall(b"firstsecond")
    connection.recv(5)
    assert HANDLER.select([connection, server], [], [], 60.0) == ([connection], [], [])


def test_sockets_that_are_ready_are_found(pair: tuple[socket.socket, socket.socket]) -> None:
    """A socket can be read once something has arrived, and written while there is room."""
    server, client = pair
    connection = BufferedSocket(client)
    assert HANDLER.select([connection], [], [], 0.0) == ([], [], [])
    assert HANDLER.select([], [connection], [], 0.0) == ([], [connection], [])
    server.sendall(b"first")
    assert HANDLER.select([connection, server], [], [], 60.0) == ([connection], [], [])


def test_a_closed_connection_can_be_read(pair: tuple[socket.socket, socket.socket]) -> None:
    """Each read returns an empty chunk at once."""
    server, client = pair
    connection = BufferedSocket(client)
    server.close()
    assert HANDLER.select([connection], [], [], 60.0) == ([connection], [], [])
    assert connection.recv(5) == connection.recv(5) == b""
