"""Root blockers: the actors at the root of all waiting, and how much waiting is behind each.

A waiter counts once, under the first member that blocks it in the queue in which it has waited
longest (its main wait). That member may itself wait, so the search continues with the first member
that blocks its main wait, until it reaches an actor that waits for nothing, a deadlock, or a node
without an owner. A client that waits by a watch alone counts for each of its locks, because it is
unknown which wait is the longest.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from itertools import dropwhile
from operator import attrgetter
from sys import maxsize
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from zktop.model.facts import split
from zktop.model.locks.lock import Lock
from zktop.model.locks.watch_check import WatchCheck
from zktop.model.text import Text
from zktop.model.waits.cores import Core
from zktop.model.waits.find_stuck import ThinnedQueue, holding_nodes
from zktop.model.waits.wait_graph import WaitGraph
from zktop.model.waits.wait_queue import WaitQueue, WaitRequest
from zktop.model.world.tables_of_all_servers import NO_ENSEMBLE, Ensemble

MAX_LISTED: Final = 100
WORK_PER_STEP: Final = 10_000  # requests, and tangled members: some 10 ms

Age = tuple[int, str, str]  # of a wait: czxid, lock and node, so that no two are equally old
Root = str | int  # an actor, or the number of a core


class RootBlocker(Struct, frozen=True, gc=False):
    """A root blocker. If it is a core, `core` is the place of that core in the graph's list.

    `blocked_ms` is the sum of all waits behind it; `undated` of them have no known start.
    """

    actors: tuple[str, ...]
    core: int | None
    blocked: int
    blocked_ms: int
    undated: int


class Waiting(Struct, frozen=True, gc=False):
    """A sum of waits: how many, how many with a known start, and the sum of those starts."""

    number: int = 0
    dated: int = 0
    since_ms: int = 0

    @classmethod
    def of(cls, waiters: Sequence[WaitRequest]) -> "Waiting":
        starts = [wait.since_ms for wait in waiters if wait.since_ms is not None]
        return cls(len(waiters), len(starts), sum(starts))

    def __add__(self, other: "Waiting") -> "Waiting":
        return Waiting(
            self.number + other.number, self.dated + other.dated, self.since_ms + other.since_ms
        )

    def blocked_ms(self, now_ms: int) -> int:
        return max(0, now_ms * self.dated - self.since_ms)  # the leader's clock may be ahead


NO_WAITS: Final = Waiting()


class WaitsByWatch:
    """How many clients wait for each lock by a watch alone: how long is unknown."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self._locks: set[Text] = set()  # those without queues
        self._ensemble = NO_ENSEMBLE

    def look(self, changed: Iterable[Text], locks: Mapping[Text, Lock], now: Ensemble) -> bool:
        """Count again where a lock or its watchers changed; return whether a number did."""
        is_changed, stale = False, set(changed)
        for path in stale:
            lock = locks.get(path)
            is_counted = lock is not None and lock.is_only_watched and not lock.has_standbys
            if is_counted:
                self._locks.add(path)
            else:
                self._locks.discard(path)
        if self._locks:
            watched = now.rewatched_since(self._ensemble)
            for path in watched:  # of a lock or of a node in it
                stale.update(self._locks.intersection((path, split(path)[0])))
        self._ensemble = now
        for path in stale:
            waiting = WatchCheck(locks[path], now).watchers_waiting if path in self._locks else ()
            is_changed |= len(waiting) != self.counts.pop(path, 0)
            if waiting:
                self.counts[path] = len(waiting)
        return is_changed


def ranking(
    graph: WaitGraph, now_ms: int, by_watch: Mapping[str, int]
) -> Iterator[tuple[RootBlocker, ...] | None]:
    """Rank the root blockers in steps: yield None after each but the last, then the ranking.

    It ranks the queues as they are at the first step; later changes do not count.
    """
    queues, thinned = dict(graph.queues), dict(graph.thinned_queues)
    cores, by_watch = graph.cores, dict(by_watch)
    work, oldest_waits = 0, dict[str, Age]()
    for lock, thin_queue in thinned.items():
        _note_main_waits(oldest_waits, lock, thin_queue, graph)
        work += len(thin_queue.members)
        if work > WORK_PER_STEP:
            yield None
            work = 0
    roots = _Roots(queues, oldest_waits, cores)
    totals: dict[Root, Waiting] = {}
    for lock, queue in queues.items():
        work += len(queue.requests)
        if lock in thinned:
            work += len(thinned[lock].members)
            waits_by_head = roots.main_waits(queue)
        else:
            waiting = Waiting.of(_waiters(queue))
            waits_by_head = {queue.requests[0].actor: waiting} if waiting.number else {}
        watchers = by_watch.get(lock, 0)
        for head, waiting in _with_watchers(waits_by_head, queue, watchers).items():
            root = roots.of(head)
            totals[root] = totals.get(root, NO_WAITS) + waiting
        if work > WORK_PER_STEP:
            yield None
            work = 0
    yield _largest(totals, cores, now_ms)


