"""Unpacks snappy streams as ZooKeeper writes them, piece by piece.

A damaged or truncated stream ends where the damage begins. `is_damaged` is then True.
"""

from typing import Final

from zktop.byte_streams import ByteStream, GzipReader

SNAPPY_MAGIC: Final = b"\x82SNAPPY\0"
_CHUNK: Final = 1 << 18
_SNAPPY_HEADER_BYTES: Final = 16
_MAX_BLOCK_BYTES: Final = 16 << 20  # Java writes blocks of 32 KB


class SnappyReader:
    """A stream of Java's SnappyOutputStream, unpacked."""

    def __init__(self, stream: ByteStream) -> None:
        self.is_damaged = False
        self._stream, self._rest = stream, b""
        self._is_begun = False

    def read(self, size: int, /) -> bytes:
        """Return at most this many bytes, or none at the end or where the stream is damaged."""
        while not self._rest and not self.is_damaged:
            block = self._next_block()
            if block is None:
                break
            try:
                self._rest = unpack_snappy(block)
            except (ValueError, IndexError):
                self.is_damaged = True
        data, self._rest = self._rest[:size], self._rest[size:]
        return data

    def _next_block(self) -> bytes | None:
        if not self._is_begun:
            self._is_begun = True
            header = self._read_exactly(_SNAPPY_HEADER_BYTES)
            self.is_damaged = len(header) < _SNAPPY_HEADER_BYTES
        head = self._read_exactly(4)
        if len(head) < 4:  # noqa: PLR2004  the length of an int
            self.is_damaged = self.is_damaged or bool(head)
            return None
        length = int.from_bytes(head)
        block = self._read_exactly(length) if length <= _MAX_BLOCK_BYTES else b""
        self.is_damaged = len(block) < length
        return None if self.is_damaged else block

    def _read_exactly(self, size: int) -> bytes:
        parts = []
        while size > 0 and (part := self._stream.read(min(size, _CHUNK))):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


def is_damaged(stream: ByteStream) -> bool:
    """Return whether a compressed stream ended early, or False for other streams."""
    return isinstance(stream, GzipReader | SnappyReader) and stream.is_damaged


def unpack_snappy(block: bytes) -> bytes:
    """Unpack one raw snappy block. Raise ValueError or IndexError if it is not one.

    >>> unpack_snappy(bytes.fromhex("0c 08 61 62 63 15 03"))
    b'abcabcabcabc'
    """
    size, at = _varint(block)
    if size > _MAX_BLOCK_BYTES:
        raise ValueError(size)
    out = bytearray()
    while at < len(block):
        tag = block[at]
        kind, at = tag & 3, at + 1
        if kind == 0:
            length, at = _literal_length(block, tag >> 2, at)
            if at + length > len(block):
                raise IndexError(at)
            out += block[at : at + length]
            at += length
        else:
            length, offset, at = _copy(block, tag, at)
            _repeat(out, offset, length)
        if len(out) > size:
            raise ValueError(size)
    if len(out) != size:
        raise ValueError(size)
    return bytes(out)


def _varint(block: bytes) -> tuple[int, int]:
    value = 0
    for at in range(5):
        value |= (block[at] & 0x7F) << (7 * at)
        if not block[at] & 0x80:
            return value, at + 1
    raise ValueError(value)


def _literal_length(block: bytes, code: int, at: int) -> tuple[int, int]:
    if code < 60:  # noqa: PLR2004  larger codes say how many bytes hold the length
        return code + 1, at
    width = code - 59
    return int.from_bytes(block[at : at + width], "little") + 1, at + width


def _copy(block: bytes, tag: int, at: int) -> tuple[int, int, int]:
    """Return how many bytes to repeat, from how far back, and where the next element starts."""
    kind = tag & 3
    if kind == 1:
        return (tag >> 2 & 7) + 4, (tag >> 5 << 8) | block[at], at + 1
    width = 2 if kind == 2 else 4  # noqa: PLR2004  the two longer forms
    return (tag >> 2) + 1, int.from_bytes(block[at : at + width], "little"), at + width


def _repeat(out: bytearray, offset: int, length: int) -> None:
    if not 0 < offset <= len(out):
        raise ValueError(offset)
    start = len(out) - offset
    piece = bytes(out[start : start + length])
    out += (piece * (length // len(piece) + 1))[:length]
