"""Any bytes may end the connection that sends them, and have no other effect."""

import contextlib
import socket

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sandbox.raw_client import RawClient, buf, i32, i64, multi, new, path_of, txt, versioned
from servers import sandbox_server

PASSWORD = bytes(16)
KEPT = "/kept"
UNHURRIED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
SESSION = i32(0) + i64(0) + i32(10_000) + i64(0) + buf(PASSWORD) + b"\0"
REQUESTS = (
    (1, new("/made", b"data", flags=1)),
    (2, versioned("/made")),
    (3, path_of(KEPT)),
    (4, path_of(KEPT)),
    (8, path_of("/")),
    (12, path_of("/")),
    (14, multi((1, new("/made", flags=1)), (2, versioned("/made")))),
    (22, multi((4, path_of(KEPT)), (8, path_of("/")))),
    (101, i64(0) + i32(1) + txt(KEPT) + i32(0) + i32(0)),
    (106, txt("/") + i32(1)),
    (-11, b""),
)


@pytest.fixture(scope="module")
def complaints(tmp_path_factory):
    """The file with the server's uncaught exceptions."""
    return tmp_path_factory.mktemp("sandbox") / "stderr"


@pytest.fixture(scope="module")
def sandbox(complaints):
    """A server whose stderr goes to that file."""
    with complaints.open("w") as errors, sandbox_server(errors=errors) as server:
        yield server


@pytest.fixture(scope="module")
def bystander(sandbox):
    """A client with a node, which must not notice other connections."""
    with RawClient(sandbox.port, timeout_ms=20_000) as client:
        client.ask(1, new(KEPT, b"untouched"))
        yield client


@pytest.fixture
def quiet(complaints):
    """Checks after each test that asyncio logged no exception."""
    yield
    assert complaints.read_text() == ""


def sent(port: int, *frames: bytes, first: bytes = SESSION) -> None:
    """Send these frames on a new connection, and read until it ends."""
    with socket.create_connection(("127.0.0.1", port), 5) as line, contextlib.suppress(OSError):
        for frame in (first, *frames):
            line.sendall(i32(len(frame)) + frame)
        line.shutdown(socket.SHUT_WR)
        while line.recv(65536):
            pass


def is_well(bystander: RawClient) -> None:
    """The server answers and still has the data."""
    (reply,) = bystander.ask(4, path_of(KEPT))

    assert reply.err == 0
    assert reply.body.startswith(buf(b"untouched"))


@pytest.mark.usefixtures("quiet")
@settings(UNHURRIED)
@given(first=st.binary(max_size=60))
def test_any_first_frame(sandbox, bystander, first):
    """It opens a session, or the connection is closed."""
    sent(sandbox.port, first=first)

    is_well(bystander)


# Not 2, 5, 7, 14: garbage might spell a request that may delete or write what is kept.
HARMLESS = st.sampled_from((-1, 0, 3, 4, 6, 8, 9, 11, 12, 18, 22, 100, 101, 104, 105, 106, 107))


@pytest.mark.usefixtures("quiet")
@settings(UNHURRIED)
@given(
    requests=st.lists(st.tuples(HARMLESS, st.binary(max_size=60)), max_size=5),
    xid=st.integers(-(2**31), 2**31 - 1),
)
def test_any_request(sandbox, bystander, requests, xid):
    """Any request is answered, or ends the connection."""
    sent(sandbox.port, *(i32(xid) + i32(op) + body for op, body in requests))

    is_well(bystander)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A valid request with some bytes changed."""
    op, body = draw(st.sampled_from(REQUESTS))
    at = draw(st.integers(0, len(body)))
    change = draw(st.sampled_from(("cut", "insert", "replace")))
    if change == "cut":
        body = body[:at]
    else:
        put_in = draw(st.binary(min_size=1, max_size=8))
        body = body[:at] + put_in + body[at + (len(put_in) if change == "replace" else 0) :]
    return i32(1) + i32(op) + body


@pytest.mark.usefixtures("quiet")
@settings(UNHURRIED)
@given(frames=st.lists(damaged(), min_size=1, max_size=4))
def test_damaged_requests(sandbox, bystander, frames):
    """A damaged request is answered or ends the connection, and is never half applied."""
    sent(sandbox.port, *frames)

    is_well(bystander)
    (reply,) = bystander.ask(3, path_of("/zookeeper"))
    assert reply.err == 0


@pytest.mark.usefixtures("quiet")
@settings(UNHURRIED)
@given(raw=st.binary(max_size=100))
def test_no_frames_at_all(sandbox, bystander, raw):
    """Bytes without frames end the connection; four letters may be a word."""
    with socket.create_connection(("127.0.0.1", sandbox.port), 5) as line:
        line.sendall(raw)
        line.shutdown(socket.SHUT_WR)
        with contextlib.suppress(OSError):
            while line.recv(65536):
                pass

    is_well(bystander)
