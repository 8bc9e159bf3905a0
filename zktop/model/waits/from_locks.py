"""Locks in the terms of the wait graph: places become requests, lines become queues.

A lock of several lines, as of two libraries that do not see each other, becomes several queues.
Where one library counts the nodes of the other, waits cross the lines, and all of them become one
queue. Foreign children that somebody waits for stand in front: nobody will ever remove them.

The queue of a lock that was not there before, where it is a plain one as nearly all are.

Of ten thousand locks in order nobody asks for the requests: they are made where they are wanted.

One place in a lock as a request: what the wait graph has to know of it, and of its queue.

A lock of several lines has several queues, told apart by a suffix that no path can have.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from operator import attrgetter
from typing import Final, overload

import msgspec

from zktop.model.actors import STRANDED, UNOWNED, Actors, session_of
from zktop.model.facts import Millis, Session, session_text
from zktop.model.history.change import LockChange, everybody
from zktop.model.locks.lock import Lock, LockQueue, Member
from zktop.model.locks.open_folder import folder_queues
from zktop.model.locks.queue import RankedQueue as Regular
from zktop.model.waits.state import Passing, QueueKind, WaitQueue, WaitRequest
from zktop.model.world.sequence_diff import Split, splits

KINDS: Final[dict[str, QueueKind]] = {
    "first": "exclusive",
    "read-write": "read-write",
    "first-n": "pool",
}
_LINE: Final = "\0"  # between a path and the number of a line


def queue_names(path: str, first: int = 0) -> Iterator[str]:
    """Give the names of a lock's queues, one after another, without end."""
    return (f"{path}{_LINE}{number}" if number else path for number in count(first))


def lock_path(name: str) -> str:
    """Give the lock that a queue belongs to.

    >>> lock_path("/locks/a"), lock_path("/locks/a" + chr(0) + "1")
    ('/locks/a', '/locks/a')
    """
    return name.partition(_LINE)[0]


def of_session(member: Member) -> WaitRequest:
    """Make the request of a member that a session owns."""
    actor = session_text(member.owner)
    return WaitRequest(member.node, actor, member.mode, member.czxid, member.ctime)


def make_request(lock: Lock, member: Member, actors: Actors, *, is_exempt: bool) -> WaitRequest:
    """Make the request of whoever stands there."""
    actor, stat = actors.of(lock, member), member.znode.stat
    return WaitRequest(
        node=member.node,
        actor=actor,
        mode=member.mode,
        czxid=stat.czxid if stat else 0,
        since_ms=stat.ctime if stat else None,
        exempt=is_exempt,
        releases=not actor.startswith((UNOWNED, STRANDED)),
        session=None if actors.are_sessions else _session_behind(member, actor),
    )


def _session_behind(member: Member, actor: str) -> str | None:
    """Give the session of a place whose actor is called otherwise."""
    if not member.owner or session_of(actor) is not None:
        return None
    return session_text(member.owner)


def is_unchanged(request: WaitRequest, member: Member, *, is_exempt: bool) -> bool:
    """Tell whether a session's request needs not be made again; its znode never changes owner."""
    stat = member.znode.stat
    return (
        stat is not None
        and request.czxid == stat.czxid
        and stat.owner != 0
        and request.releases
        and request.mode == member.mode
        and request.exempt == is_exempt
    )


def is_guessed(lock: Lock) -> bool:
    """Tell whether the lock's layout is not certain."""
    return "low-confidence" in lock.warnings


_NOBODY: Final[frozenset[str]] = frozenset()
_SHARED: Final = ("mutex", "read-write")


class QueueUpdate(msgspec.Struct, frozen=True, gc=False):
    """A queue of the wait graph, the members it was made of, and who came and went since."""

    queue: WaitQueue
    members: tuple[Member, ...]
    created: tuple[WaitRequest, ...] | Passing
    deleted: tuple[WaitRequest, ...]


class KnownQueues(msgspec.Struct, frozen=True, gc=False):
    """The queues as they are, the members that the long ones were made of, and what changed."""

    queues: Mapping[str, WaitQueue]
    members: Mapping[str, tuple[Member, ...]]
    change: LockChange | None = None

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


