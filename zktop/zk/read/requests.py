"""The requests that zktop sends, and a check of the private names of kazoo that zktop uses.

kazoo has no persistent watches and no batched reads, and it registers a callback for each one-shot
watch. These request classes add both and need no callbacks. An answer stays bytes until the
event loop decodes it, because kazoo's own thread must remain free to answer the server's pings.
"""

import struct
from collections.abc import Iterable
from typing import Any, ClassVar, Final

import msgspec
from kazoo.client import KazooClient
from kazoo.protocol.connection import ConnectionHandler
from kazoo.protocol.serialization import write_string
from kazoo.version import __version__ as kazoo_version

from zktop.errors import ZktopError
from zktop.model.facts import Stat

ERROR: Final = -1
GET_DATA: Final = 4
GET_CHILDREN: Final = 8

NO_NODE: Final = -101
NO_AUTH: Final = -102

Payload = tuple[bytes, int]  # an answer, and the offset of its body
Read = tuple[bytes | None, Stat]
Names = tuple[str, ...]

_INT = struct.Struct("!i")
STAT: Final = struct.Struct("!qqq8xiiiQiiq")  # without mtime
_CONTAINER: Final = 1 << 63  # the owner that Keeper gives a container. ZooKeeper gives it none.
_HEADER = struct.Struct("!iBi")
ITEM: Final = struct.Struct("!iBii")  # header, and the first number of the body
_EVENT = struct.Struct("!ii")
_REPLY = struct.Struct("!iqi")
MULTI_END: Final = _HEADER.pack(-1, 1, -1)

_PRIVATE_METHODS = {
    KazooClient: {"_call": ["self", "request", "async_object"]},
    ConnectionHandler: {
        "_submit": ["self", "request", "timeout", "xid"],
        "_read_header": ["self", "timeout"],
        "_read_watch_event": ["self", "buffer", "offset"],
    },
}
_PRIVATE_ATTRIBUTES = {KazooClient: "_connection", ConnectionHandler: "_socket"}


def check_kazoo() -> None:
    """Refuse a kazoo that lacks a private name that zktop uses."""
    for owner, methods in _PRIVATE_METHODS.items():
        for name, expected in methods.items():
            code = getattr(getattr(owner, name, None), "__code__", None)
            if code is None or [*code.co_varnames[: code.co_argcount]] != expected:
                raise _unsupported(f"{owner.__name__}.{name}({', '.join(expected)})")
    for owner, name in _PRIVATE_ATTRIBUTES.items():
        if name not in owner.__init__.__code__.co_names:
            raise _unsupported(f"{owner.__name__}.{name}")


def _unsupported(missing: str) -> ZktopError:
    return ZktopError(
        f"kazoo {kazoo_version} has no {missing} that zktop relies on: install kazoo 2.11."
    )


class _PathRequest(msgspec.Struct, frozen=True, gc=False):
    """A request with a path and a watch flag, whose answer is kept as bytes."""

    path: str
    watch: bool = False
    type: ClassVar[int]

    def serialize(self) -> bytes:
        return _encode_path(self.path) + (b"\1" if self.watch else b"\0")

    @staticmethod
    def deserialize(answer: bytes, offset: int) -> Payload:
        return answer, offset


class ListChildren(_PathRequest, frozen=True):
    """Lists children, with the parent's Stat. With `watch`: one event on a change."""

    type = 12


class GetData(_PathRequest, frozen=True):
    """Reads data and Stat."""

    type = GET_DATA


class Exists(_PathRequest, frozen=True):
    """Reads the Stat. With `watch`: one event when the znode is created, changed or deleted."""

    type = 3


class Sync(_PathRequest, frozen=True):
    """Makes the server catch up with the leader."""

    type = 9

    def serialize(self) -> bytes:
        return _encode_path(self.path)


class AddWatch(_PathRequest, frozen=True):
    """Adds a persistent recursive watch, which sends an event per change (3.6 and later)."""

    type = 106

    def serialize(self) -> bytes:
        """Encode the path and the mode (1 is recursive)."""
        return _encode_path(self.path) + _INT.pack(1)


class RemoveWatches(_PathRequest, frozen=True):
    """Removes all our watches from one path (3.5 and later)."""

    type = 18

    def serialize(self) -> bytes:
        """Encode the path and the kind (3 is any)."""
        return _encode_path(self.path) + _INT.pack(3)


