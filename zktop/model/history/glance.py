"""What one look at a lock, or the difference of two, amounts to in numbers."""

from itertools import takewhile

from zktop.model.history.change import Change
from zktop.model.locks.lock import Line, Lock, Member
from zktop.model.text import Text


def is_unclear(change: Change, member: Member, deleted: set[Text]) -> bool:
    """Tell whether a waiter that left may have held the lock between the two looks."""
    line = _line_of(change.before, member)
    before = line.blocked_by(member) if line else ()
    return bool(before) and all(one.node in deleted for one in before)


def _line_of(lock: Lock | None, member: Member) -> Line | None:
    lines = lock.lines if lock else ()
    if len(lines) == 1:
        return lines[0]
    return next((line for line in lines if any(one is member for one in line.members)), None)


def waiting(lock: Lock | None) -> int:
    """Count who does not hold."""
    return sum(len(line.waiters) for line in lock.lines) if lock else 0


def blocked(lock: Lock | None) -> int:
    """Count who is stopped by the lock: candidates of an election go on with other things."""
    return 0 if lock is None or lock.kind == "election" else waiting(lock)


def is_held(lock: Lock | None) -> bool:
    """Tell whether anybody holds."""
    return lock is not None and any(line.holders for line in lock.lines)


def ahead(lock: Lock) -> int:
    """Count the members that are newer than the reading of the root's counters."""
    read_at = lock.stat.pzxid if lock.stat else None
    if read_at is None:
        return 0
    newer = (
        takewhile(lambda member: member.czxid > read_at, reversed(line.members))
        for line in lock.lines
    )
    return sum(is_direct(member) for members in newer for member in members)


def is_direct(member: Member) -> bool:
    """Tell whether the root's counters count this member."""
    return member.node != "." and "/" not in member.node


def foreign(change: Change) -> tuple[int, int]:
    """Count the other children that came and went: the root's counters know them too."""
    before = change.before.foreign if change.before else ()
    after = change.after.foreign if change.after else ()
    if before == after:
        return 0, 0
    came = set(after) - set(before) - _nodes(change.before)
    went = set(before) - set(after) - _nodes(change.after)
    return len(came), len(went)


def _nodes(lock: Lock | None) -> set[Text]:
    """Name the members: a child that is called foreign now may have been one, and vice versa."""
    return {member.node for line in lock.lines for member in line.members} if lock else set()
