"""The contexts that rules are called with: one lock, one session, or the whole ensemble.

Each also gives access to server tables, history, settings and time.
"""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

import msgspec
from msgspec.structs import replace

from zktop.model.client_names import ClientNames
from zktop.model.facts import MINUTE_MS, Millis, Session
from zktop.model.findings.finding import FindingSubject, MissingInput
from zktop.model.format import short
from zktop.model.history.expired_sessions import ExpiredPlace
from zktop.model.history.lock_change import all_members
from zktop.model.history.lock_history import NO_HISTORY, LockHistory, UsualHold, VanishedQueue
from zktop.model.history.root_changes import NO_ROOT_CHANGES, RootChanges
from zktop.model.history.session_activity import SessionHistories
from zktop.model.layouts.layout import lock_in_mode
from zktop.model.locks.leaking_folders import LockFolders
from zktop.model.locks.lock import Lock, LockQueue, Member, absolute_path
from zktop.model.locks.shapes import layout_named
from zktop.model.locks.watch_check import UNSEEN, WatchCheck
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.thresholds import Thresholds
from zktop.model.waits.deadlock import Deadlock
from zktop.model.waits.lock_order_story import Inversion
from zktop.model.world.tables_of_all_servers import Ensemble
from zktop.model.world.tables_of_one_server import Presence
from zktop.model.world.world import World

NO_USUAL_HOLD = MissingInput("too few finished holds were seen to know what is usual", "history")
RECENT_MS = 10 * MINUTE_MS  # former members that left earlier are not recent


class SharedContext(msgspec.Struct, frozen=True, kw_only=True, eq=False, dict=True):
    """The values that all contexts of one look share."""

    ensemble: Ensemble
    sessions: SessionHistories
    settings: Settings
    now_ms: Millis
    world: World = World()
    locks: Mapping[Text, Lock] = {}
    tangled: Container[tuple[Text, Text]] = ()  # each lock and node in a deadlock
    client_names: ClientNames = ClientNames()

    @property
    def thresholds(self) -> Thresholds:
        """The limits beyond which something becomes a finding."""
        return self.settings.thresholds

    def name_of(self, session: Session, label: Text | None = None) -> str:
        """The unique display name of a session."""
        return short(self.client_names(session, label))

    @cached_property
    def shows_watches(self) -> bool:
        """Whether any server returned its watch table."""
        return any(table.watches is not None for table in self.ensemble.tables)

    @cached_property
    def shows_connections(self) -> bool:
        """Whether any server returned its connection table."""
        return any(table.connections is not None for table in self.ensemble.tables)

    @cached_property
    def lists_sessions(self) -> bool:
        """Whether any server returned a list of all sessions."""
        return any(table.sessions for table in self.ensemble.tables)


class _Context(msgspec.Struct, frozen=True, kw_only=True, eq=False, dict=True):
    shared: SharedContext

    @property
    def now_ms(self) -> Millis:
        return self.shared.now_ms


class SessionPlace(msgspec.Struct, frozen=True, gc=False):
    """One node of a session in a lock's queue."""

    lock: Lock
    member: Member
    holds: bool

    @property
    def mode_and_lock(self) -> str:
        """The lock, and what the node holds or wants of it: `the write lock of /locks/orders`."""
        return lock_in_mode(self.member.mode, short(self.lock.path))


class SessionContext(_Context, frozen=True, eq=False):
    """One session and its nodes in locks."""

    session: Session
    places: tuple[SessionPlace, ...]

    @cached_property
    def presence(self) -> Presence | None:
        """The server that the session is connected to, and its client address."""
        return self.shared.ensemble.presence(self.session)

    @cached_property
    def held(self) -> tuple[SessionPlace, ...]:
        """The nodes that hold a lock."""
        return tuple(place for place in self.places if place.holds)

    @property
    def behind(self) -> int | None:
        """The number of clients that wait behind its nodes; each counts once.

        None if none is seen and not all watchers are known. Candidates do not wait.
        """
        ensemble = self.shared.ensemble
        locks = {place.lock.path: place.lock for place in self.places}.values()
        waited_for = [lock for lock in locks if not lock.has_standbys]
        checks = [WatchCheck(lock, ensemble) for lock in waited_for if lock.is_only_watched]
        behind: set[object] = {session for check in checks for session in check.watchers_waiting}
        behind |= {
            member.owner or (lock.path, member.node)
            for lock in waited_for
            for queue in lock.queues
            for member in _waiters_behind(queue, self.session)
        }
        is_known = not checks or ensemble.visibility.watches == "all"
        return len(behind) if behind or is_known else None

    @cached_property
    def name(self) -> str:
        labels = (place.member.label for place in self.places)
        return self.shared.name_of(self.session, next(filter(None, labels), None))

    def about(self, *places: SessionPlace, key: tuple[object, ...] = ()) -> FindingSubject:
        """Make this session the subject of a match; its id depends on the session and `key`."""
        return FindingSubject(
            places[0].lock.path if places else None,
            tuple(place.member.node for place in places),
            (self.session,),
            (self.session, *key),
        )

    def about_each_lock(self, *places: SessionPlace) -> FindingSubject:
        """Make this session the subject, and mark all locks of these places."""
        locks = tuple(dict.fromkeys(place.lock.path for place in places))
        return replace(self.about(*places), locks=locks)


