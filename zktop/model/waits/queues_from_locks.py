"""Turns locks into queues of the wait graph.

A lock with several queues, such as those of two libraries that do not see each other, has several
queues here as well. If one library counts the nodes of the other, their members wait for each
other, so they share one queue. Foreign children that block a member come first; if no session owns
one, no client will remove it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Final, NamedTuple

from zktop.model.actors import STRANDED, UNOWNED, Actors, session_of
from zktop.model.history.lock_change import LockChange, all_members
from zktop.model.locks.lock import Lock, LockQueue, Member
from zktop.model.locks.mixed_queue import MixedQueue
from zktop.model.locks.open_folder import only_mixed
from zktop.model.locks.queue import RankedQueue
from zktop.model.locks.semaphore_queue import LeasePool
from zktop.model.session_ids import session_text
from zktop.model.waits.wait_queue import QueueKind, WaitQueue, WaitRequest, queue_name
from zktop.model.world.sequence_diff import ChangedRun, changed_runs

KINDS: Final[dict[str, QueueKind]] = {
    "first": "exclusive",
    "read-write": "read-write",
    "first-n": "pool",
}
_SHARED: Final = ("mutex", "read-write")


class QueueUpdate(NamedTuple):
    """A changed queue (None: it is gone), and its created and deleted requests."""

    name: str
    queue: WaitQueue | None
    created: Sequence[WaitRequest]
    deleted: Sequence[WaitRequest]


def queue_updates(
    change: LockChange, queues: Mapping[str, WaitQueue], actors: Actors
) -> Iterator[QueueUpdate]:
    """The queue updates that a changed lock causes; `queues` holds the previous queues."""
    lock, before = change.after, _members_by_queue(change.before)
    after = _members_by_queue(lock)
    if lock is not None:
        for name, (source, members) in after.items():
            if name in before:
                runs = _changed_runs(change, before[name][1], members)
                known = queues[name]
                requests, created, deleted = _next_requests(known, lock, members, runs, actors)
            else:
                created = requests = _requests(lock, members, actors)
                deleted = ()
            yield QueueUpdate(name, _wait_queue(lock, name, source, requests), created, deleted)
    for name in before.keys() - after.keys():
        yield QueueUpdate(name, None, (), queues[name].requests)


def _members_by_queue(lock: Lock | None) -> dict[str, tuple[LockQueue | None, tuple[Member, ...]]]:
    """The members of each wait queue of a lock, and the lock's queue if it matches exactly one."""
    if lock is None:
        return {}
    if lock.kind == "semaphore":  # leases and the queue for them are one wait queue
        return {lock.path: (None, (*lock.obstacles, *lock.holders, *lock.waiters))}
    if lock.kind in _SHARED and any(only_mixed(lock.queues)):
        by_age = sorted(lock.members, key=attrgetter("czxid"))
        return {lock.path: (None, (*lock.obstacles, *by_age))}
    by_queue: dict[str, tuple[LockQueue | None, tuple[Member, ...]]] = {}
    for number, queue in enumerate(lock.queues):
        source = _waited_in(lock, queue)
        by_queue[queue_name(lock.path, number)] = source, _members(lock, source)
    return by_queue


def _members(lock: Lock, source: LockQueue) -> tuple[Member, ...]:
    """The members of one wait queue, starting with those that go before all others."""
    if lock.kind in ("single", "lease") and _kind(lock, source) == "single":
        return (*source.holders, *source.waiters)
    if lock.kind == "election" and isinstance(source, MixedQueue):  # the leader stays ahead
        return (*source.holders, *lock.obstacles, *source.waiters)
    if lock.obstacles:
        return (*lock.obstacles, *source.members)
    return tuple(source.members)


def _waited_in(lock: Lock, queue: LockQueue) -> LockQueue:
    """The queue in which clients wait: for a lease, that is the queue at its gate."""
    return queue.gate if lock.kind == "lease" and isinstance(queue, LeasePool) else queue


def _kind(lock: Lock, source: LockQueue) -> QueueKind:
    """The kind of a wait queue. If no simpler kind fits, its members conflict in pairs."""
    if lock.kind == "election":
        return "election"
    is_gate = lock.kind == "lease" and isinstance(source, RankedQueue)
    if lock.kind in ("single", "lease") and not is_gate:
        return "single"
    if isinstance(source, RankedQueue) and source.regular and not _passes_readers(source):
        return KINDS[source.rule]
    return "conflict"


def _passes_readers(queue: RankedQueue) -> bool:
    """Whether readers pass some members that are not readers, as in zktools."""
    if queue.rule != "read-write" or "write" not in queue.layout.modes.values():
        return False
    return any(
        member.mode == "exclusive" and not queue.bars_readers(member) for member in queue.members
    )


