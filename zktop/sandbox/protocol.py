"""The client protocol of ZooKeeper: its wire format (Jute), constants, and rules for paths.

Jute numbers are big-endian, and strings and lists begin with their lengths.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum, IntFlag
from struct import Struct
from typing import NamedTuple, TypeVar

MAX_FRAME_BYTES = 0xFFFFF  # the default of jute.maxbuffer
MAX_ANSWER_BYTES = 16 * 1024 * 1024  # because a small request can have a large answer

_INT = Struct(">i")
_LONG = Struct(">q")
_REPLY = Struct(">iiqi")
_MULTI = Struct(">i?i")
_CONNECTED = Struct(">iiq")
_STAT = Struct(">qqqqiiiqiiq")

NOTIFICATION_XID = -1
NO_ZXID = -1
CONNECTED_STATE = 3

Item = TypeVar("Item")


class Malformed(Exception):  # noqa: N818 - names what was received
    """The received bytes do not follow the protocol."""


class Acl(NamedTuple):
    """One entry of an access list."""

    perms: int
    scheme: str | None
    id: str | None


class NodeStat(NamedTuple):
    """The Stat of a znode, in the order of the wire format."""

    czxid: int
    mzxid: int
    ctime: int
    mtime: int
    version: int
    cversion: int
    aversion: int
    ephemeral_owner: int
    data_length: int
    num_children: int
    pzxid: int


class FrameReader:
    """Reads values from the front of a received frame.

    >>> reader = FrameReader(pack_string("/a") + pack_int(7))
    >>> reader.string(), reader.int32(), reader.rest
    ('/a', 7, 0)
    """

    __slots__ = ("_at", "_frame")

    def __init__(self, frame: bytes) -> None:
        self._frame = frame
        self._at = 0

    @property
    def rest(self) -> int:
        """The number of unread bytes."""
        return len(self._frame) - self._at

    def _take(self, length: int) -> bytes:
        start, self._at = self._at, self._at + length
        if length < 0 or self._at > len(self._frame):
            raise Malformed(f"{length} bytes wanted at {start} of {len(self._frame)}")
        return self._frame[start : self._at]

    def int32(self) -> int:
        return int(_INT.unpack(self._take(4))[0])

    def int64(self) -> int:
        return int(_LONG.unpack(self._take(8))[0])

    def flag(self) -> bool:
        return self._take(1) != b"\0"

    def buffer(self) -> bytes | None:
        """Read bytes. Return None if they are absent, which differs from empty."""
        length = self.int32()
        return None if length == -1 else self._take(length)

    def string(self) -> str | None:
        """Read text. Invalid UTF-8 becomes U+FFFD as in Java, and such a path is refused later."""
        raw = self.buffer()
        return None if raw is None else raw.decode("utf-8", "replace")

    def vector(self, item: Callable[[], Item]) -> list[Item]:
        """Read a list. An absent list is empty."""
        length = self.int32()
        if length > self.rest:
            raise Malformed(f"a list of {length} items in {self.rest} bytes")
        return [item() for _ in range(length)]

    def acl(self) -> Acl:
        return Acl(self.int32(), self.string(), self.string())


def pack_int(value: int) -> bytes:
    return _INT.pack(value)


def pack_buffer(value: bytes | None) -> bytes:
    """Pack bytes. None means absent."""
    return _INT.pack(-1) if value is None else _INT.pack(len(value)) + value


def pack_string(value: str | None) -> bytes:
    """Pack text. None means absent."""
    return pack_buffer(None if value is None else value.encode())


def pack_vector(items: Sequence[bytes]) -> bytes:
    return _INT.pack(len(items)) + b"".join(items)


def pack_strings(values: Iterable[str]) -> bytes:
    return pack_vector([pack_string(value) for value in values])


def pack_acl(acl: Acl) -> bytes:
    return _INT.pack(acl.perms) + pack_string(acl.scheme) + pack_string(acl.id)


def pack_stat(stat: NodeStat) -> bytes:
    return _STAT.pack(*stat)


def pack_multi_header(op: int, *, done: bool = False, err: int = -1) -> bytes:
    """Pack the header of one part of a multi, or of its end."""
    return _MULTI.pack(op, done, err)


def frame(body: bytes) -> bytes:
    """The bytes on the wire: the length and the body."""
    return _INT.pack(len(body)) + body


def reply(xid: int, zxid: int, err: int, body: bytes = b"") -> bytes:
    """The frame that responds to a request."""
    return _REPLY.pack(16 + len(body), xid, zxid, err) + body


def notification(event: int, path: str) -> bytes:
    """The frame that reports a fired watch."""
    body = _INT.pack(event) + _INT.pack(CONNECTED_STATE) + pack_string(path)
    return reply(NOTIFICATION_XID, NO_ZXID, 0, body)


class ConnectRequest(NamedTuple):
    """The first frame of a connection. A session id of 0 asks for a new session."""

    protocol: int
    last_zxid: int
    timeout: int
    session: int
    password: bytes | None
    read_only: bool | None

    @classmethod
    def read(cls, reader: FrameReader) -> "ConnectRequest":
        protocol, zxid, timeout, session = (
            reader.int32(),
            reader.int64(),
            reader.int32(),
            reader.int64(),
        )
        password = reader.buffer()
        return cls(
            protocol, zxid, timeout, session, password, reader.flag() if reader.rest else None
        )

    def answer(
        self, timeout: int, session: int, password: bytes, *, sends_read_only_flag: bool = True
    ) -> bytes:
        """The response with the session, all zero if the session has expired.

        Clients before 3.4 sent no read-only flag and cannot read one.
        """
        flag = b"" if self.read_only is None or not sends_read_only_flag else b"\0"
        return frame(_CONNECTED.pack(0, timeout, session) + pack_buffer(password) + flag)


class Op(IntEnum):
    """The operation of a request."""

    CREATE = 1
    DELETE = 2
    EXISTS = 3
    GET_DATA = 4
    SET_DATA = 5
    GET_ACL = 6
    SET_ACL = 7
    GET_CHILDREN = 8
    SYNC = 9
    PING = 11
    GET_CHILDREN2 = 12
    CHECK = 13
    MULTI = 14
    CREATE2 = 15
    RECONFIG = 16
    CHECK_WATCHES = 17
    REMOVE_WATCHES = 18
    CREATE_CONTAINER = 19
    CREATE_TTL = 21
    MULTI_READ = 22
    AUTH = 100
    SET_WATCHES = 101
    GET_EPHEMERALS = 103
    GET_ALL_CHILDREN_NUMBER = 104
    SET_WATCHES2 = 105
    ADD_WATCH = 106
    WHO_AM_I = 107
    CLOSE_SESSION = -11
    ERROR = -1


class ErrorCode(IntEnum):
    """Why a request was refused."""

    OK = 0
    RUNTIME_INCONSISTENCY = -2
    MARSHALLING_ERROR = -5
    UNIMPLEMENTED = -6
    BAD_ARGUMENTS = -8
    NO_NODE = -101
    NO_AUTH = -102
    BAD_VERSION = -103
    NO_CHILDREN_FOR_EPHEMERALS = -108
    NODE_EXISTS = -110
    NOT_EMPTY = -111
    INVALID_ACL = -114
    AUTH_FAILED = -115
    NO_WATCHER = -121
    RECONFIG_DISABLED = -123


class EventType(IntEnum):
    """The event of a notification."""

    CREATED = 1
    DELETED = 2
    CHANGED = 3
    CHILDREN = 4


class Perm(IntFlag):
    """The permissions of an access list."""

    READ = 1
    WRITE = 2
    CREATE = 4
    DELETE = 8
    ADMIN = 16


class Refused(Exception):  # noqa: N818 - an answer of the protocol, not a failure
    """The response to a request is this error code. Nothing was changed."""

    def __init__(self, code: ErrorCode) -> None:
        super().__init__(code.name)
        self.code = code


# Java tests UTF-16 units, so all characters beyond the basic plane are refused as surrogates.
_INVALID = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\U0010ffff]|//|/\.{1,2}(/|$)|/$")


def is_valid(path: str) -> bool:
    """Whether a znode may have this path.

    >>> is_valid("/locks/a-0000000001"), is_valid("/locks/"), is_valid("/a/../b"), is_valid("/")
    (True, False, False, True)
    """
    return path == "/" or (path.startswith("/") and not _INVALID.search(path))


def validate(path: str) -> None:
    """Refuse a path that is invalid for a znode."""
    if not is_valid(path):
        raise Refused(ErrorCode.BAD_ARGUMENTS)


def split(path: str) -> tuple[str, str]:
    """Parent and name. The parent of a top-level znode is the empty string.

    >>> split("/locks/a"), split("/locks")
    (('/locks', 'a'), ('', 'locks'))
    """
    parent, slash, name = path.rpartition("/")
    if not slash or "\0" in path:
        raise Refused(ErrorCode.BAD_ARGUMENTS)
    return parent, name
