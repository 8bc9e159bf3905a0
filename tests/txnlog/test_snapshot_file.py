"""Snapshots: a whole one is read, any other is refused with the offset."""

import io
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from txnlog.log_writer import ANN, T0, snapshot, text

from zktop.errors import DataFileError
from zktop.txnlog.snapshot_file import SnapshotFile
from zktop.txnlog.znode_tree import ZnodeTree

NODES = {"": (0, b""), "/locks": (3, b""), "/locks/a": (4, b"data")}
FILE = snapshot(NODES, [(ANN, 4000)])
SEAL = struct.pack(">Q", 0) + text("/")  # as long as each


def load(data: bytes) -> tuple[ZnodeTree, int, int]:
    """The tree, its digest, and the newest transaction in it."""
    return ZnodeTree.of_snapshot(SnapshotFile(io.BytesIO(data), "snapshot.3"))


def test_sessions_and_znodes_are_read() -> None:
    """With the newest transaction that any of them shows."""
    tree, digest, newest = load(FILE)

    assert tree.timeouts_ms == {ANN: 4000}
    assert tree.nodes["/locks/a"].data == b"data"
    assert tree.nodes["/locks"].children == {"a"}
    assert (digest, newest) == (0, 4)


def test_a_time_before_1970_is_read() -> None:
    """A machine without a battery may have such a clock; the digest needs the time."""
    at = struct.pack(">qq", T0, T0)
    assert at in FILE
    early = FILE.replace(at, struct.pack(">qq", -1_000, -1_000))[: -len(SEAL)]
    tree, _, _ = load(early + struct.pack(">Q", zlib.adler32(early)) + SEAL[8:])

    assert (tree.nodes["/locks"].ctime, tree.nodes["/locks"].mtime) == (-1_000, -1_000)


def test_the_zxid_of_the_digest_of_newer_servers_is_read() -> None:
    """It comes behind the first seal, and 3.9 adds one more part."""
    digest = struct.pack(">QiQ", 5, 2, 77)

    assert load(snapshot(NODES, tail=[digest]))[1] == 5
    assert load(snapshot(NODES, tail=[digest, struct.pack(">Q", 5)]))[1] == 5


def test_an_unfinished_snapshot_is_refused_wherever_it_ends() -> None:
    """A crash cuts it off; the sentence has the offset."""
    for size in range(len(FILE)):
        with pytest.raises(DataFileError, match=rf"^snapshot\.3 .*(byte {size}|begins with)"):
            load(FILE[:size])


@given(st.integers(16, len(FILE) - 1), st.integers(0, 7))
def test_a_flipped_bit_is_noticed(at: int, bit: int) -> None:
    """The seal covers everything, the lengths included."""
    data = bytearray(FILE)
    data[at] ^= 1 << bit

    with pytest.raises(DataFileError, match=r"^snapshot\.3 "):
        load(bytes(data))


@given(st.binary(max_size=200))
def test_any_bytes_are_refused(data: bytes) -> None:
    """Never with another exception."""
    with pytest.raises(DataFileError):
        load(FILE[:16] + data)
