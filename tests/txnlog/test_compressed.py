"""Compressed streams, and damaged ones."""

import gzip
import io
import random
import struct

from hypothesis import given
from hypothesis import strategies as st

from zktop.byte_streams import ByteStream, GzipReader
from zktop.txnlog.compressed import SNAPPY_MAGIC, SnappyReader

DATA = bytes(range(256)) * 4000


def all_of(stream: ByteStream) -> bytes:
    """Read in pieces until the end."""
    return b"".join(iter(lambda: stream.read(1000), b""))


def literal(data: bytes) -> bytes:
    """A raw snappy block of one literal."""
    size = len(data)
    length = bytes([size & 0x7F | 0x80, size >> 7 & 0x7F | 0x80, size >> 14])
    return length + bytes([61 << 2]) + (size - 1).to_bytes(2, "little") + data


def snappy(*blocks: bytes) -> bytes:
    """A stream as Java writes it."""
    head = SNAPPY_MAGIC + struct.pack(">ii", 1, 1)
    return head + b"".join(struct.pack(">i", len(block)) + block for block in blocks)


def test_gzip_and_snappy_are_unpacked() -> None:
    """In pieces, and over several members or blocks."""
    packed = gzip.compress(DATA) + gzip.compress(DATA)
    copied = bytes.fromhex("0c0861626315 03".replace(" ", ""))

    assert all_of(GzipReader(io.BytesIO(packed))) == 2 * DATA
    assert all_of(SnappyReader(io.BytesIO(snappy(literal(DATA[:60_000]), copied)))) == (
        DATA[:60_000] + b"abcabcabcabc"
    )


class OneByOne:
    """A stream that returns its pieces one at a time, however many bytes are requested."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = list(pieces)

    def read(self, _size: int, /) -> bytes:
        """Return the next piece."""
        return self._pieces.pop(0) if self._pieces else b""


def test_a_member_that_begins_at_the_end_of_a_piece_is_unpacked() -> None:
    """One byte is not enough to recognise a member."""
    packed = gzip.compress(b"one") + gzip.compress(b"two")
    at = len(gzip.compress(b"one")) + 1

    assert all_of(GzipReader(OneByOne(packed[:at], packed[at:]))) == b"onetwo"


def test_what_comes_before_the_damage_is_unpacked() -> None:
    """Up to the last bytes before it."""
    noise = random.Random(1).randbytes(100_000)
    packed = gzip.compress(noise)
    broken = packed[:-8] + bytes(8)  # another checksum

    for size in (1000, len(noise) + 1):
        stream = GzipReader(io.BytesIO(broken))
        assert b"".join(iter(lambda: stream.read(size), b"")) == noise  # noqa: B023
        assert stream.is_damaged


def test_a_snappy_stream_that_ends_in_its_header_is_damaged() -> None:
    """It has no data, but an empty stream would have a whole header."""
    stream = SnappyReader(io.BytesIO(snappy()[:12]))

    assert not stream.read(1)
    assert stream.is_damaged


@given(st.integers(0, 400), st.binary(min_size=1, max_size=20))
def test_a_damaged_stream_ends_and_says_so(at: int, piece: bytes) -> None:
    """The output is a beginning of the data, and unless it is all of it, the damage is noticed."""
    for kind, packed in (
        (GzipReader, gzip.compress(DATA)),
        (SnappyReader, snappy(literal(DATA[:500]))),
    ):
        stream = kind(io.BytesIO(packed[:at]))
        whole = all_of(stream)
        assert DATA.startswith(whole)
        assert stream.is_damaged or not whole or whole == DATA[:500]

        broken = bytearray(packed)
        broken[at : at + len(piece)] = piece
        all_of(kind(io.BytesIO(bytes(broken))))
