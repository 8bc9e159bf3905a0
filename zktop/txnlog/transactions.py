"""Decodes the records of a transaction log: which session changed what, and when.

ACLs are skipped: nothing needs them, and they may contain password hashes. Names may be any bytes.
Bytes that are not UTF-8 become surrogates.
"""

from collections.abc import Callable, Mapping
from struct import Struct, error
from typing import Final

import msgspec

from zktop.model.facts import Millis, Session

CONTAINER: Final = 0x8000_0000_0000_0000  # the owner of a container
_TTL: Final = 0xFF00_0000_0000_0000  # the top byte of the owner of a node with a time to live
_TTL_BITS: Final = 0xFF_FFFF_FFFF

_HEADER: Final = Struct(">QiQqi")
_HEADER_BYTES: Final = _HEADER.size
_INT: Final = Struct(">i").unpack_from
_TWO_INTS: Final = Struct(">ii").unpack_from
_LONG: Final = Struct(">q").unpack_from
_DIGEST: Final = Struct(">iQ")
_DIGEST_VERSION: Final = 2
_OPEN_ACL: Final = b"\0\0\0\1\0\0\0\x1f\0\0\0\5world\0\0\0\6anyone"

MULTI: Final = 14
OPEN_SESSION: Final = -10
CLOSE_SESSION: Final = -11
ERROR: Final = -1


class TransactionError(ValueError):
    """A record has a correct checksum, but its body cannot be read."""


class Create(msgspec.Struct, frozen=True, gc=False):
    """A new znode. `cversion` is its parent's new one, or -1 to increment that of the parent."""

    path: str
    data: bytes
    is_ephemeral: bool
    cversion: int
    owner: int = 0  # of containers and nodes with a time to live, which have no session


class Delete(msgspec.Struct, frozen=True, gc=False):
    path: str


class SetData(msgspec.Struct, frozen=True, gc=False):
    path: str
    data: bytes
    version: int


class SetAcl(msgspec.Struct, frozen=True, gc=False):
    path: str
    version: int


class OpenSession(msgspec.Struct, frozen=True, gc=False):
    timeout_ms: int


class CloseSession(msgspec.Struct, frozen=True, gc=False):
    """The end of a session. `paths` are the znodes deleted with it, None before 3.6."""

    paths: tuple[str, ...] | None


Operation = Create | Delete | SetData | SetAcl | OpenSession | CloseSession


class Transaction(msgspec.Struct, frozen=True, gc=False):
    """One record. All its operations took effect: the record of a refused request has none."""

    zxid: int
    at: Millis
    session: Session
    cxid: int  # 0 for a transaction of the server itself
    kind: int
    operations: tuple[Operation, ...]
    digest: int | None = None  # of the whole tree afterwards
    unknown: int | None = None  # a type in it that this zktop does not know


def decode(body: bytes) -> Transaction:
    """Decode one record. Raise TransactionError if its body cannot be read."""
    session, cxid, zxid, at, kind = _HEADER.unpack_from(body)
    read, unknown = _READERS.get(kind), None
    try:
        if read is not None:
            operation, end = read(body, _HEADER_BYTES)
            operations: tuple[Operation, ...] = (operation,)
        elif kind == MULTI:
            operations, end, unknown = _multi(body)
        else:
            unknown = None if kind in _WITHOUT_EFFECT else kind
            return Transaction(zxid, at, session, cxid, kind, (), None, unknown)
        digest = None
        if len(body) - end == _DIGEST.size:
            version, digest = _DIGEST.unpack_from(body, end)
            if version != _DIGEST_VERSION:
                digest = None
        return Transaction(zxid, at, session, cxid, kind, operations, digest, unknown)
    except (error, IndexError) as wrong:
        raise TransactionError(f"transaction {zxid:#x} of type {kind} cannot be read") from wrong


def _text(body: bytes, at: int) -> tuple[str, int]:
    data, at = _bytes(body, at)
    return data.decode("utf-8", "surrogateescape"), at


def _bytes(body: bytes, at: int) -> tuple[bytes, int]:
    start = at + 4
    end = start + _INT(body, at)[0]
    if end > len(body):
        raise IndexError
    return (body[start:end], end) if end > start else (b"", start)


def _skip_acl(body: bytes, at: int) -> int:
    if body.startswith(_OPEN_ACL, at):
        return at + len(_OPEN_ACL)
    (count,) = _INT(body, at)
    at += 4
    for _ in range(count):
        _, at = _bytes(body, at + 4)
        _, at = _bytes(body, at)
    return at


