"""Counts the members of a lock by state."""

from zktop.model.lock_view import LockView
from zktop.model.locks.lock import MemberState


def member_counts(view: LockView) -> dict[MemberState, int]:
    """Count the members in each state, with the sessions known only by their watches."""
    lock = view.lock
    holders = sum(len(queue.holders) for queue in lock.queues)
    others = sum(len(queue.waiters) for queue in lock.queues)
    all_others = others + len(view.watch_check.watchers_waiting)
    waits = len(lock.stranded) if lock.has_standbys else all_others
    return {
        "holds": holders,
        "waits": waits,
        "standby": all_others - waits,
        "pending": lock.size - holders - others,
    }
