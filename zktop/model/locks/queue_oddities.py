"""Warnings about a queue, from counts of its oddities, such as repeated numbers.

Oddities are counted once, and adjusted when a member joins or leaves: a queue of ten thousand
members has a new version with every event, and examining all members each time would be too slow.
"""

from collections.abc import Iterable, Sequence
from operator import attrgetter, le
from typing import Final

import msgspec

from zktop.model.facts import Stat
from zktop.model.layouts.client_view import assumed_view, ranker_of, views_of
from zktop.model.layouts.layout import LARGEST, Layout
from zktop.model.layouts.owner_labels import REVOKED
from zktop.model.locks.lock import Member
from zktop.model.text import Text

DISORDER: Final = "order-disagrees-with-czxid"
_NEARLY_EXHAUSTED: Final = LARGEST - LARGEST // 100


class QueueOddities(msgspec.Struct, frozen=True, gc=False):
    """Counters over the members of one queue."""

    unordered: int = 0  # neighbours that were created in the opposite order
    twins: int = 0  # members minus distinct numbers: 0 if no two members share a number
    negative: int = 0
    unnumbered: int = 0
    unseen: int = 0  # members that clients of their own layout do not count
    lasting: int = 0  # persistent members
    readers: int = 0
    revoked: int = 0  # members asked to release
    repeated: bool = False  # two members with the same token
    largest: int = 0

    @property
    def is_sane(self) -> bool:
        """Whether all clients agree on the order."""
        return not (self.twins or self.negative or self.unnumbered or self.unseen)

    def with_change(self, member: Member, neighbours: "Neighbours", step: int) -> "QueueOddities":
        """Adjust the counters for a member that joins (step 1) or leaves (step -1) a sane queue.

        In such a queue only these four can change; the caller checks tokens and sets `largest`.
        """
        before, after = neighbours
        inversions = (
            _is_inverted(before, member)
            + _is_inverted(member, after)
            - _is_inverted(before, after)
        )
        return msgspec.structs.replace(
            self,
            unordered=self.unordered + step * inversions,
            lasting=self.lasting + step * (not member.releases),
            readers=self.readers + step * (member.mode == "read"),
            revoked=self.revoked + step * (member.znode.data in REVOKED),
        )

    def warnings(
        self,
        layout: Layout,
        rule: str,
        members: Sequence[Member],
        holders: Sequence[Member],
    ) -> tuple[str, ...]:
        broken = _is_broken(rule, holders)
        if not broken and self.negative and self.unordered:
            # After an overflow: the oldest member waits, so a newer one has overtaken it.
            known = [member for member in members if member.czxid]
            broken = min(known, key=attrgetter("czxid")) not in holders
        lasting = self.lasting and layout.name not in _LASTING_BY_DESIGN
        signs: dict[str, object] = {
            "negative-sequence": self.negative,
            "duplicate-sequence": self.twins,
            "sequence-exhausted": self.largest == LARGEST,
            DISORDER: self.unordered,
            "mutual-exclusion-broken": broken,
            "duplicate-client": self.repeated,
            "persistent-contender": lasting,
            "revocation-requested": self.revoked,
            "low-confidence": layout.guessed,
        }
        return tuple(warning for warning, sign in signs.items() if sign)


Neighbours = tuple[Member | None, Member | None]  # the previous member, and the next one

_LASTING_BY_DESIGN: Final = frozenset(
    ("accumulo-fate-lock", "kazoo-lease", "kazoo-locking-queue", "shedlock")
)


def count_oddities(layout: Layout, members: Sequence[Member]) -> QueueOddities:
    """Count the oddities of a queue."""
    numbers = [member.sequence for member in members if member.sequence is not None]
    negative = len([number for number in numbers if number < 0])
    tokens = [token for member in members if (token := member.token) is not None]
    return QueueOddities(
        unordered=_inversions(members),
        twins=len(numbers) - len(set(numbers)),
        negative=negative,
        unnumbered=len(members) - len(numbers),
        unseen=_unseen(layout, members, negative),
        lasting=[member.releases for member in members].count(False),
        readers=[member.mode for member in members].count("read"),
        revoked=len([member for member in members if member.znode.data in REVOKED]),
        repeated=len(tokens) != len(set(tokens)),
        largest=max(numbers, default=0),
    )


def is_unseen(layout: Layout, member: Member) -> bool:
    """Return whether the clients of a member's own layout do not count it."""
    if not _may_be_unseen(layout, is_negative=(member.sequence or 0) < 0):
        return False
    view = assumed_view(views_of(layout), member.mode)
    return view.counts != "own" and ranker_of(view)(member.znode.name) is None


def _unseen(layout: Layout, members: Sequence[Member], negative: int) -> int:
    if not _may_be_unseen(layout, is_negative=bool(negative)):
        return 0
    return sum([is_unseen(layout, member) for member in members])


def _may_be_unseen(layout: Layout, *, is_negative: bool) -> bool:
    """Whether a node may be unseen: Hive misses SEMI_SHARED locks, kazoo some negative numbers."""
    misses_own = layout.name == "hive-lock" or (layout.name == "kazoo-lock" and is_negative)
    return misses_own or bool(layout.unseen)


def is_repeated(member: Member, names: Iterable[Text]) -> bool:
    """Return whether another of these names has the same token."""
    token = member.token
    return token is not None and "\n".join(names).count(token) > 1


def _inversions(members: Sequence[Member]) -> int:
    arrivals = [member.czxid for member in members]
    if all(map(le, arrivals, arrivals[1:])):
        return 0
    return sum(map(_is_inverted, members, members[1:]))


def _is_inverted(before: Member | None, after: Member | None) -> bool:
    """Return whether `after` was created before `before`. A shared number is not an inversion."""
    if before is None or after is None or before.sequence == after.sequence:
        return False
    return 0 < after.czxid < before.czxid


def is_nearly_exhausted(root: Stat | None) -> bool:
    """Return whether the counter of a lock's root has used 99 % of its numbers."""
    return root is not None and (root.next_sequence or 0) > _NEARLY_EXHAUSTED


def has_client(holder: Member) -> bool:
    """Return whether a holder may have a client. A persistent node without a session has none."""
    return bool(holder.owner) or holder.releases


def _is_broken(rule: str, holders: Sequence[Member]) -> bool:
    """Return whether some holders exclude one another."""
    if len(holders) < 2 or rule == "first-n":  # noqa: PLR2004  a single holder is fine
        return False
    if rule == "first":
        return True
    writers = [holder for holder in holders if holder.mode != "read"]
    owners = {holder.owner for holder in holders}
    return bool(writers) and (len(writers) > 1 or len(owners) > 1)
