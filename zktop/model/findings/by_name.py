"""What a client sees that sorts the whole names instead of the numbers in them."""

from collections.abc import Sequence
from itertools import pairwise

from zktop.model.findings.examination import Examination, Sighted
from zktop.model.locks.lock import Member


def lexicographic(look: Examination, seen: Sighted) -> Member | None:
    """Give the neighbour by name that a waiter watches, where that is not the one by number."""
    member = seen.member
    members = look.line_of[member.node].members
    by_name = _before(look, "name").get(member.node)
    by_arrival = _before(look, "arrival").get(member.node)
    if by_name is None or by_arrival is None or by_name is by_arrival or not seen.is_sole:
        return None
    path = look.path_of(by_name.node)
    if path not in seen.others or look.path_of(by_arrival.node) in seen.others:
        return None
    # A reader's nearest writer may happen to be its neighbour by name: then it is all right,
    # unless the whole queue goes by names.
    return by_name if path not in seen.expected or _goes_by_name(members) else None


def believers(members: Sequence[Member]) -> list[Member]:
    """Give those whose name was the smallest of all when they came.

    >>> from zktop.model.family import Znode
    >>> def member(czxid, name):
    ...     stat = Stat(czxid=czxid, mzxid=czxid, ctime=0)
    ...     return Member(name, "exclusive", czxid, "x", None, None, Znode(name, stat))
    >>> from zktop.model.facts import Stat
    >>> [one.node for one in believers(list(map(member, range(1, 5), "fcga")))]
    ['f', 'c', 'a']
    """
    found: list[Member] = []
    for member in sorted(members, key=_arrival):
        if not found or member.node < found[-1].node:
            found.append(member)
    return found


def may_believe(look: Examination) -> list[Member]:
    """Give the waiters that watch nothing here and are first of all by their whole names."""
    unwatching = {
        seen.member.node
        for seen in look.astray
        if seen.expected and not seen.here and not look.sight.hides_watches(seen.member.owner)
    }
    if not unwatching:
        return []
    return [
        member
        for line in look.lock.lines
        for member in believers(line.members)
        if member.node in unwatching
    ]


def may_read(look: Examination) -> list[Member]:
    """Give those of them who read, where names put every reader before every writer.

    Such a name is always first, so its client reads on whatever it should wait for: that it
    watches nothing is no lost wake-up.
    """
    wrong = {seen.member.node for seen in look.astray if look.is_wrong(seen)}
    return [
        member
        for member in may_believe(look)
        if member.mode == "read"
        and member.node in wrong
        and _readers_come_first(look.line_of[member.node].members)
    ]


def _readers_come_first(members: Sequence[Member]) -> bool:
    reads = [member.node for member in members if member.mode == "read"]
    others = [member.node for member in members if member.mode != "read"]
    return bool(reads and others) and max(reads) < min(others)


def _before(look: Examination, order: str) -> dict[str, Member]:
    """Give everybody's neighbour in one order; worked out once a look."""
    known: dict[str, dict[str, Member]] = look.__dict__.setdefault("neighbours", {})
    if order not in known:
        key = _node if order == "name" else _arrival
        known[order] = {
            later.node: earlier
            for line in look.lock.lines
            for earlier, later in pairwise(sorted(line.members, key=key))
        }
    return known[order]


def _goes_by_name(members: Sequence[Member]) -> bool:
    return all(one.node < other.node for one, other in pairwise(members))


def _node(member: Member) -> tuple[int | str, ...]:
    return (member.node,)


def _arrival(member: Member) -> tuple[int | str, ...]:
    return member.czxid, member.sequence or 0, member.node
