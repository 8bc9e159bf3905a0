"""The limits of the sandbox: bad bytes, clients that do not read, many clients and znodes."""

import contextlib
import socket
import time
from pathlib import Path

import pytest
from sandbox.raw_client import RawClient, buf, i32, i64, multi, new, path_of, txt
from servers import ask, sandbox_server

MANY = 10_000
MB = 1024 * 1024
RECURSIVE = 1


@pytest.fixture
def bystander(sandbox):
    """A client that must not notice other clients."""
    with RawClient(sandbox.port) as client:
        yield client
        assert [reply.err for reply in client.ask(11, xid=-2)] == [0]
        client.close_session()


def resident(server):
    """The memory of the server's process, in bytes."""
    pages = Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]
    return int(pages) * 4096


FIRST_FRAMES = {
    "empty": b"",
    "one byte": b"\0",
    "cut short": i32(0) + i64(0) + i32(1000),
    "password longer than the frame": i32(0) + i64(0) + i32(1000) + i64(0) + i32(500),
    "negative password": i32(0) + i64(0) + i32(1000) + i64(0) + i32(-7),
    "from the future": i32(0) + i64(1 << 40) + i32(1000) + i64(0) + buf(bytes(16)),
}


@pytest.mark.usefixtures("bystander")
@pytest.mark.parametrize("name", FIRST_FRAMES)
def test_bad_first_frame(sandbox, name):
    """A connection that does not begin with a proper request is closed, and only that one."""
    body = FIRST_FRAMES[name]
    with socket.create_connection(("127.0.0.1", sandbox.port), 5) as line:
        line.sendall(i32(len(body)) + body)

        assert line.recv(100) == b""


BAD_REQUESTS = {
    "no path": (4, b""),
    "path longer than the frame": (4, i32(1000) + b"/a\0"),
    "negative path": (4, i32(-9) + b"\0"),
    "list longer than the frame": (1, txt("/a") + buf(b"") + i32(2**31 - 1)),
    "multi without an end": (14, multi((2, txt("/a") + i32(-1)))[:-9]),
    "half a multi": (14, multi((1, new("/half")))[:20]),
    "watches without end": (101, i64(0) + i32(9)),
}


@pytest.mark.parametrize("name", BAD_REQUESTS)
def test_bad_request(sandbox, bystander, name):
    """A request that cannot be read gets an error and changes nothing; the connection goes on."""
    before = len(bystander.ask(8, txt("/") + b"\0")[-1].body)
    with RawClient(sandbox.port) as client:
        replies = client.ask(*BAD_REQUESTS[name])

        assert [reply.err for reply in replies] == [-5]
        assert [reply.err for reply in client.ask(11, xid=-2)] == [0]
    assert len(bystander.ask(8, txt("/") + b"\0")[-1].body) == before


def test_largest_frame(sandbox, bystander):
    """A request of just under 1 MB is taken, a larger one ends the connection."""
    room = 0xFFFFF - len(i32(1) + i32(1) + new("/large", b""))
    with RawClient(sandbox.port) as client:
        assert client.ask(1, new("/large", bytes(room)))[0].err == 0
        assert client.ask(2, txt("/large") + i32(-1))[0].err == 0
        with contextlib.suppress(OSError):
            client.send(1, new("/larger", bytes(room + 1)))

        assert client.read() is None
    assert bystander.ask(3, txt("/larger") + b"\0")[0].err == -101


def test_a_frame_byte_by_byte(sandbox):
    """Frames may come in any pieces."""
    with RawClient(sandbox.port) as client:
        for byte in i32(12) + i32(1) + i32(9) + i32(-1):
            client.line.sendall(bytes([byte]))

        assert client.read().err == 0


