"""Collects evidence about the actors of a deadlock, judges it, and keeps the newest judgements.

The wait graph shows waits and holders. The concurrency detector, histories and server tables show
the rest: whether an actor acted while it waited, when it last sent a request, and whether it
watches what it waits for.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
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
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.waits.assess import Judgement, judge
from zktop.model.waits.choose_ring import ActorEvidence, ring_of
from zktop.model.waits.concurrent_actors import ConcurrencyDetector
from zktop.model.waits.cores import Core, StuckSet
from zktop.model.waits.deadlock import Deadlock, DeadlockPlace
from zktop.model.waits.deadlock_sentences import DisplayNames
from zktop.model.waits.wait_graph import StuckCore, WaitGraph
from zktop.model.waits.wait_queue import WaitQueue, WaitRequest, lock_path
from zktop.model.world.tables_of_all_servers import Ensemble

PlacesOfActor = Sequence[tuple[WaitQueue, WaitRequest]]
PlacesOfActors = Mapping[str, PlacesOfActor]

LARGE_KNOT_REQUESTS: Final = 300  # in stuck queues; every 300 add a pause
PAUSE_MS: Final = 500  # so a knot of 6,000 requests is judged every ten seconds
JUDGED_REQUESTS_PER_LOOK: Final = 400  # in cores: about 15 ms
JUDGED_FACTOR_AT_REST: Final = 5  # the pause is this many times longer while nothing changes
ASTRAY: Final = ("missing", "elsewhere")  # watch verdicts that cast doubt on a wait


class _Wait(NamedTuple):
    """One wait of a ring: its request in the wait graph, and its member in the lock."""

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
    settings: Settings
    now_ms: Millis

    def judge(self, stuck: StuckCore) -> Judgement | None:
        """Judge one core. The result names locks by their paths."""
        places = {actor: self.graph.places(actor) for actor in sorted(stuck.core.actors)}
        judgement = judge(stuck, self._evidence(stuck.core, places), self._names(places))
        return replace(judgement, deadlock=_with_paths(judgement.deadlock)) if judgement else None

    def _evidence(self, core: Core, places: PlacesOfActors) -> ActorEvidence:
        sessions = {actor: session_of(actor) for actor in places}
        waits = list(self._ring_waits(core))
        past = {wait.name: self.histories.of(wait.lock.path, self.now_ms) for wait in waits}
        verdicts = {
            (wait.name, wait.request.node): self._watch_check(wait.lock).of(wait.member).verdict
            for wait in waits
        }
        usual = {name: history.usual_hold for name, history in past.items()}
        attempts = {
            wait.request.actor: past[wait.name].attempts.get(identity_of(wait.member))
            for wait in waits
        }
        patience = {actor: known.learned_timeout_ms for actor, known in attempts.items() if known}
        return ActorEvidence(
            now_ms=self.now_ms,
            settle_ms=self.settings.thresholds.settle,
            complete_to=self.ensemble.complete_to,
            concurrent=frozenset(filter(self.concurrency.is_concurrent, sessions)),
            released={actor: self.concurrency.released(actor) for actor in sessions},
            threads=frozenset(actor for actor, session in sessions.items() if session is None),
            still_since_ms=_facts_of_sessions(self.histories.sessions.last_active, sessions),
            moved_ms=_facts_of_sessions(self.histories.sessions.last_move, sessions),
            quiet_ms=_facts_of_sessions(self.histories.sessions.quiet_ms, sessions),
            watched=frozenset(
                place for place, verdict in verdicts.items() if verdict == "confirmed"
            ),
            astray=frozenset(place for place, verdict in verdicts.items() if verdict in ASTRAY),
            usual_hold_ms={name: hold.p99_ms for name, hold in usual.items() if hold is not None},
            patience_ms={actor: ms for actor, ms in patience.items() if ms is not None},
            cut_off=frozenset(actor for actor in places if self._is_cut_off(places[actor])),
        )

    def _is_cut_off(self, places: PlacesOfActor) -> bool:
        """Whether all sessions of an actor exist without a connection."""
        locks = ((self._lock(queue.lock), request.node) for queue, request in places)
        members = (lock.member(node) if lock else None for lock, node in locks)
        return all(
            member and self.ensemble.is_cut_off(member.owner, member.czxid) for member in members
        )

    def _watch_check(self, lock: Lock) -> WatchCheck:
        return WatchCheck(lock, self.ensemble, self.histories.sessions.idle, self.settings.layouts)

    def _ring_waits(self, core: Core) -> Iterator[_Wait]:
        for edge in ring_of(core):
            lock = self._lock(edge.queue.lock)
            member = lock.member(edge.request.node) if lock else None
            if lock is not None and member is not None:
                yield _Wait(edge.queue.lock, edge.request, lock, member)

    def _lock(self, name: str) -> Lock | None:
        return self.locks.get(Text(lock_path(name)))

    def _names(self, places: PlacesOfActors) -> DisplayNames:
        """The names of the actors of a core, unique for sessions, and the paths of its locks."""
        actors = {actor: session_of(actor) for actor in places}
        labels = {actor: label for actor in actors if (label := self._label(places[actor]))}
        owners = {
            actor: self.client_names(session, labels.get(actor)) if session else labels.get(actor)
            for actor, session in actors.items()
        }
        presences = {
            actor: self.ensemble.presence(session) for actor, session in actors.items() if session
        }
        names = {queue.lock for requests in places.values() for queue, _ in requests}
        return DisplayNames(
            owners={actor: name for actor, name in owners.items() if name is not None},
            paths={name: lock_path(name) for name in names if lock_path(name) != name},
            labels=labels,
            presences={actor: presence for actor, presence in presences.items() if presence},
        )

    def _label(self, places: PlacesOfActor) -> Text | None:
        """The label of the last place that has one; an actor may have hundreds of places."""
        locks = ((self._lock(queue.lock), request.node) for queue, request in reversed(places))
        members = (lock.member(node) for lock, node in locks if lock is not None)
        labels = (member.label for member in members if member is not None)
        return next(filter(None, labels), None)


def _facts_of_sessions(
    fact_of: Callable[[Session], Millis | None], sessions: Mapping[str, Session | None]
) -> dict[str, Millis]:
    """The fact about each actor that is a session. Actors without the fact are left out."""
    pairs = ((actor, fact_of(session)) for actor, session in sessions.items() if session)
    return {actor: fact for actor, fact in pairs if fact is not None}


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


class JudgedCores:
    """The newest judgement of each core.

    All cores are judged at each look unless they have many requests. Then the new and the changed
    ones come first, at most `JUDGED_REQUESTS_PER_LOOK` requests in one look; the others are judged
    again after a pause that grows with the work for all of them, but is no longer than a deadlock
    has lasted.
    """

    def __init__(self) -> None:
        self.judged: dict[Core, Judgement | None] = {}
        self.is_behind = False  # whether some due cores were left to the next look
        self._cores: dict[StuckSet, tuple[StuckCore, ...]] = {}
        self._due: dict[StuckCore, Millis] = {}
        self._size = 0  # number of requests in all cores

    def update(self, cores: Iterable[StuckCore]) -> None:
        """Drop cores that are gone, and make the cores of new stuck sets due."""
        present: dict[StuckSet, list[StuckCore]] = {}
        for stuck_core in cores:
            present.setdefault(stuck_core.stuck_set, []).append(stuck_core)
        gone_sets = [stuck_set for stuck_set in self._cores if stuck_set not in present]
        gone = [core for stuck_set in gone_sets for core in self._cores.pop(stuck_set)]
        for stuck_core in gone:
            del self._due[stuck_core]
            self._size -= stuck_core.size
        for stuck_set, its_cores in present.items():
            if stuck_set not in self._cores:
                self._cores[stuck_set] = tuple(its_cores)
                self._due.update(dict.fromkeys(its_cores, 0))
                self._size += sum(stuck_core.size for stuck_core in its_cores)
        lasting = {stuck_core.core for stuck_core in chain.from_iterable(present.values())}
        for stuck_core in gone:  # a core may last although its stuck set is new
            if stuck_core.core not in lasting:
                self.judged.pop(stuck_core.core, None)

    def judge(self, evidence: EvidenceCollector, *, is_thorough: bool) -> bool:
        """Judge the cores that are due; return whether a judgement changed."""
        now_ms, is_changed, work = evidence.now_ms, False, 0
        judges_all = is_thorough or self._size <= LARGE_KNOT_REQUESTS
        due = [stuck_core for stuck_core, at in self._due.items() if judges_all or at <= now_ms]
        due.sort(key=self._due.__getitem__)
        self.is_behind = False
        for stuck_core in due:
            if work >= JUDGED_REQUESTS_PER_LOOK and not judges_all:
                self.is_behind = True
                break
            work += stuck_core.size
            judgement = evidence.judge(stuck_core)
            if judgement != self.judged.get(stuck_core.core):
                self.judged[stuck_core.core], is_changed = judgement, True
            self._due[stuck_core] = now_ms + self._pause_ms(judgement, now_ms)
        return is_changed

    def _pause_ms(self, judgement: Judgement | None, now_ms: Millis) -> Millis:
        longest = JUDGED_FACTOR_AT_REST * (self._size // LARGE_KNOT_REQUESTS) * PAUSE_MS
        since = judgement.deadlock.since_ms if judgement else None
        return longest if since is None else min(longest, max(now_ms - since, PAUSE_MS))
