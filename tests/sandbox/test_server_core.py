"""The server without sockets: how time ends sessions, connections and znodes."""

import struct

import pytest
from sandbox.raw_client import PASSWORD, buf, i32, i64, new, txt

from zktop.sandbox.connection import ClientConnection
from zktop.sandbox.flavours import FLAVOURS, ZOOKEEPER
from zktop.sandbox.protocol import Malformed
from zktop.sandbox.server_core import SandboxClock, ServerCore


class RecordedFrames:
    """A transport that keeps the frames that were sent."""

    def __init__(self):
        self.frames = []
        self.ended = None

    def send(self, frame):
        """Keep the frame without its length."""
        self.frames.append(frame[4:])

    def close(self):
        """Note how the connection ended."""
        self.ended = self.ended or "closed"

    def abort(self):
        """Note how the connection ended."""
        self.ended = "aborted"


class Bench:
    """A server core with a clock that the test moves."""

    def __init__(self, flavour=ZOOKEEPER):
        self.now = 1_000_000
        clock = SandboxClock(lambda: self.now, lambda: self.now)
        self.core = ServerCore(clock, tick_ms=2000, flavour=flavour)

    def connect(self, timeout=4000, session=0, password=PASSWORD):
        """A client with a session."""
        client = ClientConnection(RecordedFrames(), "127.0.0.1", 1)
        self.core.add_client(client)
        request = i32(0) + i64(0) + i32(timeout) + i64(session) + buf(password) + b"\0"
        self.core.receive(client, request, self.now)
        return client

    def ask(self, client, op, body=b"", xid=1):
        """The error code of the answer."""
        self.core.receive(client, i32(xid) + i32(op) + body, self.now)
        return struct.unpack_from(">iqi", client.transport.frames[-1])[2]

    def wait(self, ms):
        """Let time pass."""
        self.now += ms
        self.core.tick()


@pytest.fixture
def bench():
    """A fresh core."""
    return Bench()


def test_expiry_is_one_transaction(bench):
    """All znodes of a silent session go under one zxid, and its connection is closed."""
    client = bench.connect()
    for path in ("/a", "/b", "/c"):
        bench.ask(client, 1, new(path, flags=1))
    before = bench.core.store.zxid
    bench.wait(3999)
    alive = bench.core.store.tree.ephemerals(client.session_id)
    bench.wait(2001)

    assert alive == ["/a", "/b", "/c"]
    assert bench.core.store.tree.ephemerals(client.session_id) == []
    assert bench.core.store.tree.node("/").pzxid == bench.core.store.zxid == before + 1
    assert client.transport.ended == "closed"


def test_any_request_keeps_a_session(bench):
    """Every request, pings included, postpones the end by the whole timeout."""
    client = bench.connect()
    for op, xid in ((11, -2), (9, 1), (3, 2)) * 3:
        bench.wait(3000)
        bench.ask(client, op, txt("/") + b"\0", xid)

    assert client.transport.ended is None
    assert len(bench.core.sessions) == 1


def test_a_session_outlives_its_connection(bench):
    """A lost connection ends its watches but not the session."""
    client = bench.connect(timeout=10_000)
    bench.ask(client, 1, new("/mine", flags=1))
    bench.ask(client, 4, txt("/mine") + b"\1")
    bench.core.remove_client(client)
    bench.wait(9000)
    again = bench.connect(10_000, client.session_id, client.session.password)

    assert len(bench.core.store.watches) == 0
    assert again.session is client.session
    assert bench.ask(again, 3, txt("/mine") + b"\0") == 0


def test_one_connection_a_session(bench):
    """A client that resumes a session closes the former connection with its watches."""
    first = bench.connect()
    bench.ask(first, 4, txt("/") + b"\1")
    second = bench.connect(4000, first.session_id, first.session.password)
    bench.core.remove_client(first)
    bench.ask(second, 1, new("/mine", flags=1))

    assert first.transport.ended == "closed"
    assert len(bench.core.store.watches) == 0
    assert bench.core.store.tree.ephemerals(second.session_id) == ["/mine"]
    bench.wait(6000)
    assert second.transport.ended == "closed"


def test_a_connection_without_a_session(bench):
    """It is closed after ten to twenty seconds."""
    client = ClientConnection(RecordedFrames(), "127.0.0.1", 1)
    bench.core.add_client(client)
    bench.wait(20_000)

    assert client.transport.ended == "aborted"


