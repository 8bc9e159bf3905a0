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
from zktop.model.format import iso
from zktop.txnlog.compressed import is_damaged
from zktop.txnlog.data_files import DataFile, open_unpacked
from zktop.txnlog.leader_clock import LeaderClock
from zktop.txnlog.log_records import HEADER_BYTES, Damage, LogRecords
from zktop.txnlog.merged_records import Hole, MergedRecords, Record, ServerLogs, hole_between
from zktop.txnlog.replay_notes import ReplayNotes
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
_FIRST_EPOCHS: Final = (0, 1)  # of a standalone server, and of an ensemble
SNAPSHOT: Final = "missing snapshot"
UNCERTAIN: Final = "may not have been committed: the files of other members would show it."
WRONG_CHARSET: Final = (
    " A path there is not ASCII: the servers' Java probably does not use UTF-8 (file.encoding), "
    "which is not damage."
)
WRONG_LOCKS: Final = " What is shown of locks from there on may be wrong."
MAX_READ_BYTES: Final = 2 * 0xFFFFF  # of a record: twice jute.maxbuffer, a server's default


class Restart(msgspec.Struct, frozen=True):
    """Where the replay starts: with the first tree, or with the tree after a hole.

    The tree is exact from here on, unless a note says what is missing.
    """

    tree: ZnodeTree
    zxid: int
    at: Millis
    hole: Hole | None = None


class ReplayStep(msgspec.Struct, frozen=True, gc=False):
    """One transaction, and what it changed. `at` never goes back."""

    transaction: Transaction
    effects: list[Effect]
    at: Millis


class _Log(msgspec.Struct, frozen=True):
    """A log with its first record."""

    file: DataFile
    zxid: int
    at: Millis


