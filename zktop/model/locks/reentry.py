"""A write holder that reads, too: which reads are held although writers are before them.

Since Curator 5.5 (and in menagerie) such a read takes the number of its own write node. Before
that it had a later number of its own, and only its session gives it away; after the write was
released, the next writer got in beside the read.
"""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from zktop.model.facts import Session
from zktop.model.locks.lock import Member
from zktop.model.text import Text

Watching = Callable[[Session, Text], bool | None]


class Reentry(msgspec.Struct, frozen=True, gc=False):
    """Who holds out of order, what to say of it, and whether a watch table could say more."""

    exempt: frozenset[Text] = frozenset()
    warnings: tuple[str, ...] = ()
    asks: bool = False


NONE = Reentry()


def reentry(members: Sequence[Member], watching: Watching) -> Reentry:
    """Look for reads that their own writer's lock covers."""
    writer = _holding_writer(members)
    if writer is None:
        return NONE
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


def _is_downgrade(members: Sequence[Member], writer: Member, watching: Watching) -> bool:
    """Tell whether a read right behind the writer may be held since before the writer got in.

    Its client would watch the writer if it were waiting. Without watch tables it is possible.
    """
    after = next((m for m in members if m.sequence != writer.sequence), None)
    if after is None or after.mode != "read" or not after.owner or after.owner == writer.owner:
        return False
    return not watching(after.owner, writer.node)
