"""Merges the records of all members by zxid, each transaction once.

A zxid consists of an epoch (the term of one leader) and a counter. Within an epoch each number is
used, so a gap is a hole. A leader that lost its followers may keep proposals that were never
committed. Another member's log proves this if its next epoch follows an earlier record.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import msgspec

from zktop.errors import DataFileError
from zktop.txnlog.compressed import is_damaged
from zktop.txnlog.data_files import DataFile, open_unpacked
from zktop.txnlog.log_records import Damage, LogRecords
from zktop.txnlog.transactions import head_of

_COUNTER: Final = 0xFFFF_FFFF
Record = tuple[int, bytes]


class Hole(msgspec.Struct, frozen=True):
    """Transactions that no file has. `missing` is None if their number is unknown."""

    after: int
    before: int
    missing: int | None

    def __str__(self) -> str:
        number = "Some transactions are"
        if self.missing is not None:
            number = f"{self.missing} transaction{'s are' if self.missing != 1 else ' is'}"
        return (
            f"{number} missing between {self.after:#x} and {self.before:#x}: "
            "another member's files may have them."
        )


def hole_between(after: int, before: int) -> Hole | None:
    """Return the hole between two records, as far as their zxids show one.

    >>> hole_between(0x100000004, 0x100000007).missing, hole_between(0x100000004, 0x200000001)
    (2, None)
    """
    if after >> 32 == before >> 32:
        missing = before - after - 1
        return Hole(after, before, missing) if missing else None
    return Hole(after, before, None) if before & _COUNTER > 1 else None


class ServerLogs:
    """The logs of one member as one stream of records, without duplicates."""

    def __init__(
        self,
        logs: Sequence[DataFile],
        snapshots: Sequence[int],
        on_damage: Callable[[Damage], None],
        after: int = 0,
    ) -> None:
        """Begin with the transaction after `after`."""
        self.last = after  # zxid of the previous record
        self.head: Record | None = None
        self._has_logged = False
        self._snapshots, self._on_damage = snapshots, on_damage
        self._is_sure = True  # no damage between the two records
        self._records = self._read(logs, after)
        self.advance()

    def advance(self) -> None:
        if self.head is not None:
            self.last, self._has_logged = self.head[0], True
        self._is_sure = True
        self.head = next(self._records, None)

    def rest(self) -> Iterator[Record]:
        """Yield this record and all that follow, without updating `head` and `last`."""
        if self.head is not None:
            yield self.head
            yield from self._records

    def ends_epoch_before(self, zxid: int) -> bool:
        """Return whether this member proves that its epoch ended before this transaction."""
        if self.head is None or not self._has_logged or not self._is_sure:
            return False
        epoch, following, last = zxid >> 32, self.head[0], self.last
        is_end_of_epoch = last >> 32 == epoch < following >> 32 and following & _COUNTER == 1
        if not is_end_of_epoch or last >= zxid:
            return False
        return not any(last < snapshot < following for snapshot in self._snapshots)

    def _read(self, logs: Sequence[DataFile], after: int) -> Iterator[Record]:
        last = after
        for file in logs:
            with open_unpacked(file) as stream:
                records = LogRecords(stream, file.name)
                known_damage = 0
                for record in records:
                    if len(records.damage) > known_damage:
                        known_damage = len(records.damage)
                        self._is_sure = False
                    if record[0] > last:
                        last = record[0]
                        yield record
                if is_damaged(stream):
                    records.note_torn_end()
                self._is_sure = self._is_sure and len(records.damage) == known_damage
                for damage in records.damage:
                    self._on_damage(damage)


class MergedRecords:
    """The records of all members.

    After iteration, `ghosts` counts the records that were never committed, and `is_at_end` is True
    if all were read.
    """

    def __init__(self, members: Sequence[ServerLogs]) -> None:
        self.ghosts: dict[int, int] = defaultdict(int)  # by epoch
        self.is_at_end = False
        self._members = members

    def __iter__(self) -> Iterator[Record]:
        """Yield each committed record once, in the order of zxids."""
        if len(self._members) == 1:
            yield from self._members[0].rest()
        else:
            yield from self._joined()
        self.is_at_end = True

    def _joined(self) -> Iterator[Record]:
        while heads := [member for member in self._members if member.head is not None]:
            zxid = min(member.head[0] for member in heads if member.head)
            sharing = [member for member in heads if member.head and member.head[0] == zxid]
            body = self._shared_body(sharing)
            is_shared_by_all = len(sharing) == len(heads)
            if not is_shared_by_all and any(member.ends_epoch_before(zxid) for member in heads):
                self.ghosts[zxid >> 32] += 1
            else:
                yield zxid, body
            for member in sharing:
                member.advance()

    def _shared_body(self, sharing: Sequence[ServerLogs]) -> bytes:
        """Return the record that these members share. Raise DataFileError if they differ."""
        first, *others = [member.head[1] for member in sharing if member.head]
        for other in others:
            if other != first and head_of(other) != head_of(first):
                zxid = sharing[0].head[0] if sharing[0].head else 0
                raise DataFileError(
                    f"These files come from different ensembles: transaction {zxid:#x} is not "
                    "the same in all of them. Import the members of one ensemble."
                )
        return first
