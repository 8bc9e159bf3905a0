"""The states of locks and sessions, and the alarms, at the moments of a tape.

They are computed from the stored reports when they are drawn; nothing else is stored.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from zktop.model.actors import session_of
from zktop.model.facts import Millis, Session
from zktop.model.locks.lock import Lock
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock
from zktop.ui.past.tape import StoredFrame, Tape


class LockState(NamedTuple):
    """The state of a lock from one moment on."""

    at: Millis
    holders: tuple[Session, ...] = ()
    are_readers: bool = False
    queue: int | None = None  # None: the lock does not exist


class Alarms(NamedTuple):
    """The deadlocks and critical findings of one report."""

    proven: frozenset[Session] = frozenset()  # sessions in a confirmed deadlock
    suspected: frozenset[Session] = frozenset()  # sessions in a likely deadlock
    number: int = 0
    is_sure: bool = False  # at least one of them is confirmed


def lock_states(tape: Tape, path: Text, begin: Millis, end: Millis) -> list[LockState]:
    """The state of a lock at the beginning of a time span, and its changes within it."""
    before = tape.index_at(begin - 1)
    first = LockState(begin) if before < 0 else _lock_state(tape[before].report, path, begin)
    changes = [
        _lock_state(one.frame.report, path, one.at)
        for index, one in enumerate(_within(tape, begin, end), start=before + 1)
        if path in one.changed or not index
    ]
    return [first, *changes]


def busiest(tape: Tape, begin: Millis, end: Millis) -> list[Text]:
    """Locks that changed in a span of time, those with the most changes first."""
    counts = Counter(path for one in _within(tape, begin, end) for path in one.changed)
    return sorted(counts, key=lambda path: (-counts[path], path))


def _within(tape: Tape, begin: Millis, end: Millis) -> Iterator[StoredFrame]:
    later = tape.stored(tape.index_at(begin - 1) + 1)
    return takewhile(lambda one: one.at < end, later)


def _lock_state(report: Report, path: Text, at: Millis) -> LockState:
    record = report.parts.get(path)
    if record is None:
        return LockState(at)
    holders = record.lock.holders
    are_readers = len(holders) > 1 and all(one.mode == "read" for one in holders)
    sessions = tuple(one.owner for one in holders)
    return LockState(at, sessions, are_readers, len(record.lock.waiters))


def uses(report: Report, session: Session) -> tuple[bool, bool]:
    """Whether a session holds a lock, and whether it waits for one."""
    holds = waits = False
    for path, nodes in Counter(report.locks_of.get(session, ())).items():
        held = _holders(report.parts[path].lock)[session]
        holds, waits = holds or held > 0, waits or nodes > held
    return holds, waits


def locks_held(report: Report, session: Session) -> list[Text]:
    paths = {*report.locks_of.get(session, ())}
    return sorted(path for path in paths if _holders(report.parts[path].lock)[session])


@lru_cache(maxsize=1024)  # for the visible columns
def _holders(lock: Lock) -> Counter[Session]:
    return Counter(member.owner for member in lock.holders)


def alarms_in(report: Report) -> Alarms:
    dead = {one.id for one in report.deadlocks}
    critical = (one for one in report.findings if one.severity == "critical" and not one.cause)
    sure = [one.is_sure for one in report.deadlocks]
    sure += [one.is_sure for one in critical if one.id not in dead]
    return Alarms(
        _stuck(one for one in report.deadlocks if one.is_sure),
        _stuck(one for one in report.deadlocks if not one.is_sure),
        len(sure),
        any(sure),
    )


def _stuck(deadlocks: Iterable[Deadlock]) -> frozenset[Session]:
    actors = (session_of(name) for one in deadlocks for name in one.actors)
    return frozenset(one for one in actors if one is not None)


def expired_at(tape: Tape) -> dict[Session, Millis]:
    """When the sessions on this tape expired."""
    return {session: one.at for one in tape.stored() for session in one.expired}


def name_at(tape: Tape, session: Session, moment: Millis) -> Text | None:
    """The name of a session at a moment, or when it last had a node in a lock."""
    reports = (tape[index].report for index in range(tape.index_at(moment), -1, -1))
    return next((name for one in reports if (name := name_in(one, session))), None)


def name_in(report: Report, session: Session) -> Text | None:
    """The unique name of a session; None if it has no node in a lock."""
    paths = report.locks_of.get(session, ())
    members = (one for path in paths for one in report.parts[path].lock.members)
    labels = (one.label for one in members if one.owner == session)
    return report.client_names(session, next(filter(None, labels), None)) if paths else None
