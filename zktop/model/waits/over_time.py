"""Deadlocks over time: what the wait graph shows now, and how sure everything else makes it.

The graph is told of changed locks alone. What a verdict needs besides is gathered for the few
actors of a core, and only while there is one.

The inquest on what is stuck: what else is known of its actors, and what follows from that.

Who was seen to act while it waited, who is idle, who watches what: it is gathered for the few
actors of a core, and only while there is one.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from zktop.model.actors import Actors, session_of
from zktop.model.client_names import ClientNames
from zktop.model.facts import Millis, Session
from zktop.model.history.all_locks import LockHistories
from zktop.model.history.change import LockChange
from zktop.model.history.statistics import identity_of
from zktop.model.locks.lock import Lock, Member
from zktop.model.locks.watch_check import WatchCheck
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.waits.assess import Assessment, assess
from zktop.model.waits.confidence import ConcurrencyDetector
from zktop.model.waits.deadlock import Deadlock, DeadlockPlace
from zktop.model.waits.from_locks import lock_path, queue_updates
from zktop.model.waits.graph import WaitGraph
from zktop.model.waits.lock_order import LockOrderGraph, OrderActor, tells_order
from zktop.model.waits.ring import ActorEvidence
from zktop.model.waits.root_blockers import RootBlocker, aged, root_blockers
from zktop.model.waits.sentences import DisplayNames
from zktop.model.waits.state import WaitQueue, WaitRequest
from zktop.model.world.ensemble import Ensemble
from zktop.model.world.server_tables import Presence

if TYPE_CHECKING:
    from zktop.model.waits.deadlock import Deadlock
    from zktop.model.waits.lock_order_story import Inversion

RANK_EVERY_MS: Final[Millis] = 2_000
RANKED_PER_MS: Final = 5  # queues: the more there are, the longer the interval


class DeadlockVerdict(msgspec.Struct, frozen=True):
    """Deadlocks, mere hints at some, and the locks whose listing would decide about more."""

    deadlocks: "tuple[Deadlock, ...]" = ()
    hints: "tuple[Deadlock, ...]" = ()
    relist: tuple[Text, ...] = ()
    inversions: "tuple[Inversion, ...]" = ()
    blockers: tuple[RootBlocker, ...] = ()


class DeadlockDetector:
    """A fold over changed locks; `judge` answers for the newest state."""

    def __init__(self, settings: Settings) -> None:
        """Begin with no lock known."""
        self.graph = WaitGraph()
        self._settings = settings
        self._actors = Actors(settings)
        self._activity = ConcurrencyDetector()
        self._orders = LockOrderGraph()
        self._inverted: dict[str, Inversion] = {}  # as they were told the last time
        self._came: set[str] = set()  # actors with new requests since the last verdict
        self._elections: set[str] = set()
        self._blockers: tuple[RootBlocker, ...] = ()
        self._ranked_at: Millis | None = None
        self._is_unranked = False  # something changed since then
        self._is_ranking_due = False

    def change(self, change: LockChange) -> None:
        """Take note of one changed lock."""
        self._is_unranked = True
        lock = change.after
        gone_at = lock.seen_zxid if lock else 0
        for name, queue, created, deleted in queue_updates(
            change, self.graph.queues, self._actors
        ):
            was = self.graph.queues.get(name)
            for request in deleted:
                there = was.seen_zxid if was else 0
                self._activity.deleted(request, name, there=there, gone=gone_at)
                self._orders.ended(name, request.node, lock.at if lock and queue else None)
            if queue is None:
                self.graph.removed(name)
                self._elections.discard(name)
                continue
            self.graph.replaced(name, queue, created, deleted)
            self._came.update(request.actor for request in created)
            if queue.kind == "election":
                self._elections.add(name)

    @property
    def is_behind(self) -> bool:
        """Tell whether the root blockers could be ranked, had the last look been a calm one."""
        return self._is_ranking_due

    def judge(
        self,
        ensemble: Ensemble,
        chronicle: LockHistories,
        locks: Mapping[Text, Lock],
        now_ms: Millis,
        *,
        client_names: ClientNames,
        is_calm: bool = True,
    ) -> DeadlockVerdict:
        """Say what is deadlocked now; a look that is not calm has something else to tell first."""
        more = self._activity.look(self.graph)
        self._learn_orders(locks)
        blockers = self._root_blockers(now_ms, is_calm=is_calm)
        potential = self._inversions()
        if not self.graph.stuck_set.cores and not self._elections:
            return DeadlockVerdict(relist=_paths(more), inversions=potential, blockers=blockers)

        found = EvidenceCollector(
            graph=self.graph,
            activity=self._activity,
            ensemble=ensemble,
            chronicle=chronicle,
            locks=locks,
            client_names=client_names,
            now_ms=now_ms,
            settle_ms=self._settings.thresholds.settle,
        ).finding()
        suspected = (*found.deadlocks, *found.hints)
        return DeadlockVerdict(
            deadlocks=found.deadlocks,
            hints=found.hints,
            relist=_paths((*more, *found.relist)),
            inversions=tuple(one for one in potential if not _is_there(one, suspected)),
            blockers=blockers,
        )

    def _inversions(self) -> "tuple[Inversion, ...]":
        """Tell them; one that is told as before is the same object, for reports are kept."""
        if not self._orders.cycles:
            return ()
        from zktop.model.waits.lock_order_story import inversions  # noqa: PLC0415  few have any

        before, self._inverted = self._inverted, {}
        for one in inversions(self._orders):
            known = before.get(one.id)
            self._inverted[one.id] = known if known == one else one
        return tuple(self._inverted.values())

    def _root_blockers(self, now_ms: Millis, *, is_calm: bool) -> tuple[RootBlocker, ...]:
        """Rank the root blockers at intervals; in between only their waits grow.

        A look that reports changes leaves it to the next one for a while, so that no event has to
        wait for it. Without changes a new ranking can only exchange the last of a long list.
        """
        interval = RANK_EVERY_MS + len(self.graph.queues) // RANKED_PER_MS
        elapsed = -1 if self._ranked_at is None else now_ms - self._ranked_at
        patience = (1 if is_calm else 2) if self._is_unranked else 5
        if 0 <= elapsed < patience * interval:
            self._is_ranking_due = self._is_unranked and elapsed >= interval
            return aged(self._blockers, elapsed)
        self._ranked_at, self._is_unranked, self._is_ranking_due = now_ms, False, False
        self._blockers = root_blockers(self.graph, now_ms)
        return self._blockers

    def _learn_orders(self, locks: Mapping[Text, Lock]) -> None:
        """Learn from those who came and own another lock; all that changed is in the graph now."""
        came, self._came = self._came, set()
        actors = {one for one in self.graph.tangled & came if tells_order(self.graph, one)}
        if not actors:
            return
        names = {name for actor in actors for name in self.graph.locks(actor)}
        self._orders.harvest(
            self.graph,
            lambda actor: self._asker(actor, locks),
            {name: _born(locks, name) for name in names},
            actors,
        )

    def _asker(self, actor: str, locks: Mapping[Text, Lock]) -> OrderActor:
        """Call an actor as it calls itself in what it owns, as far as that is read by now."""
        labels = (_label(locks, queue, request) for queue, request in self.graph.places(actor))
        return OrderActor(
            identity=actor,
            owner=next(filter(None, labels), actor),
            is_concurrent=self._activity.is_concurrent(actor),
        )


def _paths(names: Iterable[str]) -> tuple[Text, ...]:
    return tuple(sorted({Text(lock_path(name)) for name in names}))


def _is_there(inversion: "Inversion", deadlocks: "Iterable[Deadlock]") -> bool:
    """Tell whether what could come of it has come."""
    locks = {lock_path(turn.lock) for turn in inversion.turns}
    return any(locks <= set(map(lock_path, one.locks)) for one in deadlocks)


def _born(locks: Mapping[Text, Lock], name: str) -> int:
    """Give the transaction that made the root of a queue; 0 where it could not be read."""
    lock = locks.get(Text(lock_path(name)))
    return lock.stat.czxid if lock and lock.stat else 0


def _label(locks: Mapping[Text, Lock], queue: WaitQueue, request: WaitRequest) -> str | None:
    lock = locks.get(Text(lock_path(queue.lock)))
    member = lock.member(Text(request.node)) if lock else None
    return member.label if member else None


Standing = tuple[WaitQueue, WaitRequest, Lock, Member]

ASTRAY: Final = ("missing", "elsewhere")  # nothing wakes it, so it may not wait as we think


class EvidenceCollector(msgspec.Struct, frozen=True, kw_only=True):
    """All that is looked at: the waiting, the tables, the past, and the locks as they are."""

    graph: WaitGraph
    activity: ConcurrencyDetector
    ensemble: Ensemble
    chronicle: LockHistories
    locks: Mapping[Text, Lock]
    client_names: ClientNames
    now_ms: Millis
    settle_ms: int

    def finding(self) -> Assessment:
        """Say which deadlocks there are, and where a second listing would tell."""
        found = assess(self.graph, self._evidence(), self._names())
        return replace(
            found,
            deadlocks=tuple(map(_of_locks, found.deadlocks)),
            hints=tuple(map(_of_locks, found.hints)),
        )

    def _evidence(self) -> ActorEvidence:
        """Gather what is known of the actors of all cores."""
        actors = {actor for core in self.graph.stuck_set.cores for actor in core.actors}
        sessions = {actor: session_of(actor) for actor in actors}
        places = list(self._places(actors))
        past = {lock.path: self.chronicle.of(lock.path, self.now_ms) for _, _, lock, _ in places}
        watches = self._watches(places)
        usual = {path: history.usual_hold for path, history in past.items()}
        tries = {
            request.actor: past[lock.path].attempts.get(identity_of(member))
            for _, request, lock, member in places
        }
        learned = {actor: one.learned_timeout_ms for actor, one in tries.items() if one}
        return ActorEvidence(
            now_ms=self.now_ms,
            settle_ms=self.settle_ms,
            concurrent=frozenset(filter(self.activity.is_concurrent, actors)),
            released={actor: self.activity.released(actor) for actor in actors},
            threads=frozenset(a for a, session in sessions.items() if session is None),
            still_since_ms=_known(self.chronicle.sessions.last_active, sessions),
            quiet_ms=_known(self.chronicle.sessions.quiet_ms, sessions),
            watched=frozenset(one for one, verdict in watches.items() if verdict == "confirmed"),
            astray=frozenset(one for one, verdict in watches.items() if verdict in ASTRAY),
            usual_hold_ms={path: hold[1] for path, hold in usual.items() if hold is not None},
            patience_ms={actor: ms for actor, ms in learned.items() if ms is not None},
        )

    def _watches(self, places: list[Standing]) -> dict[tuple[str, str], str]:
        """Judge the watches of all who wait, by queue and node."""
        lookouts = {lock.path: WatchCheck(lock, self.ensemble) for _, _, lock, _ in places}
        return {
            (queue.lock, request.node): lookouts[lock.path].of(member).verdict
            for queue, request, lock, member in places
            if not self.graph.holds(queue, request)
        }

    def _places(self, actors: Iterable[str]) -> Iterator[Standing]:
        """Give all places of these actors, as the graph and as the locks know them."""
        for actor in actors:
            for queue, request in self.graph.places(actor):
                lock = self.locks.get(Text(lock_path(queue.lock)))
                member = lock.member(request.node) if lock else None
                if lock is not None and member is not None:
                    yield queue, request, lock, member

    def _names(self) -> DisplayNames:
        """Give each actor of stuck queues a name that is no other's, and lines their locks'."""
        stuck_set = self.graph.stuck_set
        names = [name for name in self.graph.queues if name in stuck_set.locks]
        actors = {request.actor for name in names for request in self.graph.queues[name].requests}
        labels = {
            request.actor: label
            for name in names
            for request in self.graph.queues[name].requests
            if (label := self._label(name, request))
        }
        called = {actor: self._called(actor, labels.get(actor)) for actor in actors}
        return DisplayNames(
            owners={actor: name for actor, name in called.items() if name is not None},
            paths={name: lock_path(name) for name in names if lock_path(name) != name},
            labels=labels,
            presences={actor: one for actor in actors if (one := self._presence(actor))},
        )

    def _called(self, actor: str, label: Text | None) -> str | None:
        session = session_of(actor)
        return self.client_names(session, label) if session else label

    def _presence(self, actor: str) -> Presence | None:
        session = session_of(actor)
        return self.ensemble.presence(session) if session else None

    def _label(self, name: str, request: WaitRequest) -> Text | None:
        lock = self.locks.get(Text(lock_path(name)))
        member = lock.member(request.node) if lock else None
        return member.label if member else None


def _known(
    tell: Callable[[Session], Millis | None], sessions: Mapping[str, Session | None]
) -> dict[str, Millis]:
    """Ask of each actor that is a session; leave out what cannot be told."""
    told = ((actor, tell(session)) for actor, session in sessions.items() if session)
    return {actor: answer for actor, answer in told if answer is not None}


def _of_locks(deadlock: Deadlock) -> Deadlock:
    """Name locks instead of the lines of locks."""
    if not any(lock_path(name) != name for name in deadlock.locks):
        return deadlock
    steps = tuple(
        replace(step, holds=tuple(map(_of_lock, step.holds)), waits=_of_lock(step.waits))
        for step in deadlock.steps
    )
    return replace(deadlock, locks=tuple(sorted(set(map(lock_path, deadlock.locks)))), steps=steps)


def _of_lock(place: DeadlockPlace) -> DeadlockPlace:
    return replace(place, lock=lock_path(place.lock))
