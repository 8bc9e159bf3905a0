"""The wire format: packed values are read back, broken ones are refused."""

import contextlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zktop.sandbox import protocol as wire
from zktop.sandbox.protocol import Acl, FrameReader, Malformed, NodeStat

int32s = st.integers(-(2**31), 2**31 - 1)
int64s = st.integers(-(2**63), 2**63 - 1)
texts = st.none() | st.text(st.characters(exclude_categories=["Cs"]))
acls = st.builds(Acl, int32s, texts, texts)
stats = st.builds(NodeStat, *[int64s] * 4, *[int32s] * 3, int64s, int32s, int32s, int64s)


@given(texts)
def test_text_round_trip(value):
    """Any text comes back; empty and absent ones stay distinct."""
    assert FrameReader(wire.pack_string(value)).string() == value


@given(st.none() | st.binary())
def test_bytes_round_trip(value):
    """Any bytes come back; empty and absent ones stay distinct."""
    assert FrameReader(wire.pack_buffer(value)).buffer() == value


@given(int32s, st.lists(acls))
def test_list_round_trip(number, lines):
    """A list comes back whole, and so does the value after it."""
    packed = wire.pack_vector([wire.pack_acl(line) for line in lines]) + wire.pack_int(number)
    reader = FrameReader(packed)

    assert reader.vector(reader.acl) == lines
    assert reader.int32() == number
    assert reader.rest == 0


@given(stats)
def test_stat(stat):
    """A Stat is 68 bytes in the order of its fields."""
    assert struct.unpack(">qqqqiiiqiiq", wire.pack_stat(stat)) == stat


@given(int32s, int64s, int32s, st.binary())
def test_reply(xid, zxid, err, body):
    """A reply is one frame: length, xid, zxid, error, body."""
    frame = wire.reply(xid, zxid, err, body)

    assert struct.unpack_from(">iiqi", frame) == (len(frame) - 4, xid, zxid, err)
    assert frame[20:] == body


@given(st.binary(max_size=40))
def test_no_bytes_can_crash_a_reader(raw):
    """Reading any bytes ends in a value or in Malformed."""
    for read in ("int32", "int64", "flag", "buffer", "string", "acl"):
        reader = FrameReader(raw)
        with contextlib.suppress(Malformed):
            while reader.rest:
                getattr(reader, read)()
    reader = FrameReader(raw)
    with contextlib.suppress(Malformed):
        reader.vector(reader.string)


@pytest.mark.parametrize("length", [5, 2**31 - 1, -2, -(2**31)])
def test_lengths_are_checked(length):
    """A length that does not fit the frame is refused before memory is allocated."""
    raw = struct.pack(">i", length) + b"1234"

    with pytest.raises(Malformed):
        FrameReader(raw).buffer()


def test_text_that_is_not_utf8():
    """Bytes that are not UTF-8 become U+FFFD, which no path may contain."""
    assert FrameReader(wire.pack_buffer(b"/a\xff")).string() == "/a�"
