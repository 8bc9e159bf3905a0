"""Root blockers: who stands at the root of all waiting, with how much waiting behind it.

Each waiter counts once, under the first holder of the queue in which it has waited longest. That
holder may wait itself, so the roots are those who do not: runners, deadlocks, and nobody.

Main waits: who waits in several queues is counted in one, where the wait is the oldest.

There may be tens of thousands of such waits, and they hardly change from one ranking to the next:
only the actors whose waits did are looked at again.

The waits in a crowded queue, counted on from the version before it.

One comes or goes, and ten thousand wait as before: to add up all their waits again at each change
would keep everything else waiting.
"""

from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence
from heapq import nlargest
from itertools import dropwhile
from math import inf
from operator import attrgetter
from typing import Final

from msgspec import Struct

from zktop.model.waits.graph import WaitGraph
from zktop.model.waits.reduction import ThinnedQueue, granted
from zktop.model.waits.state import Passing, WaitQueue, WaitRequest
from zktop.model.world.sequence_diff import splits

Age = tuple[int, str, str]  # of a wait: czxid, lock and node, so that no two are equally old


class Mains:
    """A fold over the strands of a graph: the main wait of each actor that stands in one."""

    def __init__(self) -> None:
        """Begin with nobody waiting."""
        self._lines: dict[str, tuple[ThinnedQueue, tuple[WaitRequest, ...]]] = {}
        self._mains: dict[str, Age] = {}

    def __contains__(self, lock: object) -> bool:
        """Tell whether somebody stood in this queue who had another place."""
        return lock in self._lines

    @property
    def actors(self) -> KeysView[str]:
        """Name those who have a main wait."""
        return self._mains.keys()

    def lock(self, actor: str) -> str | None:
        """Give the queue of an actor's main wait, if it waits and has several places."""
        main = self._mains.get(actor)
        return main[1] if main else None

    def oldest(self, actors: Iterable[str]) -> str:
        """Tell which of these, who all have a main wait, has waited longest there."""
        return min(actors, key=self._mains.__getitem__)

    def others(self, lock: str) -> Iterator[WaitRequest]:
        """Give the waits in a queue that are counted elsewhere."""
        _, waits = self._lines.get(lock, (None, ()))
        return (one for one in waits if self._mains[one.actor] != _age(lock, one))

    def look(self, graph: WaitGraph) -> set[str]:
        """Take in what changed; name the queues in which other waits may count now."""
        lines, self._lines = self._lines, {}
        locks: set[str] = set()
        actors: set[str] = set()
        for line in graph.strands():
            lock = line.queue.lock
            known = lines.pop(lock, None)
            if known is None or known[0] is not line:
                locks.add(lock)
                waits = tuple([one for one in line.members if not graph.holds(line.queue, one)])
                actors.update(_concerned(known[1] if known else (), waits))
                known = line, waits
            self._lines[lock] = known
        for lock, (_, waits) in lines.items():
            locks.add(lock)
            actors.update(_concerned(waits, ()))
        return locks | self._judged(graph, actors)

    def _judged(self, graph: WaitGraph, actors: set[str]) -> set[str]:
        """Find the main waits of these actors; name the queues that have lost or won one."""
        before = {(actor, self._mains.pop(actor, None)) for actor in actors}
        for lock in {lock for actor in actors for lock in graph.locks(actor)}:
            for wait in self._lines.get(lock, (None, ()))[1]:
                if wait.actor in actors:
                    age = _age(lock, wait)
                    self._mains[wait.actor] = min(age, self._mains.get(wait.actor, age))
        after = {(actor, self._mains.get(actor)) for actor in actors}
        return {main[1] for _, main in before ^ after if main is not None}


def _age(lock: str, wait: WaitRequest) -> Age:
    return wait.czxid, lock, wait.node


def _concerned(before: Iterable[WaitRequest], after: Iterable[WaitRequest]) -> set[str]:
    """Name who has come, has gone, or has been made again with other values."""
    return {one.actor for one in set(before) ^ set(after)}


