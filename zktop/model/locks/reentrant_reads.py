"""Read locks that the holder of a write lock takes in addition.

Since Curator 5.5 (and in menagerie) such a read has the number of its client's write node. In
older versions it has a later number, so only its session identifies it. There, once the write
lock is released, the next writer acquires the lock although the read is still held.
"""

from collections.abc import Sequence
from itertools import takewhile

import msgspec

from zktop.model.layouts.owner_labels import REVOKE
from zktop.model.locks.lock import Member, WatchLookup
from zktop.model.text import Text


class Reentry(msgspec.Struct, frozen=True, gc=False):
    """Members that hold despite others before them, and warnings about that."""

    exempt: frozenset[Text] = frozenset()
    warnings: tuple[str, ...] = ()
    asks_watches: bool = False  # watch tables can change the answer


NO_REENTRY = Reentry()


def reentrant_reads(members: Sequence[Member], watching: WatchLookup) -> Reentry:
    """Find the reads that hold because their own session holds the write lock."""
    # The writer at the front, and reads with its number, one of which may come first.
    twins = list(takewhile(lambda member: member.sequence == members[0].sequence, members))
    writer = next((member for member in twins if member.mode != "read"), None)
    if writer is None:
        return NO_REENTRY
    reads = [twin for twin in twins if twin.mode == "read" and twin.owner == writer.owner]
    inherited = {member.node for member in (writer, *reads)} if reads else set()
    later = [
        member
        for member in members
        if member.mode == "read" and member.sequence != writer.sequence
    ]
    own = [read for read in later if read.owner and read.owner == writer.owner]
    is_revocable = _is_revocable(writer)
    reentrant = [read for read in own if is_revocable or not watching(read, writer.node)]
    warnings = ["probable-reentrant-read"] if reentrant else []
    if _is_downgrade(members, writer, watching):
        warnings.append("possible-lost-downgrade")
    exempt = inherited | {member.node for member in reentrant}
    return Reentry(frozenset(exempt), tuple(warnings), bool(later))


def _is_revocable(writer: Member) -> bool:
    """Return whether the client of a writer watches its own node, so that no watch shows a wait.

    Curator writes no data into the node of a revocable lock, and an address into other nodes.
    """
    return writer.layout == "curator-rw" and writer.znode.data in (b"", REVOKE)


def _is_downgrade(members: Sequence[Member], writer: Member, watching: WatchLookup) -> bool:
    """Return whether the read right after the writer may have got the lock before the writer did.

    If it waited, its client would watch the writer. Without watch tables, both are possible.
    """
    after = next((member for member in members if member.sequence != writer.sequence), None)
    if after is None or after.mode != "read" or not after.owner or after.owner == writer.owner:
        return False
    return not watching(after, writer.node)
