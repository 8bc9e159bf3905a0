"""Splits a transaction log into its records and checks each checksum.

A log is a header of 16 bytes, records, and zeros up to the allocated size. A record is a checksum
(8 bytes), a length (4), that many bytes, and the letter B. The checksum covers only those bytes.
Only damaged records are lost: reading continues where length, checksum and final letter are next
valid. At most one record is in memory, however large a damaged length is.
"""

import zlib
from collections.abc import Iterator
from struct import Struct
from typing import Final

import msgspec

from zktop.byte_streams import ByteStream
from zktop.errors import DataFileError

MAGIC: Final = b"ZKLG"
MAX_RECORD_BYTES: Final = 64 << 20  # a closed session with 105,000 znodes took 7.9 MB
HEADER_BYTES: Final = 16
RECORD_HEADER_BYTES: Final = 32  # of session, cxid, zxid, time and type
_KNOWN_VERSION: Final = 2
_CHUNK: Final = 1 << 20
_END: Final = 0x42  # the letter B
_FRAME: Final = Struct(">QI")
_ZXID: Final = Struct(">Q")
_ZXID_AT: Final = 12
_BEFORE_A_RECORD: Final = b"B\0\0\0\0"  # a record's end, and the unused half of a checksum
_MAX_LOST: Final = 1 << 20  # transactions that damage between two records may cost


class Damage(msgspec.Struct, frozen=True):
    """Bytes of a log that are not a complete record. `size` is None if no record follows."""

    file: str
    offset: int
    size: int | None
    zxid: int  # of the previous record, or 0 if there is none
    following: int | None  # zxid of the next record

    def __str__(self) -> str:
        if self.size is None:
            return (
                f"{self.file} ends within a record at byte {self.offset}: it was read up to here."
            )
        lost = self._lost()
        return f"{self.size} damaged bytes at {self.offset} of {self.file} were skipped{lost}."

    def _lost(self) -> str:
        if not self.zxid or self.following is None or self.following >> 32 != self.zxid >> 32:
            return ""
        number = self.following - self.zxid - 1
        if number == 1:
            return f": transaction {self.zxid + 1:#x} is lost"
        return f": {number} transactions are lost after {self.zxid:#x}" if number else ""