CROWDED: Final = 500  # members


class Tally(Struct, frozen=True, gc=False):
    """The members that are not exempt: how many, their starts added up, how many undated."""

    requests: tuple[WaitRequest, ...]
    number: int
    since_ms: int
    undated: int

    def after(self, requests: tuple[WaitRequest, ...]) -> "Tally":
        """Give the tally of the next version."""
        gone: list[WaitRequest] = []
        come: list[WaitRequest] = []
        for part in splits(self.requests, requests):
            gone += self.requests[part.here : part.here + part.left]
            come += requests[part.there : part.there + part.joined]
        less, more = tally(gone), tally(come)
        return Tally(
            requests,
            self.number + more.number - less.number,
            self.since_ms + more.since_ms - less.since_ms,
            self.undated + more.undated - less.undated,
        )


def tally(requests: Iterable[WaitRequest]) -> Tally:
    """Count all of these."""
    members = tuple(requests)
    since = [one.since_ms for one in members if not one.exempt]
    dated = [at for at in since if at is not None]
    return Tally(members, len(since), sum(dated), len(since) - len(dated))


def is_crowded(queue: WaitQueue) -> bool:
    """Tell whether to count all its members takes long."""
    return len(queue.requests) > CROWDED


def holds_in_front(queue: WaitQueue) -> bool:
    """Tell whether the holders are the first `room` members, and all the others wait."""
    requests = queue.requests
    if not isinstance(requests, tuple) or not queue.binds or queue.kind == "conflict":
        return False
    return queue.kind != "read-write" or not requests[0].reads


LISTED: Final = 100


class RootBlocker(Struct, frozen=True, gc=False):
    """A root blocker; `core` is the number of the deadlock it belongs to, if any.

    `blocked_ms` adds up the waits of all behind it; `undated` of them have no known start.
    """

    actors: tuple[str, ...]
    core: int | None
    blocked: int
    blocked_ms: int
    undated: int


class _Row(Struct, gc=False):
    """The waiting in one queue: behind whom, how many, their starts added up, how many undated."""

    head: str
    waiting: int
    since_ms: int
    undated: int

    def add(self, request: WaitRequest, times: int = 1) -> None:
        """Count a waiter, or take it out again."""
        self.waiting += times
        if request.since_ms is None:
            self.undated += times
        else:
            self.since_ms += times * request.since_ms

    @property
    def dated(self) -> int:
        """Count those whose waits are known: so much faster than time do these add up."""
        return self.waiting - self.undated

    def include(self, other: "_Row") -> None:
        """Count those as well."""
        self.waiting += other.waiting
        self.since_ms += other.since_ms
        self.undated += other.undated

    def copied(self) -> "_Row":
        """Give one to count on with, for this one is kept."""
        return _Row(self.head, self.waiting, self.since_ms, self.undated)

    def blocked_ms(self, now_ms: int) -> int:
        """Add up the waits."""
        return now_ms * self.dated - self.since_ms


