"""Make the members of a lock from its znodes, and find out how many of them may hold at once.

A member whose znode did not change is reused. The number of leases is configured, written in the
data, shown by watches, or unknown. Some libraries write elections exactly as they write locks; the
path and the data tell those apart.
"""

import ipaddress
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, pairwise
from typing import Final, Literal

import msgspec

from zktop.model.layouts.layout import Layout, LockMode
from zktop.model.layouts.owner_labels import label_in_name, label_of
from zktop.model.layouts.sorting import ParsedChild
from zktop.model.locks.lock import Lock, LockQueue, Member
from zktop.model.locks.special_queues import WatchLookup
from zktop.model.text import Text

KnownMembers = Mapping[Text, Member]
NO_KNOWN_MEMBERS: Final[KnownMembers] = {}


def known_members(previous: Lock | None) -> KnownMembers:
    """Return the members of an earlier version by node."""
    if previous is None:
        return NO_KNOWN_MEMBERS
    return {member.node: member for queue in previous.queues for member in queue.members}


def members_of(
    layout: Layout,
    places: Iterable[ParsedChild],
    known: KnownMembers = NO_KNOWN_MEMBERS,
    below: str = "",
) -> list[Member]:
    """Make the members of one layout; `below` is the path of their parent in the lock."""
    members = [_member(layout, place, known, below) for place in places]
    if is_promoting(layout) and any(member.mode == "read" for member in members):
        return [_promoted(member) for member in members]
    return members


def is_promoting(layout: Layout) -> bool:
    """Return whether exclusive locks count as writers once there is a reader."""
    modes = layout.modes.values()
    return "exclusive" in modes and "read" in modes and "write" not in modes


def _member(layout: Layout, place: ParsedChild, known: KnownMembers, below: str) -> Member:
    znode, name = place.znode, place.name
    node = Text(below + znode.name) if below else znode.name
    before = known.get(node)
    if before is not None and before.znode is znode and before.layout == layout.name:
        return before if before.mode == _mode(layout, place) else _plain_again(before)
    stat = znode.stat
    return Member(
        node,
        _mode(layout, place),
        name.sequence,
        layout.name,
        _named(layout, place),
        _place_of(name.id, node) if name.id and layout.id_is == "token" else None,
        znode,
        stat is None or stat.owner != 0,
    )


def _named(layout: Layout, place: ParsedChild) -> Text | None:
    """Return the label in the name, if the data has none."""
    data, in_name = place.znode.data, label_in_name(layout, place.name)
    return None if in_name is None or (data and label_of(data, layout.name)) else in_name


def _place_of(token: str, node: str) -> slice:
    start = node.rfind(token)
    return slice(start, start + len(token))


def _mode(layout: Layout, place: ParsedChild) -> LockMode:
    if layout.name == "zplock":
        return _zplock_mode(place.znode.data)
    if layout.name == "accumulo-fate-lock" and place.name.id is None:
        return "read" if (place.znode.data or b"").startswith(b"READ") else "write"
    return place.name.mode


def _plain_again(member: Member) -> Member:
    """Undo the promotion to a writer: the readers may be gone."""
    return msgspec.structs.replace(member, mode="exclusive")


def _promoted(member: Member) -> Member:
    if member.mode != "exclusive":
        return member
    return msgspec.structs.replace(member, mode="write")


def _zplock_mode(data: bytes | None) -> LockMode:
    """Read `type`, whose values for a shared lock vary."""
    try:
        kind = msgspec.json.decode(data or b"{}", type=dict[str, object]).get("type")
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return "exclusive"
    return "read" if str(kind).lower() in ("read", "r", "shared", "share") else "write"


_LOOKED_AT = 8  # waiters; their watches show how far back they look
_LONGEST_NUMBER = 10
ACQUIRED = b"ACQUIRED"


class Leases(msgspec.Struct, frozen=True):
    """The number of leases and its origin, and what else the same data shows."""

    number: int | None = None
    are: Literal["known", "inferred"] | None = None
    holders: tuple[Member, ...] | None = None  # if markers in the data name them
    layout: Layout | None = None  # a variant of the layout that the data shows
    asks_watches: bool = False  # a watch table may change this
    warnings: tuple[str, ...] = ()


