"""What a rule is given besides a lock: the surroundings, one session, or everything at once."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from zktop.model.calling import Calling
from zktop.model.facts import Link, Millis, Session
from zktop.model.findings.finding import Need
from zktop.model.findings.rule import Lacking, Subject
from zktop.model.findings.words import short
from zktop.model.history.expiries import Expired
from zktop.model.history.sessions import Sessions
from zktop.model.locks.lock import Lock, Member
from zktop.model.settings import Settings, Thresholds
from zktop.model.sight import Sight
from zktop.model.text import Text
from zktop.model.waits.names import LETTER
from zktop.model.witness import Presence
from zktop.model.world import Tables, World

if TYPE_CHECKING:  # most ensembles have none of them
    from zktop.model.waits.deadlock import Deadlock
    from zktop.model.waits.order_story import Inversion

TABLES: tuple[Need, ...] = ("watches", "connections", "expiry")


class Surroundings(msgspec.Struct, frozen=True, kw_only=True, eq=False, dict=True):
    """What all rules share at one look."""

    sight: Sight
    sessions: Sessions  # what became of them, from table to table
    settings: Settings
    now_ms: Millis
    tangled: Mapping[tuple[Text, Text], str] = {}  # (lock, node) in a deadlock -> its id
    is_lock: Callable[[str], bool] = lambda _: False
    is_read: Callable[[str], bool] = lambda _: False  # its children are known
    calling: Calling = Calling()

    @property
    def thresholds(self) -> Thresholds:
        """From when on something is worth a line."""
        return self.settings.thresholds

    def who(self, session: Session, label: Text | None = None) -> str:
        """Name a session as all of zktop does, by a name that is no other's."""
        return short(self.calling(session, label))

    @cached_property
    def shows_watches(self) -> bool:
        """Tell whether any server gave its watch table."""
        return any(one.watches is not None for one in self.sight.witnesses)

    @cached_property
    def shows_connections(self) -> bool:
        """Tell whether any server gave its connection table."""
        return any(one.connections is not None for one in self.sight.witnesses)

    @cached_property
    def lists_sessions(self) -> bool:
        """Tell whether any server gave a list of all sessions."""
        return any(one.sessions for one in self.sight.witnesses)

    @cached_property
    def lacking(self) -> dict[Need, tuple[Lacking, ...]]:
        """Which kinds of tables are not complete, and whose fault that is."""
        return {
            need: tuple(Lacking(why, need) for why in self.sight.missing(need)) for need in TABLES
        }


class Place(msgspec.Struct, frozen=True, gc=False):
    """One place of a session."""

    lock: Lock
    member: Member
    holds: bool
    behind: int  # how many wait behind it

    @property
    def mode_and_lock(self) -> str:
        """Name the lock with the mode in front: `W:/locks/orders`."""
        return f"{LETTER[self.member.mode]}:{short(self.lock.path)}"


class Interview(msgspec.Struct, frozen=True, eq=False, dict=True):
    """One session that has places in locks."""

    session: Session
    places: tuple[Place, ...]
    around: Surroundings

    @property
    def now_ms(self) -> Millis:
        """The time of this look."""
        return self.around.now_ms

    @cached_property
    def presence(self) -> Presence | None:
        """Where it is connected."""
        return self.around.sight.presence(self.session)

    @property
    def held(self) -> tuple[Place, ...]:
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
        return self.around.who(self.session, next(filter(None, labels), None))

    def about(self, *places: Place, key: tuple[object, ...] = ()) -> Subject:
        """Name this session as the subject of a verdict; the id is that of the session."""
        return Subject(
            places[0].lock.path if places else None,
            tuple(place.member.node for place in places),
            (self.session,),
            (self.name,),
            tuple(place.member.mode for place in places),
            (self.session, *key),
        )


class Survey(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Everything that concerns no single lock."""

    around: Surroundings
    world: World = World()
    tables: Mapping[Text, Tables] = {}
    link: Link | None = None
    deadlocks: "Sequence[Deadlock]" = ()
    inversions: "Sequence[Inversion]" = ()
    owners: Collection[Session] = ()  # of all places in locks
    expired: Collection[Expired] = ()  # at once, lately

    @property
    def now_ms(self) -> Millis:
        """The time of this look."""
        return self.around.now_ms


def places_in(lock: Lock, session: Session) -> Iterator[Place]:
    """Give the places of a session in one lock."""
    for line in lock.lines:
        waiting = len(line.waiters)
        for member in line.members:
            if member.owner == session:
                holds = line.holds(member)
                yield Place(lock, member, holds, waiting if holds else 0)


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
