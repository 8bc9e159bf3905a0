"""The last members that left a lock, and which of them only came first during a recursive delete.

A recursive delete of a queue deletes one node after another. If it begins with the holder, each
waiter comes first for a few milliseconds. In a long queue these would displace the members that
really held the lock, so they are forgotten first.
"""

from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec.structs import replace

from zktop.model.facts import Millis
from zktop.model.history.events import FormerMember

MAX_FORMER_MEMBERS: Final = 32
NOTICED_MS: Final[Millis] = 1_000  # a client may not notice a shorter hold


class FormerMembers(msgspec.Struct, frozen=True, gc=False):
    """The last members that left, oldest first, and when the newest of the forgotten ones left."""

    known: tuple[FormerMember, ...] = ()
    forgotten_at: Millis | None = None

    def after(self, gone: FormerMember) -> "FormerMembers":
        """Add a member that left."""
        if _held_briefly(gone, self.known):
            gone = replace(gone, held_briefly=True)
        known = (*self.known, gone)
        if len(known) <= MAX_FORMER_MEMBERS:
            return FormerMembers(known, self.forgotten_at)
        bystanders = (place for place, member in enumerate(self.known) if _is_bystander(member))
        dropped = next(bystanders, 0)
        forgotten_at = max(self.forgotten_at or 0, known[dropped].gone_at)
        return FormerMembers((*known[:dropped], *known[dropped + 1 :]), forgotten_at)


def _held_briefly(gone: FormerMember, earlier: Iterable[FormerMember]) -> bool:
    """Whether it came first because the same session had just deleted the node of a holder."""
    held = gone.held
    if gone.deleted_by is None or held is None or held.bound != "exact" or held.ms >= NOTICED_MS:
        return False
    began_at = gone.gone_at - held.ms
    return any(
        holder.deleted_by == gone.deleted_by
        and holder.ending != "abandoned"
        and holder.gone_at == began_at
        for holder in earlier
    )


def _is_bystander(member: FormerMember) -> bool:
    """Whether another session deleted its node, and it never really held the lock."""
    was_deleted = member.ending == "abandoned" and member.deleted_by is not None
    return member.held_briefly or was_deleted
