"""Collects evidence about the actors of a deadlock, and judges the deadlocks by it.

The wait graph shows waits and holders. Histories and server tables show the rest: whether an actor
worked in the meantime, when it last sent a request, and whether it watches what it waits for.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from zktop.model.actors import session_of
from zktop.model.client_names import ClientNames
from zktop.model.facts import Millis, Session
from zktop.model.history.all_locks import LockHistories
from zktop.model.history.attempts import identity_of
from zktop.model.locks.lock import Lock, Member
from zktop.model.locks.watch_check import WatchCheck
from zktop.model.text import Text
from zktop.model.waits.assess import Assessment, assess
from zktop.model.waits.concurrent_actors import ConcurrencyDetector
from zktop.model.waits.deadlock import Deadlock, DeadlockPlace
from zktop.model.waits.graph import WaitGraph
from zktop.model.waits.queues_from_locks import lock_path
from zktop.model.waits.ring import ActorEvidence, rings
from zktop.model.waits.sentences import DisplayNames
from zktop.model.waits.wait_queue import WaitRequest
from zktop.model.world.tables_of_all_servers import Ensemble

ASTRAY: Final = ("missing", "elsewhere")  # watch verdicts: the actor may not wait as expected


class _Wait(NamedTuple):
    """One wait of a ring, as the wait graph and the lock know it."""

    name: str  # of the queue
    request: WaitRequest
    lock: Lock
    member: Member


class EvidenceCollector(msgspec.Struct, frozen=True, kw_only=True):
    """The sources of evidence at one look."""

    graph: WaitGraph
    concurrency: ConcurrencyDetector
    ensemble: Ensemble
    histories: LockHistories
    locks: Mapping[Text, Lock]
    client_names: ClientNames
    now_ms: Millis
    settle_ms: int

    def assess(self) -> Assessment:
        """Judge all deadlocks of the graph, named by the paths of their locks."""
        found = assess(self.graph, self._evidence(), self._names())
        return replace(
            found,
            deadlocks=tuple(map(_with_paths, found.deadlocks)),
            hints=tuple(map(_with_paths, found.hints)),
        )

    def _evidence(self) -> ActorEvidence:
        actors = {actor for core in self.graph.stuck_set.cores for actor in core.actors}
        sessions = {actor: session_of(actor) for actor in actors}
        waits = list(self._ring_waits())
        past = {wait.name: self.histories.of(wait.lock.path, self.now_ms) for wait in waits}
        verdicts = {
            (w.name, w.request.node): WatchCheck(w.lock, self.ensemble).of(w.member).verdict
            for w in waits
        }
        usual = {name: history.usual_hold for name, history in past.items()}
        tries = {w.request.actor: past[w.name].attempts.get(identity_of(w.member)) for w in waits}
        patience = {actor: one.learned_timeout_ms for actor, one in tries.items() if one}
        return ActorEvidence(
            now_ms=self.now_ms,
            settle_ms=self.settle_ms,
            complete_to=self.ensemble.complete_to,
            concurrent=frozenset(filter(self.concurrency.is_concurrent, actors)),
            released={actor: self.concurrency.released(actor) for actor in actors},
            threads=frozenset(a for a, session in sessions.items() if session is None),
            still_since_ms=_known(self.histories.sessions.last_active, sessions),
            quiet_ms=_known(self.histories.sessions.quiet_ms, sessions),
            watched=frozenset(one for one, verdict in verdicts.items() if verdict == "confirmed"),
            astray=frozenset(one for one, verdict in verdicts.items() if verdict in ASTRAY),
            usual_hold_ms={name: hold[1] for name, hold in usual.items() if hold is not None},
            patience_ms={actor: ms for actor, ms in patience.items() if ms is not None},
        )

    def _ring_waits(self) -> Iterator[_Wait]:
        for ring in rings(self.graph.stuck_set):
            for edge in ring:
                lock, member = self._member(edge.queue.lock, edge.request)
                if lock is not None and member is not None:
                    yield _Wait(edge.queue.lock, edge.request, lock, member)

    def _member(self, name: str, request: WaitRequest) -> tuple[Lock | None, Member | None]:
        lock = self.locks.get(Text(lock_path(name)))
        return lock, lock.member(request.node) if lock else None

    def _names(self) -> DisplayNames:
        """A unique name for each actor in stuck queues, and the path of each queue's lock."""
        stuck = self.graph.stuck_set.locks
        names = [name for name in self.graph.queues if name in stuck]
        requests = (request for name in names for request in self.graph.queues[name].requests)
        actors = {actor: session_of(actor) for actor in dict.fromkeys(r.actor for r in requests)}
        labels = {
            request.actor: label
            for name in names
            if (lock := self.locks.get(Text(lock_path(name)))) is not None
            for request in self.graph.queues[name].requests
            if (member := lock.member(request.node)) and (label := member.label)
        }
        owners = {
            actor: self.client_names(session, labels.get(actor)) if session else labels.get(actor)
            for actor, session in actors.items()
        }
        presences = {
            a: self.ensemble.presence(session) for a, session in actors.items() if session
        }
        return DisplayNames(
            owners={actor: name for actor, name in owners.items() if name is not None},
            paths={name: lock_path(name) for name in names if lock_path(name) != name},
            labels=labels,
            presences={actor: one for actor, one in presences.items() if one},
        )


def _known(
    fact_of: Callable[[Session], Millis | None], sessions: Mapping[str, Session | None]
) -> dict[str, Millis]:
    """A fact about each actor that is a session, if it is known."""
    facts = ((actor, fact_of(session)) for actor, session in sessions.items() if session)
    return {actor: fact for actor, fact in facts if fact is not None}


def _with_paths(deadlock: Deadlock) -> Deadlock:
    """Name locks by their paths instead of the names of their queues."""
    if not any(lock_path(name) != name for name in deadlock.locks):
        return deadlock
    steps = tuple(
        replace(step, holds=tuple(map(_with_path, step.holds)), waits=_with_path(step.waits))
        for step in deadlock.steps
    )
    return replace(deadlock, locks=tuple(sorted(set(map(lock_path, deadlock.locks)))), steps=steps)


def _with_path(place: DeadlockPlace) -> DeadlockPlace:
    return replace(place, lock=lock_path(place.lock))
