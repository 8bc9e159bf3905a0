"""Counts the members of a lock by state."""

from collections.abc import Iterator

from zktop.model.lock_view import LockView
from zktop.model.locks.lock import MemberState


def member_counts(view: LockView) -> dict[MemberState, int]:
    """Count the members in each state, with the sessions known only by their watches."""
    return dict(_member_counts(view))


def _member_counts(view: LockView) -> Iterator[tuple[MemberState, int]]:
    lock = view.lock
    holders = sum(len(queue.holders) for queue in lock.queues)
    others = sum(len(queue.waiters) for queue in lock.queues)
    all_others = others + len(view.watch_check.watchers_waiting)
    waits = len(lock.stranded) if lock.has_standbys else all_others
    yield "holds", holders
    yield "waits", waits
    yield "standby", all_others - waits
    yield "pending", lock.size - holders - others