class EnsembleContext(_Context, frozen=True, kw_only=True, eq=False):
    """The whole ensemble, for rules about no single lock or session."""

    deadlocks: Sequence[Deadlock] = ()
    inversions: Sequence[Inversion] = ()
    owners: AbstractSet[Session] = frozenset()  # all sessions with nodes in locks
    expired: Collection[ExpiredPlace] = ()  # nodes of sessions that recently expired together
    vanished: Mapping[Text, VanishedQueue] = {}  # recently, by the path of the lock
    folders: Collection[LockFolders] = ()  # parents with many lock folders, most of them empty
    single_nodes: AbstractSet[str] = frozenset()  # roots that are locks of a single node


def places_in(locks: Iterable[Lock], session: Session) -> tuple[SessionPlace, ...]:
    return tuple(
        SessionPlace(lock, member, queue.holds(member))
        for lock in locks
        for queue in lock.queues
        for member in queue.members
        if (stat := member.znode.stat) and stat.owner == session
    )


def _waiters_behind(queue: LockQueue, session: Session) -> Iterator[Member]:
    """Yield the others that wait behind the first node of a session, or for what it holds."""
    own = [member for member in queue.members if member.owner == session]
    if not own:
        return
    waiters = queue.waiters
    is_in_line = not queue.holds(own[0]) and own[0] in waiters
    behind = waiters[waiters.index(own[0]) :] if is_in_line else waiters
    yield from (member for member in behind if member.owner != session)


WRONG = frozenset({"missing", "elsewhere"})


