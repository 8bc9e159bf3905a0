"""Writes a transaction log of busy locks, as servers of 3.6 and later do: with a digest each.

Kazoo clients queue for locks and release them; from time to time one closes its session and
connects again. Every transaction follows from the seed.
"""

import struct
import zlib
from collections import deque
from collections.abc import Iterator
from itertools import chain, count, islice
from pathlib import Path
from random import Random
from typing import Final

from zktop.txnlog.transactions import CLOSE_SESSION, OPEN_SESSION, decode
from zktop.txnlog.znode_tree import ZnodeTree

LOCKS: Final = 200
CLIENTS: Final = 300
QUEUE: Final = 4  # contenders of a lock, on average
RECONNECT: Final = 2_000  # transactions between two new sessions
BEGIN_MS: Final = 1_769_860_800_000  # 2026-01-31T12:00:00Z
STEP_MS: Final = 2.5
TIMEOUT_MS: Final = 10_000
PADDING: Final = bytes(64 << 10)

CREATE, DELETE = 1, 2
_FILE_HEADER: Final = struct.pack(">4siq", b"ZKLG", 2, 0)
_HEADER: Final = struct.Struct(">QiQqi").pack
_ACL: Final = struct.pack(">ii", 1, 31) + b"\0\0\0\5world\0\0\0\6anyone"
_INT: Final = struct.Struct(">i").pack
_DIGEST: Final = struct.Struct(">iQ").pack
_FRAME: Final = struct.Struct(">QI").pack


def write_log(path: Path, transactions: int) -> None:
    """Write a log with this many transactions."""
    tree = ZnodeTree()
    with path.open("wb") as file:
        file.write(_FILE_HEADER)
        for zxid, (session, cxid, kind, body) in enumerate(_requests(transactions), 1):
            at = BEGIN_MS + int(zxid * STEP_MS)
            record = _HEADER(session, cxid, zxid, at, kind) + body
            tree.apply(decode(record))
            record += _DIGEST(2, tree.digest)
            file.write(_FRAME(zlib.adler32(record), len(record)) + record + b"B")
        file.write(PADDING)


class _Clients:
    """Clients with their sessions and request numbers."""

    def __init__(self) -> None:
        self.sessions = [0x1000_0000_0000_000 + number for number in range(CLIENTS)]
        self.cxids = [0] * CLIENTS
        self._newest = self.sessions[-1]

    def request(self, client: int, kind: int, body: bytes) -> tuple[int, int, int, bytes]:
        """The client's next request."""
        self.cxids[client] += 3  # a listing and a watch come before each change
        return self.sessions[client], self.cxids[client], kind, body

    def opened(self, client: int) -> tuple[int, int, int, bytes]:
        """A new session of a client."""
        return self.sessions[client], 0, OPEN_SESSION, _INT(TIMEOUT_MS)

    def renew(self, client: int) -> None:
        """Give the client another session."""
        self._newest += 1
        self.sessions[client], self.cxids[client] = self._newest, 0


def _requests(number: int) -> Iterator[tuple[int, int, int, bytes]]:
    """Session, request number, type and body of each transaction."""
    clients = _Clients()
    return islice(chain(_beginning(clients), _churn(clients)), number)


def _beginning(clients: _Clients) -> Iterator[tuple[int, int, int, bytes]]:
    for client in range(CLIENTS):
        yield clients.opened(client)
    yield clients.request(0, CREATE, _created(b"/locks", b"", 1, is_ephemeral=False))
    for lock in range(LOCKS):
        yield clients.request(0, CREATE, _created(_path(lock), b"", lock + 1, is_ephemeral=False))


def _churn(clients: _Clients) -> Iterator[tuple[int, int, int, bytes]]:
    random, free = Random(18), deque(range(CLIENTS))
    queues: list[deque[tuple[int, bytes]]] = [deque() for _ in range(LOCKS)]
    creations = [0] * LOCKS
    for turn in count(1):
        lock = random.randrange(LOCKS)
        queue = queues[lock]
        if turn % RECONNECT == 0 and free:
            client = free.popleft()
            yield clients.request(client, CLOSE_SESSION, _INT(0))
            clients.renew(client)
            yield clients.opened(client)
            free.append(client)
        elif queue and (len(queue) > random.randrange(2 * QUEUE) or not free):
            client, node = queue.popleft()
            yield clients.request(client, DELETE, _text(node))
            free.append(client)
        elif free:
            client = free.popleft()
            name = f"{random.getrandbits(128):032x}__lock__{creations[lock]:010d}"
            node, data = _path(lock) + b"/" + name.encode(), f"app-{client:03d}.prod:7001"
            creations[lock] += 1
            yield clients.request(client, CREATE, _created(node, data.encode(), creations[lock]))
            queue.append((client, node))


def _path(lock: int) -> bytes:
    return f"/locks/customer-{lock:04d}".encode()


def _text(value: bytes) -> bytes:
    return _INT(len(value)) + value


def _created(path: bytes, data: bytes, cversion: int, *, is_ephemeral: bool = True) -> bytes:
    return _text(path) + _text(data) + _ACL + bytes([is_ephemeral]) + _INT(cversion)
