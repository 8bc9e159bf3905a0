"""The sessions of a report with their locks and names, updated from one report to the next."""

from collections.abc import Iterator
from itertools import chain
from typing import Final

import msgspec

from zktop.model.facts import Session
from zktop.model.locks.lock import Member
from zktop.model.report import Report
from zktop.model.session_ids import session_text
from zktop.model.text import Text

MEMBERS_AT_ONCE: Final = 1_500  # reading them takes some 4 ms
MEMBERS_PER_LOCK: Final = 5  # a lock by itself takes as long as this many members


class SessionLocks(msgspec.Struct, eq=False, gc=False):
    """The locks that a session holds or waits for, most with its node there."""

    holds: dict[Text, Member]
    waits: dict[Text, Member]
    by_watch: dict[Text, None]  # those it waits for without a node

    @property
    def waits_for(self) -> tuple[Text, ...]:
        return (*self.waits, *sorted(self.by_watch))

    @property
    def newest_czxid(self) -> int:
        """The czxid of the session's newest node."""
        members = (*self.holds.values(), *self.waits.values())
        return max((member.czxid for member in members), default=0)


NO_LOCKS: Final = SessionLocks({}, {}, {})


class SessionDirectory:
    """The sessions of the newest report, with their locks and names."""

    def __init__(self) -> None:
        self.report: Report | None = None
        self.locks: dict[Session, SessionLocks] = {}
        self._watchers: dict[Text, tuple[Session, ...]] = {}  # only for locks without queues

    def read(self, report: Report, changed: set[Session]) -> Iterator[None]:
        """Apply a later or earlier report. Add to `changed` the sessions whose locks changed.

        If many locks changed, it works in steps and yields after each.
        """
        previous, self.report = self.report, report
        if previous is report:
            return
        members = 0
        for path in report.changed_since(previous):
            if previous is not None:
                changed.update(self._remove(path, previous))
            changed.update(self._add(path, report))
            changed.update(self._read_watchers(path, report))
            record = report.records.get(path)
            members += MEMBERS_PER_LOCK + (record.lock.size if record is not None else 0)
            if members >= MEMBERS_AT_ONCE:
                members = 0
                yield

    def _read_watchers(self, path: Text, report: Report) -> set[Session]:
        """Update the sessions that wait for a lock by a watch alone. Return the changed ones."""
        earlier = self._watchers.pop(path, ())
        if now := report.watchers_waiting(path):
            self._watchers[path] = now
        for session in set(earlier).difference(now):
            del self.locks[session].by_watch[path]
            self._drop_empty(session)
        for session in set(now).difference(earlier):
            self._locks_of(session).by_watch[path] = None
        return set(earlier) ^ set(now)

    def _remove(self, path: Text, report: Report) -> Iterator[Session]:
        for member, _ in _owned(path, report):
            yield member.owner
            locks = self.locks.get(member.owner)
            if locks is None:
                continue  # removed with another node of the session in this lock
            locks.holds.pop(path, None)
            locks.waits.pop(path, None)
            self._drop_empty(member.owner)

    def _add(self, path: Text, report: Report) -> Iterator[Session]:
        for member, is_held in _owned(path, report):
            yield member.owner
            locks = self._locks_of(member.owner)
            (locks.holds if is_held else locks.waits)[path] = member

    def _locks_of(self, session: Session) -> SessionLocks:
        locks = self.locks.get(session)
        if locks is None:
            locks = self.locks[session] = SessionLocks({}, {}, {})
        return locks

    def _drop_empty(self, session: Session) -> None:
        locks = self.locks[session]
        if not (locks.holds or locks.waits or locks.by_watch):
            del self.locks[session]

    def name(self, session: Session) -> Text | None:
        """Return the label of a session, else its configured name, else its address."""
        return (
            None if self.report is None else self.report.owner_name(session, self._label(session))
        )

    def unique_name(self, session: Session) -> Text:
        if self.report is None:
            return Text(session_text(session))
        return self.report.client_names(session, self._label(session))

    def _label(self, session: Session) -> Text | None:
        locks = self.locks.get(session, NO_LOCKS)
        for member in chain(locks.holds.values(), locks.waits.values()):
            if label := member.label:
                return label
        return None


def _owned(path: Text, report: Report) -> Iterator[tuple[Member, bool]]:
    """Yield the members of a lock that have an owner, and whether each holds the lock."""
    record = report.records.get(path)
    if record is not None:
        yield from ((holder, True) for holder in record.lock.holders if holder.owner)
        yield from ((waiter, False) for waiter in record.lock.waiters if waiter.owner)
