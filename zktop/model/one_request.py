"""One place in a lock as a request: what the wait graph has to know of it, and of its queue.

A lock of several lines has several queues, told apart by a suffix that no path can have.
"""

from collections.abc import Iterator
from itertools import count
from typing import Final

from zktop.model.actors import NOBODY, STRANDED, Actors, session_of
from zktop.model.facts import session_text
from zktop.model.locks.lock import Lock, Member
from zktop.model.waits.state import Kind, Request

KINDS: Final[dict[str, Kind]] = {
    "first": "exclusive",
    "read-write": "read-write",
    "first-n": "pool",
}
_LINE: Final = "\0"  # between a path and the number of a line


def names_of(path: str, first: int = 0) -> Iterator[str]:
    """Give the names of a lock's queues, one after another, without end."""
    return (f"{path}{_LINE}{number}" if number else path for number in count(first))


def path_of(name: str) -> str:
    """Give the lock that a queue belongs to.

    >>> path_of("/locks/a"), path_of("/locks/a" + chr(0) + "1")
    ('/locks/a', '/locks/a')
    """
    return name.partition(_LINE)[0]


def of_session(member: Member) -> Request:
    """Make the request of a member that a session owns."""
    actor = session_text(member.owner)
    return Request(member.node, actor, member.mode, member.czxid, member.ctime)


def request_of(lock: Lock, member: Member, actors: Actors, *, is_exempt: bool) -> Request:
    """Make the request of whoever stands there."""
    actor, stat = actors.of(lock, member), member.znode.stat
    return Request(
        node=member.node,
        actor=actor,
        mode=member.mode,
        czxid=stat.czxid if stat else 0,
        since_ms=stat.ctime if stat else None,
        exempt=is_exempt,
        releases=not actor.startswith((NOBODY, STRANDED)),
        session=None if actors.are_sessions else _session_behind(member, actor),
    )


def _session_behind(member: Member, actor: str) -> str | None:
    """Give the session of a place whose actor is called otherwise."""
    if not member.owner or session_of(actor) is not None:
        return None
    return session_text(member.owner)


def is_of(request: Request, member: Member, *, is_exempt: bool) -> bool:
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
