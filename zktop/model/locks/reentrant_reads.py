"""Read locks that the holder of a write lock takes in addition.

Since Curator 5.5 (and in menagerie) such a read takes the number of its own write node. Before
that it had a later number of its own, and only its session shows what it is; after the write was
released, the next writer got in beside it.
"""

from collections.abc import Iterator, Sequence

import msgspec

from zktop.model.locks.lock import Member, WatchLookup
from zktop.model.text import Text


class Reentry(msgspec.Struct, frozen=True, gc=False):
    """Members that hold out of order, warnings, and whether a watch table could change that."""

    exempt: frozenset[Text] = frozenset()
    warnings: tuple[str, ...] = ()
    asks_watches: bool = False


NO_REENTRY = Reentry()


def reentrant_reads(members: Sequence[Member], watching: WatchLookup) -> Reentry:
    """Find reads that the write lock of their own session covers."""
    writer = _holding_writer(members)
    if writer is None:
        return NO_REENTRY
    twins = [m for m in _neighbours(members) if m.sequence == writer.sequence]
    inherited = {m.node for m in twins} | {writer.node} if len(twins) > 1 else set()
    later = [m for m in members if m.mode == "read" and m.sequence != writer.sequence]
    own = [m for m in later if m.owner and m.owner == writer.owner]
    reentrant = [m for m in own if not watching(m.owner, writer.node)]
    warnings = ["probable-reentrant-read"] if reentrant else []
    if _is_downgrade(members, writer, watching):
        warnings.append("possible-lost-downgrade")
    exempt = inherited | {member.node for member in reentrant}
    return Reentry(frozenset(exempt), tuple(warnings), bool(later))


def _holding_writer(members: Sequence[Member]) -> Member | None:
    """Find the writer at the front; a read that shares its number may come first."""
    front = next(iter(members), None)
    if front is None:
        return None
    same = (m for m in _neighbours(members) if m.sequence == front.sequence)
    return next((m for m in same if m.mode != "read"), None)


def _neighbours(members: Sequence[Member]) -> Iterator[Member]:
    front = members[0].sequence
    for member in members:
        if member.sequence != front:
            return
        yield member


def _is_downgrade(members: Sequence[Member], writer: Member, watching: WatchLookup) -> bool:
    """Return whether a read right behind the writer may be held since before the writer got in.

    Its client would watch the writer if it were waiting. Without watch tables it is possible.
    """
    after = next((m for m in members if m.sequence != writer.sequence), None)
    if after is None or after.mode != "read" or not after.owner or after.owner == writer.owner:
        return False
    return not watching(after.owner, writer.node)
