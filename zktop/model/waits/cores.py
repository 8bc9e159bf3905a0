"""Explains why actors can never continue: finds cores, and the actors that lead to them.

A core is a set of actors that keep each other stuck, an independent deadlock. A strongly connected
component of the wait graph is only a candidate: it is a core if it stays stuck without any other
actors. With pools, only part of it may do so.

Only sparse edges are used: they reach the same actors as all edges would, but are far fewer.
"""

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from msgspec import Struct

from zktop.model.waits.find_stuck import ThinnedQueue, stuck_actors, unthinned
from zktop.model.waits.wait_queue import WaitQueue, WaitRequest


class StuckSet(Struct, frozen=True, eq=False, weakref=True):
    """Tangled actors that are stuck and have queues in common, and why they are stuck.

    `frozen` is `actors` with those that never release anything. `reach` maps an actor to the
    numbers of the cores that it is in or behind; the number after the last core stands for nodes
    without an owner, and for leaders. `tails` has the requests of each queue behind its last
    tangled member. Compared by identity.
    """

    actors: frozenset[str]
    frozen: frozenset[str]
    queues: "Mapping[str, StuckQueue]"
    cores: "tuple[Core, ...]"
    reach: Mapping[str, frozenset[int]]
    tails: Mapping[str, tuple[WaitRequest, ...]]
    size: int  # requests in its queues

    @property
    def locks(self) -> AbstractSet[str]:
        """The queues with members that will never leave."""
        return self.queues.keys()


def explain_stuck(
    frozen: frozenset[str],
    unowned: Container[str],
    thinned: Sequence[ThinnedQueue],
    before: "Iterable[Core]",
) -> StuckSet:
    """Explain why these actors are stuck, from all their queues; reuse cores of `before`."""
    queues = {
        thin.queue.lock: keep_stuck(thin.queue, thin.queue.requests[: thin.end], frozen)
        for thin in thinned
    }
    graph = edges(queues.values())
    known = {core.actors: core for core in before}
    current = sorted(cores(queues.values(), graph), key=lambda core: min(core.actors))
    all_cores = tuple(_reused(core, known.get(core.actors)) for core in current)
    dead_ends = [actor for actor, others in graph.items() if not others]
    reached = reach(graph, [*(core.actors for core in all_cores), dead_ends])
    return StuckSet(
        actors=frozenset(actor for actor in frozen if actor not in unowned),
        frozen=frozen,
        queues=queues,
        cores=all_cores,
        reach=reached,
        tails={thin.queue.lock: thin.queue.requests[thin.end :] for thin in thinned},
        size=sum(len(thin.queue.requests) for thin in thinned),
    )


def _reused(core: "Core", known: "Core | None") -> "Core":
    """The known core if nothing changed in it: results are cached for that object."""
    return known if known is not None and known.queues == core.queues else core


class StuckQueue(Struct, frozen=True, gc=False):
    """The members that stay in one queue, in queue order, and which of them wait."""

    queue: WaitQueue
    members: tuple[WaitRequest, ...]
    waits: tuple[bool, ...]

    def only(self, actors: frozenset[str] | set[str]) -> "StuckQueue":
        """The same queue with only these actors."""
        members = [member for member in self.members if member.actor in actors]
        if len(members) == len(self.members):
            return self
        return keep_stuck(self.queue, members, actors)


def keep_stuck(
    queue: WaitQueue, requests: Iterable[WaitRequest], frozen: Container[str]
) -> StuckQueue:
    """Keep the members of frozen actors, and the members that they block.

    A leader never hands over by itself, so all members of an election stay.
    """
    is_election = queue.kind == "election"
    members: list[WaitRequest] = []
    waits: list[bool] = []
    writers: list[WaitRequest] = []
    for request in requests:
        ahead = writers if request.reads else members
        can_wait = request.releases and not request.exempt
        is_waiting = can_wait and _is_stopped(queue, ahead, request)
        if is_waiting or is_election or request.actor in frozen:
            members.append(request)
            waits.append(is_waiting)
            if not request.reads:
                writers.append(request)
    return StuckQueue(queue, tuple(members), tuple(waits))


def _is_stopped(queue: WaitQueue, ahead: list[WaitRequest], request: WaitRequest) -> bool:
    if queue.kind == "single":
        return ahead[:1] == list(queue.requests[:1])
    if queue.kind == "conflict":
        names = (queue.conflicts or {}).get(request.node, ())
        return any(other.node in names for other in ahead)
    return len(ahead) >= queue.room


