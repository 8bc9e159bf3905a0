"""Replays the files of one or several servers: a snapshot, then every transaction in order.

A snapshot is fuzzy: the server wrote it while transactions went on. So the replay starts with the
transaction after the one in the snapshot's name, skips changes that the snapshot already has, and
is exact from the newest transaction that the snapshot shows.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import msgspec

from zktop.errors import DataFileError
from zktop.model.facts import Millis
from zktop.model.format import count
from zktop.txnlog.data_files import DataFile, open_unpacked
from zktop.txnlog.log_records import HEADER_BYTES, Damage, LogRecords
from zktop.txnlog.merged_records import Hole, MergedRecords, Record, ServerLogs, hole_between
from zktop.txnlog.snapshot_file import SnapshotFile
from zktop.txnlog.transactions import (
    Transaction,
    TransactionError,
    decode,
    head_of,
    without_operations,
)
from zktop.txnlog.znode_tree import Effect, ZnodeTree

_COUNTER: Final = 0xFFFF_FFFF
_FIRST_EPOCHS: Final = (0, 1)  # of a server alone, and of an ensemble
MAX_NOTES: Final = 20  # of damage; five times as many in all
MAX_READ_BYTES: Final = 2 * 0xFFFFF  # of a record; a server's default: twice jute.maxbuffer


class Restart(msgspec.Struct, frozen=True):
    """Where the replay starts: with the first tree, or with the tree after a hole.

    The tree is exact from here on, unless a note says what is missing.
    """

    tree: ZnodeTree
    zxid: int
    at: Millis
    hole: Hole | None = None


class ReplayStep(msgspec.Struct, frozen=True, gc=False):
    """One transaction, and what it changed; `at` never goes back."""

    transaction: Transaction
    effects: list[Effect]
    at: Millis


class _Log(msgspec.Struct, frozen=True):
    """A log with its first record."""

    file: DataFile
    zxid: int
    at: Millis


class LogReplay:
    """The transactions in a set of files. Iterate over `steps` once; then read the totals."""

    def __init__(self, files: Sequence[DataFile]) -> None:
        self.notes: list[str] = []
        self.transactions = self.with_digest = self.proven = 0
        self.first: tuple[int, Millis] | None = None
        self.last: tuple[int, Millis] | None = None
        self.known_until: Millis = 0  # the replay misses nothing up to this time
        self._damage = 0
        self._wrong_from: int | None = None  # the first transaction whose digest differs
        self._tree = ZnodeTree()
        self._exact_from = 0  # the tree is exact after this transaction
        self._hole: Hole | None = None  # before the next restart
        self._logs = self._first_records([file for file in files if file.kind == "log"])
        snapshots = [file for file in files if file.kind == "snapshot"]
        self._snapshots = sorted(snapshots, key=lambda file: file.zxid or 0)
        self.members = _members_of(files)

    def steps(
        self,
        since: Millis | None = None,
        until: Millis | None = None,
        on_skipped: Callable[[Transaction], object] = lambda _transaction: None,
    ) -> Iterator[Restart | ReplayStep]:
        """Yield a restart, then each transaction from `since` to `until`.

        After a hole, another restart comes first. `on_skipped` is called with those before a
        restart.
        """
        before, at, has_begun = self._start(since), 0, False
        merged = MergedRecords(self._members(before))
        for zxid, body in merged:
            transaction = self._decoded(body)
            hole = hole_between(before, zxid) if zxid != before + 1 else None
            now = max(at, transaction.at)
            if until is not None and now > until:
                self.known_until = until if hole is None else self.known_until
                break
            if hole is not None:
                self._resume_after(hole)
                has_begun = False
            if not has_begun and zxid > self._exact_from and (since is None or now >= since):
                has_begun = True
                yield self._restart(zxid - 1 if self._hole else before, now)
            effects = self._apply(transaction)
            before, at = zxid, now
            if has_begun:
                self._count(zxid, at)
                yield ReplayStep(transaction, effects, at)
            else:
                on_skipped(transaction)
        if not has_begun:
            yield self._restart(before, at or _newest_time(self._tree))
        self._conclude(merged)

    def _restart(self, zxid: int, at: Millis) -> Restart:
        hole, self._hole = self._hole, None
        self.last = self.last or (zxid, at)
        return Restart(self._tree, zxid, at, hole)

    def _count(self, zxid: int, at: Millis) -> None:
        self.transactions += 1
        self.first = self.first or (zxid, at)
        self.last = zxid, at
        self.known_until = at

    def _apply(self, transaction: Transaction) -> list[Effect]:
        """Change the tree, and compare its digest with the one that the server wrote."""
        effects = self._tree.apply(transaction)
        is_provable = transaction.zxid > self._exact_from and not self._tree.is_guessed
        if is_provable and transaction.digest is not None:
            self.with_digest += 1
            if transaction.digest == self._tree.digest:
                self.proven += 1
            elif self._wrong_from is None:
                self._wrong_from = transaction.zxid
        return effects

    # Where to start

    def _start(self, since: Millis | None) -> int:
        """Load the first tree; return the last transaction that it certainly contains."""
        first = min((log.zxid for log in self._logs), default=None)
        for file in self._snapshots_to_try(first, since):
            if self._load(file):
                return file.zxid or 0
        if first is None:
            raise DataFileError("No usable snapshot and no transaction was found in these files.")
        is_whole = first & _COUNTER == 1 and first >> 32 in _FIRST_EPOCHS
        if not is_whole:
            self._note(f"No usable snapshot: what existed before {first:#x} is unknown.")
        self._tree = ZnodeTree(is_guessed=not is_whole)
        return 0 if is_whole else first - 1

    def _snapshots_to_try(self, first: int | None, since: Millis | None) -> list[DataFile]:
        """The snapshots to start from, the best one first.

        The logs continue the `joined` ones without a gap. With `since`, the newest of these that
        is not too late comes first, otherwise the oldest. The last resort is a gap.
        """
        if first is None:
            return self._snapshots[::-1]
        begins_epoch = first & _COUNTER == 1
        joined = [
            file for file in self._snapshots if begins_epoch or (file.zxid or 0) >= first - 1
        ]
        before = [file for file in self._snapshots if file not in joined]
        if since is not None:
            early = [log.zxid for log in self._logs if log.at <= since]
            limit = max(early, default=first)
            near = [file for file in joined if (file.zxid or 0) <= limit]
            return [*near[::-1], *[file for file in joined if file not in near], *before[::-1]]
        return [*joined, *before[::-1]]

    def _resume_after(self, hole: Hole) -> None:
        """Continue with the newest good snapshot in the hole, or with the tree from before it."""
        self._note(str(hole))
        self._hole, self._exact_from = hole, 0
        inside = [file for file in self._snapshots if hole.after < (file.zxid or 0) < hole.before]
        if not any(map(self._load, reversed(inside))):
            self._note(f"No snapshot shows what changed before {hole.before:#x}.")

    def _load(self, file: DataFile) -> bool:
        """Load a snapshot, unless it is damaged."""
        try:
            with open_unpacked(file) as stream:
                tree, digest, newest = ZnodeTree.of_snapshot(SnapshotFile(stream, file.name))
        except DataFileError as error:
            self._note(f"{error} It is not used.")
            return False
        self._tree = tree
        self._exact_from = max(newest, file.zxid or 0, digest.zxid if digest else 0)
        return True

    # Records

    def _first_records(self, files: Sequence[DataFile]) -> list[_Log]:
        found = []
        for file in files:
            try:
                first = _first_record(file)
            except DataFileError as error:
                if len(files) == 1:
                    raise
                self._note(f"{error} It is not used.")
                continue
            if first is not None:
                found.append(_Log(file, first[0], head_of(first[1])[1]))
        return sorted(found, key=lambda log: (log.zxid, log.file.name))

    def _members(self, after: int) -> list[ServerLogs]:
        """The logs of each server, without those that end before the transaction after `after`."""
        logs: dict[str, list[_Log]] = defaultdict(list)
        for log in self._logs:
            logs[log.file.member].append(log)
        shared = [file.zxid or 0 for file in self._snapshots if file.member not in logs]
        members = []
        for member, own in logs.items():
            following = [log.zxid for log in own[1:]]
            needed = [
                log.file
                for log, end in zip(own, [*following, None], strict=True)
                if end is None or end > after + 1
            ]
            snapshots = [file.zxid or 0 for file in self._snapshots if file.member == member]
            members.append(ServerLogs(needed, [*snapshots, *shared], self._on_damage, after))
        return members

    def _decoded(self, body: bytes) -> Transaction:
        try:
            transaction = decode(body)
        except TransactionError as error:
            transaction = without_operations(body)
            self._note(f"{error}: it was skipped.")
        if len(body) > MAX_READ_BYTES:
            self._note(
                f"Transaction {transaction.zxid:#x} has {len(body):,} bytes. By default, servers "
                f"read at most {MAX_READ_BYTES:,}: a server that has to read it does not start. "
                "Set jute.maxbuffer higher first."
            )
        if not transaction.is_known:
            self._note(
                f"Transaction {transaction.zxid:#x} has type {transaction.kind}, "
                "which zktop does not know."
            )
        return transaction

    # Notes

    def _on_damage(self, damage: Damage) -> None:
        self._damage += 1
        if self._damage <= MAX_NOTES:
            self._note(str(damage))

    def _note(self, sentence: str) -> None:
        if len(self.notes) < 5 * MAX_NOTES:
            self.notes.append(sentence)

    def _conclude(self, merged: MergedRecords) -> None:
        for epoch, number in sorted(merged.ghosts.items()):
            what = "transaction was" if number == 1 else "transactions were"
            self.notes.append(f"In epoch {epoch}, {number} {what} never committed: left out.")
        if self._damage > MAX_NOTES:
            more = count(self._damage - MAX_NOTES, "more damaged place")
            self.notes.append(f"Skipped {more}.")
        if self._wrong_from is not None:
            self.notes.append(
                f"From {self._wrong_from:#x} on, the servers' digests differ from the replay's: "
                f"{self.proven} of {self.with_digest} transactions are proven."
            )


def _first_record(file: DataFile) -> Record | None:
    """Return the first record of a log; None if a server has only just created the file."""
    with open_unpacked(file) as stream:
        is_blank = not stream.read(HEADER_BYTES).strip(b"\0")
    if is_blank and file.zxid is not None:
        return None
    with open_unpacked(file) as stream:
        return next(iter(LogRecords(stream, file.name)), None)


def _newest_time(tree: ZnodeTree) -> Millis:
    return max((max(node.ctime, node.mtime) for node in tree.nodes.values()), default=0)


def _members_of(files: Sequence[DataFile]) -> list[str]:
    """Return the folders with logs; the snapshots of a server may be in another one."""
    folders = [
        {file.member for file in files if file.kind == kind} for kind in ("log", "snapshot")
    ]
    return sorted(folders[0] or folders[1])
