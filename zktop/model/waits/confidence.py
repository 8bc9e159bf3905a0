"""How sure a deadlock is, and by what.

ZooKeeper shows sessions, not threads. C4: proven. C3: proven if each actor is one blocked thread.
C2: likely. C1: a hint.

Was a blocked actor really blocked? Whoever acts while it waits is more than one thread.

Taking a lock, or giving one up, after a wait began and before it ended proves that; and so does a
second wait at the same moment. Who was seen to have several threads has them for good.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Final, Literal

from msgspec import Struct

from zktop.model.waits.cores import NOTHING_STUCK, StuckSet
from zktop.model.waits.graph import WaitGraph
from zktop.model.waits.ring import ActorEvidence, Clue, DeadlockRule, RingCase, WaitEdge, doubles
from zktop.model.waits.state import WaitQueue, WaitRequest
from zktop.model.waits.threads import waiting_places

Confidence = Literal["C1", "C2", "C3", "C4"]

QUIET_MS: Final = 30_000  # without a request: whoever is not blocked would have sent one


def confidence(case: RingCase, known: ActorEvidence) -> tuple[Confidence, tuple[Clue, ...]]:
    """Weigh the case."""
    scales = _Scales(case, known)
    cap = scales.caps.get(case.rule, lambda: "C4")
    return min(scales.level(), cap()), tuple(scales.clues())


class _Scales(Struct, frozen=True):
    case: RingCase
    known: ActorEvidence

    @property
    def caps(self) -> dict[DeadlockRule, Callable[[], Confidence]]:
        """How sure the rules can be that prove less than a plain ring."""
        return {
            "D3": self._cap_of_knots,
            "D4": self._cap_of_upgrades,
            "D6": self._cap_of_doubles,
            "D8": self._cap_of_elections,
        }

    def level(self) -> Confidence:
        """How sure a plain ring would be."""
        case = self.case
        if case.is_threaded(self.known) or any(edge.queue.guessed for edge in case.ring):
            return "C1"
        if not case.coexistence.is_proven or not self._is_settled():
            return "C2"
        if self._names_threads():
            return "C4" if self._is_watched() else "C3"
        is_still = all(map(self._is_still, case.actors))
        return "C3" if is_still or self._is_quiet() else "C2"

    def clues(self) -> Iterator[Clue]:
        """All that speaks for it and against it."""
        yield from self._about_threads()
        yield from self._about_time()
        yield from self._about_requests()
        yield from chain.from_iterable(map(self._about_input, self.case.ring))
        yield from self._about_merges()

    def _cap_of_knots(self) -> Confidence:
        is_guess = any(edge.queue.capacity_is == "inferred" for edge in self.case.ring)
        return "C2" if is_guess else "C4"

    def _cap_of_upgrades(self) -> Confidence:
        if self._names_threads():
            return "C4"
        usual = self.known.usual_hold_ms.get(self.case.closing.queue.lock)
        age = self._age()
        return "C3" if age is not None and usual is not None and age > 10 * usual else "C2"

    def _cap_of_doubles(self) -> Confidence:
        return "C3" if doubles(self.case.ring).keys() <= self.known.threads else "C1"

    def _cap_of_elections(self) -> Confidence:
        return "C1" if self.case.is_supposed and not self._names_threads() else "C3"

    def _names_threads(self) -> bool:
        return self.case.actors <= self.known.threads

    def _age(self) -> int | None:
        since = self.case.closing.request.since_ms
        return None if since is None else self.known.now_ms - since

    def _is_settled(self) -> bool:
        age = self._age()
        return age is not None and age >= self.known.settle_ms

    def _is_watched(self) -> bool:
        edges: tuple[WaitEdge, ...] = self.case.ring
        return all((e.queue.lock, e.request.node) in self.known.watched for e in edges)

    def _is_still(self, actor: str) -> bool:
        """Whether it sent nothing since the ring closed; arming its watch took it a moment."""
        since = self.known.still_since_ms.get(actor)
        closed = self.case.closing.request.since_ms
        return since is not None and closed is not None and since <= closed + self.known.settle_ms

    def _is_quiet(self) -> bool:
        """Whether nobody was seen to send anything for long, and nobody lacks its watch."""
        quiet = self.known.quiet_ms
        if any((e.queue.lock, e.request.node) in self.known.astray for e in self.case.ring):
            return False
        return all(quiet.get(actor, 0) >= QUIET_MS for actor in self.case.actors)

    def _about_threads(self) -> Iterator[Clue]:
        case, known = self.case, self.known
        if self._names_threads():
            yield Clue(supports=True, text="every actor names its thread")
        else:
            yield Clue(supports=None, text="one blocked thread per client is assumed")
        for actor in sorted((case.actors & known.concurrent) - case.several.keys()):
            text = f"{case.owner(actor)} acted while it should have been blocked"
            yield Clue(supports=False, text=text)
        for actor, shown in sorted(case.several.items()):
            text = f"{case.owner(actor)} {shown}: it has several threads"
            yield Clue(supports=False, text=text)
        for actor in sorted(doubles(case.ring).keys() - known.threads):
            text = f"{case.owner(actor)} stands twice in one queue: perhaps two threads"
            yield Clue(supports=False, text=text)

    def _about_time(self) -> Iterator[Clue]:
        proof = self.case.coexistence
        if proof.is_proven:
            text = f"all nodes coexist from zxid {proof.newest:#x} to {proof.oldest_look:#x}"
            yield Clue(supports=True, text=text)
        else:
            yield Clue(supports=None, text="assumes that all nodes existed at one moment")
        if not self._is_settled():
            yield Clue(supports=False, text="younger than the settle time")

    def _about_requests(self) -> Iterator[Clue]:
        still = {actor: self._is_still(actor) for actor in self.case.actors}
        seconds = QUIET_MS // 1000
        if all(still.values()):
            yield Clue(supports=True, text="no requests but pings since the ring closed")
        elif self._is_quiet():
            watched = f"in the {seconds} s that zktop has watched"
            yield Clue(supports=True, text=f"no requests but pings {watched}")
        elif self.known.quiet_ms.keys() >= still.keys():
            short = sorted(a for a in still if self.known.quiet_ms[a] < QUIET_MS)
            who = ", ".join(map(self.case.owner, short)) or "a client without its watch"
            text = f"not watched for {seconds} s yet, or sent requests meanwhile: {who}"
            yield Clue(supports=None, text=text)
        else:
            yield Clue(supports=None, text="no server tells whether the clients send requests")
        if self._is_watched():
            yield Clue(supports=True, text="every waiter watches what its recipe needs")

    def _about_input(self, edge: WaitEdge) -> Iterator[Clue]:
        queue, actor = edge.queue, edge.request.actor
        if queue.guessed:
            yield Clue(supports=False, text=f"the layout of {queue.lock} is a guess")
        if not edge.is_plain:
            is_known = queue.capacity_is == "known"
            origin = "known" if is_known else "inferred from what was seen"
            yield Clue(supports=None, text=f"{queue.lock} has {queue.room} leases ({origin})")
        patience = self.known.patience_ms.get(actor)
        if patience is not None:
            gave_up = f"{self.case.owner(actor)} gave up before"
            text = f"may resolve by itself: {gave_up}, learned timeout {patience / 1000:g} s"
            yield Clue(supports=False, text=text)

    def _about_merges(self) -> Iterator[Clue]:
        sessions: dict[str, set[str]] = {}
        for request in self.case.requests:
            if request.session is not None and request.session != request.actor:
                sessions.setdefault(request.actor, set()).add(request.session)
        for actor, names in sorted(sessions.items()):
            rule = f"by your merge rule {self.case.owner(actor)} is {', '.join(sorted(names))}"
            yield Clue(supports=None, text=rule)


class _Gone(Struct, frozen=True, gc=False):
    """A member that was still there at one zxid and not any more at the other."""

    actor: str
    lock: str
    there: int
    gone: int


class ConcurrencyDetector:
    """A fold: remembers, by identity, who was seen to act while it waited."""

    def __init__(self, identity: Callable[[str], str] = str) -> None:
        """Remember by what `identity` says of an actor; by default by the actor itself."""
        self._identity = identity
        self._concurrent: set[str] = set()
        self._gone: list[_Gone] = []
        self._released: dict[str, int] = {}  # who is stuck and released something nevertheless
        self._looked_at: _Stuck = NOTHING_STUCK, []

    def is_concurrent(self, actor: str) -> bool:
        """Whether somebody of this identity was seen to be more than one thread."""
        return self._identity(actor) in self._concurrent

    def released(self, actor: str) -> int:
        """Give the zxid of its last release while it was stuck; 0 when it released nothing."""
        return self._released.get(actor, 0)

    def deleted(self, request: WaitRequest, lock: str, *, there: int, gone: int) -> None:
        """Take note of a member listed at zxid `there` and missing at zxid `gone`."""
        self._gone.append(_Gone(request.actor, lock, there, gone))

    def look(self, graph: WaitGraph) -> tuple[str, ...]:
        """Draw conclusions; answer with the locks to list again before more can be drawn.

        A session that ended takes all its nodes along. So a deletion counts only when the wait is
        seen in a listing that is not older.
        """
        relist: list[str] = []
        rest: list[_Gone] = []
        self._note_releases(graph.stuck_set.actors)
        # Once an actor: a service may give up thousands of its places between two looks.
        asked = [gone for gone in self._gone if not self.is_concurrent(gone.actor)]
        actors = {gone.actor for gone in asked}
        waiting = {actor: waiting_places(graph, actor) for actor in actors}
        for gone in asked:
            queues = [q for q, r in waiting[gone.actor] if 0 < r.czxid <= gone.there]
            if any(queue.seen_zxid >= gone.gone for queue in queues):
                self._concurrent.add(self._identity(gone.actor))
            elif queues:
                rest.append(gone)
                relist += [queue.lock for queue in queues]
        self._gone = rest
        self._note_takers(graph)
        return tuple(sorted(set(relist)))

    def _note_releases(self, stuck: AbstractSet[str]) -> None:
        """Remember of who is stuck when it last released something."""
        kept = {actor: zxid for actor, zxid in self._released.items() if actor in stuck}
        for gone in self._gone:
            if gone.actor in stuck:
                kept[gone.actor] = max(gone.gone, kept.get(gone.actor, 0))
        self._released = kept

    def _note_takers(self, graph: WaitGraph) -> None:
        """Find who holds a node that is younger than a wait of its own, and who waits twice."""
        stuck_set = graph.stuck_set
        looked_at = stuck_set, [graph.queues[lock] for lock in sorted(stuck_set.locks)]
        if _is_same(looked_at, self._looked_at):
            return
        self._looked_at = looked_at
        for actor in stuck_set.actors:
            waiting = waiting_places(graph, actor)
            holds = (r for q, r in graph.places(actor) if graph.holds(q, r) and not r.exempt)
            taken = sorted(request.czxid for request in holds)
            takes = any(_is_any_between(taken, r.czxid, q.seen_zxid) for q, r in waiting)
            if takes or _are_together(waiting):
                self._concurrent.add(self._identity(actor))


_Stuck = tuple[StuckSet, list[WaitQueue]]


def _is_same(one: _Stuck, other: _Stuck) -> bool:
    """Tell whether the same are stuck in the same versions of the same queues."""
    return one[0] is other[0] and all(a is b for a, b in zip(one[1], other[1], strict=True))


def _are_together(waits: list[tuple[WaitQueue, WaitRequest]]) -> bool:
    """Tell whether two waits were there at one moment; by the two newest listings."""
    if len(waits) < 2:  # noqa: PLR2004  one wait is what one thread does
        return False
    (_, newest), (queue, _) = sorted(waits, key=lambda wait: wait[0].seen_zxid, reverse=True)[:2]
    return 0 < newest.czxid <= queue.seen_zxid


def _is_any_between(taken: list[int], wait: int, seen: int) -> bool:
    """Tell whether anything was taken after the wait began, up to what was seen of that queue."""
    place = bisect_right(taken, wait)
    return place < len(taken) and taken[place] <= seen
