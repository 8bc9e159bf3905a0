"""Whom a request waits for, and whom those wait for, and so on."""

from collections.abc import Callable, Container

from zktop.model.waits.places import Places
from zktop.model.waits.state import Request
from zktop.model.waits.strand import Strand

_SHORT = 4


class Walk:
    """Collects in `seen` everybody ahead; does not look past those who are stuck anyway."""

    def __init__(
        self, strand_of: Callable[[str], Strand], places: Places, frozen: Container[str]
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

    def _last_place(self, lock: str, members: tuple[Request, ...], actor: str) -> int:
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
