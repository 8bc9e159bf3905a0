"""The queue of a lock that was not there before, where it is a plain one as nearly all are.

Of ten thousand locks in order nobody asks for the requests: they are made where they are wanted.
"""

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Final, overload

from zktop.model.actors import Actors
from zktop.model.facts import Millis, Session, session_text
from zktop.model.locks.lock import Lock, Member
from zktop.model.locks.queue import Queue as Regular
from zktop.model.one_request import KINDS, is_guessed, of_session, request_of
from zktop.model.waits.state import Kind, Passing, Queue, Request

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
    def __getitem__(self, place: int) -> Request: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Request, ...]: ...
    def __getitem__(self, place: int | slice) -> Request | tuple[Request, ...]:
        """Make one request, or several."""
        if isinstance(place, slice):
            return tuple(map(of_session, self._members[place]))
        return of_session(self._members[place])

    def __iter__(self) -> Iterator[Request]:
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


def plain_queue(lock: Lock, actors: Actors, *, are_owned: bool = False) -> Queue | None:
    """Give the only queue of a lock that was not there before, where its line is a plain one.

    It may be known that each member has a session.
    """
    line = lock.lines[0] if len(lock.lines) == 1 else None
    if not isinstance(line, Regular) or not line.regular or line.exempt:
        return None
    if lock.kind not in _QUEUED or not actors.are_sessions:
        return None
    kind: Kind = "election" if lock.kind == "election" else KINDS[line.rule]
    # Who stands by in an election does not wait.
    unmade = _contenders(line, are_owned=are_owned) if kind != "election" else None
    return Queue(
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
    if line.rule == "first-n" or line.notes.readers or len(members) > MANY:
        return None
    return Contenders(members) if are_owned or all(map(attrgetter("owner"), members)) else None


def _of_sessions(lock: Lock, members: Sequence[Member], actors: Actors) -> tuple[Request, ...]:
    """Make the requests of members of whom none is exempt; nearly all belong to sessions."""
    return tuple(
        [
            of_session(one) if one.owner else request_of(lock, one, actors, is_exempt=False)
            for one in members
        ]
    )
