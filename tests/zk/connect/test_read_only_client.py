"""The client of the observer cannot write, whatever is called on it."""

import socket
import struct
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionLoss
from kazoo.protocol import serialization
from kazoo.protocol.connection import ConnectionHandler
from servers import RunningServer
from waiting import eventually
from zk.bad_servers import listener

from zktop.errors import ZktopError
from zktop.zk import Access, parse_hosts
from zktop.zk.connect.read_only_client import (
    READING,
    SESSION,
    ReadOnlyClient,
    RecentLog,
    WritingError,
)
from zktop.zk.read import requests


class IgnoringListener:
    """A listener that ignores events and states."""

    def event(self, kind: int, path: str, zxid: int) -> None:
        """Ignore it."""

    def state(self, state: str, session: int | None, server: str | None) -> None:
        """Ignore it."""


@pytest.fixture
def reader(zookeeper: RunningServer) -> Iterator[ReadOnlyClient]:
    """The client of an observer, connected."""
    access = Access(parse_hosts(zookeeper.address))
    client = ReadOnlyClient(access, IgnoringListener(), RecentLog())
    client.start()
    yield client
    client.stop()
    client.close()


def _exists(client: ReadOnlyClient, path: str) -> Any:
    """Ask whether a znode exists, as zktop does; returns the future answer."""
    answer = client.handler.async_result()
    client._call(requests.Exists(path), answer)
    return answer


def _transact(client: KazooClient, root: str) -> None:
    batch = client.transaction()
    batch.delete(root)
    batch.commit()


WRITES: dict[str, Callable[[KazooClient, str], object]] = {
    "create": lambda client, root: client.create(f"{root}/x"),
    "create with stat": lambda client, root: client.create(f"{root}/x", include_data=True),
    "set": lambda client, root: client.set(root, b"x"),
    "delete": lambda client, root: client.delete(root),
    "set acl": lambda client, root: client.set_acls(root, []),
    "transaction": _transact,
    "reconfig": lambda client, _root: client.reconfig("server.9=x:1:2", None, None),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
def test_writing_methods_of_kazoo_are_refused(
    reader: ReadOnlyClient,
    client: KazooClient,
    root: str,
    write: Callable[[KazooClient, str], object],
) -> None:
    """Kazoo's writing methods raise, send nothing, and keep the connection."""
    before = client.get(root)
    session = reader.client_id

    with pytest.raises(WritingError):
        write(reader, root)

    assert client.get(root) == before
    assert client.get_children(root) == []
    assert reader.client_id == session
    assert _exists(reader, root).get(timeout=10)


@pytest.mark.parametrize(
    "request_class",
    [
        cls
        for cls in vars(serialization).values()
        if isinstance(cls, type) and isinstance(getattr(cls, "type", None), int)
    ],
    ids=lambda cls: cls.__name__,
)
def test_of_kazoos_requests_only_those_of_a_session_are_allowed(request_class: type) -> None:
    """The client reads with requests of its own; no request of kazoo that writes is permitted."""
    of_a_session = {"Auth", "Close", "Connect", "Ping", "SASL"}

    assert request_class not in READING
    assert (request_class in SESSION) == (request_class.__name__ in of_a_session)


def test_a_request_slipped_into_the_queue_never_reaches_the_server(
    reader: ReadOnlyClient, client: KazooClient, root: str
) -> None:
    """A write that bypasses `_call` closes the connection instead of reaching the server."""
    result = reader.handler.async_result()
    reader._queue.append((serialization.Delete(root, -1), result))
    reader._connection._write_sock.send(b"\0")

    with pytest.raises(ConnectionLoss):
        result.get(timeout=10)
    assert client.exists(root)
    eventually(lambda: reader.connected)


def test_a_class_that_only_looks_like_a_read_is_refused(reader: ReadOnlyClient, root: str) -> None:
    """The check compares the class itself, not its base classes or attributes."""

    class Sly(serialization.GetData):  # type: ignore[misc]  # kazoo has no types
        type = 2

    result = reader.handler.async_result()
    reader._call(Sly(root, None), result)

    with pytest.raises(WritingError, match="Sly"):
        result.get(timeout=5)


def test_a_server_without_a_leader_costs_the_connection() -> None:
    """Keeper answers "connection lost" and keeps the connection: the client opens another one."""
    opened = []

    def behave(connection: socket.socket) -> None:
        opened.append(connection)
        connection.recv(1000)
        session = struct.pack("!iiqi17x", 0, 10_000, 1, 16)
        connection.sendall(struct.pack("!i", len(session)) + session)
        while request := connection.recv(1000):
            xid = struct.unpack_from("!i", request, 4)[0]
            connection.sendall(struct.pack("!iiqi", 16, xid, 1, ConnectionLoss.code))

    with listener(behave) as address:
        access = Access(parse_hosts(str(address)))
        client = ReadOnlyClient(access, IgnoringListener(), RecentLog())
        client.start()
        lost = _exists(client, "/")
        eventually(lambda: len(opened) > 1)
        client.stop()
        client.close()

    assert isinstance(lost.exception, ConnectionLoss)


def test_another_kazoo_is_refused_at_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client checks at start that kazoo has the private methods that it uses."""
    requests.check_kazoo()
    monkeypatch.setattr(KazooClient, "_call", lambda _self, _request: None)

    with pytest.raises(ZktopError, match=r"KazooClient\._call.*install kazoo 2.11"):
        requests.check_kazoo()


def test_a_kazoo_without_a_private_attribute_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a socket of its connections, the server that zktop reads from is unknown."""
    monkeypatch.setattr(ConnectionHandler, "__init__", lambda _self: None)

    with pytest.raises(ZktopError, match=r"ConnectionHandler\._socket.*install kazoo 2.11"):
        requests.check_kazoo()


@pytest.mark.parametrize(("gap_ms", "since"), [(4_300, None), (4_400, 5_000)])
def test_a_silence_is_long_if_the_answer_to_a_ping_was_late(
    gap_ms: int, since: int | None
) -> None:
    """A client with a timeout of ten seconds pings after at most a third of them."""
    access = Access(parse_hosts("127.0.0.1:1"), session_timeout=10.0)
    client = ReadOnlyClient(access, IgnoringListener(), RecentLog())
    for at in (5_000, 5_000 + gap_ms, 5_100 + gap_ms):
        client._heard(at)

    assert client.silent_since == since