class Forest:
    """Keeps one row for each lock with waiters; only changed queues are counted again.

    Between two rankings it follows the queues in which nobody stands who has a place elsewhere:
    their first member is the root of those behind it and of nobody else, whatever the others do.
    A crowded queue is followed from the version on that was counted when all were ranked.
    """

    def __init__(self) -> None:
        """Start without rows."""
        self._rows: dict[str, _Row] = {}
        self._tallies: dict[str, Tally] = {}  # of crowded queues
        self._mains = Mains()
        self._worst: dict[str | int, _Row] = {}
        self._joined: set[str | int] = set()  # the worst since all were ranked
        self._is_sure = True  # whether they were compared with the others
        self._actors: Sequence[tuple[str, ...]] = ()  # of the cores among them
        self._is_cut = False
        self._right_until = inf  # as far as time alone goes
        self.is_behind = False  # somebody may be missing at the end of the list

    def __len__(self) -> int:
        """Count the queues that somebody waits in."""
        return len(self._rows)

    def replaced(self, lock: str, queue: WaitQueue | None) -> None:
        """Take the newest queue of a lock; None when it is gone."""
        row = self._counted(lock, queue)
        if row is None:
            self._rows.pop(lock, None)
            return
        if lock in self._mains:
            for request in self._mains.others(lock):
                row.add(request, -1)
        self._rows[lock] = row

    def _counted(self, lock: str, queue: WaitQueue | None) -> _Row | None:
        """Count the waiters of a queue, a crowded one from where it was counted before."""
        known = self._tallies.pop(lock, None)
        if queue is None or not is_crowded(queue) or not holds_in_front(queue):
            return None if queue is None else _row(queue)
        requests = tuple(queue.requests)
        count = tally(requests) if known is None else known.after(requests)
        self._tallies[lock] = count
        row = _Row(requests[0].actor, count.number, count.since_ms, count.undated)
        for request in requests[: queue.room]:
            row.add(request, -int(not request.exempt))
        return row if row.waiting else None

    def followed(
        self, graph: WaitGraph, lock: str, queue: WaitQueue | None, *, at_leisure: bool = False
    ) -> bool:
        """Take in a changed queue, if it is one that can be followed; a crowded one at leisure."""
        if lock in self._mains or graph.is_knotted(lock):
            return False
        if queue is not None and is_crowded(queue) and not (at_leisure and self._counts_on(queue)):
            return False
        before = self._rows.get(lock)
        self.replaced(lock, queue)
        after = self._rows.get(lock)
        if before is not None and self._worst.get(before.head) is before:
            del self._worst[before.head]
            self._joined.discard(before.head)
            self.is_behind |= self._is_cut and after is None
        if after is not None:
            self._worst[after.head] = after
            self._joined.add(after.head)
            self._is_sure = False
        return True

    def _counts_on(self, queue: WaitQueue) -> bool:
        """Tell whether not all members of a crowded queue have to be counted."""
        return queue.lock in self._tallies and holds_in_front(queue)

    def roots(self, graph: WaitGraph, now_ms: int) -> tuple[RootBlocker, ...]:
        """Find the root blockers with the most blocked time, that first."""
        for lock in self._mains.look(graph):
            self.replaced(lock, graph.queues.get(lock))
        climb = _Climb(graph, self._rows, self._mains)
        totals: dict[str | int, _Row] = {}
        sums: dict[str | int, _Row] = {}
        climbs = climb.climbs
        for row in self._rows.values():
            head = row.head
            key = climb.root(head) if head in climbs else head
            known = totals.setdefault(key, row)
            if known is not row:
                if key not in sums:
                    sums[key] = totals[key] = known.copied()
                sums[key].include(row)
        self._worst = totals
        self._actors = [tuple(sorted(core.actors)) for core in graph.stuck_set.cores]
        self._is_cut = self.is_behind = False
        self._joined.clear()
        roots = self.aged(now_ms)
        self._right_until = now_ms + _until_outdone(totals, self._worst, now_ms)
        return roots

    def is_right(self, now_ms: int) -> bool:
        """Tell whether nobody can have come among the worst meanwhile, if nothing has changed."""
        return not self._joined and not self.is_behind and now_ms < self._right_until

    def aged(self, now_ms: int) -> tuple[RootBlocker, ...]:
        """Give the root blockers at a later time; those with the least behind them are let go."""
        if len(self._worst) > LISTED:
            blocked_ms = {key: row.blocked_ms(now_ms) for key, row in self._worst.items()}
            listed = nlargest(LISTED, blocked_ms, key=blocked_ms.__getitem__)
            self._worst = {key: self._worst[key] for key in listed}
            self._is_cut = True
        if self._is_cut and not self._is_sure and not self.is_behind:
            self.is_behind, self._is_sure = self._may_be_outdone(now_ms), True
        roots = [self._root(key, total, now_ms) for key, total in self._worst.items()]
        return tuple(sorted(roots, key=attrgetter("blocked_ms"), reverse=True))

    def _may_be_outdone(self, now_ms: int) -> bool:
        """Tell whether who joined the list has less behind it than those who were there before.

        Then somebody who was left out when all were ranked may have more.
        """
        joined = [self._worst[key] for key in self._joined if key in self._worst]
        if not joined:
            return False
        others = [row for key, row in self._worst.items() if key not in self._joined]
        least = min([row.blocked_ms(now_ms) for row in others], default=None)
        return least is None or min([row.blocked_ms(now_ms) for row in joined]) < least

    def _root(self, key: str | int, total: _Row, now_ms: int) -> RootBlocker:
        core = key if isinstance(key, int) else None
        return RootBlocker(
            (key,) if isinstance(key, str) else self._actors[key],
            core,
            total.waiting,
            max(0, total.blocked_ms(now_ms)),  # the leader's clock may be ahead of ours
            total.undated,
        )


