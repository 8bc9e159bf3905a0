"""The wait graph: a fold over changed queues that always knows who can never go on.

Only these can change the verdict: a request by an actor that stands elsewhere too (it may close a
ring), a member gone from a queue in which somebody is stuck (it may open one), and changed rules.
Everything else costs its own members and no more. The answer is worked out when it is asked for,
so a burst of changes costs one.

Whom a request waits for, and whom those wait for, and so on.
"""

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import starmap
from types import MappingProxyType
from typing import TYPE_CHECKING

from zktop.model.waits.actor_index import ActorIndex
from zktop.model.waits.cores import NOTHING_STUCK, StuckSet, explain_stuck
from zktop.model.waits.reduction import ThinnedQueue, granted, is_granted, stuck, thinned
from zktop.model.waits.state import WaitQueue, WaitRequest, changed_requests, is_tail

if TYPE_CHECKING:
    from zktop.model.waits.cores import Crowd


class WaitGraph:
    """State: the queues, who stands where, the stuck set, and what happened since it was found."""

    def __init__(self, queues: Iterable[WaitQueue] = ()) -> None:
        """Start from whole queues."""
        self._queues: dict[str, WaitQueue] = {}
        self.queues: Mapping[str, WaitQueue] = MappingProxyType(self._queues)  # the newest of each
        self._places = ActorIndex()
        self._strands: dict[str, ThinnedQueue] = {}
        self._granted: dict[str, tuple[WaitQueue, frozenset[str]]] = {}
        self._standings: dict[str, tuple[ThinnedQueue, dict[str, list[WaitRequest]]]] = {}
        self._stuck_set = NOTHING_STUCK
        self._suspects: list[tuple[WaitQueue, WaitRequest]] = []
        self._is_thawing = False
        self._is_moved = False
        self._crowds: dict[str, tuple[StuckSet, WaitQueue, Crowd]] = {}
        self._is_unknown = True
        self._queues.update((queue.lock, queue) for queue in queues)
        for queue in self._queues.values():
            if queue.binds:
                self._places.enter_all(queue, queue.requests)
        self._places.touched.clear()

    def locks(self, actor: str) -> Collection[str]:
        """List the queues in which the actor has a place, each once; no mere standby."""
        return self._places.locks(actor)

    def number(self, actor: str) -> int:
        """Count the places of an actor."""
        return self._places.number(actor)

    def places(self, actor: str) -> list[tuple[WaitQueue, WaitRequest]]:
        """List the requests of an actor with their queues, by lock and in queue order."""
        found = []
        for lock in sorted(self._places.locks(actor)):
            queue = self._queues[lock]
            if actor in self._places.tangled:
                found += [(queue, member) for member in self._standing(lock)[actor]]
            else:
                found += [(queue, member) for member in queue.requests if member.actor == actor]
        return found

    def _standing(self, lock: str) -> Mapping[str, list[WaitRequest]]:
        """Sort the tangled members of a queue by actor, once: a core may ask for all of them."""
        line = self._strand(lock)
        known = self._standings.get(lock)
        if known is None or known[0] is not line:
            by_actor: dict[str, list[WaitRequest]] = {}
            for member in line.members:
                by_actor.setdefault(member.actor, []).append(member)
            known = self._standings[lock] = line, by_actor
        return known[1]

    def holds(self, queue: WaitQueue, request: WaitRequest) -> bool:
        """Tell whether this member of one of its queues holds; all of a queue may be asked for."""
        if queue.kind not in ("read-write", "conflict"):
            return is_granted(queue, request)
        known = self._granted.get(queue.lock)
        if known is None or known[0] is not queue:
            known = self._granted[queue.lock] = queue, granted(queue)
        return request.node in known[1]

    def is_knotted(self, lock: str) -> bool:
        """Tell whether somebody stands in this queue who has another place."""
        return self._places.is_knotted(lock)

    def strands(self) -> Iterator[ThinnedQueue]:
        """Thin out every queue in which a tangled actor stands to these; the same while it is."""
        return (self._strand(lock) for lock in self._places.knotted)

    @property
    def tangled(self) -> AbstractSet[str]:
        """The actors that stand in more than one place: only they can be part of a ring."""
        return self._places.tangled

    @property
    def stuck_set(self) -> StuckSet:
        """What can never go on, now."""
        if self._is_unknown or self._is_thawing or self._is_moved or self._suspects:
            self._settle()
        return self._stuck_set

    def crowd(self, lock: str) -> "Crowd":
        """Find the passers-by that are stuck in this queue, each with the cores it is behind."""
        stuck_set, queue = self.stuck_set, self._queues[lock]
        known = self._crowds.get(lock)
        if known is None or known[0] is not stuck_set or known[1] is not queue:
            from zktop.model.waits.cores import crowd  # noqa: PLC0415  mostly nobody is stuck

            tail = queue.requests[self._strand(lock).end :]
            members = tuple(crowd(stuck_set.queues[lock], tail, stuck_set.reach))
            known = self._crowds[lock] = stuck_set, queue, members
        return known[2]

    def removed(self, lock: str) -> None:
        """Forget a lock and everybody in it."""
        old = self._queues.get(lock)
        if old is not None:
            self._is_thawing |= lock in self._stuck_set.queues
            self._apply(old, None, (), old.requests)
            del self._queues[lock]
            self._strands.pop(lock, None)
            self._standings.pop(lock, None)
            self._granted.pop(lock, None)

    def met(self, queue: WaitQueue, sessions: Sequence[int] | None = None) -> None:
        """Take a queue that was not there before; whose sessions these are may be known."""
        self._queues[queue.lock] = queue
        requests = queue.requests
        if not isinstance(requests, tuple):
            passing = requests.sessions if sessions is None else sessions
            if self._places.let_pass(queue.lock, passing):
                return
        self._apply(None, queue, tuple(requests), ())

    def replaced(
        self,
        lock: str,
        queue: WaitQueue,
        created: Iterable[WaitRequest] | None = None,
        deleted: Iterable[WaitRequest] | None = None,
    ) -> None:
        """Put the newest queue of a lock in its place.

        `created` and `deleted` spare a comparison of the queues; a request that changed in any
        field must be in both. Leave them out when the order of the others may have changed.
        """
        old = self._queues.get(lock)
        if old is None:
            self.met(queue)
            return
        if old.rules != queue.rules:
            created, deleted = queue.requests, old.requests
            self._is_unknown = True
        elif created is None or deleted is None:
            created, deleted = changed_requests(tuple(old.requests), tuple(queue.requests))
        self._queues[lock] = queue
        self._apply(old, queue, tuple(created), deleted)

    def _apply(
        self,
        old: WaitQueue | None,
        new: WaitQueue | None,
        created: tuple[WaitRequest, ...],
        deleted: Iterable[WaitRequest],
    ) -> None:
        if old is not None and old.binds:
            for request in deleted:
                self._is_thawing |= self._stuck_set.may_open(old.lock, request)
                self._places.leave(old, request)
        if new is not None and new.binds:
            self._enter(new, created)
        for lock in self._places.touched:
            self._strands.pop(lock, None)
            # Where the tail begins has changed, so who counts as a passer-by has, too.
            self._is_moved |= lock in self._stuck_set.queues
        self._places.touched.clear()
        self._drop_strand(old or new)

    def _drop_strand(self, queue: WaitQueue | None) -> None:
        if queue is not None and self._places.is_knotted(queue.lock):
            self._strands.pop(queue.lock, None)

    def _enter(self, queue: WaitQueue, created: tuple[WaitRequest, ...]) -> None:
        for request in self._places.enter_all(queue, created):
            self._suspects.append((queue, request))
        if not self._places.is_knotted(queue.lock):
            return
        # Without an order a new holder may have come from among those who wait.
        has_no_tail = queue.kind in ("conflict", "single")
        requests, tangled = tuple(queue.requests), self._places.tangled
        self._is_unknown |= has_no_tail or not is_tail(requests, created, tangled)

    def _strand(self, lock: str) -> ThinnedQueue:
        found = self._strands.get(lock)
        if found is None:
            found = self._strands[lock] = thinned(self._queues[lock], self._places.tangled)
        return found

    def _settle(self) -> None:
        """Bring the stuck set up to date by the cheapest safe rule."""
        was = self._stuck_set
        suspects = [(q, r) for q, r in self._suspects if self._stands(q, r)]
        if not self._is_unknown:
            if self._is_thawing:
                self._judge(was.locks, only=was.frozen)
            elif self._is_moved or any(self._is_frozen(r) for _, r in suspects):
                self._explain(set(was.actors))
            self._is_unknown = any(starmap(self._close, _by_actor(suspects)))
        if self._is_unknown:
            self._judge(self._places.knotted)
        self._is_unknown = self._is_thawing = self._is_moved = False
        self._suspects.clear()

    def _is_frozen(self, request: WaitRequest) -> bool:
        return request.actor in self._stuck_set.actors or not request.releases

    def _stands(self, queue: WaitQueue, request: WaitRequest) -> bool:
        """Whether a suspect is still there, with other places beside this one."""
        return request.actor in self._places.tangled and queue.lock in self.locks(request.actor)

    def _judge(self, locks: Iterable[str], only: AbstractSet[str] | None = None) -> None:
        lines = [self._strand(lock) for lock in locks if lock in self._queues]
        left = stuck(lines, only)
        # Newcomers to an election show up as well; whether they are stuck is judged for itself.
        self._explain(left if only is None else left & only)

    def _explain(self, left: set[str]) -> None:
        nobody = self._places.nobody
        locks = {lock for actor in left | nobody for lock in self.locks(actor)}
        self._stuck_set = explain_stuck(
            left, nobody, [self._strand(lock) for lock in sorted(locks)]
        )
        self._crowds = {lock: known for lock, known in self._crowds.items() if lock in locks}

    def _close(self, actor: str, suspects: list[tuple[WaitQueue, WaitRequest]]) -> bool:
        """Whether these requests make their actor stuck, who was not."""
        was = self._stuck_set
        if any(self._is_frozen(r) for _, r in suspects):
            return False

        walk = Walk(self._strand, self._places, was.frozen)
        for queue, _ in suspects:
            walk.before(queue.lock, actor)
        is_election = any(queue.kind == "election" for queue, _ in suspects)
        leads_nowhere = actor not in walk.seen and walk.seen.isdisjoint(was.frozen)
        is_beside = was.locks.isdisjoint(self.locks(actor))
        if leads_nowhere and not is_election and is_beside:
            return False
        if actor in walk.seen and walk.is_plain():
            return True
        walk.start(actor)
        lines = [self._strand(lock) for lock in {n for a in walk.seen for n in self.locks(a)}]
        return actor in stuck(lines, walk.seen, pinned=was.actors)


