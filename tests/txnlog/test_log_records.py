"""The records of a transaction log: whole ones are never lost, damaged ones never appear."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from txnlog.log_writer import HEADER, story

from zktop.errors import DataFileError
from zktop.txnlog.log_records import MAX_RECORD_BYTES, LogRecords

WHOLE = story()
FILE = WHOLE.bytes()
ZXIDS = [*range(1, 9)]
NAME = "log.1"


class Trickle:
    """A stream that gives a few bytes at each read."""

    def __init__(self, data: bytes, size: int) -> None:
        self._stream, self._size = io.BytesIO(data), size

    def read(self, size: int, /) -> bytes:
        """At most a few bytes."""
        return self._stream.read(min(size, self._size))


def read(data: bytes, step: int = 1 << 20) -> tuple[list[int], LogRecords]:
    """The zxids of all records, and the reader afterwards."""
    records = LogRecords(Trickle(data, step), NAME)
    return [zxid for zxid, _ in records], records


@pytest.mark.parametrize("step", [1, 7, 61, 1 << 20])
def test_every_record_is_read_however_the_file_comes(step: int) -> None:
    """Reading in pieces changes nothing."""
    zxids, records = read(FILE, step)

    assert (zxids, records.damage) == (ZXIDS, [])


def test_a_log_is_read_up_to_its_last_whole_record_wherever_it_ends() -> None:
    """A file cut at any byte gives the records before; only a cut between two is no damage."""
    ends = [len(HEADER)]
    for record in WHOLE.records:
        ends.append(ends[-1] + len(record))
    for size in range(len(HEADER), ends[-1] + 1):
        zxids, records = read(FILE[:size])

        whole = sum(end <= size for end in ends) - 1
        assert zxids == ZXIDS[:whole]
        is_torn = size not in ends and any(FILE[ends[whole] : size])
        assert records.has_torn_end == is_torn


def test_a_record_being_written_is_no_record_yet() -> None:
    """A server writes into zeros: the last bytes of its newest record may be missing."""
    cut = len(HEADER) + sum(map(len, WHOLE.records)) - 5

    zxids, records = read(FILE[:cut] + bytes(1000))

    assert zxids == ZXIDS[:-1]
    assert "ends within a record at byte" in str(records.damage[0])


@given(st.integers(16, len(FILE) - 101), st.integers(0, 7))
def test_a_flipped_bit_costs_one_record(at: int, bit: int) -> None:
    """All others are read, and the damage is named with its offset."""
    data = bytearray(FILE)
    data[at] ^= 1 << bit

    zxids, records = read(bytes(data))

    assert set(zxids) < set(ZXIDS)
    assert len(zxids) == len(ZXIDS) - 1
    assert len(records.damage) == 1


@given(st.lists(st.tuples(st.integers(0, len(FILE) - 1), st.binary(max_size=40)), max_size=5))
def test_damage_never_makes_a_record(pieces: list[tuple[int, bytes]]) -> None:
    """Whatever is overwritten, only records that were written come out, in order."""
    data = bytearray(FILE)
    for at, piece in pieces:
        data[at : at + len(piece)] = piece
    try:
        found = list(LogRecords(io.BytesIO(bytes(data)), NAME))
    except DataFileError:
        return

    bodies = {record[12:-1] for record in WHOLE.records}
    assert all(body in bodies for _, body in found)
    assert [zxid for zxid, _ in found] == sorted({zxid for zxid, _ in found})


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """Behind a right header there may be anything."""
    found, _ = read(HEADER + data)

    assert found == []


def test_an_absurd_length_takes_no_memory() -> None:
    """What is read ahead is never more than one record may have, nor more than the file."""
    absurd = b"\0\0\0\0\x12\x34\x56\x78" + (MAX_RECORD_BYTES + 1).to_bytes(4)

    zxids, records = read(FILE[:-100] + absurd + bytes(100))

    assert zxids == ZXIDS
    assert records.has_torn_end


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "it begins with nothing"),
        (b"PK\3\4rest", "it begins with 50 4b 03 04 72 65 73 74"),
        (b"ZKLG\0\0\0", "ends within its header at byte 7"),
        (b"ZKLG\0\0\0\3" + bytes(8), "has format version 3; only 2 is known"),
    ],
)
def test_another_file_is_refused_in_a_sentence(data: bytes, sentence: str) -> None:
    """It names the file and what is wrong."""
    with pytest.raises(DataFileError, match=r"^log\.1 ") as error:
        LogRecords(io.BytesIO(data), NAME)

    assert sentence in str(error.value)
