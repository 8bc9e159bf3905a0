"""The report: everything that screens and scripts show about one moment.

It is one frozen value. Parts that only some readers need, such as the view of one lock or the
sessions, are computed on demand from values that are fixed when the report is made.
"""

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property

import msgspec

from zktop.model.client_names import ClientNames
from zktop.model.deadlock_log import EndedDeadlock
from zktop.model.facts import Cost, Millis, Session, split
from zktop.model.findings.finding import BlindSpot, Finding
from zktop.model.history.events import Event
from zktop.model.history.expired_sessions import ExpiredSession
from zktop.model.history.lock_history import LockHistory
from zktop.model.lock_view import LockView, OwnerName
from zktop.model.locks.lock import Lock
from zktop.model.locks.watch_check import WatchCheck
from zktop.model.locks_of_sessions import LocksOfSessions
from zktop.model.owner_list import OwnerList
from zktop.model.session_ids import session_text
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.waits.deadlock import Deadlock
from zktop.model.waits.lock_order_story import Inversion
from zktop.model.waits.root_blockers import RootBlocker
from zktop.model.world.persistent_map import PersistentMap
from zktop.model.world.tables_of_all_servers import Ensemble, ExpiryWindow
from zktop.model.world.tables_of_one_server import Presence
from zktop.model.world.world import World


def owner_name_in(ensemble: Ensemble, owners: OwnerList) -> OwnerName:
    """Return a function that labels the owner of a node.

    The label in the node comes first, unless it is an address that the user's list of owners
    has; then that list, by session, address, host or pattern; then the address itself. A session
    known only by its id has no label: None.
    """

    def name(session: Session, label: Text | None) -> Text | None:
        if label:
            return owners.name(label) if label in owners.entries else label
        presence = ensemble.presence(session) if session else None
        client = presence.client if presence else Text("")
        key = owners.key_of(session_text(session), client)
        return owners.name(key) if key is not None else client or None

    return name


class LockRecord(msgspec.Struct, frozen=True, eq=False):
    """One lock and its history. It stays the same object while the lock does not change."""

    lock: Lock
    history: LockHistory