def _create(body: bytes, at: int) -> tuple[Operation, int]:
    """Read a create. It is the most frequent record, so its fields are read without calls."""
    (length,) = _INT(body, at)
    end_of_path = at + 4 + length
    (length,) = _INT(body, end_of_path)
    begin, end = end_of_path + 4, end_of_path + 4 + max(length, 0)
    path = body[at + 4 : end_of_path].decode("utf-8", "surrogateescape")
    data = body[begin:end]
    at = end + len(_OPEN_ACL) if body.startswith(_OPEN_ACL, end) else _skip_acl(body, end)
    is_ephemeral = body[at] != 0
    at += 1
    if at == len(body):  # before 3.4
        return Create(path, data, is_ephemeral, -1), at
    return Create(path, data, is_ephemeral, _INT(body, at)[0]), at + 4


def _create_container(body: bytes, at: int) -> tuple[Operation, int]:
    path, at = _text(body, at)
    data, at = _bytes(body, at)
    at = _skip_acl(body, at)
    return Create(path, data, False, _INT(body, at)[0], CONTAINER), at + 4  # noqa: FBT003  not ephemeral


def _create_with_ttl(body: bytes, at: int) -> tuple[Operation, int]:
    path, at = _text(body, at)
    data, at = _bytes(body, at)
    at = _skip_acl(body, at)
    (cversion,), (ttl,) = _INT(body, at), _LONG(body, at + 4)
    owner = _TTL | (ttl & _TTL_BITS)
    return Create(path, data, False, cversion, owner), at + 12  # noqa: FBT003  not ephemeral


def _delete(body: bytes, at: int) -> tuple[Operation, int]:
    path, at = _text(body, at)
    return Delete(path), at


def _set_data(body: bytes, at: int) -> tuple[Operation, int]:
    path, at = _text(body, at)
    data, at = _bytes(body, at)
    return SetData(path, data, _INT(body, at)[0]), at + 4


def _set_acl(body: bytes, at: int) -> tuple[Operation, int]:
    path, at = _text(body, at)
    at = _skip_acl(body, at)
    return SetAcl(path, _INT(body, at)[0]), at + 4


def _open_session(body: bytes, at: int) -> tuple[Operation, int]:
    return OpenSession(_INT(body, at)[0]), at + 4


def _close_session(body: bytes, at: int) -> tuple[Operation, int]:
    """Read the list of paths if there is one. Older servers write nothing, or only a digest."""
    try:
        paths, end = _paths(body, at)
    except (error, IndexError):
        return CloseSession(None), at
    if end not in (len(body), len(body) - _DIGEST.size):
        return CloseSession(None), at
    return CloseSession(paths), end


def _paths(body: bytes, at: int) -> tuple[tuple[str, ...], int]:
    (count,) = _INT(body, at)
    at, paths = at + 4, []
    for _ in range(count):
        path, at = _text(body, at)
        if not path.startswith("/"):
            raise IndexError
        paths.append(path)
    return tuple(paths), at


_Reader = Callable[[bytes, int], tuple[Operation, int]]
_READERS: Final[Mapping[int, _Reader]] = {
    1: _create,
    15: _create,
    19: _create_container,
    21: _create_with_ttl,
    2: _delete,
    20: _delete,
    5: _set_data,
    16: _set_data,
    7: _set_acl,
    OPEN_SESSION: _open_session,
    CLOSE_SESSION: _close_session,
}
_WITHOUT_EFFECT: Final = (ERROR, 13)  # a refused request, and the check of a version


def _multi(body: bytes) -> tuple[tuple[Operation, ...], int, int | None]:
    """Return the operations of a multi, where it ends, and an unknown type in it.

    There are no operations if one was refused.
    """
    (count,) = _INT(body, _HEADER_BYTES)
    at, operations, has_failed, unknown = _HEADER_BYTES + 4, [], False, None
    for _ in range(count):
        kind, length = _TWO_INTS(body, at)
        at += 8
        end = at + max(length, 0)
        if end > len(body):
            raise IndexError
        has_failed = has_failed or kind == ERROR
        read = _READERS.get(kind)
        if read is None:
            unknown = unknown if kind in _WITHOUT_EFFECT else kind
        elif not has_failed:
            operations.append(read(body[at:end], 0)[0])
        at = end
    return () if has_failed else tuple(operations), at, unknown


def head_of(body: bytes) -> tuple[int, int]:
    """Return the session and time of a record, which differ between ensembles."""
    session, _, _, at, _ = _HEADER.unpack_from(body)
    return session, at


def without_operations(body: bytes) -> Transaction:
    """Decode only the header of a record."""
    session, cxid, zxid, at, kind = _HEADER.unpack_from(body)
    return Transaction(zxid, at, session, cxid, kind, ())
