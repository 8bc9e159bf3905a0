"""How certain a deadlock is, and the evidence for and against it.

ZooKeeper shows sessions, not threads. C4: proven. C3: proven if each actor is one blocked thread.
C2: likely. C1: a hint, for instance because one of the actors has several threads.

`ConcurrencyDetector` finds those. An actor that takes or releases a lock after its wait began and
before that wait ended is more than one thread, and so is one with two waits at the same moment.
From then on it counts as concurrent for good.
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
from zktop.model.waits.threads import waiting_places
from zktop.model.waits.wait_queue import WaitQueue, WaitRequest

Confidence = Literal["C1", "C2", "C3", "C4"]

QUIET_MS: Final = 30_000  # without a request: a client that is not blocked would have sent one
# A ring through several threads of which one still works is worth a hint after this long.
WORKING_RING_MS: Final = 30_000


def confidence(case: RingCase, known: ActorEvidence) -> tuple[Confidence, tuple[Clue, ...]]:
    """The confidence in a ring, and all evidence."""
    grading = _Grading(case, known)
    cap = grading.caps.get(case.rule, lambda: "C4")
    return min(grading.level(), cap()), tuple(grading.clues())


class _Grading(Struct, frozen=True):
    case: RingCase
    known: ActorEvidence

    @property
    def caps(self) -> dict[DeadlockRule, Callable[[], Confidence]]:
        """The highest confidence of the rules that prove less than a plain ring."""
        return {
            "D3": self._cap_of_knots,
            "D4": self._cap_of_upgrades,
            "D6": self._cap_of_doubles,
            "D8": self._cap_of_elections,
        }

    def level(self) -> Confidence:
        """The confidence in a plain ring."""
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
        """True if it sent nothing since the ring closed, but for setting its watch."""
        since = self.known.still_since_ms.get(actor)
        closed = self.case.closing.request.since_ms
        return since is not None and closed is not None and since <= closed + self.known.settle_ms

    def _is_quiet(self) -> bool:
        """True if no actor sent anything for QUIET_MS while observed, and none lacks its watch."""
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
            late = ", ".join(map(self.case.owner, short)) or "a client without its watch"
            text = f"not watched for {seconds} s yet, or sent requests meanwhile: {late}"
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


class _Deletion(Struct, frozen=True, gc=False):
    """A member that was still there at one zxid and no more at the other."""

    actor: str
    lock: str
    there: int
    gone: int


class ConcurrencyDetector:
    """Remembers which actors were seen to act while they waited."""

    def __init__(self) -> None:
        self._concurrent: set[str] = set()
        self._deletions: list[_Deletion] = []
        self._released: dict[str, int] = {}  # last release of each stuck actor
        self._seen: _Versions = NOTHING_STUCK, []

    def is_concurrent(self, actor: str) -> bool:
        """Whether the actor was seen to be more than one thread."""
        return actor in self._concurrent

    def released(self, actor: str) -> int:
        """The zxid of its last release while it was stuck; 0 if it released nothing."""
        return self._released.get(actor, 0)

    def deleted(self, request: WaitRequest, lock: str, *, there: int, gone: int) -> None:
        """Record a member listed at zxid `there` and missing at zxid `gone`."""
        self._deletions.append(_Deletion(request.actor, lock, there, gone))

    def look(self, graph: WaitGraph) -> tuple[str, ...]:
        """Draw conclusions; the result names locks to list again before more can be drawn.

        The end of a session deletes all its nodes. So a deletion proves something only if a
        listing that is not older still shows the wait.
        """
        relist: set[str] = set()
        undecided: list[_Deletion] = []
        self._note_releases(graph.stuck_set.actors)
        # Once per actor: a service may give up thousands of its places between two looks.
        deletions = [one for one in self._deletions if not self.is_concurrent(one.actor)]
        waits = {actor: waiting_places(graph, actor) for actor in {d.actor for d in deletions}}
        for one in deletions:
            queues = [q for q, r in waits[one.actor] if 0 < r.czxid <= one.there]
            if any(queue.seen_zxid >= one.gone for queue in queues):
                self._concurrent.add(one.actor)
            elif queues:
                undecided.append(one)
                relist.update(queue.lock for queue in queues)
        self._deletions = undecided
        self._note_takers(graph)
        return tuple(sorted(relist))

    def _note_releases(self, stuck: AbstractSet[str]) -> None:
        kept = {actor: zxid for actor, zxid in self._released.items() if actor in stuck}
        for one in self._deletions:
            if one.actor in stuck:
                kept[one.actor] = max(one.gone, kept.get(one.actor, 0))
        self._released = kept

    def _note_takers(self, graph: WaitGraph) -> None:
        """Find actors that hold a node younger than their own wait, or that wait twice."""
        stuck_set = graph.stuck_set
        versions = stuck_set, [graph.queues[lock] for lock in sorted(stuck_set.locks)]
        if _is_same(versions, self._seen):
            return
        self._seen = versions
        for actor in stuck_set.actors:
            if self.is_concurrent(actor):
                continue
            waits = waiting_places(graph, actor)
            holds = (r for q, r in graph.places(actor) if graph.holds(q, r) and not r.exempt)
            taken = sorted(request.czxid for request in holds)
            takes = any(_is_any_between(taken, r.czxid, q.seen_zxid) for q, r in waits)
            if takes or _are_together(waits):
                self._concurrent.add(actor)


_Versions = tuple[StuckSet, list[WaitQueue]]


def _is_same(one: _Versions, other: _Versions) -> bool:
    return one[0] is other[0] and all(a is b for a, b in zip(one[1], other[1], strict=True))


def _are_together(waits: list[tuple[WaitQueue, WaitRequest]]) -> bool:
    """Whether two waits existed at one moment, by the two newest listings."""
    if len(waits) < 2:  # noqa: PLR2004  one wait is what one thread does
        return False
    (_, newest), (queue, _) = sorted(waits, key=lambda wait: wait[0].seen_zxid, reverse=True)[:2]
    return 0 < newest.czxid <= queue.seen_zxid


def _is_any_between(taken: list[int], wait: int, seen: int) -> bool:
    """Whether anything was taken after the wait began and before its last listing."""
    place = bisect_right(taken, wait)
    return place < len(taken) and taken[place] <= seen
