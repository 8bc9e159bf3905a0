"""The states of locks and sessions, and the alarms, in one report."""

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from zktop.model.actors import session_of
from zktop.model.facts import Millis, Session
from zktop.model.locks.lock import Lock
from zktop.model.report import LockRecord, Report
from zktop.model.session_ids import session_id
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock


class LockState(NamedTuple):
    """The state of a lock from one moment on."""

    at: Millis
    holder: int = 0  # the session of the only holder, or a hash of all if there are several
    holders: int = 0  # how many
    are_readers: bool = False
    queue: int | None = None  # None: the lock does not exist


class SessionState(NamedTuple):
    """What a session does from one moment on."""

    at: Millis
    holds: bool = False
    waits: bool = False


class Alarms(NamedTuple):
    """The deadlocks and critical findings of one report."""

    proven: frozenset[Session] = frozenset()  # sessions in a confirmed deadlock
    suspected: frozenset[Session] = frozenset()  # sessions in a likely deadlock
    number: int = 0
    is_sure: bool = False  # at least one of them is confirmed


class AlarmState(NamedTuple):
    """The alarms from one moment on."""

    at: Millis
    alarms: Alarms


def lock_state(record: LockRecord | None, at: Millis) -> LockState:
    if record is None:
        return LockState(at)
    queues = record.lock.queues
    holders = [member for queue in queues for member in queue.holders]
    queue = sum(len(queue.waiters) for queue in queues)
    if len(holders) == 1:
        return LockState(at, session_id(holders[0].owner), 1, queue=queue)
    if not holders:
        return LockState(at, queue=queue)
    all_holders = session_id(hash(tuple([holder.owner for holder in holders])))
    are_readers = all(holder.mode == "read" for holder in holders)
    return LockState(at, all_holders, len(holders), are_readers, queue)


def nodes_held(report: Report, session: Session) -> int:
    """Return how many nodes of a session hold locks."""
    paths = {*report.locks_of.get(session, ())}
    return sum(_holders(report.records[path].lock)[session] for path in paths)


def locks_held(report: Report, session: Session) -> list[Text]:
    paths = {*report.locks_of.get(session, ())}
    return sorted(path for path in paths if _holders(report.records[path].lock)[session])


@lru_cache(maxsize=64)  # for the sessions of a lock with many holders
def _holders(lock: Lock) -> Counter[Session]:
    return Counter(member.owner for member in lock.holders)


def alarms_in(report: Report) -> Alarms:
    return Alarms(
        _stuck(deadlock for deadlock in report.deadlocks if deadlock.is_sure),
        _stuck(deadlock for deadlock in report.deadlocks if not deadlock.is_sure),
        len(report.critical),
        any(alert.is_sure for alert in report.critical),
    )


def _stuck(deadlocks: Iterable[Deadlock]) -> frozenset[Session]:
    actors = (session_of(name) for deadlock in deadlocks for name in deadlock.actors)
    return frozenset(actor for actor in actors if actor is not None)


def name_in(report: Report, session: Session) -> Text | None:
    """Return the unique name of a session; None if it has no node in a lock."""
    if not report.locks_of.get(session):
        return None
    return report.client_names(session, report.label_of(session))