class LockContext(_Context, frozen=True, kw_only=True, eq=False):
    """One lock, its history, and recent changes of its znode."""

    lock: Lock
    past: LockHistory = NO_HISTORY
    root: RootChanges = NO_ROOT_CHANGES

    @property
    def ensemble(self) -> Ensemble:
        return self.shared.ensemble

    @property
    def path(self) -> Text:
        return self.lock.path

    @property
    def thresholds(self) -> Thresholds:
        """The limits beyond which something becomes a finding."""
        return self.shared.thresholds

    @cached_property
    def name(self) -> str:
        """The path as sentences show it."""
        return short(self.path)

    @property
    def members(self) -> Sequence[Member]:
        return all_members(self.lock)

    @property
    def usual(self) -> UsualHold | None:
        """How long holds usually last."""
        return self.past.usual_hold

    @property
    def holders(self) -> Sequence[Member]:
        """The members that hold the lock according to its library."""
        return self.lock.holders

    @property
    def waiters(self) -> Sequence[Member]:
        return self.lock.waiters

    @property
    def are_several_locks(self) -> bool:
        """Whether the queues are separate locks under one parent."""
        if len(self.lock.queues) == 1:
            return False
        layout = layout_named(self.lock.layout, self.shared.settings.layouts)
        return layout is not None and layout.grouped

    def waiters_for(self, holder: Member) -> Sequence[Member]:
        """The members that wait for the lock of this holder."""
        return self.lock.queue_of(holder).waiters if self.are_several_locks else self.waiters

    @cached_property
    def place(self) -> dict[Text, int]:
        """The position of each node in its queue."""
        return {
            member.node: number
            for queue in self.lock.queues
            for number, member in enumerate(queue.members)
        }

    @cached_property
    def at_path(self) -> dict[Text, Member]:
        return {self.path_of(member.node): member for member in self.members}

    @cached_property
    def owned(self) -> dict[Session, list[Member]]:
        """The members of each session, in queue order."""
        owned: dict[Session, list[Member]] = {}
        for member in self.members:
            if member.owner:
                owned.setdefault(member.owner, []).append(member)
        return owned

    @cached_property
    def waiters_behind(self) -> dict[Text, int]:
        """The number of waiters behind each node in its queue."""
        behind: dict[Text, int] = {}
        for queue in self.lock.queues:
            waiting = {member.node for member in queue.waiters}
            number = 0
            for member in reversed(queue.members):
                behind[member.node] = number
                if member.node in waiting:
                    number += 1
        return behind

    def path_of(self, node: str) -> Text:
        return absolute_path(self.path, node)

    def name_of(self, member: Member) -> str:
        """The display name of a member's owner."""
        return short(self.shared.client_names.of(member))

    def names(self, members: Iterable[Member]) -> tuple[str, ...]:
        """The display names of several owners."""
        return tuple(map(self.name_of, members))

    def age(self, member: Member) -> int | None:
        """How long the node has existed, according to the clock of the leader that created it."""
        created = member.ctime
        return None if created is None else self.now_ms - created

    @cached_property
    def watch_check(self) -> WatchCheck:
        """The comparison of the members' watches with those that their recipes set."""
        shared = self.shared
        return WatchCheck(self.lock, self.ensemble, shared.sessions.idle, shared.settings.layouts)

    def watched_here(self, session: Session) -> frozenset[Text] | None:
        """The session's watches on nodes of this lock; None if they are not visible."""
        watched = self.watch_check.watched_here(session)
        if watched is None or self.path not in watched or self.path in self.at_path:
            return watched
        return watched - {self.path}

    @cached_property
    def visible(self) -> tuple["MemberWatches", ...]:
        """All members whose watches are visible in a table that is new enough."""
        if not self.shared.shows_watches:
            return ()
        visible: list[MemberWatches] = []
        for session, members in self.owned.items():
            table = self.watch_check.table(session) if session != self.ensemble.own else None
            if table is not None:
                visible += self._visible(table.zxid, session, members)
        return tuple(visible)

    def _visible(
        self, zxid: int, session: Session, members: list[Member]
    ) -> Iterator["MemberWatches"]:
        watched = self.watched_here(session) or frozenset()
        others = watched.difference([self.path_of(member.node) for member in members])
        is_alone = len(members) == 1
        for member in members:
            if zxid >= member.czxid:  # an older table cannot show a watch of this member
                yield MemberWatches(member, watched, others, self.targets(member), is_alone)

    @cached_property
    def waiting(self) -> tuple["MemberWatches", ...]:
        """The waiters among `visible`."""
        return tuple(watches for watches in self.visible if self.is_waiting(watches.member))

    @cached_property
    def mismatched(self) -> tuple["MemberWatches", ...]:
        """The visible waiters that do not watch exactly what they should: usually none."""
        return tuple(waiter for waiter in self.waiting if waiter.watched != waiter.expected)

    def is_wrong(self, waiter: "MemberWatches") -> bool:
        """Whether its watches are known to be wrong, not merely invisible."""
        return self.watch_check.of(waiter.member).verdict in WRONG

    def targets(self, member: Member) -> frozenset[Text]:
        """The paths that a waiter's recipe watches in a way that tables show."""
        return self._targets.get(member.node, frozenset())

    @cached_property
    def watching_children(self) -> frozenset[Text]:
        """The nodes of waiters whose recipe watches the children of the lock."""
        return frozenset(
            member.node
            for queue in self.lock.queues
            if queue.may_watch_children
            for member in queue.waiters
            if any(target.how == UNSEEN for target in queue.expected(member))
        )

    @cached_property
    def _targets(self) -> dict[Text, frozenset[Text]]:
        return {
            member.node: frozenset(
                target.path
                for target in self.watch_check.expected(queue, member)
                if target.how != UNSEEN
            )
            for queue in self.lock.queues
            for member in queue.waiters
        }

    def is_tangled(self, member: Member) -> bool:
        """Whether it is part of a deadlock, which explains everything else about it."""
        return (self.path, member.node) in self.shared.tangled

    def is_waiting(self, member: Member) -> bool:
        return member.node in self._waiting

    @cached_property
    def _waiting(self) -> set[Text]:
        return {member.node for member in self.waiters}

    def about(self, *members: Member, key: tuple[object, ...] = ()) -> FindingSubject:
        """Make these members the subject of a match."""
        return FindingSubject(
            self.path,
            tuple(member.node for member in members),
            tuple(dict.fromkeys(member.owner for member in members if member.owner)),
            (self.path, *key) if key else (),
        )


class MemberWatches(msgspec.Struct, frozen=True, gc=False):
    """A member, and what its session watches in this lock."""

    member: Member
    watched: frozenset[Text]
    others: frozenset[Text]  # `watched` without the session's own nodes
    expected: frozenset[Text]  # what its recipe watches, as far as tables show it
    is_sole: bool  # its session has no other member here, so the watches belong to this one
