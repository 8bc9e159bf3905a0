"""Reads a snapshot: all sessions and znodes.

Servers write it while they work, so it contains every transaction up to the one in its name, and
some later ones. A seal is the checksum of all bytes before it.
"""

import zlib
from collections.abc import Iterator
from struct import Struct
from typing import Final

import msgspec

from zktop.byte_streams import ByteStream
from zktop.errors import DataFileError
from zktop.model.facts import Session

MAGIC: Final = b"ZKSN"
MAX_FIELD_BYTES: Final = 64 << 20
_CHUNK: Final = 1 << 20
_KNOWN_VERSION: Final = 2
_INT: Final = Struct(">i")
_LONG: Final = Struct(">Q")
_SESSION: Final = Struct(">Qi")
_AFTER_DATA: Final = Struct(">QQQqqiiiQQ")  # the ACL's key, and the Stat
_DIGEST: Final = Struct(">QiQ")
_DIGEST_VERSION: Final = 2
_SEAL_BYTES: Final = 8 + 4 + 1  # a checksum and the text "/"


class SnapshotZnode(msgspec.Struct, frozen=True, gc=False):
    """One znode of a snapshot, in the order of the file. The path of the root is empty."""

    path: str
    data: bytes
    czxid: int
    mzxid: int
    ctime: int
    mtime: int
    version: int
    cversion: int
    aversion: int
    owner: int
    pzxid: int


class SnapshotFile:
    """A snapshot as a stream. Iterate over `znodes`, then call `finish`."""

    def __init__(self, stream: ByteStream, name: str) -> None:
        """Read the sessions. Raise DataFileError if this is not a snapshot."""
        self._stream, self._name = stream, name
        self._block, self._base, self._at = b"", 0, 0
        self.last_zxid: int | None = None  # the last transaction in it, known after `finish`
        # The checksum of all bytes of the file before this position in the block.
        self._sum, self._summed = 1, 0
        begin = self._take(4)
        if begin != MAGIC:
            what = begin.hex(" ")
            raise DataFileError(f"{name} is not a ZooKeeper snapshot: it starts with {what}.")
        version = self._int()
        if version != _KNOWN_VERSION:
            raise DataFileError(f"{name} has format version {version}; only 2 is known.")
        self._take(8)
        self.timeouts_ms: dict[Session, int] = dict(
            _SESSION.unpack(self._take(_SESSION.size)) for _ in range(self._int())
        )

    def znodes(self) -> Iterator[SnapshotZnode]:
        """Yield all znodes, parents before their children."""
        self._skip_acls()
        while (path := self._field()) != b"/":
            data = self._field()
            _, *stat = _AFTER_DATA.unpack(self._take(_AFTER_DATA.size))
            yield SnapshotZnode(path.decode("utf-8", "surrogateescape"), data, *stat)

    def finish(self) -> int:
        """Check the seals. Return the zxid of the tree's digest, or 0 if there is none."""
        self._check_seal()
        digest_zxid = 0
        if self._fill(_DIGEST.size + _SEAL_BYTES):
            zxid, version, _ = _DIGEST.unpack(self._take(_DIGEST.size))
            self._check_seal()
            if version == _DIGEST_VERSION:
                digest_zxid = zxid
        if self._fill(_LONG.size + _SEAL_BYTES):  # from 3.9 on, also without digests
            (self.last_zxid,) = _LONG.unpack(self._take(_LONG.size))
            self._check_seal()
        return digest_zxid

    def _check_seal(self) -> None:
        part = self._block[self._summed : self._at]
        expected = zlib.adler32(part, self._sum)
        at = self._base + self._at
        (seal,) = _LONG.unpack(self._take(_LONG.size))
        if seal != expected or self._field() != b"/":
            raise DataFileError(f"{self._name} is damaged: its checksum at byte {at} is wrong.")

    def _skip_acls(self) -> None:
        for _ in range(self._int()):
            self._take(8)
            for _ in range(max(0, self._int())):
                self._take(4)
                self._field()
                self._field()

    def _field(self) -> bytes:
        length = self._int()
        if length < 0:
            return b""
        if length > MAX_FIELD_BYTES:
            at = self._base + self._at - 4
            raise DataFileError(f"{self._name} is damaged: impossible length at byte {at}.")
        return self._take(length)

    def _int(self) -> int:
        return int(_INT.unpack(self._take(4))[0])

    def _take(self, size: int) -> bytes:
        end = self._at + size
        if end > len(self._block):
            if not self._fill(size):
                at = self._base + len(self._block)
                raise DataFileError(f"{self._name} is cut off at byte {at}.")
            end = self._at + size
        taken = self._block[self._at : end]
        self._at = end
        return taken

    def _fill(self, size: int) -> bool:
        """Read until the block has this many bytes ahead. Return False at the end of the file."""
        missing = size - (len(self._block) - self._at)
        if missing <= 0:
            return True
        self._sum = zlib.adler32(self._block[self._summed : self._at], self._sum)
        parts = [self._block[self._at :]]
        while missing > 0 and (chunk := self._stream.read(_CHUNK)):
            parts.append(chunk)
            missing -= len(chunk)
        self._base += self._at
        self._block, self._at, self._summed = b"".join(parts), 0, 0
        return missing <= 0