def queues(lock: Lock, actors: Actors, known: KnownQueues) -> Iterator[QueueUpdate]:
    """Give the queues of a lock, each as the next version of the known one of its name."""
    if lock.kind == "semaphore":
        yield _pool(lock, actors, known)
        return
    if lock.kind in _SHARED and any(folder_queues(lock.queues)):
        yield _together(lock, actors, known)
        return
    for name, line in zip(queue_names(lock.path), lock.queues, strict=False):
        yield _queue(lock, line, name, actors, known)


def _pool(lock: Lock, actors: Actors, known: KnownQueues) -> QueueUpdate:
    """Holders first, then who waits: leases and the queue for them are one to the wait graph."""
    capacity = lock.leases or len(lock.holders)
    rules = WaitQueue(
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


def _together(lock: Lock, actors: Actors, known: KnownQueues) -> QueueUpdate:
    """Make one queue of several lines, in which each waits by the rule of its own line."""
    members = (*lock.obstacles, *sorted(lock.members, key=attrgetter("czxid")))
    rules = WaitQueue(
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


def _queue(
    lock: Lock, line: LockQueue, name: str, actors: Actors, known: KnownQueues
) -> QueueUpdate:
    kind = _kind(lock, line)
    members = tuple(line.members)
    if lock.obstacles:
        members = (*lock.obstacles, *members)
    conflicts: dict[str, tuple[str, ...]] | None = None
    if kind == "single":
        members = (*line.holders, *line.waiters)
    if kind == "conflict":
        conflicts = _conflicts(lock, line.waiters)
    rules = WaitQueue(
        lock=name,
        kind=kind,
        requests=(),
        blocking=lock.blocking,
        seen_zxid=lock.seen_zxid,
        conflicts=conflicts,
        guessed=is_guessed(lock),
    )
    return _filled(rules, lock, members, actors, known)


def _kind(lock: Lock, line: LockQueue) -> QueueKind:
    """Choose the rule of the wait graph; pairwise conflicts serve where no simple one does."""
    if lock.kind == "election":
        return "election"
    if lock.kind in ("single", "lease"):
        return "single"
    if isinstance(line, Regular) and line.regular:
        return KINDS[line.rule]
    return "conflict"


def _filled(
    rules: WaitQueue,
    lock: Lock,
    members: tuple[Member, ...],
    actors: Actors,
    known: KnownQueues,
) -> QueueUpdate:
    """Put the requests in. What did not change is taken over as it is."""
    queue = known.queues.get(rules.lock)
    if queue is None:
        return _first(rules, lock, members, actors)
    before, requests = known.members.get(rules.lock), tuple(queue.requests)
    exempt = _exempt(lock)
    parts: Sequence[Split]
    if any(folder_queues(lock.queues)):  # what a member does may change though it stays the same
        parts = (Split(0, len(requests), 0, len(members)),)
    elif before is None:
        front = _standing(requests, members, actors, exempt)
        parts = (Split(front, len(requests) - front, front, len(members) - front),)
    else:
        parts = known.apart(before, members)
    old = {one.node: one for part in parts for one in requests[part.here : part.here + part.left]}

    def following(member: Member) -> WaitRequest:
        same, is_exempt = old.get(member.node), member.node in exempt
        is_usual = actors.are_sessions and member.node not in lock.stranded
        if same and is_usual and is_unchanged(same, member, is_exempt=is_exempt):
            return same
        made = make_request(lock, member, actors, is_exempt=is_exempt)
        return same if same == made else made

    new = [[following(m) for m in members[p.there : p.there + p.joined]] for p in parts]
    stay = {id(request) for some in new for request in some}
    was = {id(request) for request in old.values()}
    return QueueUpdate(
        msgspec.structs.replace(rules, requests=_spliced(requests, parts, new)),
        members,
        tuple(request for some in new for request in some if id(request) not in was),
        tuple(request for request in old.values() if id(request) not in stay),
    )


def _spliced(
    requests: tuple[WaitRequest, ...], parts: Sequence[Split], new: Sequence[list[WaitRequest]]
) -> tuple[WaitRequest, ...]:
    """Put the new ones into the places of those that left."""
    spliced: list[WaitRequest] = []
    at = 0
    for part, some in zip(parts, new, strict=True):
        spliced += requests[at : part.here]
        spliced += some
        at = part.here + part.left
    return (*spliced, *requests[at:])


def _standing(
    requests: Sequence[WaitRequest],
    members: Sequence[Member],
    actors: Actors,
    exempt: frozenset[str],
) -> int:
    """Count how many at the front of a short queue are the same as before."""
    if exempt or not actors.are_sessions:
        return 0
    count = 0
    for request, member in zip(requests, members, strict=False):
        if request.node != member.node or not is_unchanged(request, member, is_exempt=False):
            return count
        count += 1
    return count


def _first(
    rules: WaitQueue, lock: Lock, members: tuple[Member, ...], actors: Actors
) -> QueueUpdate:
    """Make all requests of a queue that was not there before."""
    exempt = _exempt(lock)
    requests = tuple(
        [make_request(lock, one, actors, is_exempt=one.node in exempt) for one in members]
    )
    return QueueUpdate(msgspec.structs.replace(rules, requests=requests), members, requests, ())


def _exempt(lock: Lock) -> frozenset[str]:
    if all(isinstance(line, Regular) and not line.exempt for line in lock.queues):
        return _NOBODY
    return frozenset([member.node for member in lock.holders if lock.is_exempt(member)])


MANY: Final = 64  # members; a shorter queue is made anew as quickly
_QUEUED: Final = ("mutex", "read-write", "election")


class Contenders(Passing):
    """Requests of members that each have a session."""

    __slots__ = ("_members",)

    def __init__(self, members: tuple[Member, ...]) -> None:
        """Keep the members; what they are to the wait graph is worked out each time."""
        self._members = members

    def __len__(self) -> int:
        """Count them."""
        return len(self._members)

    @overload
    def __getitem__(self, place: int) -> WaitRequest: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[WaitRequest, ...]: ...
    def __getitem__(self, place: int | slice) -> WaitRequest | tuple[WaitRequest, ...]:
        """Make one request, or several."""
        if isinstance(place, slice):
            return tuple(map(of_session, self._members[place]))
        return of_session(self._members[place])

    def __iter__(self) -> Iterator[WaitRequest]:
        """Make all of them, one by one."""
        return map(of_session, self._members)

    def __eq__(self, other: object) -> bool:
        """Compare as the tuple of the requests does."""
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        """Hash as the tuple of the requests does."""
        return hash(tuple(self))

    @property
    def sessions(self) -> list[Session]:
        """Give the owners."""
        return [stat.owner for one in self._members if (stat := one.znode.stat)]

    @property
    def actor(self) -> str:
        """Give the first owner."""
        stat = self._members[0].znode.stat
        return session_text(stat.owner if stat else 0)

    def waited_since_ms(self) -> list[Millis]:
        """Give the times at which those behind the first were created."""
        found: list[Millis] = []
        for one in self._members[1:]:  # a comprehension takes twice as long over so few
            stat = one.znode.stat
            if stat is not None:
                found.append(stat.ctime)
        return found


def plain_queue(lock: Lock, actors: Actors, *, are_owned: bool = False) -> WaitQueue | None:
    """Give the only queue of a lock that was not there before, where its line is a plain one.

    It may be known that each member has a session.
    """
    line = lock.queues[0] if len(lock.queues) == 1 else None
    if not isinstance(line, Regular) or not line.regular or line.exempt:
        return None
    if lock.kind not in _QUEUED or not actors.are_sessions:
        return None
    kind: QueueKind = "election" if lock.kind == "election" else KINDS[line.rule]
    # Who stands by in an election does not wait.
    unmade = _contenders(line, are_owned=are_owned) if kind != "election" else None
    return WaitQueue(
        lock.path,
        kind,
        _of_sessions(lock, line.members, actors) if unmade is None else unmade,
        blocking=lock.blocking,
        seen_zxid=lock.seen_zxid,
        guessed=is_guessed(lock),
    )


def _contenders(line: Regular, *, are_owned: bool) -> Contenders | None:
    """Leave the requests to be made where they are wanted, unless there are many to make anew."""
    members = line.members
    if line.rule == "first-n" or line.oddities.readers or len(members) > MANY:
        return None
    return Contenders(members) if are_owned or all(map(attrgetter("owner"), members)) else None


def _of_sessions(lock: Lock, members: Sequence[Member], actors: Actors) -> tuple[WaitRequest, ...]:
    """Make the requests of members of whom none is exempt; nearly all belong to sessions."""
    return tuple(
        [
            of_session(one) if one.owner else make_request(lock, one, actors, is_exempt=False)
            for one in members
        ]
    )