class SessionView(msgspec.Struct, frozen=True, kw_only=True):
    """One session that holds or waits for locks, and its server's data about it."""

    session: Session
    name: Text  # unique among all sessions
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
    client_names: ClientNames  # gives each session a unique name
    records: PersistentMap[Text, LockRecord]
    paths: tuple[Text, ...]  # all locks, sorted
    locks_of: LocksOfSessions = PersistentMap()  # the locks in which each session has nodes
    deadlocks: tuple[Deadlock, ...] = ()
    over: tuple[EndedDeadlock, ...] = ()  # the last that have ended, oldest first
    inversions: tuple[Inversion, ...] = ()  # lock orders that may lead to a deadlock
    blockers: tuple[RootBlocker, ...] = ()  # those that block most first
    findings: tuple[Finding, ...] = ()
    blind: tuple[BlindSpot, ...] = ()
    events: tuple[Event, ...] = ()  # since the previous report
    expiries: tuple[ExpiredSession, ...] = ()  # the last ones, oldest first
    idle: Mapping[Session, Millis] = {}  # since when sessions have sent only pings
    relist: tuple[Text, ...] = ()  # locks to list again, to confirm or refute a suspicion
    ours: Collection[Session] = frozenset()
    cost: Cost | None = None

    @property
    def is_lost(self) -> bool:
        """Whether the connection is lost; the report then shows the state before the loss."""
        return self.world.link is not None and self.world.link.gone_since is not None

    @property
    def why_lost(self) -> str | None:
        """Why nothing is known about this moment; None if the connection was up."""
        if not self.is_lost:
            return None
        link = self.world.link
        why = f": {link.why}" if link and link.why else ", because the connection was lost."
        return f"nothing is known of this time{why}"

    @cached_property
    def critical(self) -> tuple[Deadlock | Finding, ...]:
        """The deadlocks, then other critical findings that follow from no other."""
        deadlock_ids = {deadlock.id for deadlock in self.deadlocks}
        others = (
            finding
            for finding in self.findings
            if finding.severity == "critical" and not finding.cause
        )
        return (
            *self.deadlocks,
            *(finding for finding in others if finding.id not in deadlock_ids),
        )

    @cached_property
    def no_locks(self) -> list[Lock]:
        """Named roots that have children but are not locks."""
        exact = dict.fromkeys(root.path for root in self.settings.roots if "*" not in root.path)
        records = filter(None, (self.records.get(Text(path)) for path in exact))
        return [record.lock for record in records if record.lock.is_not_a_lock]

    def view(self, path: str) -> LockView | None:
        record = self.records.get(Text(path))
        if record is None:
            return None
        watch_check = WatchCheck(record.lock, self.ensemble, self.idle, self.settings.layouts)
        return LockView(
            record.lock,
            record.history,
            watch_check,
            self.owner_name,
            self.client_names,
            self.ours,
            self.label_of,
        )

    def deadlock(self, case: str | None) -> Deadlock | None:
        return next((deadlock for deadlock in self.deadlocks if deadlock.id == case), None)

    def finding(self, case: str | None) -> Finding | None:
        return next((finding for finding in self.findings if finding.id == case), None)

    def label_of(self, session: Session) -> Text | None:
        """Return the label in one of the nodes of a session; None if none has any."""
        for path in dict.fromkeys(self.locks_of.get(session, ())):
            for queue in self.records[path].lock.queues:
                for member in queue.members:
                    if member.owner == session and (label := member.label):
                        return label
        return None

    def changed_since(self, before: "Report | None") -> Collection[Text]:
        """Return the locks that changed, or whose waiters without a znode may have changed."""
        if before is None:
            return self.paths
        watched = self.ensemble.rewatched_since(before.ensemble)
        return self.records.changed_since(before.records) | self._only_watched(watched)

    def watched_by(self, session: Session) -> tuple[Text, ...]:
        """Return the locks that a session waits for by its watches alone, sorted."""
        near = self._only_watched(self.ensemble.watched(session) or ())
        return tuple(sorted(path for path in near if session in self.watchers_waiting(path)))

    def watchers_waiting(self, path: Text) -> tuple[Session, ...]:
        """Return the sessions that wait for a lock by their watches alone, sorted."""
        record = self.records.get(path)
        if record is None or not record.lock.is_only_watched:
            return ()
        return WatchCheck(record.lock, self.ensemble).watchers_waiting

    def _only_watched(self, paths: Collection[Text]) -> set[Text]:
        """Return which of these znodes, and of their parents, are locks without queues."""
        near = {*paths, *(split(path)[0] for path in paths)}
        return {
            path for path in self.records.among(near) if self.records[path].lock.is_only_watched
        }

    def nodes_in(self, path: str, rules: Collection[str]) -> frozenset[Text]:
        """Return the nodes of a lock that have an alarm of one of these rules, not just a note."""
        return frozenset(
            node
            for finding in self.findings
            if finding.rule in rules and finding.severity != "info"
            for node in finding.nodes_in(path)
        )

    def address(self, session: Session | None, name: str = "") -> str:
        """Return the client address of a session, or "" if it is unknown or the same as its name.

        Without a connection, use the list of owners: an import of an audit log fills it.
        """
        if session is None:
            return ""
        presence = self.ensemble.presence(session)
        owners = self.client_names.owners
        client = presence.client if presence else owners.address_of(session_text(session))
        return client if client != name else ""

    @property
    def views(self) -> Iterator[LockView]:
        """All locks, sorted by path."""
        return (view for path in self.paths if (view := self.view(path)) is not None)

    @cached_property
    def owner_name(self) -> OwnerName:
        """A function that labels owners; several sessions may have the same label."""
        return owner_name_in(self.ensemble, self.client_names.owners)

    @cached_property
    def sessions(self) -> Mapping[Session, SessionView]:
        """All sessions with nodes in locks, or that wait for one by a watch, by id."""
        holds, waits, labels = _locks_and_labels(self.records.values())
        for path in self.records:
            for session in self.watchers_waiting(path):
                waits.setdefault(session, []).append(path)
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


_PathsOfSessions = dict[Session, list[Text]]


def _locks_and_labels(
    records: Collection[LockRecord],
) -> tuple[_PathsOfSessions, _PathsOfSessions, dict[Session, Text]]:
    """The locks that each session holds and waits for, and its label."""
    holds: _PathsOfSessions = {}
    waits: _PathsOfSessions = {}
    labels: dict[Session, Text] = {}
    for record in records:
        for members, paths in ((record.lock.holders, holds), (record.lock.waiters, waits)):
            for member in members:
                if member.owner:
                    paths.setdefault(member.owner, []).append(record.lock.path)
                    if member.owner not in labels and (label := member.label):
                        labels[member.owner] = label
    return holds, waits, labels
