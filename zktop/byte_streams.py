"""Byte streams, and gzip streams unpacked piece by piece.

A damaged or truncated gzip stream ends where the damage begins. `is_damaged` is then True.
"""

import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import Final, Protocol

GZIP_MAGIC: Final = b"\x1f\x8b"
_CHUNK_BYTES: Final = 1 << 18
_GZIP_STREAM: Final = 31  # what zlib calls wbits


class ByteStream(Protocol):
    """A file opened for reading."""

    def read(self, size: int, /) -> bytes:
        """Return at most this many bytes, or none at the end."""


class GzipReader:
    """A gzip stream of one or several members, unpacked."""

    def __init__(self, stream: ByteStream) -> None:
        self.is_damaged = False
        self._stream, self._packed = stream, b""
        self._unpacker = zlib.decompressobj(_GZIP_STREAM)

    @property
    def has_garbage(self) -> bool:
        """Whether something else follows the last member. Known at the end of the stream."""
        return self._unpacker.eof and bool(self._packed)

    def read(self, size: int, /) -> bytes:
        """Return at most this many bytes, or none at the end or where the stream is damaged."""
        while self._has_more():
            before = self._unpacker.copy()
            try:
                data = self._unpacker.decompress(self._packed, size)
            except zlib.error:
                self.is_damaged = True
                return b"".join(_up_to_damage(before, self._packed))
            self._packed = self._unpacker.unconsumed_tail or self._unpacker.unused_data
            if data:
                return data
        return b""

    def _has_more(self) -> bool:
        """Read packed bytes if none are left, and begin the next member after the end of one."""
        if self.is_damaged:
            return False
        self._packed = self._packed or self._stream.read(_CHUNK_BYTES)
        if not self._unpacker.eof:
            self.is_damaged = not self._packed
            return not self.is_damaged
        if len(self._packed) < len(GZIP_MAGIC):
            self._packed += self._stream.read(_CHUNK_BYTES)
        if not self._packed.startswith(GZIP_MAGIC):
            return False
        self._unpacker = zlib.decompressobj(_GZIP_STREAM)
        return True


def _up_to_damage(unpacker: "zlib._Decompress", packed: bytes) -> Iterator[bytes]:
    """Unpack byte by byte, since zlib discards the output of a call that fails."""
    with suppress(zlib.error):
        for at in range(len(packed)):
            yield unpacker.decompress(packed[at : at + 1])