def blockers(stuck_queue: StuckQueue, place: int) -> Iterator[int]:
    """The places before this one that it waits for, or may wait for (pool).

    >>> modes = {"a": "read", "b": "write", "c": "read"}
    >>> a, b, c = (WaitRequest(name, name, mode, 1) for name, mode in modes.items())
    >>> queue = WaitQueue("/l", "read-write", (a, b, c))
    >>> list(blockers(StuckQueue(queue, (a, b, c), (False, True, True)), 2))
    [1]
    """
    queue, members = stuck_queue.queue, stuck_queue.members
    request = members[place]
    earlier = range(place)
    if queue.kind == "single":
        earlier = range(min(place, int(members[:1] == queue.requests[:1])))
    elif queue.kind == "conflict":
        names = (queue.conflicts or {}).get(request.node, ())
        return (other for other in earlier if members[other].node in names)
    elif queue.kind == "read-write" and request.reads:
        return (other for other in earlier if not members[other].reads)
    return iter(earlier)


def sparse_edges(stuck_queue: StuckQueue) -> Iterator[tuple[int, int]]:
    """Edges between places, waiter first, that reach the same actors as all edges do."""
    if stuck_queue.queue.kind not in ("single", "conflict"):
        yield from _chained_edges(stuck_queue)
        return
    for place, is_waiting in enumerate(stuck_queue.waits):
        if is_waiting:
            for other in blockers(stuck_queue, place):
                yield place, other


def _chained_edges(stuck_queue: StuckQueue) -> Iterator[tuple[int, int]]:
    """Edges back to the nearest member that itself waits for all before it."""
    ahead: list[int] = []
    writers_ahead: list[int] = []
    shares = stuck_queue.queue.kind == "read-write"
    for place, is_waiting in enumerate(stuck_queue.waits):
        member = stuck_queue.members[place]
        is_reader = shares and member.reads
        if is_waiting:
            its_blockers = writers_ahead if is_reader else ahead
            yield from ((place, other) for other in its_blockers)
        if is_waiting and not is_reader:
            ahead, writers_ahead = [], []
        ahead.append(place)
        if not is_reader:
            writers_ahead.append(place)