def test_a_connection_after_its_session(bench):
    """A connection that the client keeps after its session has ended is closed."""
    client = bench.connect()
    bench.wait(6000)
    bench.wait(20_000)

    assert client.transport.ended == "aborted"


def test_reaping(bench):
    """Once a minute, emptied containers and old TTL znodes go, each under its own zxid."""
    client = bench.connect(timeout=40_000)
    bench.ask(client, 19, new("/box", flags=4))
    bench.ask(client, 1, new("/box/one"))
    bench.ask(client, 2, txt("/box/one") + i32(-1))
    bench.ask(client, 21, new("/short", flags=5) + i64(100))
    bench.ask(client, 106, txt("/") + i32(1))
    before = bench.core.store.zxid
    bench.wait(30_000)
    kept = "/box" in bench.core.store.tree
    bench.ask(client, 11, xid=-2)
    bench.wait(30_000)
    events = [frame[16:20] for frame in client.transport.frames if frame[:4] == i32(-1)]

    assert kept
    assert bench.core.store.zxid == before + 2
    assert events == [i32(2), i32(2)]


def test_a_client_from_the_future(bench):
    """A client that has seen later zxids is refused, because this server has lost data."""
    client = ClientConnection(RecordedFrames(), "127.0.0.1", 1)
    with pytest.raises(Malformed):
        bench.core.receive(client, i32(0) + i64(99) + i32(1) + i64(0) + buf(b""), 0)


def test_old_clients(bench):
    """A request without the read-only flag gets an answer without it."""
    for flag, length in ((b"", 36), (b"\0", 37)):
        client = ClientConnection(RecordedFrames(), "127.0.0.1", 1)
        request = i32(0) + i64(0) + i32(1) + i64(0) + buf(PASSWORD) + flag
        bench.core.receive(client, request, bench.now)

        assert [len(frame) for frame in client.transport.frames] == [length]


def test_unreadable_znodes_send_no_events(bench):
    """A client that may not read a znode receives no event, and its watch is used up."""
    ann, bob = bench.connect(), bench.connect()
    bench.ask(ann, 100, i32(0) + txt("digest") + buf(b"ann:x"), xid=-4)
    bench.ask(bob, 3, txt("/secret") + b"\1")
    bench.ask(ann, 1, new("/secret", acl=[(31, "auth", "")]))

    assert not [frame for frame in bob.transport.frames if frame[:4] == i32(-1)]
    assert len(bench.core.store.watches) == 0


def test_a_list_of_children_is_the_parents(bench):
    """A watch on children needs the parent's permission, whatever the child's ACL."""
    ann, bob = bench.connect(), bench.connect()
    bench.ask(ann, 100, i32(0) + txt("digest") + buf(b"ann:x"), xid=-4)
    bench.ask(bob, 8, txt("/") + b"\1")
    bench.ask(ann, 1, new("/secret", acl=[(31, "auth", "")]))

    assert [frame[16:20] for frame in bob.transport.frames if frame[:4] == i32(-1)] == [i32(4)]


def test_counters_survive_connections(bench):
    """Packets of closed connections stay counted."""
    client = bench.connect()
    bench.ask(client, 11, xid=-2)
    counted = (bench.core.received, bench.core.sent)
    bench.core.remove_client(client)

    assert counted == (2, 2) == (bench.core.received, bench.core.sent)


def test_a_new_connection_has_ten_seconds(bench):
    """Also if it begins just before connections are closed."""
    bench.wait(9_980)
    client = ClientConnection(RecordedFrames(), "127.0.0.1", 1)
    bench.core.add_client(client)
    bench.wait(10_000)

    assert client.transport.ended is None


@pytest.mark.parametrize("flavour", ["keeper", "raftkeeper", "zetcd"])
def test_a_request_that_is_cut_off(flavour):
    """Unlike ZooKeeper, the others close the connection."""
    bench = Bench(FLAVOURS[flavour])
    client = bench.connect()

    assert bench.ask(client, 4, b"\0\0") == -5
    assert client.transport.ended == "closed"


def test_a_watch_of_another_client_does_not_count_for_keeper():
    """Unlike ZooKeeper until 3.9, it asks who watches."""
    bench = Bench(FLAVOURS["keeper"])
    watching, asking = bench.connect(), bench.connect()
    bench.ask(watching, 106, txt("/watched") + i32(0))

    asked = [bench.ask(client, 17, txt("/watched") + i32(3)) for client in (watching, asking)]
    assert asked == [0, -121]
