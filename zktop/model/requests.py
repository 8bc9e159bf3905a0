"""Locks in the terms of the wait graph: places become requests, lines become queues.

A lock of several lines, as of two libraries that do not see each other, becomes several queues.
Where one library counts the nodes of the other, waits cross the lines, and all of them become one
queue. Foreign children that somebody waits for stand in front: nobody will ever remove them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Final

import msgspec

from zktop.model.actors import Actors
from zktop.model.history.change import Change, everybody
from zktop.model.locks.lock import Line, Lock, Member
from zktop.model.locks.opening import folder_queues
from zktop.model.locks.queue import Queue as Regular
from zktop.model.one_request import KINDS, is_guessed, is_of, names_of, request_of
from zktop.model.strides import Split, splits
from zktop.model.waits.state import Kind, Passing, Queue, Request

_NOBODY: Final[frozenset[str]] = frozenset()
_SHARED: Final = ("mutex", "read-write")


class Lined(msgspec.Struct, frozen=True, gc=False):
    """A queue of the wait graph, the members it was made of, and who came and went since."""

    queue: Queue
    members: tuple[Member, ...]
    created: tuple[Request, ...] | Passing
    deleted: tuple[Request, ...]


class Known(msgspec.Struct, frozen=True, gc=False):
    """The queues as they are, the members that the long ones were made of, and what changed."""

    queues: Mapping[str, Queue]
    members: Mapping[str, tuple[Member, ...]]
    change: Change | None = None

    def apart(self, before: Sequence[Member], after: Sequence[Member]) -> Sequence[Split]:
        """Tell where two versions differ; who made the change may have walked along both."""
        change = self.change
        if (
            change is not None
            and change.apart is not None
            and everybody(change.before) is before
            and everybody(change.after) is after
        ):
            return change.apart
        return tuple(splits(before, after))


def queues(lock: Lock, actors: Actors, known: Known) -> Iterator[Lined]:
    """Give the queues of a lock, each as the next version of the known one of its name."""
    if lock.kind == "semaphore":
        yield _pool(lock, actors, known)
        return
    if lock.kind in _SHARED and any(folder_queues(lock.lines)):
        yield _together(lock, actors, known)
        return
    for name, line in zip(names_of(lock.path), lock.lines, strict=False):
        yield _queue(lock, line, name, actors, known)


def _pool(lock: Lock, actors: Actors, known: Known) -> Lined:
    """Holders first, then who waits: leases and the queue for them are one to the wait graph."""
    capacity = lock.leases or len(lock.holders)
    rules = Queue(
        lock=lock.path,
        kind="pool",
        requests=(),
        capacity=capacity or None,
        capacity_is="known" if lock.leases_are == "known" else "inferred",
        seen_zxid=lock.seen_zxid,
        guessed=is_guessed(lock),
    )
    members = (*lock.obstacles, *lock.holders, *lock.waiters)
    return _filled(rules, lock, members, actors, known)


def _together(lock: Lock, actors: Actors, known: Known) -> Lined:
    """Make one queue of several lines, in which each waits by the rule of its own line."""
    members = (*lock.obstacles, *sorted(lock.members, key=attrgetter("czxid")))
    rules = Queue(
        lock=lock.path,
        kind="conflict",
        requests=(),
        seen_zxid=lock.seen_zxid,
        conflicts=_conflicts(lock, lock.waiters),
        guessed=is_guessed(lock),
    )
    return _filled(rules, lock, members, actors, known)


def _conflicts(lock: Lock, waiters: Iterable[Member]) -> dict[str, tuple[str, ...]]:
    return {one.node: tuple(other.node for other in lock.blocked_by(one)) for one in waiters}


def _queue(lock: Lock, line: Line, name: str, actors: Actors, known: Known) -> Lined:
    kind = _kind(lock, line)
    members = tuple(line.members)
    if lock.obstacles:
        members = (*lock.obstacles, *members)
    conflicts: dict[str, tuple[str, ...]] | None = None
    if kind == "single":
        members = (*line.holders, *line.waiters)
    if kind == "conflict":
        conflicts = _conflicts(lock, line.waiters)
    rules = Queue(
        lock=name,
        kind=kind,
        requests=(),
        blocking=lock.blocking,
        seen_zxid=lock.seen_zxid,
        conflicts=conflicts,
        guessed=is_guessed(lock),
    )
    return _filled(rules, lock, members, actors, known)


def _kind(lock: Lock, line: Line) -> Kind:
    """Choose the rule of the wait graph; pairwise conflicts serve where no simple one does."""
    if lock.kind == "election":
        return "election"
    if lock.kind in ("single", "lease"):
        return "single"
    if isinstance(line, Regular) and line.regular:
        return KINDS[line.rule]
    return "conflict"


def _filled(
    rules: Queue,
    lock: Lock,
    members: tuple[Member, ...],
    actors: Actors,
    known: Known,
) -> Lined:
    """Put the requests in. What did not change is taken over as it is."""
    queue = known.queues.get(rules.lock)
    if queue is None:
        return _first(rules, lock, members, actors)
    before, requests = known.members.get(rules.lock), tuple(queue.requests)
    exempt = _exempt(lock)
    parts: Sequence[Split]
    if any(folder_queues(lock.lines)):  # what a member does may change though it stays the same
        parts = (Split(0, len(requests), 0, len(members)),)
    elif before is None:
        front = _standing(requests, members, actors, exempt)
        parts = (Split(front, len(requests) - front, front, len(members) - front),)
    else:
        parts = known.apart(before, members)
    old = {one.node: one for part in parts for one in requests[part.here : part.here + part.left]}

    def following(member: Member) -> Request:
        same, is_exempt = old.get(member.node), member.node in exempt
        is_usual = actors.are_sessions and member.node not in lock.stranded
        if same and is_usual and is_of(same, member, is_exempt=is_exempt):
            return same
        made = request_of(lock, member, actors, is_exempt=is_exempt)
        return same if same == made else made

    new = [[following(m) for m in members[p.there : p.there + p.joined]] for p in parts]
    stay = {id(request) for some in new for request in some}
    was = {id(request) for request in old.values()}
    return Lined(
        msgspec.structs.replace(rules, requests=_spliced(requests, parts, new)),
        members,
        tuple(request for some in new for request in some if id(request) not in was),
        tuple(request for request in old.values() if id(request) not in stay),
    )


def _spliced(
    requests: tuple[Request, ...], parts: Sequence[Split], new: Sequence[list[Request]]
) -> tuple[Request, ...]:
    """Put the new ones into the places of those that left."""
    spliced: list[Request] = []
    at = 0
    for part, some in zip(parts, new, strict=True):
        spliced += requests[at : part.here]
        spliced += some
        at = part.here + part.left
    return (*spliced, *requests[at:])


def _standing(
    requests: Sequence[Request],
    members: Sequence[Member],
    actors: Actors,
    exempt: frozenset[str],
) -> int:
    """Count how many at the front of a short queue are the same as before."""
    if exempt or not actors.are_sessions:
        return 0
    count = 0
    for request, member in zip(requests, members, strict=False):
        if request.node != member.node or not is_of(request, member, is_exempt=False):
            return count
        count += 1
    return count


def _first(rules: Queue, lock: Lock, members: tuple[Member, ...], actors: Actors) -> Lined:
    """Make all requests of a queue that was not there before."""
    exempt = _exempt(lock)
    requests = tuple(
        [request_of(lock, one, actors, is_exempt=one.node in exempt) for one in members]
    )
    return Lined(msgspec.structs.replace(rules, requests=requests), members, requests, ())


def _exempt(lock: Lock) -> frozenset[str]:
    if all(isinstance(line, Regular) and not line.exempt for line in lock.lines):
        return _NOBODY
    return frozenset([member.node for member in lock.holders if lock.is_exempt(member)])