class LogReplay:
    """The transactions in a set of files. Iterate over `steps` once, then read the totals."""

    def __init__(self, files: Sequence[DataFile]) -> None:
        self._notes = ReplayNotes()
        self._clock = LeaderClock(self._notes)
        self.transactions = self.with_digest = self.proven = 0
        self.first: tuple[int, Millis] | None = None
        self.last: tuple[int, Millis] | None = None
        self.known_until: Millis = 0  # the replay misses nothing up to this time
        self._was_proven = False  # whether a digest was ever right
        self._wrong_from: Transaction | None = None  # the first one whose digest differs
        self._tree = ZnodeTree()
        self._exact_from = 0  # the tree is exact after this transaction
        self._hole: Hole | None = None  # before the next restart
        self._logs = self._first_records([file for file in files if file.kind == "log"])
        snapshots = [self._with_zxid(file) for file in files if file.kind == "snapshot"]
        self._snapshots = sorted(snapshots, key=lambda file: file.zxid or 0)
        self.members = _members_of(files)

    def steps(
        self,
        since: Millis | None = None,
        until: Millis | None = None,
        on_skipped: Callable[[Transaction], object] = lambda _transaction: None,
    ) -> Iterator[Restart | ReplayStep]:
        """Yield a restart, then each transaction from `since` to `until`.

        The restart is at `since` if the transaction before it is known. After a hole, another
        restart comes first. `on_skipped` is called with the transactions before a restart.
        """
        last_zxid, at, has_begun = self._start(since), 0, False
        merged = MergedRecords(self._members(last_zxid))
        for zxid, body in merged:
            transaction = self._decoded(body)
            hole = self._hole_between(last_zxid, zxid) if zxid != last_zxid + 1 else None
            now = self._clock.time_of(transaction)
            if until is not None and now > until:
                self.known_until = until if hole is None else self.known_until
                break
            if hole is not None:
                self._resume_after(hole)
                has_begun = False
            if not has_begun and zxid > self._exact_from and (since is None or now >= since):
                has_begun = True
                yield self._restart(
                    zxid - 1 if self._hole else last_zxid, self._begin_time(since, at, now)
                )
            effects = self._apply(transaction, is_counted=has_begun)
            if has_begun:
                self._count(zxid, last_zxid, now)
                yield ReplayStep(transaction, effects, now)
            else:
                on_skipped(transaction)
            last_zxid, at = zxid, now
        if not has_begun:
            yield self._restart(last_zxid, at or _newest_time(self._tree))
        self._conclude(merged)

    @property
    def notes(self) -> list[str]:
        """Sentences about what is missing or doubtful. They are complete after all steps."""
        return self._notes.sentences

    def _begin_time(self, since: Millis | None, before: Millis, first: Millis) -> Millis:
        """Return the time of a restart: `since`, or that of the first transaction to yield.

        It is `since` only if the last transaction before it is known. `before` is the time of
        that transaction, or 0.
        """
        if since is None or not before or self._hole is not None:
            return first
        return max(since, before)

    def _restart(self, zxid: int, at: Millis) -> Restart:
        hole, self._hole = self._hole, None
        self.last = self.last or (zxid, at)
        return Restart(self._tree, zxid, at, hole)

    def _count(self, zxid: int, before: int, at: Millis) -> None:
        if self.transactions and zxid >> 32 != before >> 32 and zxid & _COUNTER == 1:
            begin = f"Epoch {zxid >> 32} begins with {zxid:#x} at {iso(at)}: a new leader."
            self._notes.add(begin, "epoch")
        self.transactions += 1
        self.first = self.first or (zxid, at)
        self.last = zxid, at
        self.known_until = at

    def _apply(self, transaction: Transaction, *, is_counted: bool) -> list[Effect]:
        """Change the tree, and compare its digest with the one that the server wrote."""
        effects = self._tree.apply(transaction)
        is_provable = transaction.zxid > self._exact_from and not self._tree.is_guessed
        if is_provable and transaction.digest is not None:
            is_proven = transaction.digest == self._tree.digest
            self.with_digest += is_counted
            self.proven += is_proven and is_counted
            if is_proven:
                self._was_proven = True
            elif self._wrong_from is None:
                self._wrong_from = transaction
        return effects

    # Where to start

    def _start(self, since: Millis | None) -> int:
        """Load the first tree and return the last transaction that it certainly contains."""
        first = min((log.zxid for log in self._logs), default=None)
        if first is None:
            return self._start_with_snapshot()
        is_whole = first & _COUNTER == 1 and first >> 32 in _FIRST_EPOCHS
        early = [log.zxid for log in self._logs if since is not None and log.at <= since]
        limit = max(early, default=first - 1)
        continued = self._snapshots_continued_by_logs(first)
        old_enough = [file for file in continued if (file.zxid or 0) <= limit]
        too_new = [file for file in continued if (file.zxid or 0) > limit]
        before_a_gap = [file for file in self._snapshots if file not in continued]
        late = [] if is_whole else [*too_new, *before_a_gap[::-1]]
        for file in [*old_enough[::-1], *late]:
            if self._load(file):
                if file in late:
                    self._note_late_begin(since)
                return file.zxid or 0
        if not is_whole:
            unknown = f"No usable snapshot: what existed before {first:#x} is unknown."
            self._notes.add(unknown, SNAPSHOT)
        self._tree = ZnodeTree(is_guessed=not is_whole)
        return 0 if is_whole else first - 1

    def _start_with_snapshot(self) -> int:
        """Load the newest good snapshot, where there are no transactions."""
        for file in reversed(self._snapshots):
            if self._load(file):
                self._note_uncertain_time()
                return file.zxid or 0
        nothing = "No usable snapshot and no transaction was found in these files."
        raise DataFileError(" ".join((nothing, *self.notes)))

    def _snapshots_continued_by_logs(self, first: int) -> list[DataFile]:
        """Return the snapshots that the logs continue without a gap, as far as names show it."""
        continued = [file for file in self._snapshots if (file.zxid or 0) >= first - 1]
        if first & _COUNTER == 1:
            earlier = [file for file in self._snapshots if (file.zxid or 0) < first - 1]
            return [*earlier[-1:], *continued]
        return continued

    def _note_uncertain_time(self) -> None:
        """Add a note that the newest znode shows the time of the state, but no deletions do."""
        newest = _newest_time(self._tree)
        if newest:
            last = f"The newest change of a znode in the snapshot was at {iso(newest)}"
            self._notes.add(f"{last}; the snapshot may be newer.", SNAPSHOT)

    def _note_late_begin(self, since: Millis | None) -> None:
        """Add a note if the first tree is newer than the beginning of the window."""
        newest = _newest_time(self._tree)
        if since is not None and newest > since:
            late = f"No usable snapshot is as old as the window: it begins at {iso(newest)}."
            self._notes.add(late, SNAPSHOT)

    def _hole_between(self, after: int, before: int) -> Hole | None:
        """Return the hole between two records.

        Only snapshots show how many transactions an epoch had after the last one in the logs.
        """
        hole = hole_between(after, before)
        if hole is None and any(_shows_more(file, after, before) for file in self._snapshots):
            return Hole(after, before, None)
        return hole

    def _resume_after(self, hole: Hole) -> None:
        """Continue with the newest good snapshot in the hole, or with the tree before the hole."""
        self._notes.add(str(hole), "hole")
        if hole.missing is None and self._has_one_member:
            last = f"The last transactions before {hole.before:#x} {UNCERTAIN}"
            self._notes.add(last, "uncertain epoch end")
        self._hole, self._exact_from = hole, 0
        inside = [file for file in self._snapshots if hole.after < (file.zxid or 0) < hole.before]
        if not any(map(self._load, reversed(inside))):
            unseen = f"No snapshot shows what changed before {hole.before:#x}."
            self._notes.add(unseen, "unexplained hole")

    def _load(self, file: DataFile) -> bool:
        """Load a snapshot. If it is damaged, add a note and return False."""
        try:
            with open_unpacked(file) as stream:
                tree, digest_zxid, newest = ZnodeTree.of_snapshot(SnapshotFile(stream, file.name))
        except DataFileError as error:
            self._notes.add(f"{error} It is not used.", "unusable file")
            return False
        self._tree = tree
        self._exact_from = max(newest, file.zxid or 0, digest_zxid)
        return True

    # Records

    def _first_records(self, files: Sequence[DataFile]) -> list[_Log]:
        logs = []
        for file in files:
            try:
                first, damage = _first_record(file)
            except DataFileError as error:
                if len(files) == 1:
                    raise
                self._notes.add(f"{error} It is not used.", "unusable file")
                continue
            if first is not None:
                logs.append(_Log(file, first[0], head_of(first[1])[1]))
                continue
            for damaged_place in damage:
                self._on_damage(damaged_place)
        return sorted(logs, key=lambda log: (log.zxid, log.file.name))

    def _with_zxid(self, file: DataFile) -> DataFile:
        """Take the last transaction of a snapshot from its content if its name does not show it.

        From 3.9 on, an administrator can write one under any name.
        """
        if file.zxid is not None:
            return file
        try:
            with open_unpacked(file) as stream:
                content = SnapshotFile(stream, file.name)
                newest = max(
                    (max(znode.mzxid, znode.pzxid) for znode in content.znodes()), default=0
                )
                digest_zxid = content.finish()
        except DataFileError:
            return file  # to be reported when it is loaded
        zxid = content.last_zxid or digest_zxid or newest
        return msgspec.structs.replace(file, zxid=zxid)

    def _members(self, after: int) -> list[ServerLogs]:
        """Return each server's logs, without those that end at `after` or before."""
        logs: dict[str, list[_Log]] = defaultdict(list)
        for log in self._logs:
            logs[log.file.member].append(log)
        shared = [file.zxid or 0 for file in self._snapshots if file.member not in logs]
        members = []
        for member, own_logs in logs.items():
            following = [log.zxid for log in own_logs[1:]]
            needed = [
                log.file
                for log, end in zip(own_logs, [*following, None], strict=True)
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
            self._notes.add(f"{error}: it was skipped.", "unreadable transaction")
        if len(body) > MAX_READ_BYTES:
            self._notes.add(
                f"Transaction {transaction.zxid:#x} has {len(body):,} bytes. By default, servers "
                f"read at most {MAX_READ_BYTES:,}: a server that has to read it does not start. "
                "Set jute.maxbuffer higher first.",
                "oversized transaction",
            )
        if transaction.unknown is not None:
            self._notes.count_unknown(transaction.unknown)
        return transaction

    # Notes

    @property
    def _has_one_member(self) -> bool:
        return len({log.file.member for log in self._logs}) == 1

    def _on_damage(self, damage: Damage) -> None:
        self._notes.add(str(damage), "damaged place")

    def _conclude(self, merged: MergedRecords) -> None:
        self._notes.conclude()
        if self.last and self.last[0] >> 32 and self._has_one_member and merged.is_at_end:
            self.notes.append(f"The last transactions {UNCERTAIN}")
        for epoch, number in sorted(merged.ghosts.items()):
            words = "transaction was" if number == 1 else "transactions were"
            self.notes.append(f"In epoch {epoch}, {number} {words} never committed: left out.")
        wrong = self._wrong_from
        if wrong is not None:
            why = WRONG_CHARSET if self._has_non_ascii_paths(wrong) else WRONG_LOCKS
            self.notes.append(
                f"From {wrong.zxid:#x} on, the servers' digests differ from the replay's: "
                f"{self.proven} of {self.with_digest} transactions are proven.{why}"
            )

    def _has_non_ascii_paths(self, wrong: Transaction) -> bool:
        """Return whether non-ASCII paths can explain why digests differ from here on."""
        paths = [getattr(operation, "path", "") for operation in wrong.operations]
        if not all(map(str.isascii, paths)):
            return True
        return not self._was_proven and not all(map(str.isascii, self._tree.nodes))


def _first_record(file: DataFile) -> tuple[Record | None, Sequence[Damage]]:
    """Return the first record of a log, and the damage that precedes it.

    There is neither if a server has only just created the file.
    """
    with open_unpacked(file) as stream:
        is_blank = not stream.read(HEADER_BYTES).strip(b"\0")
    if is_blank and file.zxid is not None:
        return None, ()
    with open_unpacked(file) as stream:
        records = LogRecords(stream, file.name)
        first = next(iter(records), None)
        if first is None and is_damaged(stream):
            records.note_torn_end()
        return first, records.damage


def _shows_more(file: DataFile, after: int, before: int) -> bool:
    """Return whether a snapshot has transactions between the two records."""
    last = file.zxid or 0
    if not after < last < before:
        return False
    if last & _COUNTER:
        return True
    try:  # made before the first transaction of an epoch
        with open_unpacked(file) as stream:
            return any(
                after < zxid <= last
                for node in SnapshotFile(stream, file.name).znodes()
                for zxid in (node.mzxid, node.pzxid)
            )
    except DataFileError:
        return False


def _newest_time(tree: ZnodeTree) -> Millis:
    return max((max(node.ctime, node.mtime) for node in tree.nodes.values()), default=0)


def _members_of(files: Sequence[DataFile]) -> list[str]:
    """Return the folders with logs. The snapshots of a server may be in another folder."""
    folders = [
        {file.member for file in files if file.kind == kind} for kind in ("log", "snapshot")
    ]
    return sorted(folders[0] or folders[1])
