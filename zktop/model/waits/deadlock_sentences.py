"""Describes a deadlock in one sentence, for screens, exports and chats.

`DisplayNames` holds the names of actors and locks that all sentences use. A knot around a
pool has its own sentence.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from msgspec import Struct

from zktop.model.format import clock, count, span
from zktop.model.layouts.layout import LockMode, lock_in_mode
from zktop.model.waits.choose_ring import (
    DeadlockRule,
    Ring,
    WaitEdge,
    passes_by,
    queuing_actors,
    upgraders,
)
from zktop.model.waits.cores import Core, StuckQueue, blockers
from zktop.model.waits.find_stuck import holding_nodes
from zktop.model.waits.wait_queue import WaitQueue, WaitRequest
from zktop.model.world.tables_of_one_server import Presence

_PAIR = 2
_MAX_NAMED_ACTORS = 5  # in one list
_MAX_REASONS = 5  # why the holders of a pool do not finish


class DisplayNames(Struct, frozen=True):
    """Names for actors and locks. One without an entry is shown as it is."""

    owners: Mapping[str, str] = {}  # unique
    paths: Mapping[str, str] = {}
    labels: Mapping[str, str] | None = None  # owner labels, not unique
    presences: Mapping[str, Presence] = {}  # connections of the actors that are sessions

    def owner(self, actor: str) -> str:
        """Return the unique name of an actor."""
        return self.owners.get(actor, actor)

    def label(self, actor: str) -> str:
        """Return the label of an actor, which others may share."""
        return self.owner(actor) if self.labels is None else self.labels.get(actor, actor)

    def path(self, lock: str) -> str:
        """Return the path of a lock, as shown."""
        return self.paths.get(lock, lock)

    def wanted(self, mode: LockMode, lock: str) -> str:
        """Name a lock with the mode in which it is held or wanted."""
        return lock_in_mode(mode, self.path(lock))

    def all_of(self, actors: Sequence[str]) -> str:
        """Join the names of actors with commas and "and".

        >>> DisplayNames().all_of("abc"), DisplayNames().all_of("abcdefg")
        ('a, b and c', 'a, b, c, d, e and 2 more')
        """
        shown = [self.owner(actor) for actor in actors[:_MAX_NAMED_ACTORS]]
        hidden = len(actors) - len(shown)
        if hidden:
            shown.append(f"{hidden} more")
        return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def exhausted_pool(core: Core) -> StuckQueue:
    """The pool of the core that most actors wait for."""
    pools = [queue for queue in core.queues if queue.queue.kind == "pool" and any(queue.waits)]
    return max(pools, key=lambda pool: (sum(pool.waits), pool.queue.lock))


def knot_sentence(core: Core, names: DisplayNames) -> str:
    """Which actors hold all leases, and why none can be returned."""
    pool = exhausted_pool(core)
    path = names.path(pool.queue.lock)
    pairs = list(zip(pool.members, pool.waits, strict=True))
    holders = sorted({member.actor for member, waits in pairs if not waits})
    waiters = sorted({member.actor for member, waits in pairs if waits})
    room = max(pool.queue.room, sum(not waits for waits in pool.waits))
    all_leases = "Both" if room == _PAIR else f"All {room}"
    leases = f"{all_leases} leases of {path} are" if room > 1 else f"The only lease of {path} is"
    text = f"{leases} held by {names.all_of(holders)}."
    both = [actor for actor in waiters if actor in holders]
    last = [actor for actor in waiters if actor not in holders]
    parts = _waits_between(core, pool, names)
    if both:
        parts.append(f"{names.all_of(both)} {_verb(both)} for another lease of {path}")
    if last:
        parts.append(f"{names.all_of(last)} {_verb(last)} for a lease of {path}")
    if len(parts) > 1:
        parts[-1] = f"and {parts[-1]}"
    return f"{text} {', '.join(parts)}: no lease can be returned."


def _verb(actors: list[str]) -> str:
    return "waits" if len(actors) == 1 else "wait"


def _waits_between(core: Core, pool: StuckQueue, names: DisplayNames) -> list[str]:
    """Return why the holders do not finish, grouped by reason."""
    reasons: list[tuple[str, str, str]] = []  # a lock, its holder ("" for a pool), a waiter
    for stuck_queue in core.queues:
        if stuck_queue is pool:
            continue
        for place, member in enumerate(stuck_queue.members):
            if stuck_queue.waits[place]:
                is_pool = stuck_queue.queue.room > 1
                holder = "" if is_pool else _holder_before(stuck_queue, place).actor
                reasons.append((stuck_queue.queue.lock, holder, member.actor))
    parts = []
    for (lock, holder), group in groupby(sorted(reasons), key=lambda reason: reason[:2]):
        waiters = sorted({waiter for _, _, waiter in group})
        who, path = f"{names.all_of(waiters)} {_verb(waiters)} for", names.path(lock)
        held = f"{path}, which {names.owner(holder)} holds" if holder else f"a lease of {path}"
        parts.append(f"{who} {held}")
    hidden = len(parts) - _MAX_REASONS
    return [*parts[:_MAX_REASONS], count(hidden, "more wait")] if hidden > 0 else parts


def _holder_before(queue: StuckQueue, place: int) -> WaitRequest:
    """The holder that a waiting member waits for. The members between them only queue."""
    while queue.waits[place]:
        place = next(blockers(queue, place))
    return queue.members[place]


_SPELLED_OUT = 5


def sentence(rule: DeadlockRule, ring: Ring, core: Core, names: DisplayNames, now_ms: int) -> str:
    if rule == "D3":
        return knot_sentence(core, names)
    if rule == "D5":
        return _upgraders(ring, core, names)
    if rule == "D4":
        return _upgrade(ring[0], names)
    if rule == "D6":
        return _double(ring[0], names)
    if len(ring) - len(queuing_actors(ring)) > _SPELLED_OUT:
        return _long_ring(ring, names, now_ms)
    return _rotation(ring, names)


def _upgrade(edge: WaitEdge, names: DisplayNames) -> str:
    actor, lock = names.owner(edge.request.actor), names.path(edge.queue.lock)
    wish = f"{actor} reads {lock} and now wants to write {lock}"
    return f"{wish}; that can only succeed after its own read lock is gone."


def _double(edge: WaitEdge, names: DisplayNames) -> str:
    held = names.wanted(edge.blocker.mode, edge.queue.lock)
    asked = names.wanted(edge.request.mode, edge.queue.lock)
    actor = names.owner(edge.request.actor)
    return f"{actor} holds {held} and asks for {asked} again, behind itself; it waits for itself."


def _upgraders(ring: Ring, core: Core, names: DisplayNames) -> str:
    actors, lock = upgraders(core, ring), names.path(ring[0].queue.lock)
    both = len(actors) == _PAIR
    all_actors, every = names.all_of(actors), "both" if both else "all"
    other = "the other's read lock" if both else "the others' read locks"
    return (
        f"{all_actors} {every} read {lock} and {every} want to write it; each waits for {other}."
    )


def _long_ring(ring: Ring, names: DisplayNames, now_ms: int) -> str:
    between = queuing_actors(ring)
    members = [edge for edge in ring if edge.request.actor not in between]
    owners = [names.owner(edge.request.actor) for edge in members]
    turns = " -> ".join([*owners[:2], "...", owners[-1], owners[0]])
    dated = [
        (edge.request.since_ms, edge) for edge in members if edge.request.since_ms is not None
    ]
    text = f"Ring of {len(members)}: {turns}"
    if dated:
        since, oldest = min(dated, key=lambda pair: pair[0])
        text += f"; oldest wait {names.owner(oldest.request.actor)} {span(now_ms - since)}"
    closed = ring[-1].request.since_ms
    at = f" at {clock(closed)}" if closed is not None else ""
    return f"{text}, closed by {names.owner(ring[-1].request.actor)}{at}."


class _Turn(NamedTuple):
    """A member of the ring, the holder it waits for, and the requests in between."""

    edge: WaitEdge
    holder: WaitRequest
    between: tuple[WaitRequest, ...]


def _turns(ring: Ring) -> list[_Turn]:
    """The members of the ring in order. The last one closed it."""
    while passes_by(ring[0], ring[-1]):
        ring = (*ring[1:], ring[0])
    turns: list[_Turn] = []
    for before, edge in zip((ring[-1], *ring), ring, strict=False):
        if passes_by(edge, before):
            last = turns[-1]
            turns[-1] = _Turn(last.edge, edge.blocker, (*last.between, edge.request))
        else:
            turns.append(_Turn(edge, edge.blocker, ()))
    return turns


def _rotation(ring: Ring, names: DisplayNames) -> str:
    """The part of the sentence for each member. The first also says what that member holds."""
    turns = _turns(ring)
    first, last = turns[0], turns[-1]
    held = names.wanted(last.holder.mode, last.edge.queue.lock)
    owner = names.owner(first.edge.request.actor)
    if len(turns) == 1:
        wish = names.wanted(first.edge.request.mode, first.edge.queue.lock)
        again = f"{owner} holds {held} and asks for {wish} again"
        if not first.between:
            return f"{again}, behind itself; it waits for itself."
        return f"{again}, but {_queue(first, names)} in between and waits for {owner}."
    waits = [_wait(turn, names) for turn in turns[:-1]]
    waits.append(_wait(last, names, is_holder_known=len(turns) == _PAIR))
    actors = [names.owner(turn.edge.request.actor) for turn in turns]
    actors[0] += f" holds {held} and"
    parts = [f"{actor} {wait}" for actor, wait in zip(actors, waits, strict=True)]
    return "; ".join(parts) + "."


def _wait(turn: _Turn, names: DisplayNames, *, is_holder_known: bool = False) -> str:
    """What a member waits for, and which actor holds it unless the sentence says so already."""
    wait = f"waits for {names.wanted(turn.edge.request.mode, turn.edge.queue.lock)}"
    if not is_holder_known:
        wait += f", which {names.owner(turn.holder.actor)} holds"
    if turn.between:
        wait += f"{'' if is_holder_known else ','} because {_queue(turn, names)}"
    return wait


def _queue(turn: _Turn, names: DisplayNames) -> str:
    """Which actor queues in between, and for what."""
    request = turn.between[0]
    what = {"write": " to write", "read": " to read"}.get(request.mode, "")
    return f"{names.owner(request.actor)} is queued{what}"


def watch_sentence(queue: WaitQueue, ring: Ring, names: DisplayNames) -> str:
    """Describe waiters that watch each other, or one that watches a successor."""
    lock = names.path(queue.lock)
    if len(ring) == 1:
        actor, other = names.owner(ring[0].request.actor), names.owner(ring[0].blocker.actor)
        wrong = f"{actor} waits in {lock} but watches {other}, which is behind it"
        return f"{wrong}; no release will wake it."
    actors = [edge.request.actor for edge in ring]
    holding = holding_nodes(queue)
    holders = [names.owner(edge.request.actor) for edge in ring if edge.request.node in holding]
    by_order = f"by queue order {' and '.join(holders)} may continue, but " if holders else ""
    each = "each other's nodes" if len(ring) == _PAIR else "each other's nodes in a ring"
    return (
        f"{names.all_of(actors)} watch {each} in {lock}: {by_order}nothing will wake any of them."
    )