class LogRecords:
    """The records of one log, in order. After iteration, `damage` lists what was skipped."""

    def __init__(self, stream: ByteStream, name: str) -> None:
        """Check the header. Raise DataFileError if this is not a transaction log."""
        self.damage: list[Damage] = []
        self.has_torn_end = False
        self._stream, self._name = stream, name
        self._block, self._base, self._at = b"", 0, 0  # block, its offset in the file, position
        self._is_at_end = False
        self._zxid = 0  # of the last record
        self._check_header()

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Yield the zxid and the bytes of each whole record."""
        read_frame, read_zxid, adler32 = _FRAME.unpack_from, _ZXID.unpack_from, zlib.adler32
        while True:
            block, at = self._block, self._at
            last_start = len(block) - _FRAME.size
            while at <= last_start:
                checksum, length = read_frame(block, at)
                start = at + _FRAME.size
                end = start + length
                if end >= len(block) or length < RECORD_HEADER_BYTES:
                    break
                body = block[start:end]
                if adler32(body) != checksum or block[end] != _END:
                    break
                at = end + 1
                (self._zxid,) = read_zxid(body, _ZXID_AT)
                yield self._zxid, body
            self._at = at
            if not self._find_next():
                return

    @property
    def position(self) -> int:
        return self._base + self._at

    def note_torn_end(self, at: int | None = None) -> None:
        """Record once that the file ends within a record."""
        if not self.has_torn_end:
            self.has_torn_end = True
            begin = self.position if at is None else at
            self.damage.append(Damage(self._name, begin, None, self._zxid, None))

    def _check_header(self) -> None:
        self._fill(HEADER_BYTES)
        begin = self._block[:HEADER_BYTES]
        if begin[:4] != MAGIC:
            what = begin[:8].hex(" ") or "nothing"
            raise DataFileError(
                f"{self._name} is not a transaction log of ZooKeeper 3.1 or later: "
                f"it begins with {what}."
            )
        if len(begin) < HEADER_BYTES:
            raise DataFileError(f"{self._name} ends within its header at byte {len(begin)}.")
        version = int.from_bytes(begin[4:8])
        if version != _KNOWN_VERSION:
            raise DataFileError(f"{self._name} has format version {version}; only 2 is known.")
        self._at = HEADER_BYTES

    def _find_next(self) -> bool:
        """Read more bytes, or skip padding or damage. Return False if no record can follow."""
        in_block = len(self._block) - self._at
        if not self._fill(_FRAME.size):
            rest = self._block[self._at :]
            if rest.strip(b"\0"):
                self.note_torn_end()
            return False
        checksum, length = _FRAME.unpack_from(self._block, self._at)
        if not checksum and not length:
            return self._skip_padding()
        size = _FRAME.size + length + 1
        is_possible = RECORD_HEADER_BYTES <= length <= MAX_RECORD_BYTES
        if is_possible and in_block < size and self._fill(size):
            return True
        return self._skip_damage(size if is_possible else None)

    def _skip_padding(self) -> bool:
        """Skip the padding. If anything follows it, part of the log was lost."""
        begin = self.position
        while True:
            rest = self._block[self._at :]
            if stripped := rest.lstrip(b"\0"):
                self._at = max(self._at, len(self._block) - len(stripped) - _FRAME.size)
                return self._skip_damage(None, begin)
            self._at = len(self._block)
            if not self._fill(1):
                return False

    def _skip_damage(self, size: int | None, begin: int | None = None) -> bool:
        """Find the next record. `size` is that of the damaged one, if its length may be right."""
        begin, zxid = self.position if begin is None else begin, self._zxid
        is_next_found = size is not None and self._skip_record(size)
        if not is_next_found and not self._find_record():
            self.note_torn_end(begin)
            return False
        (following,) = _ZXID.unpack_from(self._block, self._at + _FRAME.size + _ZXID_AT)
        self.damage.append(Damage(self._name, begin, self.position - begin, zxid, following))
        return True

    def _skip_record(self, size: int) -> bool:
        """Skip a damaged record if another one follows it. Return whether one does."""
        if not self._is_record(size):
            return False
        self._at += size
        return True

    def _find_record(self) -> bool:
        """Search for the end of a record that another record follows."""
        self._at += 1
        while True:
            hit = self._block.find(_BEFORE_A_RECORD, self._at)
            if hit >= 0:
                self._at = hit + 1
                if self._is_record(0):
                    return True
                continue
            keep = len(_BEFORE_A_RECORD) - 1
            self._at = max(self._at, len(self._block) - keep)
            if not self._fill(keep + 1):
                return False

    def _is_record(self, ahead: int) -> bool:
        """Check for a whole record with a later zxid, this many bytes ahead."""
        if not self._fill(ahead + _FRAME.size + RECORD_HEADER_BYTES + 1):
            return False
        checksum, length = _FRAME.unpack_from(self._block, self._at + ahead)
        (zxid,) = _ZXID.unpack_from(self._block, self._at + ahead + _FRAME.size + _ZXID_AT)
        if not RECORD_HEADER_BYTES <= length <= MAX_RECORD_BYTES or not self._is_next(zxid):
            return False
        size = _FRAME.size + length + 1
        if not self._fill(ahead + size) or self._block[self._at + ahead + size - 1] != _END:
            return False
        start = self._at + ahead + _FRAME.size
        return bool(zlib.adler32(self._block[start : start + length]) == checksum)

    def _is_next(self, zxid: int) -> bool:
        """Return whether a zxid may follow soon after the last one."""
        if not self._zxid:
            return zxid > 0
        is_new_epoch = zxid >> 32 > self._zxid >> 32 and zxid & 0xFFFF_FFFF < _MAX_LOST
        return is_new_epoch or 0 < zxid - self._zxid <= _MAX_LOST

    def _fill(self, size: int) -> bool:
        """Read until the block has this many bytes ahead. Return False at the end of the file."""
        missing = size - (len(self._block) - self._at)
        if missing <= 0:
            return True
        if self._is_at_end:
            return False
        parts = [self._block[self._at :]]
        while missing > 0 and (chunk := self._stream.read(_CHUNK)):
            parts.append(chunk)
            missing -= len(chunk)
        self._is_at_end = missing > 0
        self._base += self._at
        self._block, self._at = b"".join(parts), 0
        return missing <= 0
