"""Damaged places in data files, and the error for files that cannot be used at all."""

import msgspec

from zktop.errors import UsageError


class DataFileError(UsageError):
    """A file that cannot be used; the message names the file and the offset."""


class Damage(msgspec.Struct, frozen=True):
    """Bytes of a log that are not a complete record. `size` is None if no record follows."""

    file: str
    offset: int
    size: int | None
    zxid: int  # of the record before; 0 if there is none
    following: int | None  # zxid of the record after it

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