def test_a_client_that_does_not_read_answers():
    """Its requests wait; when it reads again, it gets every answer."""
    with sandbox_server() as server, RawClient(server.port) as client:
        client.ask(1, new("/big", bytes(900_000)))
        before = resident(server)
        asked = 200
        for _ in range(asked):
            client.send(4, txt("/big") + b"\0")
        with RawClient(server.port) as other:
            assert other.ask(3, txt("/big") + b"\0")[0].err == 0
        held = resident(server) - before
        sizes = [len(client.read().body) for _ in range(asked)]

    assert held < 16 * MB
    assert sizes == [900_000 + 4 + 68] * asked


def test_a_small_request_for_gigabytes(sandbox, bystander):
    """A request that reads a large znode many thousand times is refused."""
    bystander.ask(1, new("/big", bytes(900_000)))
    with RawClient(sandbox.port) as client:
        few, many = (client.ask(22, multi(*[(4, path_of("/big"))] * n))[0] for n in (10, 40_000))
    bystander.ask(2, txt("/big") + i32(-1))

    assert (few.err, many.err) == (0, -5)
    assert len(few.body) > 10 * 900_000
    assert resident(sandbox) < 200 * MB


def test_a_client_that_only_sends():
    """The server stops reading its requests, so that they use no memory."""
    with sandbox_server() as server, RawClient(server.port) as client:
        client.ask(1, new("/big", bytes(900_000)))
        before = resident(server)
        request = i32(1) + i32(4) + txt("/big") + b"\0"
        client.line.settimeout(1)
        with pytest.raises(TimeoutError):
            client.line.sendall((i32(len(request)) + request) * 2_000_000)
        held = resident(server) - before

    assert held < 16 * MB


def test_a_client_that_does_not_read_events():
    """Unread events are kept up to a limit; then the connection is closed."""
    name, most, cut = "/" + "n" * 10_000, 0, False
    with sandbox_server() as server, RawClient(server.port) as client:
        deaf = RawClient(server.port, timeout_ms=40_000)
        deaf.send(106, txt("/") + i32(RECURSIVE))
        client.ask(1, new(name))
        before = resident(server)
        for _ in range(100):
            for _ in range(100):
                client.send(5, txt(name) + buf(b"") + i32(-1))
            for _ in range(100):
                client.read()
            most = max(most, resident(server) - before)
            if cut := ask(server.port, "wchs").startswith("0 "):
                break
        deaf.line.close()

    assert cut
    assert most < 48 * MB


def test_an_unread_word():
    """A large table that is requested and not read delays no other client."""
    with sandbox_server() as server, RawClient(server.port) as client:
        for start in range(0, 10_000, 1000):
            for number in range(start, start + 1000):
                client.send(3, txt(f"/{'w' * 90}{number}") + b"\1")
            for _ in range(1000):
                client.read()
        with socket.socket() as line:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            line.connect(("127.0.0.1", server.port))
            line.sendall(b"wchp")
            started = time.monotonic()
            answered = client.ask(3, txt("/") + b"\1")[0].err

        assert answered == 0
        assert time.monotonic() - started < 10


def test_many_clients_many_nodes():
    """200 clients all receive the last change among 10,000 znodes."""
    with sandbox_server() as server, contextlib.ExitStack() as stack:
        clients = [stack.enter_context(RawClient(server.port)) for _ in range(200)]
        clients[0].ask(1, new("/many"))
        for index, client in enumerate(clients):
            for number in range(index, MANY, len(clients)):
                client.send(1, new(f"/many/{number:05}", flags=1))
        for client in clients:
            for _ in range(MANY // len(clients)):
                client.read()
        for client in clients:
            client.ask(8, txt("/many") + b"\1")
        clients[0].ask(2, txt("/many/00000") + i32(-1))
        heard = [client.ask(11, xid=-2)[0].xid for client in clients[1:]]
        stat = dict(line.split("\t") for line in ask(server.port, "mntr").splitlines())

    assert heard == [-1] * 199
    assert (stat["zk_global_sessions"], stat["zk_znode_count"]) == ("200", str(MANY + 5))
    assert stat["zk_ephemerals_count"] == str(MANY - 1)
