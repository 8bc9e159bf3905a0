"""A family of which all is heard for the first time, as most are when they are first read.

The listing comes with reads of exactly its names, in its order, or the reads come soon after it.
Nothing can contradict anything, so there is nothing to weigh; wherever there is, nothing comes
out, and `Family.after` has to look.
"""

from collections.abc import Iterable, Sequence
from itertools import repeat

from zktop.model.facts import Children, Node, Siblings, Stat
from zktop.model.family import NEVER, NOBODY, NONE_ABSENT, Family, FamilyFact, Znode
from zktop.model.text import Text

_Read = tuple[tuple[Text, ...], Iterable[Znode]]  # the names of all, and all that is known


def first_family(path: str, facts: Sequence[FamilyFact], before: Family = NOBODY) -> Family | None:
    """Give what `before.after(path, facts)` gives where these are a listing, its reads or both."""
    first = facts[0]
    if before is not NOBODY:
        return _read_at_last(before, first) if len(facts) == 1 else None
    if not isinstance(first, Children):
        return None
    if len(facts) == 1:
        return _listed(first)
    members = _members(path, first.names, facts[1:])
    if members is None:
        return None
    zxid, at = oldest, newest = first.zxid, first.at
    for read in facts[1:]:
        oldest, newest = min(oldest, read.zxid), max(newest, read.at)
    return Family(members, NONE_ABSENT, first.stat, zxid, at, NEVER, oldest, newest)


def _listed(listing: Children) -> Family:
    """Know them by name alone."""
    members = dict(zip(listing.names, map(Znode, listing.names), strict=True))
    zxid, at = listing.zxid, listing.at
    return Family(members, NONE_ABSENT, listing.stat, zxid, at, NEVER, zxid, at)


def _read_at_last(before: Family, read: FamilyFact) -> Family | None:
    """Read all children of a family that were known by name alone."""
    known = before.members
    if (
        not isinstance(read, Siblings)
        or len(read.names) != len(known)
        or before.absent
        or read.names != tuple(known)
    ):
        return None
    for znode in known.values():
        if znode.read_at != NEVER or znode.seen_at != NEVER:
            return None
    znodes = map(Znode, known, read.stats, read.data, repeat(read.zxid))
    return Family(
        dict(zip(known, znodes, strict=True)),
        NONE_ABSENT,
        before.stat,
        before.listed_at,
        before.at,
        before.denied_at,
        min(before.oldest, read.zxid),
        max(before.told_at, read.at),
    )


def _members(
    path: str, names: tuple[Text, ...], reads: Sequence[FamilyFact]
) -> dict[Text, Znode] | None:
    """Give them, where exactly these were read, in this order."""
    read = reads[0] if len(reads) == 1 else None
    told = _of_siblings(read) if isinstance(read, Siblings) else _of_nodes(path, reads)
    if told is None or told[0] != names:
        return None
    members = dict(zip(names, told[1], strict=True))
    return members if len(members) == len(names) else None


def _of_siblings(read: Siblings) -> _Read:
    return read.names, map(Znode, read.names, read.stats, read.data, repeat(read.zxid))


def _of_nodes(path: str, reads: Sequence[FamilyFact]) -> _Read | None:
    """Make them of a fact each, as those of a recording are."""
    below = len(path) + (path != "/")
    nodes = [fact for fact in reads if isinstance(fact, Node) and isinstance(fact.stat, Stat)]
    if len(nodes) != len(reads):
        return None
    names = tuple([Text(node.path[below:]) for node in nodes])
    return names, [Znode(n, x.stat, x.data, x.zxid) for n, x in zip(names, nodes, strict=True)]
