"""The report: everything anybody displays, made from a world and a time.

It is one frozen value. What few readers need is put together when it is asked for, from parts that
were fixed when the report was made.
"""

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from zktop.model.calling import Calling
from zktop.model.contender import Naming, View, naming
from zktop.model.cost import Cost
from zktop.model.deadlock_log import Over
from zktop.model.facts import Millis, Session
from zktop.model.findings.finding import Blind, Finding
from zktop.model.history.event import Event
from zktop.model.history.past import LockHistory
from zktop.model.locks.lock import Lock
from zktop.model.settings import Settings
from zktop.model.shelf import Shelf
from zktop.model.sight import Sight, Span
from zktop.model.text import Text
from zktop.model.waits.forest import Root as RootBlocker
from zktop.model.watching import Lookout
from zktop.model.witness import Presence
from zktop.model.world import World

if TYPE_CHECKING:  # most ensembles have none of them
    from zktop.model.waits.deadlock import Deadlock
    from zktop.model.waits.order_story import Inversion


class Part(msgspec.Struct, frozen=True, eq=False):
    """What was worked out for one lock; the same object while the lock does not change."""

    lock: Lock
    history: LockHistory


class SessionView(msgspec.Struct, frozen=True, kw_only=True):
    """One session that has places in locks, with what its server tells of it."""

    session: Session
    name: Text  # of its own
    owner: Text | None  # its label
    presence: Presence | None
    expires_in: Span | None
    timeout_ms: int | None
    holds: tuple[Text, ...]
    waits: tuple[Text, ...]


class Report(msgspec.Struct, frozen=True, eq=False, dict=True, kw_only=True):
    """Locks, deadlocks, findings, sessions and servers at one moment."""

    world: World
    now: Millis
    settings: Settings
    sight: Sight
    calling: Calling  # names everybody by a name that is no other's
    parts: Shelf[Text, Part]
    paths: tuple[Text, ...]  # of all locks, in order
    deadlocks: "tuple[Deadlock, ...]" = ()
    over: tuple[Over, ...] = ()  # deadlocks of this run that are over, oldest first
    inversions: "tuple[Inversion, ...]" = ()  # deadlocks that may happen one day
    blockers: tuple[RootBlocker, ...] = ()  # whom all waiting leads to, the most blocked first
    findings: tuple[Finding, ...] = ()
    blind: tuple[Blind, ...] = ()
    events: tuple[Event, ...] = ()  # what happened since the report before
    idle: Mapping[Session, Millis] = {}  # since when sessions have sent nothing but pings
    relist: tuple[Text, ...] = ()  # locks to list again, to prove or to kill a suspicion
    ours: Collection[Session] = frozenset()
    cost: Cost | None = None

    @property
    def is_lost(self) -> bool:
        """Tell whether the connection is lost: all this is as it was then."""
        return self.world.link is not None and self.world.link.gone_since is not None

    def view(self, path: str) -> View | None:
        """Give one lock with its contenders."""
        part = self.parts.get(Text(path))
        if part is None:
            return None
        lookout = Lookout(part.lock, self.sight, self.idle, self.settings.layouts)
        return View(part.lock, part.history, lookout, self.naming, self.calling, self.ours)

    @property
    def views(self) -> Iterator[View]:
        """Give all locks, by path."""
        return (view for path in self.paths if (view := self.view(path)) is not None)

    @cached_property
    def naming(self) -> Naming:
        """Give the function that gives the labels of owners: several may have the same."""
        return naming(self.sight, self.settings.owners)

    @cached_property
    def sessions(self) -> Mapping[Session, SessionView]:
        """Give all sessions that have to do with a lock, by id."""
        holds, waits, labels = _places(self.parts.values())
        return {
            session: self._session(
                session, labels.get(session), holds.get(session, []), waits.get(session, [])
            )
            for session in sorted(holds.keys() | waits.keys())
        }

    def _session(
        self, session: Session, label: Text | None, holds: list[Text], waits: list[Text]
    ) -> SessionView:
        presence = self.sight.presence(session)
        return SessionView(
            session=session,
            name=self.calling(session, label),
            owner=self.naming(session, label),
            presence=presence,
            expires_in=self.sight.expires_in(session, self.now),
            timeout_ms=self.sight.timeout_ms(session),
            holds=tuple(sorted(set(holds))),
            waits=tuple(sorted(set(waits))),
        )


_Paths = dict[Session, list[Text]]


def _places(parts: Collection[Part]) -> tuple[_Paths, _Paths, dict[Session, Text]]:
    """Gather which locks each session holds and waits for, and what it calls itself."""
    holds: _Paths = {}
    waits: _Paths = {}
    labels: dict[Session, Text] = {}
    for part in parts:
        for members, paths in ((part.lock.holders, holds), (part.lock.waiters, waits)):
            for member in members:
                if member.owner:
                    paths.setdefault(member.owner, []).append(part.lock.path)
                    if member.label:
                        labels.setdefault(member.owner, member.label)
    return holds, waits, labels
