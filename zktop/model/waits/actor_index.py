"""Which actor stands in which queues, kept so that one changed member costs one look-up.

That holds for an actor with ten thousand places, too.

An actor with a single place is a mere passer-by: it goes on as soon as it is granted, so whoever
stands behind it in effect waits for those before it. Only the others, the *tangled* ones, decide
about deadlocks, and there are few of them.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from zktop.model.waits.state import WaitQueue, WaitRequest

_STICKY_KINDS = ("election", "conflict")
_SESSION: Final = re.compile(r"0x[1-9a-f][0-9a-f]{0,15}")

Key = str | int  # an actor, or the session that it is: of those there are many


def is_sticky(queue: WaitQueue, request: WaitRequest) -> bool:
    """Whether this place makes its actor tangled all alone."""
    return not request.releases or queue.kind in _STICKY_KINDS


class ActorIndex:
    """A fold: actor to lock paths. `touched` collects the locks whose tangled members changed."""

    def __init__(self) -> None:
        """Start with nobody anywhere."""
        # The path alone for the many who have one place only: no object each. For the others
        # the number of places in each queue.
        self._locks: dict[Key, str | dict[str, int]] = {}
        self._sticky: dict[str, int] = {}
        self._knotted: dict[str, int] = {}
        self.tangled: set[str] = set()
        self.nobody: set[str] = set()
        self.touched: set[str] = set()

    def __len__(self) -> int:
        """How many actors stand somewhere."""
        return len(self._locks)

    def __iter__(self) -> Iterator[str]:
        """Every actor that stands somewhere."""
        return (f"{key:#x}" if isinstance(key, int) else key for key in self._locks)

    def locks(self, actor: str) -> Collection[str]:
        """List the queues the actor stands in, each once."""
        found = self._locks.get(_key(actor), {})
        return (found,) if isinstance(found, str) else found.keys()

    def number(self, actor: str) -> int:
        """Count the places of an actor, in whichever queues."""
        found = self._locks.get(_key(actor), {})
        return 1 if isinstance(found, str) else sum(found.values())

    def is_knotted(self, lock: str) -> bool:
        """Whether a tangled actor stands in this queue."""
        return lock in self._knotted

    @property
    def knotted(self) -> Iterable[str]:
        """The locks in which tangled actors stand."""
        return self._knotted.keys()

    def let_pass(self, lock: str, sessions: Sequence[int]) -> bool:
        """Take note of sessions none of which stands anywhere else; False when one does."""
        locks = self._locks
        if len(set(sessions)) < len(sessions) or not locks.keys().isdisjoint(sessions):
            return False
        for session in sessions:
            locks[session] = lock
        return True

    def enter_all(self, queue: WaitQueue, created: Iterable[WaitRequest]) -> list[WaitRequest]:
        """Take note of many new members; give those whose actors are tangled now."""
        tangled = []
        for request in created:
            self.enter(queue, request)
            if request.actor in self.tangled:
                tangled.append(request)
        return tangled

    def enter(self, queue: WaitQueue, request: WaitRequest) -> None:
        """Take note of a new member."""
        actor, lock = request.actor, queue.lock
        if not request.releases:
            self.nobody.add(actor)
        key = _key(actor)
        before = self._locks.get(key)
        if is_sticky(queue, request):
            self._sticky[actor] = self._sticky.get(actor, 0) + 1
        elif before is None:
            self._locks[key] = lock
            return
        if before is None:
            self._locks[key] = lock
        else:
            if isinstance(before, str):
                before = self._locks[key] = {before: 1}
            before[lock] = before.get(lock, 0) + 1
        self._review(actor, joined=lock)

    def leave(self, queue: WaitQueue, request: WaitRequest) -> None:
        """Take note of a member that is gone."""
        actor, lock = request.actor, queue.lock
        if not request.releases:
            self.nobody.discard(actor)
        if is_sticky(queue, request) and self._sticky[actor] == 1:
            del self._sticky[actor]
        elif is_sticky(queue, request):
            self._sticky[actor] -= 1
        self._take(actor, lock)
        self._review(actor, left=lock)

    def _take(self, actor: str, lock: str) -> None:
        """Take one place away."""
        key = _key(actor)
        here = self._locks[key]
        if isinstance(here, str):
            del self._locks[key]
            return
        here[lock] -= 1
        if not here[lock]:
            del here[lock]
        if len(here) == 1 and 1 in here.values():
            (self._locks[key],) = here

    def _review(self, actor: str, joined: str | None = None, left: str | None = None) -> None:
        """Move the actor into or out of the tangled, and count it in its queues accordingly."""
        places = self._locks.get(_key(actor))
        is_tangled = isinstance(places, dict) or actor in self._sticky
        here = self.locks(actor)
        if actor not in self.tangled:
            if is_tangled:
                self.tangled.add(actor)
                self._count(here, 1)
        elif is_tangled:
            is_first = isinstance(places, dict) and joined is not None and places[joined] == 1
            self._count((joined,) if joined else (), int(is_first))
            self._count((left,) if left else (), -int(left not in here))
        else:
            self.tangled.discard(actor)
            self._count({*here, left} if left else here, -1)

    def _count(self, locks: Iterable[str], step: int) -> None:
        """Count the tangled actors of each queue, not their places."""
        for lock in locks:
            number = self._knotted.get(lock, 0) + step
            if number:
                self._knotted[lock] = number
            else:
                del self._knotted[lock]
            self.touched.add(lock)


def _key(actor: str) -> Key:
    """Give the number of a session, which takes half the room of its name; else the name."""
    return int(actor, 16) if _SESSION.fullmatch(actor) else actor
