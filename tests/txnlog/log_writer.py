"""Writes transaction logs and snapshots as ZooKeeper does, for tests that need damaged ones."""

import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from types import MappingProxyType

OPEN_ACL = struct.pack(">ii", 1, 31)
HEADER = struct.pack(">4siq", b"ZKLG", 2, 0)
T0 = 1_769_860_800_000  # 2026-01-31T12:00:00Z
ANN, BOB = 0x1000_0000_0000_001, 0x1000_0000_0000_002


def text(value: str | bytes) -> bytes:
    """A text or bytes with its length."""
    data = value if isinstance(value, bytes) else value.encode()
    return struct.pack(">i", len(data)) + data


def acl() -> bytes:
    """The access list that permits everything."""
    return OPEN_ACL + text("world") + text("anyone")


def create(path: str, cversion: int, data: bytes = b"", *, ephemeral: bool = True) -> bytes:
    """The body of type 1."""
    flags = struct.pack(">?i", ephemeral, cversion)
    return text(path) + text(data) + acl() + flags


def delete(path: str) -> bytes:
    """The body of type 2."""
    return text(path)


def set_data(path: str, data: bytes, version: int) -> bytes:
    """The body of type 5."""
    return text(path) + text(data) + struct.pack(">i", version)


def multi(*parts: tuple[int, bytes]) -> bytes:
    """The body of type 14."""
    return struct.pack(">i", len(parts)) + b"".join(
        struct.pack(">i", kind) + text(body) for kind, body in parts
    )


def paths(*names: str) -> bytes:
    """The list of a closed session."""
    return struct.pack(">i", len(names)) + b"".join(map(text, names))


def record(body: bytes, digest: int | None = None) -> bytes:
    """A whole record: checksum, length, body, B."""
    if digest is not None:
        body += struct.pack(">iQ", 2, digest)
    return struct.pack(">QI", zlib.adler32(body), len(body)) + body + b"B"


class LogWriter:
    """A log that grows record by record; each takes the next zxid and 10 ms."""

    def __init__(self, first: int = 1, at: int = T0) -> None:
        self.records: list[bytes] = []
        self._zxids, self._at = count(first), at

    def add(
        self, session: int, kind: int, body: bytes = b"", cxid: int = 1, digest: int | None = None
    ) -> "LogWriter":
        """Add one transaction."""
        head = struct.pack(">QiQqi", session, cxid, next(self._zxids), self._at, kind)
        self.records.append(record(head + body, digest))
        return self.later(10)

    def later(self, ms: int) -> "LogWriter":
        """Let time pass."""
        self._at += ms
        return self

    def opened(self, session: int, timeout_ms: int = 4_000) -> "LogWriter":
        """Open a session."""
        return self.add(session, -10, struct.pack(">i", timeout_ms), cxid=0)

    def bytes(self, padding: int = 100) -> bytes:
        """The file."""
        return HEADER + b"".join(self.records) + bytes(padding)


def story() -> LogWriter:
    """Ann holds /locks/a, Bob waits for it; Ann releases it, Bob's session expires."""
    log = LogWriter().opened(ANN).opened(BOB)
    log.add(ANN, 1, create("/locks", 1, ephemeral=False))
    log.add(ANN, 1, create("/locks/a", 1, ephemeral=False))
    log.add(ANN, 1, create("/locks/a/lock-0000000000", 1, b"ann"))
    log.add(BOB, 1, create("/locks/a/lock-0000000001", 2, b"bob"))
    log.add(ANN, 2, delete("/locks/a/lock-0000000000"), cxid=2)
    return log.add(BOB, -11, paths("/locks/a/lock-0000000001"), cxid=0)


def snapshot(
    nodes: Mapping[str, tuple[int, bytes]],
    sessions: Iterable[tuple[int, int]] = (),
    tail: Sequence[bytes] = (),
    owners: Mapping[str, int] = MappingProxyType({}),
) -> bytes:
    """A snapshot of znodes (czxid, data), parents first; `tail` follows the first seal."""
    data = struct.pack(">4siq", b"ZKSN", 2, -1)
    known = list(sessions)
    data += struct.pack(">i", len(known)) + b"".join(struct.pack(">Qi", *one) for one in known)
    data += struct.pack(">iq", 1, 1) + acl()
    for path, (czxid, content) in nodes.items():
        owner = owners.get(path, 0)
        stat = struct.pack(">QQqqiiiQQ", czxid, czxid, T0, T0, 0, 0, 0, owner, czxid)
        data += text(path) + text(content) + struct.pack(">q", -1) + stat
    data += text("/")
    for part in (b"", *tail):
        data += part
        data += struct.pack(">Q", zlib.adler32(data)) + text("/")
    return data
