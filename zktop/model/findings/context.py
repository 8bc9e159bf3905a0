"""What a rule is given to look at: one lock, with what is known around it.

What a rule is given besides a lock: the surroundings, one session, or everything at once.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from zktop.model.client_names import ClientNames
from zktop.model.facts import Link, Millis, Session
from zktop.model.findings.finding import FindingSubject, MissingInput, Need
from zktop.model.format import short
from zktop.model.history.expiries import ExpiredPlace
from zktop.model.history.lock_history import NO_HISTORY, LockHistory
from zktop.model.history.sessions import SessionHistories
from zktop.model.locks.lock import Lock, LockQueue, Member
from zktop.model.locks.watch_check import UNSEEN, WatchCheck, absolute
from zktop.model.settings import Settings, Thresholds
from zktop.model.text import Text
from zktop.model.waits.sentences import LETTER
from zktop.model.world.ensemble import Ensemble
from zktop.model.world.server_tables import Presence
from zktop.model.world.world import TableFacts, World

if TYPE_CHECKING:
    from zktop.model.waits.deadlock import Deadlock
    from zktop.model.waits.lock_order_story import Inversion

TABLES: tuple[Need, ...] = ("watches", "connections", "expiry")


class SharedContext(msgspec.Struct, frozen=True, kw_only=True, eq=False, dict=True):
    """What all rules share at one look."""

    ensemble: Ensemble
    sessions: SessionHistories  # what became of them, from table to table
    settings: Settings
    now_ms: Millis
    tangled: Mapping[tuple[Text, Text], str] = {}  # (lock, node) in a deadlock -> its id
    is_lock: Callable[[str], bool] = lambda _: False
    is_read: Callable[[str], bool] = lambda _: False  # its children are known
    client_names: ClientNames = ClientNames()

    @property
    def thresholds(self) -> Thresholds:
        """From when on something is worth a line."""
        return self.settings.thresholds

    def who(self, session: Session, label: Text | None = None) -> str:
        """Name a session as all of zktop does, by a name that is no other's."""
        return short(self.client_names(session, label))

    @cached_property
    def shows_watches(self) -> bool:
        """Tell whether any server gave its watch table."""
        return any(one.watches is not None for one in self.ensemble.tables)

    @cached_property
    def shows_connections(self) -> bool:
        """Tell whether any server gave its connection table."""
        return any(one.connections is not None for one in self.ensemble.tables)

    @cached_property
    def lists_sessions(self) -> bool:
        """Tell whether any server gave a list of all sessions."""
        return any(one.sessions for one in self.ensemble.tables)

    @cached_property
    def lacking(self) -> dict[Need, tuple[MissingInput, ...]]:
        """Which kinds of tables are not complete, and whose fault that is."""
        return {
            need: tuple(MissingInput(why, need) for why in self.ensemble.missing(need))
            for need in TABLES
        }


class SessionPlace(msgspec.Struct, frozen=True, gc=False):
    """One place of a session."""

    lock: Lock
    member: Member
    holds: bool
    behind: int  # how many wait behind it

    @property
    def mode_and_lock(self) -> str:
        """Name the lock with the mode in front: `W:/locks/orders`."""
        return f"{LETTER[self.member.mode]}:{short(self.lock.path)}"


class SessionContext(msgspec.Struct, frozen=True, eq=False, dict=True):
    """One session that has places in locks."""

    session: Session
    places: tuple[SessionPlace, ...]
    shared: SharedContext

    @property
    def now_ms(self) -> Millis:
        """The time of this look."""
        return self.shared.now_ms

    @cached_property
    def presence(self) -> Presence | None:
        """Where it is connected."""
        return self.shared.ensemble.presence(self.session)

    @property
    def held(self) -> tuple[SessionPlace, ...]:
        """The places through which it owns a lock."""
        return tuple(place for place in self.places if place.holds)

    @property
    def behind(self) -> int:
        """How many wait behind its places."""
        return sum(place.behind for place in self.places)

    @cached_property
    def name(self) -> str:
        """What to call it."""
        labels = (place.member.label for place in self.places)
        return self.shared.who(self.session, next(filter(None, labels), None))

    def about(self, *places: SessionPlace, key: tuple[object, ...] = ()) -> FindingSubject:
        """Name this session as the subject of a verdict; the id is that of the session."""
        return FindingSubject(
            places[0].lock.path if places else None,
            tuple(place.member.node for place in places),
            (self.session,),
            (self.name,),
            tuple(place.member.mode for place in places),
            (self.session, *key),
        )