def _with_watchers(
    waits_by_head: Mapping[str, Waiting], queue: WaitQueue, number: int
) -> Mapping[str, Waiting]:
    """Add clients that wait for the first holder by a watch alone."""
    if not number:
        return waits_by_head
    head = queue.requests[0].actor
    return {**waits_by_head, head: waits_by_head.get(head, NO_WAITS) + Waiting(number)}


def _largest(
    totals: Mapping[Root, Waiting], cores: Sequence[Core], now_ms: int
) -> tuple[RootBlocker, ...]:
    blocked_ms = {root: waiting.blocked_ms(now_ms) for root, waiting in totals.items()}
    return tuple(
        RootBlocker(
            actors=(root,) if isinstance(root, str) else tuple(sorted(cores[root].actors)),
            core=root if isinstance(root, int) else None,
            blocked=totals[root].number,
            blocked_ms=blocked_ms[root],
            undated=totals[root].number - totals[root].dated,
        )
        for root in nlargest(MAX_LISTED, blocked_ms, key=blocked_ms.__getitem__)
    )


def blockers_later(blockers: Iterable[RootBlocker], elapsed_ms: int) -> tuple[RootBlocker, ...]:
    """Return the root blockers as they are some time later, if nothing else changes."""
    older = (
        replace(
            blocker,
            blocked_ms=blocker.blocked_ms + elapsed_ms * (blocker.blocked - blocker.undated),
        )
        for blocker in blockers
    )
    return tuple(sorted(older, key=attrgetter("blocked_ms"), reverse=True))


def _waiters(queue: WaitQueue) -> Sequence[WaitRequest]:
    if len(queue.requests) < 2 or not queue.can_block:  # noqa: PLR2004  the first one holds
        return ()
    holding = holding_nodes(queue)
    return [
        request for request in queue.requests if request.releases and request.node not in holding
    ]


def _age(lock: str, wait: WaitRequest) -> Age:
    return wait.czxid or maxsize, lock, wait.node  # znode not read: counts as the newest


def _note_main_waits(
    oldest_waits: dict[str, Age], lock: str, thinned: ThinnedQueue, graph: WaitGraph
) -> None:
    """Keep the oldest wait of each tangled actor; the others have only one."""
    for member in thinned.members:
        if member.releases and not graph.holds(thinned.queue, member):
            age = _age(lock, member)
            oldest_waits[member.actor] = min(age, oldest_waits.get(member.actor, age))


class _Roots:
    """Finds the root of an actor's waiting."""

    def __init__(
        self,
        queues: Mapping[str, WaitQueue],
        oldest_waits: Mapping[str, Age],
        cores: Iterable[Core],
    ) -> None:
        self._queues = queues
        self._oldest_waits = oldest_waits
        self._known: dict[str, Root] = {
            actor: number for number, core in enumerate(cores) for actor in core.actors
        }
        self._actors: dict[str, dict[str, str]] = {}  # by node, of each queue with conflicts

    def main_waits(self, queue: WaitQueue) -> dict[str, Waiting]:
        """Add up the main waits in a queue, by the first actor that blocks them."""
        behind: dict[str, list[WaitRequest]] = {}
        for waiter in _waiters(queue):
            main = self._oldest_waits.get(waiter.actor)
            if main is None or main == _age(queue.lock, waiter):
                behind.setdefault(self._head(queue.lock, waiter.node), []).append(waiter)
        return {head: Waiting.of(waiters) for head, waiters in behind.items()}

    def _head(self, lock: str, node: str) -> str:
        """The first actor that blocks a waiter. Without conflicts, the queue begins with it."""
        queue = self._queues[lock]
        first = queue.requests[0].actor
        if not queue.conflicts:
            return first
        if lock not in self._actors:
            self._actors[lock] = {request.node: request.actor for request in queue.requests}
        actors, blocking = self._actors[lock], queue.conflicts.get(node, ())
        return next((actors[node] for node in blocking if node in actors), first)

    def of(self, actor: str) -> Root:
        """Follow the main waits from an actor to their root; keep it for all actors passed."""
        if actor not in self._oldest_waits:
            return self._known.get(actor, actor)
        path: dict[str, None] = {}
        while actor not in self._known:
            path[actor] = None
            main = self._oldest_waits.get(actor)
            head = self._head(main[1], main[2]) if main else actor
            if head == actor:
                self._known[actor] = actor
            elif head in path:
                # A ring that is not in a core: a pool will open it. Its oldest wait represents it.
                ring = dropwhile(head.__ne__, path)
                self._known[actor] = min(ring, key=self._oldest_waits.__getitem__)
            else:
                actor = head
        self._known.update(dict.fromkeys(path, self._known[actor]))
        return self._known[actor]
