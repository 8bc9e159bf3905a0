"""An order in which the tangled actors can finish: the proof that they are not stuck.

Testing all queues again after each change would take seconds with 100,000 tangled actors, so the
order found by one test is kept. After a change, only the changed queues are compared with it: it
is still a proof if each actor in them is granted its place before its own turn to finish.
Otherwise the actor loses its turn, and so does every actor behind it; these are tested again, and
those that can finish get new turns after all others. A new wait costs as much as the queues of the
actors that depend on it, and a release costs one queue.
"""

from bisect import insort
from collections import ChainMap
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import chain
from sys import maxsize
from typing import Final

from zktop.model.waits.find_stuck import Reduction, ThinnedQueue

NEVER: Final = maxsize
AT_ONCE: Final = -1

Queues = dict[str, ThinnedQueue]


class FinishOrder:
    """The turn of each actor that can finish, and the set of those that cannot.

    `queues`, `tangled` and `unowned` are read at each update. Actors that never release anything
    (`unowned`) get no turn, and are not stuck: they wait for nothing.
    """

    def __init__(
        self,
        locks: Callable[[str], Collection[str]],
        queues: Queues,
        tangled: AbstractSet[str],
        unowned: Container[str],
    ) -> None:
        self.stuck: set[str] = set()
        self.tested = 0  # places tested by the last update
        self._locks, self._queues = locks, queues
        self._tangled, self._unowned = tangled, unowned
        self._turns: dict[str, int] = {}
        self._last_turn = 0

    def update(self, before: Mapping[str, ThinnedQueue | None]) -> set[str]:
        """Update for changed queues, given as they were before; return the tested actors."""
        untested: set[str] = set()
        for queue in before.values():
            untested.update(self._without_turn(queue))
        lost: list[str] = []
        for lock in before:
            queue = self._queues.get(lock)
            lost += self._refuted(queue) if queue and self._turns else ()
            untested.update(self._without_turn(queue))
        untested.update(self._withdraw_turns(lost))
        reduction = Reduction(self._locks, self._queues, self._turns.keys())
        finished = reduction.run(untested)
        self.tested = reduction.tested
        self.stuck.update(actor for actor in untested if actor not in self._unowned)
        self.stuck.difference_update(finished)
        for turn, actor in enumerate(finished, self._last_turn + 1):
            self._turns[actor] = turn
        self._last_turn += len(finished)
        return untested

    def finished_with(self, fewer: Iterable[ThinnedQueue]) -> list[str]:
        """The stuck actors that could finish if these shorter queues replaced the current ones."""
        queues = ChainMap({queue.queue.lock: queue for queue in fewer}, self._queues)
        # Deleting a single znode empties its queue, which frees the queue's members.
        members = chain.from_iterable(self._queues[lock].members for lock in queues.maps[0])
        untested = {member.actor for member in members if member.actor not in self._turns}
        return Reduction(self._locks, queues, self._turns.keys()).run(untested)

    def _without_turn(self, queue: ThinnedQueue | None) -> Iterator[str]:
        """The tangled actors of a queue without a turn. Those no longer tangled are dropped."""
        if queue is None:
            return
        for member in queue.members:
            actor = member.actor
            if actor not in self._tangled:
                self._turns.pop(actor, None)
                self.stuck.discard(actor)
            elif actor not in self._turns:
                yield actor

    def _refuted(self, queue: ThinnedQueue) -> Iterator[str]:
        """The actors whose turn comes before they are granted their place in this queue."""
        for member, granted in zip(queue.members, self._granted(queue), strict=True):
            turn = self._turns.get(member.actor)
            is_late = turn is not None and not member.exempt and granted >= turn
            if is_late or member.actor in self._unowned:
                yield member.actor

    def _granted(self, queue: ThinnedQueue) -> Iterator[int]:
        """The turn after which each member is granted its place."""
        leaving = self._leaving_turns(queue)
        if queue.queue.kind == "conflict":
            conflicts, by_node = queue.queue.conflicts or {}, dict(leaving)
            for member in queue.members:
                names = conflicts.get(member.node, ())
                yield max((by_node.get(name, AT_ONCE) for name in names), default=AT_ONCE)
            return
        earlier: list[int] = []
        granted = AT_ONCE
        for (_, turn), needed in zip(leaving, queue.needs, strict=True):
            if needed > 0:
                is_enough = needed <= len(earlier)
                granted = max(granted, earlier[needed - 1] if is_enough else NEVER)
            yield granted
            insort(earlier, turn)

    def _leaving_turns(self, queue: ThinnedQueue) -> list[tuple[str, int]]:
        """The turn at which each node leaves the queue; a leader never does."""
        if queue.queue.kind == "election":
            return [(member.node, NEVER) for member in queue.members]
        turns = self._turns
        return [
            (member.node, turns.get(member.actor, NEVER) if member.releases else NEVER)
            for member in queue.members
        ]

    def _withdraw_turns(self, actors: Iterable[str]) -> set[str]:
        """Withdraw the turns of these actors and of all behind them; return all that lost one."""
        work = [actor for actor in actors if self._turns.pop(actor, None) is not None]
        lost = set(work)
        first_places = cache(self._first_places)
        checked: dict[str, int] = {}  # by lock: all actors behind this place lost theirs
        while work:
            actor = work.pop()
            for lock in self._locks(actor):
                place, members = first_places(lock)[actor], self._queues[lock].members
                end = checked.get(lock, len(members))
                if place < end:
                    checked[lock] = place
                    for member in members[place + 1 : end]:
                        if self._turns.pop(member.actor, None) is not None:
                            lost.add(member.actor)
                            work.append(member.actor)
        return lost

    def _first_places(self, lock: str) -> dict[str, int]:
        """The first place of each actor in a queue."""
        members = self._queues[lock].members
        return {members[place].actor: place for place in reversed(range(len(members)))}
