"""The report: everything anybody displays, made from a world and a time.

It is one frozen value. What few readers need is put together when it is asked for, from parts that
were fixed when the report was made.

A place in a lock with all that is known about it: what screens and scripts show.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from zktop.model.client_names import ClientNames
from zktop.model.facts import Cost, Millis, Session, session_text
from zktop.model.findings.finding import BlindSpot, Finding
from zktop.model.history.events import UNKNOWN_SINCE, Event, How, Since
from zktop.model.history.lock_history import LockHistory
from zktop.model.layouts.layout import LockMode
from zktop.model.locks.lock import Lock, Member, MemberState, Target
from zktop.model.locks.watch_check import WatchCheck, WatchStatus, absolute
from zktop.model.session_index import LocksOfSessions
from zktop.model.settings import Settings
from zktop.model.text import Text, clean
from zktop.model.waits.deadlock_log import EndedDeadlock
from zktop.model.waits.root_blockers import RootBlocker
from zktop.model.world.ensemble import Ensemble, ExpiryWindow
from zktop.model.world.persistent_map import PersistentMap
from zktop.model.world.server_tables import Presence
from zktop.model.world.world import World

if TYPE_CHECKING:
    from zktop.model.waits.deadlock import Deadlock
    from zktop.model.waits.lock_order_story import Inversion

SinceIs = How
OwnerName = Callable[[Session, Text | None], Text | None]

NOT_LOOKED = WatchStatus("unknown")
NAMED: Final = 100  # who must go first; naming all in a queue of thousands would be quadratic


class Contender(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One place; `node` is None for a waiter known only by its watch."""

    node: Text | None
    mode: LockMode
    sequence: int | None
    session: Session | None
    owner: Text | None  # the label
    name: Text  # of its own: no two sessions are called alike
    created: Millis | None
    since: Millis | None
    since_is: SinceIs
    state: MemberState
    blocked_by: tuple[Text, ...]  # all who must go first; of many, holders and the nearest
    ahead: int  # how many must go first in all
    expected: tuple[Target, ...]
    actual: tuple[Text, ...] | None
    verdict: Literal["confirmed", "elsewhere", "missing", "invisible", "unknown", "none-needed"]
    ours: bool
    stranded: bool = False  # its client failed, and left the node behind


class LockView(msgspec.Struct, frozen=True, eq=False):
    """One lock beside everything else: each contender is put together when it is asked for."""

    lock: Lock
    history: LockHistory
    lookout: WatchCheck
    owner_name: OwnerName
    client_names: ClientNames
    ours: Collection[Session]

    @property
    def holders(self) -> Iterator[Contender]:
        """Give those who hold, in queue order."""
        return map(self.contender, self.lock.holders)

    @property
    def waiters(self) -> Iterator[Contender]:
        """Give those who wait, in queue order; behind them who only watches."""
        yield from map(self.contender, self.lock.waiters)
        yield from map(self.watcher, self.lookout.crowd)

    def contender(self, member: Member) -> Contender:
        """Put together what is known of one place."""
        state = self.lock.state(member)
        since = self.history.since(member, holds=state == "holds")
        watching = self.lookout.of(member)
        ahead = self.lock.count_before(member)
        return Contender(
            node=member.node,
            mode=member.mode,
            sequence=member.sequence,
            session=member.owner or None,
            owner=self.owner_name(member.owner, member.label),
            name=self.client_names(member.owner, member.label),
            created=member.ctime,
            since=since.at,
            since_is=since.how,
            state=state,
            blocked_by=tuple(other.node for other in self._named(member, ahead)),
            ahead=ahead,
            expected=watching.expected,
            actual=watching.actual,
            verdict=watching.verdict,
            ours=member.owner in self.ours,
            stranded=member.node in self.lock.stranded,
        )

    def _named(self, member: Member, ahead: int) -> Iterable[Member]:
        """Choose whom to name: all, or the first holders and those whom the rest waits behind."""
        if ahead <= NAMED:
            return self.lock.before(member)
        first = self.lock.holders[:NAMED]
        nearest = self.lock.blocked_by(member)
        return {other.node: other for other in (*first, *nearest)}.values()

    def watcher(self, session: Session) -> Contender:
        """Put together what is known of somebody who only watches: the wait is all there is."""
        holders = self.lock.holders
        path = self.lock.path
        watched = tuple(Target(absolute(path, member.node), "exists") for member in holders)
        since: Since = UNKNOWN_SINCE
        return Contender(
            node=None,
            mode="exclusive",
            sequence=None,
            session=session,
            owner=self.owner_name(session, None),
            name=self.client_names(session),
            created=None,
            since=since.at,
            since_is=since.how,
            state="standby" if self.lock.kind == "election" else "waits",
            blocked_by=tuple(member.node for member in holders),
            ahead=len(holders),
            expected=watched,
            actual=tuple(target.path for target in watched),
            verdict="confirmed",
            ours=session in self.ours,
        )


