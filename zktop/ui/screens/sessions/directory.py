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


class SessionLocks(msgspec.Struct, eq=False, gc=False):
    """The locks that a session holds or waits for, each with its node there."""

    holds: dict[Text, Member]
    waits: dict[Text, Member]

    @property
    def newest_czxid(self) -> int:
        """The czxid of the session's newest node."""
        members = (*self.holds.values(), *self.waits.values())
        return max((member.czxid for member in members), default=0)


NO_LOCKS: Final = SessionLocks({}, {})


class SessionDirectory:
    """The sessions of the newest report, with their locks and names."""

    def __init__(self) -> None:
        self.report: Report | None = None
        self.locks: dict[Session, SessionLocks] = {}

    def read(self, report: Report, changed: set[Session]) -> Iterator[None]:
        """Apply another report, later or earlier; add to `changed` sessions whose locks changed.

        If many locks changed, it works in steps and yields after each.
        """
        before, self.report = self.report, report
        if before is report:
            return
        paths = report.paths if before is None else report.parts.changed_since(before.parts)
        members = 0
        for path in paths:
            if before is not None:
                changed.update(self._remove(path, before))
            changed.update(self._add(path, report))
            members += record.lock.size if (record := report.parts.get(path)) is not None else 1
            if members >= MEMBERS_AT_ONCE:
                members = 0
                yield

    def _remove(self, path: Text, report: Report) -> Iterator[Session]:
        for member, _ in _owned(path, report):
            yield member.owner
            locks = self.locks.get(member.owner)
            if locks is None:
                continue  # removed with another node of the session in this lock
            locks.holds.pop(path, None)
            locks.waits.pop(path, None)
            if not locks.holds and not locks.waits:
                del self.locks[member.owner]

    def _add(self, path: Text, report: Report) -> Iterator[Session]:
        for member, is_held in _owned(path, report):
            yield member.owner
            locks = self.locks.get(member.owner)
            if locks is None:
                locks = self.locks[member.owner] = SessionLocks({}, {})
            (locks.holds if is_held else locks.waits)[path] = member

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
    part = report.parts.get(path)
    if part is not None:
        yield from ((holder, True) for holder in part.lock.holders if holder.owner)
        yield from ((waiter, False) for waiter in part.lock.waiters if waiter.owner)