def _wait_queue(
    lock: Lock, name: str, source: LockQueue | None, requests: tuple[WaitRequest, ...]
) -> WaitQueue:
    """The queue of these requests, with its rules."""
    is_guessed = "low-confidence" in lock.warnings
    if source is None and lock.kind == "semaphore":
        return WaitQueue(
            lock=name,
            kind="pool",
            requests=requests,
            capacity=lock.leases or len(lock.obstacles) + len(lock.holders) or None,
            capacity_is="known" if lock.leases_are == "known" else "inferred",
            seen_zxid=lock.seen_zxid,
            guessed=is_guessed,
        )
    kind = "conflict" if source is None else _kind(lock, source)
    return WaitQueue(
        lock=name,
        kind=kind,
        requests=requests,
        blocking=lock.blocking,
        seen_zxid=lock.seen_zxid,
        conflicts=_conflicts(lock, (source or lock).waiters) if kind == "conflict" else None,
        guessed=is_guessed,
    )


def _conflicts(lock: Lock, waiters: Iterable[Member]) -> dict[str, tuple[str, ...]]:
    """The nodes that each waiter waits for."""
    return {
        waiter.node: tuple(other.node for other in lock.blocked_by(waiter)) for waiter in waiters
    }


def _changed_runs(
    change: LockChange, before: Sequence[Member], after: Sequence[Member]
) -> Sequence[ChangedRun]:
    """The runs in which requests may differ; outside of them the members are the same."""
    was, now = change.before, change.after
    if was is None or now is None or _context(was) != _context(now):
        return (ChangedRun(0, len(before), 0, len(after)),)
    if all_members(was) is before and all_members(now) is after:
        return change.changed_runs
    return tuple(changed_runs(before, after))


def _context(lock: Lock) -> tuple[object, ...]:
    """What a request depends on besides its member.

    In a folder, one member may depend on the others, so every version counts as different.
    """
    is_folder = any(only_mixed(lock.queues))
    return lock.kind, lock.layout, lock.stranded, _exempt(lock), id(lock) if is_folder else 0


def _next_requests(
    known: WaitQueue,
    lock: Lock,
    members: tuple[Member, ...],
    runs: Sequence[ChangedRun],
    actors: Actors,
) -> tuple[tuple[WaitRequest, ...], Sequence[WaitRequest], Sequence[WaitRequest]]:
    """Rebuild the requests of the changed runs, and return those created and deleted too."""
    requests = known.requests
    old = {
        request.node: request for run in runs for request in requests[run.old_start : run.old_end]
    }
    new: dict[str, WaitRequest] = {}
    spliced: list[WaitRequest] = []
    at = 0
    for run in runs:
        rebuilt = _requests(lock, members[run.new_start : run.new_end], actors)
        new |= {request.node: request for request in rebuilt}
        spliced += requests[at : run.old_start]
        spliced += rebuilt
        at = run.old_end
    return (
        (*spliced, *requests[at:]),
        [request for node, request in new.items() if request != old.get(node)],
        [request for node, request in old.items() if request != new.get(node)],
    )


def _requests(lock: Lock, members: Iterable[Member], actors: Actors) -> tuple[WaitRequest, ...]:
    exempt = _exempt(lock)
    if exempt or lock.stranded or not actors.are_sessions:
        return tuple(
            [
                make_request(lock, member, actors, is_exempt=member.node in exempt)
                for member in members
            ]
        )
    return tuple(
        [  # nearly every request is of a session, and is made without a call here
            WaitRequest(member.node, session_text(stat.owner), member.mode, stat.czxid, stat.ctime)
            if (stat := member.znode.stat) and stat.owner
            else make_request(lock, member, actors, is_exempt=False)
            for member in members
        ]
    )


def _exempt(lock: Lock) -> frozenset[str]:
    """The nodes that hold although by the rule of their wait queue they would wait."""
    late = _late_holders(lock)
    is_plain = all(isinstance(queue, RankedQueue) and not queue.exempt for queue in lock.queues)
    if is_plain and not late:
        return frozenset()
    exempt = (member for member in lock.holders if lock.is_exempt(member))
    return frozenset([member.node for member in (*late, *exempt)])


def _late_holders(lock: Lock) -> Sequence[Member]:
    """The holders that would wait by the rule of their wait queue."""
    if lock.kind == "semaphore":  # there may be more leases out than the configuration says
        room = max(lock.leases - len(lock.obstacles), 0) if lock.leases else None
        return () if room is None else lock.holders[room:]
    if lock.kind in ("single", "lease", "election"):
        return [holder for source in lock.queues for holder in source.holders[1:]]
    return ()


def make_request(lock: Lock, member: Member, actors: Actors, *, is_exempt: bool) -> WaitRequest:
    actor, stat = actors.of(lock, member), member.znode.stat
    has_other_name = member.owner and session_of(actor) is None and not actors.are_sessions
    return WaitRequest(
        node=member.node,
        actor=actor,
        mode=member.mode,
        czxid=stat.czxid if stat else 0,
        since_ms=stat.ctime if stat else None,
        exempt=is_exempt,
        releases=not actor.startswith((UNOWNED, STRANDED)),
        session=session_text(member.owner) if has_other_name else None,
    )