def _until_outdone(
    totals: Mapping[str | int, _Row], worst: Mapping[str | int, _Row], now_ms: int
) -> float:
    """Give the time that it takes until one who was left out may have more behind it, at least."""
    if len(worst) == len(totals):
        return inf
    least = min([row.blocked_ms(now_ms) for row in worst.values()])
    slowest = min([row.dated for row in worst.values()])
    faster = (row for key, row in totals.items() if row.dated > slowest and key not in worst)
    times = [(least - row.blocked_ms(now_ms)) / (row.dated - slowest) for row in faster]
    return min(times, default=inf)


class _Climb:
    """Climbs from an actor to the one at the root of its waiting: an actor, or a core's number."""

    def __init__(self, graph: WaitGraph, rows: Mapping[str, _Row], mains: Mains) -> None:
        self._rows = rows
        self._mains = mains
        cores = enumerate(graph.stuck_set.cores)
        self._known: dict[str, str | int] = {a: n for n, core in cores for a in core.actors}
        self.climbs = self._known.keys() | mains.actors  # everybody else is at the root already

    def root(self, actor: str) -> str | int:
        if self._mains.lock(actor) is None:
            return self._known.get(actor, actor)
        path: dict[str, None] = {}
        while actor not in self._known:
            path[actor] = None
            row = self._rows.get(self._mains.lock(actor) or "")
            if row is None:
                self._known[actor] = actor
            elif row.head in path:
                # A ring outside of all cores is one that a pool will open.
                ring = dropwhile(row.head.__ne__, path)
                self._known[actor] = self._mains.oldest(ring)
            else:
                actor = row.head
        self._known.update(dict.fromkeys(path, self._known[actor]))
        return self._known[actor]


def _row(queue: WaitQueue) -> _Row | None:
    """Count the waiters of a queue; None when there are none."""
    requests = queue.requests
    if isinstance(requests, Passing):
        since_ms = requests.waited_since_ms()
        return _Row(requests.actor, len(since_ms), sum(since_ms), 0) if since_ms else None
    if not requests or not queue.binds:
        return None
    since = [request.since_ms for request in _waiters(queue, requests)]
    dated = [at for at in since if at is not None]
    row = _Row(requests[0].actor, len(since), sum(dated), len(since) - len(dated))
    return row if row.waiting else None


def _waiters(queue: WaitQueue, requests: tuple[WaitRequest, ...]) -> Iterator[WaitRequest]:
    if queue.kind == "conflict":
        holding = granted(queue)
        return (request for request in requests if request.node not in holding)
    first = queue.room
    if queue.kind == "read-write" and requests[0].reads:
        writers = (place for place, request in enumerate(requests) if not request.reads)
        first = next(writers, len(requests))
    return (request for request in requests[first:] if not request.exempt)