def leases_of(
    layout: Layout, members: Sequence[Member], configured: int | None, watching: WatchLookup
) -> Leases:
    """Find the number of leases of a queue."""
    if layout.name == "medallion-semaphore":
        return _marked(members, configured)
    if layout.name == "permit-semaphore":
        return _voted(layout, members, configured)
    if layout.name == "member-group":
        return _group(layout, members, watching)
    if configured is not None:
        return Leases(configured, "known")
    if layout.name == "curator-mutex" and len(members) > 1:
        return _watched(members, watching)
    return Leases(warnings=("low-confidence",) if layout.means == "semaphore" else ())


def number_in(data: bytes | None) -> int | None:
    """Read a decimal number, as kazoo writes its number of leases.

    >>> number_in(b"3"), number_in(b""), number_in(b"three")
    (3, None, None)
    """
    text = (data or b"")[: _LONGEST_NUMBER + 1].strip()
    return int(text) if text.isdigit() and len(text) <= _LONGEST_NUMBER else None


def _marked(members: Sequence[Member], configured: int | None) -> Leases:
    """DistributedLock.ZooKeeper: a holder writes a marker."""
    marked = tuple(member for member in members if member.znode.data == ACQUIRED)
    if configured is not None:
        return Leases(configured, "known", marked or None)
    full = len(marked) if marked and len(marked) < len(members) else None
    return Leases(full, "inferred" if full else None, marked)


def _voted(layout: Layout, members: Sequence[Member], configured: int | None) -> Leases:
    """Count Twitter's votes: each client writes its own number, and all watch the root."""
    votes = Counter(number_in(member.znode.data) for member in members)
    votes.pop(None, None)
    if not votes:
        unsure = () if configured else ("low-confidence",)
        return Leases(configured, "known" if configured else None, warnings=unsure)
    number, _ = votes.most_common(1)[0]
    variant = msgspec.structs.replace(layout, watch="children")
    return Leases(configured or number or 1, "known", layout=variant)


def _group(layout: Layout, members: Sequence[Member], watching: WatchLookup) -> Leases:
    """Twitter's group: a lock if predecessors are watched; candidates watch the children."""
    waiters = list(pairwise(members[:_LOOKED_AT]))
    seen = [watching(after.owner, before.node) for before, after in waiters]
    if not seen or None in seen or any(seen):
        return Leases(asks_watches=bool(seen))
    election = msgspec.structs.replace(layout, watch="children", kind="election")
    return Leases(layout=election, asks_watches=True)


def _watched(members: Sequence[Member], watching: WatchLookup) -> Leases:
    """Curator's old semaphore: a waiter watches the node that is `leases` places before it."""
    for place in range(1, min(len(members), _LOOKED_AT)):
        owner = members[place].owner
        for back in range(1, place + 1):
            sees = watching(owner, members[place - back].node)
            if sees is None:
                return Leases()
            if sees and back > 1:
                return Leases(back, "inferred", asks_watches=True)
            if sees:
                return Leases(asks_watches=True)
    return Leases(asks_watches=True)


_AMBIGUOUS: Final = frozenset(("curator-mutex", "kazoo-lock", "bare-sequence", "named-sequence"))
_ELECTION_SAMPLE = 4


def is_election(path: str, layout: Layout, queues: Sequence[LockQueue]) -> bool:
    """Detect an election by its path; candidates of Curator have an id, not an address."""
    if layout.name not in _AMBIGUOUS or not _elects(path.lower()):
        return False
    members = (member for queue in queues for member in islice(queue.members, _ELECTION_SAMPLE))
    return layout.name != "curator-mutex" or not any(map(_is_address, members))


def _elects(path: str) -> bool:
    return "leader" in path or "elect" in path


def _is_address(member: Member) -> bool:
    try:
        ipaddress.ip_address(member.label or "")
    except ValueError:
        return False
    return True
