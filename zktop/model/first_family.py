"""A family of which all is heard at once for the first time, as most are when they are first read.

The listing comes with reads of exactly its names, in its order. Nothing can contradict anything,
so there is nothing to weigh; wherever there is, nothing comes out, and `Family.after` has to look.
"""

from collections.abc import Sequence

from zktop.model.facts import Children, Node, Stat, ZnodeFact
from zktop.model.family import Family, Znode


def first_family(path: str, facts: Sequence[ZnodeFact]) -> Family | None:
    """Give what `Family().after(path, facts)` gives, where these are a listing and its reads."""
    listing, reads = facts[0], facts[1:]
    if not isinstance(listing, Children):
        return None
    below = len(path) + (path != "/")
    names = listing.names
    if tuple([fact.path[below:] for fact in reads]) != names:
        return None
    members = {
        name: Znode(name, fact.stat, fact.data, fact.zxid)
        for name, fact in zip(names, reads, strict=True)
        if isinstance(fact, Node) and isinstance(fact.stat, Stat)
    }
    if len(members) != len(names):
        return None
    return Family(
        members,
        stat=listing.stat,
        listed_at=listing.zxid,
        at=listing.at,
        oldest=min([fact.zxid for fact in facts]),
        told_at=max([fact.at for fact in facts]),
    )