class MultiRead:
    """Many reads without watches in one request, each with its own result (3.6 and later)."""

    type = 22

    def __init__(self, items: Iterable[bytes]) -> None:
        self._written = b"".join([*items, MULTI_END])

    def __len__(self) -> int:
        """The size on the wire, in bytes."""
        return len(self._written)

    def serialize(self) -> bytes:
        return self._written

    @staticmethod
    def deserialize(answer: bytes, offset: int) -> Payload:
        """Keep the answer as bytes."""
        return answer, offset


def encode_item(operation: int, path: str) -> bytes:
    """Encode a GET_DATA or GET_CHILDREN item: header, path, and no watch."""
    name = path.encode("utf-8")
    return ITEM.pack(operation, 0, -1, len(name)) + name + b"\0"


def encode_siblings(operation: int, parent: str, names: Iterable[str]) -> bytes:
    """Encode an item for each of these children. Names of the same length share a header."""
    prefix, head, size = parent.encode("utf-8"), b"", -1
    parts: list[bytes] = []
    for name in names:
        written = name.encode("utf-8")
        if len(written) != size:
            size = len(written)
            head = ITEM.pack(operation, 0, -1, len(prefix) + size) + prefix
        parts.append(head + written + b"\0")
    return b"".join(parts)


def decode_multi(payload: Payload) -> list[Any]:
    """Decode a MultiRead: data with Stat, names, or an error code for each item.

    ZooKeeper marks an error with operation -1 and repeats the code in the body; ClickHouse Keeper
    has it in the header alone, without a body.
    """
    answer, offset = payload
    results: list[Any] = []
    unpack, append = ITEM.unpack_from, results.append
    last = len(answer) - len(MULTI_END)
    while offset < last:
        operation, _, error, number = unpack(answer, offset)
        offset += 13
        if error and operation != ERROR:
            append(error)
            offset -= 4
        elif operation == GET_DATA:
            end = offset + number if number > 0 else offset
            append(((None if number < 0 else answer[offset:end]), stat_at(answer, end)))
            offset = end + STAT.size
        elif operation == GET_CHILDREN and number == 0:
            append(())
        elif operation == GET_CHILDREN:
            names, offset = _decode_names(answer, offset, number)
            append(names)
        else:
            append(number)
    return results


def decode_children(payload: Payload) -> tuple[Names, Stat]:
    answer, offset = payload
    names, offset = _decode_names(answer, offset + 4, *_INT.unpack_from(answer, offset))
    return names, stat_at(answer, offset)


def decode_data(payload: Payload) -> Read:
    answer, offset = payload
    (length,) = _INT.unpack_from(answer, offset)
    end = offset + 4 + max(length, 0)
    return (None if length < 0 else answer[offset + 4 : end]), stat_at(answer, end)


def decode_stat(payload: Payload) -> Stat:
    return stat_at(*payload)


def stat_at(answer: bytes, offset: int) -> Stat:
    """Decode a Stat. Most znodes never change: their three zxids are one shared object."""
    fields = STAT.unpack_from(answer, offset)
    czxid, mzxid, ctime, version, cversion, aversion, owner, length, children, pzxid = fields
    if czxid == mzxid == pzxid:
        mzxid = pzxid = czxid
    if owner == _CONTAINER:
        owner = 0
    return Stat(czxid, mzxid, ctime, version, cversion, aversion, owner, length, children, pzxid)


def decode_event(message: bytes, offset: int) -> tuple[int, str, int]:
    """Decode a watch event: type, full path and zxid (-1 before server 3.9)."""
    kind, _ = _EVENT.unpack_from(message, offset)
    (length,) = _INT.unpack_from(message, offset + 8)
    path = message[offset + 12 : offset + 12 + length].decode("utf-8", "replace")
    return kind, path, _REPLY.unpack_from(message, 0)[1]


def _decode_names(answer: bytes, offset: int, count: int) -> tuple[Names, int]:
    """Decode a list of names. Return it and the offset of its end."""
    names: list[str] = []
    for _ in range(count):
        begin = offset + 4
        offset = begin + _INT.unpack_from(answer, offset)[0]
        names.append(answer[begin:offset].decode("utf-8", "replace"))
    return tuple(names), offset


def _encode_path(path: str) -> bytes:
    written: Any = write_string(path)
    return bytes(written)
