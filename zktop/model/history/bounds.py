"""What one look alone says of a lock: since when its holders hold it, at the least."""

from collections.abc import Sequence

from zktop.model.facts import Millis, Stat
from zktop.model.history.change import everybody
from zktop.model.history.past import FirstLook
from zktop.model.locks.lock import Lock, Member


def first_look(lock: Lock | None, now_ms: Millis) -> FirstLook:
    """Bound since when the present holders hold, from one look alone."""
    if lock is None or lock.stat is None:
        return FirstLook(now_ms, now_ms)
    members = everybody(lock)
    return first_bounds(lock.stat, members, arrivals(members), now_ms)


def arrivals(members: Sequence[Member]) -> list[int]:
    """Give the transactions that created them; 0 for who is not read."""
    return [stat.czxid if (stat := one.znode.stat) else 0 for one in members]


def first_bounds(
    root: Stat,
    members: Sequence[Member],
    born: list[int],
    now_ms: Millis,
    *,
    is_direct: bool = False,
) -> FirstLook:
    """Bound the same by all members and their arrivals, which may be known to be direct children.

    When nothing was deleted since the newest member came, the same ones have held since then.
    """
    latest = max(born) if born else 0
    newest = members[born.index(latest)].znode.stat if latest else None
    is_proof = latest == root.pzxid and (is_direct or are_direct(members))
    if newest is None or not is_proof or newest.ctime > now_ms:
        return FirstLook(now_ms, now_ms)
    return FirstLook(now_ms, newest.ctime)


def are_direct(members: Sequence[Member]) -> bool:
    """Tell whether the root's counters count all of these members, at the speed of C."""
    nodes = [member.node for member in members]
    return "." not in nodes and "/" not in "".join(nodes)