def components(graph: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """Strongly connected components, each after those it leads to; every target must be a key.

    >>> list(components({"a": ["b"], "b": ["a"], "c": ["a"]}))
    [['b', 'a'], ['c']]
    """
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    for root in graph:
        if root not in index:
            yield from _search(root, graph, index, low, stack)


def _search(
    root: str,
    graph: Mapping[str, Sequence[str]],
    index: dict[str, int],
    low: dict[str, int],
    stack: list[str],
) -> Iterator[list[str]]:
    done = len(graph)  # greater than any index: a finished vertex lowers no other
    path = [(root, iter(graph[root]))]
    index[root] = low[root] = len(index)
    stack.append(root)
    while path:
        vertex, targets = path[-1]
        for target in targets:
            if target not in index:
                index[target] = low[target] = len(index)
                stack.append(target)
                path.append((target, iter(graph[target])))
                break
            low[vertex] = min(low[vertex], low[target])
        else:
            path.pop()
            if path:
                parent = path[-1][0]
                low[parent] = min(low[parent], low[vertex])
            if low[vertex] == index[vertex]:
                yield _pop(vertex, stack, low, done)


def _pop(vertex: str, stack: list[str], low: dict[str, int], done: int) -> list[str]:
    members: list[str] = []
    while not members or members[-1] != vertex:
        members.append(stack.pop())
        low[members[-1]] = done
    return members


class Core(Struct, frozen=True, eq=False, weakref=True):
    """Actors that keep each other stuck, and the queues in which they do.

    Compared by identity: an unchanged core stays the same object, so results cached for it
    remain valid.
    """

    actors: frozenset[str]
    queues: tuple[StuckQueue, ...]


Subject = TypeVar("Subject", Core, StuckSet)
Found = TypeVar("Found")


def once_for_each(find: Callable[[Subject], Found]) -> Callable[[Subject], Found]:
    """Cache the result for each core or stuck set as long as that object exists."""
    known: WeakKeyDictionary[Subject, Found] = WeakKeyDictionary()

    @wraps(find)
    def find_once(subject: Subject) -> Found:
        if subject not in known:
            known[subject] = find(subject)
        return known[subject]

    return find_once


def edges(queues: Iterable[StuckQueue]) -> dict[str, list[str]]:
    """The sparse edges of several queues, from actor to actor."""
    graph: dict[str, list[str]] = {}
    for stuck_queue in queues:
        for member in stuck_queue.members:
            if member.actor not in graph:
                graph[member.actor] = []
        for waiter, other in sparse_edges(stuck_queue):
            graph[stuck_queue.members[waiter].actor].append(stuck_queue.members[other].actor)
    return graph


def cores(queues: Iterable[StuckQueue], graph: dict[str, list[str]]) -> Iterator[Core]:
    """The independent deadlocks."""
    candidates = [
        frozenset(group)
        for group in components(graph)
        if len(group) > 1 or group[0] in graph[group[0]]
    ]
    for group, stuck_queues in zip(candidates, _shares(queues, candidates), strict=True):
        has_pool = any(stuck_queue.queue.room > 1 for stuck_queue in stuck_queues)
        # Without a pool, every ring is a core.
        stuck = _stuck_without_others(stuck_queues) if has_pool else group
        if stuck == group:
            yield Core(
                group, tuple(stuck_queue for stuck_queue in stuck_queues if any(stuck_queue.waits))
            )
        elif stuck:
            smaller = [stuck_queue.only(stuck) for stuck_queue in stuck_queues]
            yield from cores(smaller, edges(smaller))


def _stuck_without_others(stuck_queues: Iterable[StuckQueue]) -> frozenset[str]:
    """The actors that stay stuck if there are no others in these queues."""
    only = [unthinned(stuck_queue.queue, stuck_queue.members) for stuck_queue in stuck_queues]
    return frozenset(stuck_actors(only))


def _shares(queues: Iterable[StuckQueue], groups: list[frozenset[str]]) -> list[list[StuckQueue]]:
    """The queues of each group, without other actors."""
    group_of = {actor: number for number, group in enumerate(groups) for actor in group}
    shares: list[list[StuckQueue]] = [[] for _ in groups]
    for stuck_queue in queues:
        present = {
            group_of[member.actor] for member in stuck_queue.members if member.actor in group_of
        }
        for number in sorted(present):
            shares[number].append(stuck_queue.only(groups[number]))
    return shares


Reach = Mapping[str, frozenset[int]]


def reach(
    graph: Mapping[str, Iterable[str]], groups: Iterable[Collection[str]]
) -> dict[str, frozenset[int]]:
    """The numbers of the groups that each actor leads to.

    >>> reach({"a": ["b"], "b": ["b"], "c": []}, [{"b"}])
    {'b': frozenset({0}), 'a': frozenset({0})}
    """
    sources: dict[str, list[str]] = {}
    for waiter, others in graph.items():
        for other in others:
            sources.setdefault(other, []).append(waiter)
    reached: dict[str, set[int]] = {}
    for number, group in enumerate(groups):
        work = sorted(group)
        for actor in work:
            reached.setdefault(actor, set()).add(number)
        while work:
            for waiter in sources.get(work.pop(), ()):
                numbers = reached.setdefault(waiter, set())
                if number not in numbers:
                    numbers.add(number)
                    work.append(waiter)
    return {actor: frozenset(numbers) for actor, numbers in reached.items()}


def stuck_tail(stuck_set: StuckSet, lock: str) -> Iterator[tuple[str, frozenset[int]]]:
    """The stuck actors with one place in a queue's tail, and the cores they are behind."""
    stuck_queue, reached = stuck_set.queues[lock], stuck_set.reach
    shares = stuck_queue.queue.kind == "read-write"
    ahead = list(stuck_queue.members)
    if stuck_queue.queue.kind == "single":
        ahead = ahead[:1] if stuck_queue.members[:1] == stuck_queue.queue.requests[:1] else []
    writers = [member for member in ahead if not (shares and member.reads)]
    to_all, to_writers = _union(ahead, reached), _union(writers, reached)
    for request in stuck_set.tails[lock]:
        is_reader = shares and request.reads
        number_ahead = len(writers) if is_reader else len(ahead)
        if request.exempt or number_ahead < stuck_queue.queue.room:
            continue
        yield request.actor, to_writers if is_reader else to_all
        if not is_reader:
            to_writers = to_all
            writers.append(request)


def _union(members: list[WaitRequest], reached: Reach) -> frozenset[int]:
    return frozenset[int]().union(*(reached.get(member.actor, ()) for member in members))