class EnsembleContext(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Everything that concerns no single lock."""

    shared: SharedContext
    world: World = World()
    tables: Mapping[Text, TableFacts] = {}
    link: Link | None = None
    deadlocks: "Sequence[Deadlock]" = ()
    inversions: "Sequence[Inversion]" = ()
    owners: AbstractSet[Session] = frozenset()  # of all places in locks
    expired: Collection[ExpiredPlace] = ()  # at once, lately

    @property
    def now_ms(self) -> Millis:
        """The time of this look."""
        return self.shared.now_ms


def places_in(lock: Lock, session: Session) -> Iterator[SessionPlace]:
    """Give the places of a session in one lock."""
    for line in lock.queues:
        waiting = len(line.waiters)
        for member in line.members:
            if member.owner == session:
                holds = line.holds(member)
                yield SessionPlace(lock, member, holds, waiting if holds else 0)


def waits_of(
    locks: Mapping[Text, Lock], session: Session, paths: Iterable[Text]
) -> Iterator[Text]:
    """Say in which of these locks a session waits."""
    for path in paths:
        lock = locks.get(path)
        if lock is not None and any(member.owner == session for member in lock.waiters):
            yield path


def holders_of(lock: Lock | None) -> Iterator[Session]:
    """Give the sessions that hold a lock."""
    return (member.owner for member in lock.holders if member.owner) if lock else iter(())


NOTHING: frozenset[Text] = frozenset()
WRONG = frozenset({"missing", "elsewhere"})


class RootChanges(msgspec.Struct, frozen=True, gc=False):
    """When the root of a lock was seen to change, apart from its children."""

    access_at: Millis | None = None  # its ACL
    content_at: Millis | None = None  # its data

    def after(self, before: Lock | None, after: Lock) -> "RootChanges":
        """Give the news with what differs between two looks at the same root."""
        old, new = before.stat if before else None, after.stat
        if old is None or new is None or old.czxid != new.czxid:
            return self
        return RootChanges(
            self.access_at if old.aversion == new.aversion else after.at,
            self.content_at if old.version == new.version else after.at,
        )


NO_ROOT_CHANGES = RootChanges()


class LockContext(msgspec.Struct, frozen=True, eq=False, dict=True):
    """One lock, with all that is known around it."""

    lock: Lock
    shared: SharedContext
    past: LockHistory = NO_HISTORY
    root: RootChanges = NO_ROOT_CHANGES

    @property
    def now_ms(self) -> Millis:
        """The time of this look."""
        return self.shared.now_ms

    @property
    def ensemble(self) -> Ensemble:
        """The joined server tables."""
        return self.shared.ensemble

    @property
    def path(self) -> Text:
        """Where the lock is."""
        return self.lock.path

    @property
    def thresholds(self) -> Thresholds:
        """From when on something is worth a line."""
        return self.shared.thresholds

    @cached_property
    def name(self) -> str:
        """The path, as a sentence shows it."""
        return short(self.path)

    @cached_property
    def line_of(self) -> dict[Text, LockQueue]:
        """In which queue a node stands."""
        return {member.node: line for line in self.lock.queues for member in line.members}

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """Everybody, queue by queue."""
        return tuple(self.lock.members)

    @cached_property
    def usual(self) -> tuple[int, int] | None:
        """Median and 99th percentile of finished holds."""
        return self.past.usual_hold

    @property
    def holders(self) -> Sequence[Member]:
        """Whoever owns the lock by the rule of its own library."""
        return self.lock.holders

    @property
    def waiters(self) -> Sequence[Member]:
        """Whoever does not."""
        return self.lock.waiters

    @cached_property
    def place(self) -> dict[Text, int]:
        """The position of each node in its queue."""
        return {
            member.node: number
            for line in self.lock.queues
            for number, member in enumerate(line.members)
        }

    @cached_property
    def at_path(self) -> dict[Text, Member]:
        """Everybody by absolute path."""
        return {self.path_of(member.node): member for member in self.members}

    @cached_property
    def owned(self) -> dict[Session, list[Member]]:
        """The places of each session, in queue order."""
        places: dict[Session, list[Member]] = {}
        for member in self.members:
            if member.owner:
                places.setdefault(member.owner, []).append(member)
        return places

    @cached_property
    def waiters_behind(self) -> dict[Text, int]:
        """How many wait behind each node, in its queue."""
        behind: dict[Text, int] = {}
        for line in self.lock.queues:
            waiting = {member.node for member in line.waiters}
            number = 0
            for member in reversed(line.members):
                behind[member.node] = number
                number += member.node in waiting
        return behind

    def path_of(self, node: str) -> Text:
        """Give the absolute path of a node that is named relative to the lock."""
        if "/" in node or node == ".":
            return absolute(self.path, node)
        return Text(self._below + node)

    @cached_property
    def _below(self) -> str:
        return f"{self.path}/" if self.path != "/" else "/"

    def who(self, member: Member) -> str:
        """Name the owner of a place."""
        return self.shared.who(member.owner, member.label)

    def names(self, members: Iterable[Member]) -> tuple[str, ...]:
        """Name the owners of several places."""
        return tuple(map(self.who, members))

    def age(self, member: Member) -> int | None:
        """How long the node has existed; the leader's clock says when it was created."""
        created = member.ctime
        return None if created is None else self.now_ms - created

    @cached_property
    def lookout(self) -> WatchCheck:
        """The judge of all watches here."""
        shared = self.shared
        return WatchCheck(self.lock, self.ensemble, shared.sessions.idle, shared.settings.layouts)

    def watched_here(self, session: Session) -> frozenset[Text] | None:
        """Give its watches on nodes of this lock; None when they cannot be seen."""
        watched = self.lookout.here(session)
        if watched is None or self.path not in watched or self.path in self.at_path:
            return watched
        return watched - {self.path}

    @cached_property
    def sighted(self) -> tuple["MemberWatches", ...]:
        """Give all places whose sessions' watches can be seen, by a table that knows them."""
        if not self.shared.shows_watches:
            return ()
        seen: list[MemberWatches] = []
        for session, places in self.owned.items():
            table = self.lookout.table(session) if session != self.ensemble.own else None
            if table is not None:
                seen += self._sighted(table.zxid, session, places)
        return tuple(seen)

    def _sighted(
        self, zxid: int, session: Session, places: list[Member]
    ) -> Iterator["MemberWatches"]:
        here = self.watched_here(session) or NOTHING
        others = here.difference([self.path_of(place.node) for place in places])
        for place in places:
            if zxid >= place.czxid:  # an older table cannot show a watch of this place
                yield MemberWatches(place, here, others, self.targets(place), len(places) == 1)

    @cached_property
    def waiting(self) -> tuple["MemberWatches", ...]:
        """Give those of the sighted that wait."""
        return tuple(seen for seen in self.sighted if self.is_waiting(seen.member))

    @cached_property
    def astray(self) -> tuple["MemberWatches", ...]:
        """Give those of the waiting that do not watch exactly what they should: mostly nobody."""
        return tuple(seen for seen in self.waiting if seen.here != seen.expected)

    def is_wrong(self, seen: "MemberWatches") -> bool:
        """Tell whether its watches are known to be wrong, and not just in no table."""
        return self.lookout.of(seen.member).verdict in WRONG

    def targets(self, member: Member) -> frozenset[Text]:
        """Give the paths that this waiter's recipe watches visibly."""
        known = self._expected.get(member.node)
        return known[0] if known else NOTHING

    @cached_property
    def watching_children(self) -> frozenset[Text]:
        """Give the nodes of waiters that, by their recipe, watch the children of the lock."""
        return frozenset(node for node, (_, is_unseen) in self._expected.items() if is_unseen)

    @cached_property
    def _expected(self) -> dict[Text, tuple[frozenset[Text], bool]]:
        """What the recipes of all waiters watch, and whether that is partly unseen; asked once."""
        known = {}
        for line in self.lock.queues:
            for member in line.waiters:
                targets = self.lookout.expected(line, member)
                paths = frozenset(to.path for to in targets if to.how != UNSEEN)
                known[member.node] = paths, len(paths) < len(targets)
        return known

    def is_tangled(self, member: Member) -> bool:
        """Tell whether it is part of a deadlock, which explains all else about it."""
        return (self.path, member.node) in self.shared.tangled

    def is_waiting(self, member: Member) -> bool:
        """Tell whether it does not own the lock."""
        return member.node in self._waiting

    @cached_property
    def _waiting(self) -> set[Text]:
        return {member.node for member in self.waiters}

    def about(self, *members: Member, key: tuple[object, ...] = ()) -> FindingSubject:
        """Name these places as the subject of a verdict."""
        return FindingSubject(
            self.path,
            tuple(member.node for member in members),
            tuple(dict.fromkeys(member.owner for member in members if member.owner)),
            tuple(self.names(members)),
            tuple(member.mode for member in members),
            (self.path, *key) if key else (),
        )


class MemberWatches(msgspec.Struct, frozen=True, gc=False):
    """A place, and what its session watches in this lock."""

    member: Member
    here: frozenset[Text]
    others: frozenset[Text]  # without its own nodes
    expected: frozenset[Text]  # by its recipe, as far as tables can show it
    is_sole: bool  # its session has no second place here: the watches are its own
