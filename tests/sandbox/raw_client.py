"""A client that sends and receives raw frames of the protocol."""

import socket
import struct
from dataclasses import dataclass, field

WORLD = [(31, "world", "anyone")]
TIMEOUT_S = 30.0
CHILDREN, DATA, ANY = 1, 2, 3
PERSISTENT, RECURSIVE = 0, 1
ANYONE_READS = [(1, "world", "anyone")]
PASSWORD = bytes(16)


def i32(value: int) -> bytes:
    """A number of four bytes."""
    return struct.pack(">i", value)


def i64(value: int) -> bytes:
    """A number of eight bytes."""
    return struct.pack(">q", value)


def buf(value: bytes | None) -> bytes:
    """Bytes, or None."""
    return i32(-1) if value is None else i32(len(value)) + value


def txt(value: str | None) -> bytes:
    """Text, or None."""
    return buf(None if value is None else value.encode())


def texts(values: list[str]) -> bytes:
    """A list of texts."""
    return i32(len(values)) + b"".join(map(txt, values))


def acls(lines: list[tuple[int, str, str]]) -> bytes:
    """An access list."""
    return i32(len(lines)) + b"".join(i32(p) + txt(s) + txt(i) for p, s, i in lines)


def new(path, data=b"x", acl=WORLD, flags=0):
    """A create."""
    return txt(path) + buf(data) + acls(acl) + i32(flags)


def multi(*ops: tuple[int, bytes]) -> bytes:
    """Several requests in one."""
    body = b"".join(i32(op) + b"\0" + i32(-1) + request for op, request in ops)
    return body + i32(-1) + b"\1" + i32(-1)


def path_of(path, *, watch=False):
    """A read."""
    return txt(path) + bytes([watch])


def versioned(path, version=-1):
    """A delete or a check."""
    return txt(path) + i32(version)


def written(path, data=b"new", version=-1):
    """A set."""
    return txt(path) + buf(data) + i32(version)


def secured(path, lines, version=-1):
    """A change of the access list."""
    return txt(path) + acls(lines) + i32(version)


def proof(scheme, credentials):
    """An auth packet."""
    return i32(0) + txt(scheme) + buf(credentials)


@dataclass(frozen=True)
class Reply:
    """One frame that came: an answer to a request, or a notification (xid -1)."""

    xid: int
    zxid: int
    err: int
    body: bytes = field(repr=False)


class RawClient:
    """One connection; every call sends one frame."""

    def __init__(self, port, *, session=0, password=PASSWORD, timeout_ms=10_000, zxid=0):
        self.line = socket.create_connection(("127.0.0.1", port), TIMEOUT_S)
        request = i32(0) + i64(zxid) + i32(timeout_ms) + i64(session) + buf(password) + b"\0"
        self.send_frame(request)
        answer = self.read_frame()
        if answer is None:
            raise ConnectionError("refused")
        self.timeout_ms, self.session = struct.unpack_from(">iq", answer, 4)
        self.password = answer[20:36]
        self.xid = 0

    def __enter__(self):
        """Be closed at the end of the block."""
        return self

    def __exit__(self, *_exc):
        """Close the connection, not the session."""
        self.line.close()

    def send_frame(self, body: bytes) -> None:
        """Send any bytes as one frame."""
        self.line.sendall(i32(len(body)) + body)

    def read_frame(self) -> bytes | None:
        """The next frame, None when the server has closed the connection."""
        head = self._read(4)
        return None if head is None else self._read(struct.unpack(">i", head)[0])

    def _read(self, length: int) -> bytes | None:
        got = b""
        while len(got) < length:
            try:
                more = self.line.recv(length - len(got))
            except ConnectionResetError:
                return None
            if not more:
                return None
            got += more
        return got

    def send(self, op: int, body: bytes = b"", xid: int | None = None) -> int:
        """Send one request; its xid."""
        if xid is None:
            self.xid += 1
            xid = self.xid
        self.send_frame(i32(xid) + i32(op) + body)
        return xid

    def read(self) -> Reply | None:
        """The next reply, None when the connection is closed."""
        frame = self.read_frame()
        return None if frame is None else Reply(*struct.unpack_from(">iqi", frame), frame[16:])

    def ask(self, op: int, body: bytes = b"", xid: int | None = None) -> list[Reply | None]:
        """All frames up to the answer, notifications before it included."""
        xid = self.send(op, body, xid)
        came = [self.read()]
        while came[-1] is not None and came[-1].xid != xid:
            came.append(self.read())
        return came

    def close_session(self) -> None:
        """End the session with a request."""
        self.ask(-11)
        self.line.close()
