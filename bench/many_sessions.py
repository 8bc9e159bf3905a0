"""Many cheap sessions: sockets that speak just enough ZooKeeper to join a queue.

A client library with its threads for each of fifty thousand contenders would need a larger machine
than the server. A session whose socket is closed lives on until it expires.
"""

import socket
import struct
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count, islice

CONNECT = struct.Struct("!iqiqi16sb")
TIMEOUT_MS = 3_600_000  # without pings; longer than any measurement
CREATE, DELETE, EXISTS, MULTI, EPHEMERAL = 1, 2, 3, 14, 1
OPEN_ACL = struct.pack("!iii5si6s", 1, 31, 5, b"world", 6, b"anyone")  # may do everything
ITEM, LAST_ITEM = struct.pack("!ibi", CREATE, 0, -1), struct.pack("!ibi", -1, 1, -1)  # of a multi
MULTIS_AHEAD = 4
AT_ONCE = 40  # connections; the server's backlog is fifty


class Contender:
    """One session with at most one place in a queue."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._send(CONNECT.pack(0, 0, TIMEOUT_MS, 0, 16, bytes(16), 0))
        self._sent = 0
        self.place = ""

    def queue(self, path: str, label: bytes = b"worker") -> None:
        """Create a node; do not wait for the answer."""
        self.place = path
        self._ask(CREATE, _text(path), _text(label), OPEN_ACL, struct.pack("!i", EPHEMERAL))

    def watch(self, path: str) -> None:
        """Watch a node until it is deleted; do not wait for the answer."""
        self._ask(EXISTS, _text(path), b"\x01")

    def create(self, paths: Sequence[str], content: bytes) -> None:
        """Create persistent nodes in one transaction; do not wait for the answer."""
        rest = _text(content) + OPEN_ACL + bytes(4)
        self._ask(MULTI, *(ITEM + _text(path) + rest for path in paths), LAST_ITEM)

    def leave(self) -> None:
        """Delete the node."""
        self._ask(DELETE, _text(self.place), struct.pack("!i", -1))
        self.place = ""

    def answers(self, count: int) -> None:
        """Wait for this many answers, including the one to the connection."""
        for _ in range(count):
            self._read(struct.unpack("!i", self._read(4))[0])

    def drain(self) -> None:
        """Discard everything received so far."""
        with suppress(BlockingIOError):
            while self._socket.recv(65536, socket.MSG_DONTWAIT):
                pass

    def vanish(self) -> None:
        """Close the socket; the session stays."""
        self._socket.close()

    def _ask(self, kind: int, *parts: bytes) -> None:
        self._sent += 1
        self._send(b"".join((struct.pack("!ii", self._sent, kind), *parts)))

    def _send(self, payload: bytes) -> None:
        self._socket.sendall(struct.pack("!i", len(payload)) + payload)

    def _read(self, count: int) -> bytes:
        read = b""
        while len(read) < count:
            more = self._socket.recv(count - len(read))
            assert more, "the server closed the connection"
            read += more
        return read


def create_many(address: str, paths: Iterable[str], content: bytes) -> None:
    """Create persistent nodes, a million in half a minute; parents come before their children."""
    contender = Contender(address)
    contender.answers(1)
    rest, under_way = iter(paths), 0
    while some := [*islice(rest, 1_000)]:
        contender.create(some, content)
        under_way += 1
        if under_way > MULTIS_AHEAD:
            contender.answers(1)
            under_way -= 1
    contender.answers(under_way)
    contender.vanish()


def queue_up(address: str, paths: Iterable[str]) -> None:
    """Create each of these nodes in a session of its own, which lasts until it expires."""
    for several in _several(paths):
        crowd = [Contender(address) for _ in several]
        for number, (contender, path) in enumerate(zip(crowd, several, strict=True)):
            contender.queue(path, b"worker-%d" % number)
        for contender in crowd:
            contender.answers(2)
            contender.vanish()


@contextmanager
def churn(address: str, locks: Sequence[str], per_second: int) -> Iterator[list[int]]:
    """Let sessions queue and leave a fifth of a second later; count the changes."""
    made, over = [0], threading.Event()
    crowd = list(connected(address, per_second // 10))
    thread = threading.Thread(target=_come_and_go, args=(crowd, locks, per_second, made, over))
    thread.start()
    try:
        yield made
    finally:
        over.set()
        thread.join()


def connected(address: str, count: int) -> Iterator[Contender]:
    """Open this many sessions, no more at once than the server accepts."""
    for begin in range(0, count, AT_ONCE):
        several = [Contender(address) for _ in range(begin, min(begin + AT_ONCE, count))]
        for contender in several:
            contender.answers(1)
        yield from several


def _come_and_go(
    crowd: Sequence[Contender],
    locks: Sequence[str],
    per_second: int,
    made: list[int],
    over: threading.Event,
) -> None:
    begun = time.perf_counter()
    for turn in count():
        if over.is_set() and turn % (2 * len(crowd)) == 0:
            break
        _take_turn(crowd[turn % len(crowd)], locks[turn % len(locks)], turn)
        made[0] = turn + 1
        time.sleep(max(0.0, begun + turn / per_second - time.perf_counter()))
    time.sleep(0.2)
    for contender in crowd:
        contender.vanish()


def _take_turn(contender: Contender, lock: str, turn: int) -> None:
    if contender.place:
        contender.leave()
    else:
        contender.queue(f"{lock}/{member(100_000 + turn)}")
    contender.drain()


def member(number: int) -> str:
    """The name of a node as kazoo writes it."""
    return f"{number:032x}__lock__{number:010d}"


def _several(paths: Iterable[str]) -> Iterator[Sequence[str]]:
    several: list[str] = []
    for path in paths:
        several.append(path)
        if len(several) == AT_ONCE:
            yield several
            several = []
    yield several


def _text(text: str | bytes) -> bytes:
    data = text.encode() if isinstance(text, str) else text
    return struct.pack("!i", len(data)) + data