def _by_actor(
    suspects: Iterable[tuple[WaitQueue, WaitRequest]],
) -> Iterable[tuple[str, list[tuple[WaitQueue, WaitRequest]]]]:
    """Put the requests of an actor together: one walk tells of all of them."""
    found: dict[str, list[tuple[WaitQueue, WaitRequest]]] = {}
    for queue, request in suspects:
        found.setdefault(request.actor, []).append((queue, request))
    return found.items()


_SHORT = 4


class Walk:
    """Collects in `seen` everybody ahead; does not look past those who are stuck anyway."""

    def __init__(
        self, strand_of: Callable[[str], ThinnedQueue], places: ActorIndex, frozen: Container[str]
    ) -> None:
        """Walk over these strands."""
        self.seen: set[str] = set()
        self._strand_of = strand_of
        self._places = places
        self._frozen = frozen
        self._work: list[str] = []
        self._reached: dict[str, int] = {}
        self._last: dict[str, dict[str, int]] = {}

    def is_plain(self) -> bool:
        """Whether everything ahead is exclusive: then whoever leads back to itself is stuck."""
        return all(self._strand_of(lock).queue.kind == "exclusive" for lock in self._reached)

    def start(self, actor: str) -> None:
        """Add the actor itself and everybody ahead of it, in every queue."""
        self._meet(actor)
        self._go()

    def before(self, lock: str, actor: str) -> None:
        """Add everybody ahead of the actor's last place in this one queue."""
        self._look(lock, actor)
        self._go()

    def _go(self) -> None:
        while self._work:
            actor = self._work.pop()
            for lock in self._places.locks(actor):
                self._look(lock, actor)

    def _look(self, lock: str, actor: str) -> None:
        members = self._strand_of(lock).members
        end = self._last_place(lock, members, actor)
        start = self._reached.get(lock, 0) if end else 0
        if end > start:
            self._reached[lock] = end
            for member in members[start:end]:
                self._meet(member.actor)

    def _last_place(self, lock: str, members: tuple[WaitRequest, ...], actor: str) -> int:
        """Find the actor's last place: by search in a short strand, else by an index."""
        if len(members) <= _SHORT:
            place = len(members) - 1
            while place > 0 and members[place].actor != actor:
                place -= 1
            return place
        index = self._last.get(lock)
        if index is None:
            index = {member.actor: place for place, member in enumerate(members)}
            self._last[lock] = index
        return index.get(actor, 0)

    def _meet(self, actor: str) -> None:
        if actor not in self.seen:
            self.seen.add(actor)
            if actor not in self._frozen:
                self._work.append(actor)