def owner_name_in(ensemble: Ensemble, owners: dict[str, str]) -> OwnerName:
    """Give the function that names the owner of a place.

    Its data or its name come first; then the user's list, by session, address or host; then the
    address itself. The session id is what remains, and it has a field of its own.
    """

    def name(session: Session, label: Text | None) -> Text | None:
        if label:
            return label
        presence = ensemble.presence(session) if session else None
        client = presence.client if presence else Text("")
        keys = (session_text(session), client, client.rpartition(":")[0])
        known = next((owners[key] for key in keys if key in owners), None)
        return clean(known) if known else client or None

    return name


class LockRecord(msgspec.Struct, frozen=True, eq=False):
    """What was worked out for one lock; the same object while the lock does not change."""

    lock: Lock
    history: LockHistory


class SessionView(msgspec.Struct, frozen=True, kw_only=True):
    """One session that has places in locks, with what its server tells of it."""

    session: Session
    name: Text  # of its own
    owner: Text | None  # its label
    presence: Presence | None
    expires_in: ExpiryWindow | None
    timeout_ms: int | None
    holds: tuple[Text, ...]
    waits: tuple[Text, ...]


class Report(msgspec.Struct, frozen=True, eq=False, dict=True, kw_only=True):
    """Locks, deadlocks, findings, sessions and servers at one moment."""

    world: World
    now: Millis
    settings: Settings
    ensemble: Ensemble
    client_names: ClientNames  # names everybody by a name that is no other's
    parts: PersistentMap[Text, LockRecord]
    paths: tuple[Text, ...]  # of all locks, in order
    locks_of: LocksOfSessions = PersistentMap()  # the locks that each session has places in
    deadlocks: "tuple[Deadlock, ...]" = ()
    over: tuple[EndedDeadlock, ...] = ()  # deadlocks of this run that are over, oldest first
    inversions: "tuple[Inversion, ...]" = ()  # deadlocks that may happen one day
    blockers: tuple[RootBlocker, ...] = ()  # whom all waiting leads to, the most blocked first
    findings: tuple[Finding, ...] = ()
    blind: tuple[BlindSpot, ...] = ()
    events: tuple[Event, ...] = ()  # what happened since the report before
    idle: Mapping[Session, Millis] = {}  # since when sessions have sent nothing but pings
    relist: tuple[Text, ...] = ()  # locks to list again, to prove or to kill a suspicion
    ours: Collection[Session] = frozenset()
    cost: Cost | None = None

    @property
    def is_lost(self) -> bool:
        """Tell whether the connection is lost: all this is as it was then."""
        return self.world.link is not None and self.world.link.gone_since is not None

    def view(self, path: str) -> LockView | None:
        """Give one lock with its contenders."""
        part = self.parts.get(Text(path))
        if part is None:
            return None
        lookout = WatchCheck(part.lock, self.ensemble, self.idle, self.settings.layouts)
        return LockView(
            part.lock, part.history, lookout, self.owner_name, self.client_names, self.ours
        )

    @property
    def views(self) -> Iterator[LockView]:
        """Give all locks, by path."""
        return (view for path in self.paths if (view := self.view(path)) is not None)

    @cached_property
    def owner_name(self) -> OwnerName:
        """Give the function that gives the labels of owners: several may have the same."""
        return owner_name_in(self.ensemble, self.settings.owners)

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
        presence = self.ensemble.presence(session)
        return SessionView(
            session=session,
            name=self.client_names(session, label),
            owner=self.owner_name(session, label),
            presence=presence,
            expires_in=self.ensemble.expires_in(session, self.now),
            timeout_ms=self.ensemble.timeout_ms(session),
            holds=tuple(sorted(set(holds))),
            waits=tuple(sorted(set(waits))),
        )


_Paths = dict[Session, list[Text]]


def _places(parts: Collection[LockRecord]) -> tuple[_Paths, _Paths, dict[Session, Text]]:
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
