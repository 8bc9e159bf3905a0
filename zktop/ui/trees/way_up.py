"""The way up from a client to its root blocker, along the oldest wait of each client."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from zktop.model.facts import Session
from zktop.model.locks.lock import Lock, Member
from zktop.model.report import Report
from zktop.model.text import Text

MAX_CLIMB: Final = 50


class Step(NamedTuple):
    """A member with its session and its lock: a step on the way up, or a wait."""

    owner: Session  # 0: no session owns the node, or the node is not a request
    path: Text
    member: Member


def way_up(report: Report, session: Session) -> Iterator[Step]:
    """Climb from a session to its root blocker, along the oldest wait of each client."""
    passed, current = {session}, session
    first = main_wait(report, session)
    path = first.path if first else next(iter(report.locks_of[session]))
    member = next(
        member for member in report.records[path].lock.members if member.owner == session
    )
    yield Step(session, path, member)
    for _ in range(MAX_CLIMB):
        wait = main_wait(report, current)
        if wait is None:
            return
        lock = report.records[wait.path].lock
        before = lock.members_before(wait.member)
        if not before or before[0].owner in passed:
            return
        above = before[0]
        current = above.owner if _is_request(lock, above) else 0
        yield Step(current, wait.path, above)
        if not current:
            return
        passed.add(current)


def _is_request(lock: Lock, node: Member) -> bool:
    """False for a foreign child, and for a node that a failed client left behind."""
    return node.node not in lock.stranded and lock.member(node.node) is not None


def main_wait(report: Report, session: Session) -> Step | None:
    """Return the oldest wait of a session. An election counts only if its followers wait."""
    waits = [
        Step(session, path, member)
        for path in dict.fromkeys(report.locks_of.get(session, ()))
        for lock in [report.records[path].lock]
        if not lock.has_standbys
        for queue in lock.queues  # in any order: merging a thousand queues is slow
        for member in queue.waiters
        if member.owner == session
    ]
    return min(waits, key=lambda wait: wait.member.czxid, default=None)
