"""Main waits: who waits in several queues is counted in one, where the wait is the oldest.

There may be tens of thousands of such waits, and they hardly change from one ranking to the next:
only the actors whose waits did are looked at again.
"""

from collections.abc import Iterable, Iterator, KeysView

from zktop.model.waits.graph import WaitGraph
from zktop.model.waits.state import Request
from zktop.model.waits.strand import Strand

Age = tuple[int, str, str]  # of a wait: czxid, lock and node, so that no two are equally old


class Mains:
    """A fold over the strands of a graph: the main wait of each actor that stands in one."""

    def __init__(self) -> None:
        """Begin with nobody waiting."""
        self._lines: dict[str, tuple[Strand, tuple[Request, ...]]] = {}
        self._mains: dict[str, Age] = {}

    def __contains__(self, lock: object) -> bool:
        """Tell whether somebody stood in this queue who had another place."""
        return lock in self._lines

    @property
    def actors(self) -> KeysView[str]:
        """Name those who have a main wait."""
        return self._mains.keys()

    def lock(self, actor: str) -> str | None:
        """Give the queue of an actor's main wait, if it waits and has several places."""
        main = self._mains.get(actor)
        return main[1] if main else None

    def oldest(self, actors: Iterable[str]) -> str:
        """Tell which of these, who all have a main wait, has waited longest there."""
        return min(actors, key=self._mains.__getitem__)

    def others(self, lock: str) -> Iterator[Request]:
        """Give the waits in a queue that are counted elsewhere."""
        _, waits = self._lines.get(lock, (None, ()))
        return (one for one in waits if self._mains[one.actor] != _age(lock, one))

    def look(self, graph: WaitGraph) -> set[str]:
        """Take in what changed; name the queues in which other waits may count now."""
        lines, self._lines = self._lines, {}
        locks: set[str] = set()
        actors: set[str] = set()
        for line in graph.strands():
            lock = line.queue.lock
            known = lines.pop(lock, None)
            if known is None or known[0] is not line:
                locks.add(lock)
                waits = tuple([one for one in line.members if not graph.holds(line.queue, one)])
                actors.update(_concerned(known[1] if known else (), waits))
                known = line, waits
            self._lines[lock] = known
        for lock, (_, waits) in lines.items():
            locks.add(lock)
            actors.update(_concerned(waits, ()))
        return locks | self._judged(graph, actors)

    def _judged(self, graph: WaitGraph, actors: set[str]) -> set[str]:
        """Find the main waits of these actors; name the queues that have lost or won one."""
        before = {(actor, self._mains.pop(actor, None)) for actor in actors}
        for lock in {lock for actor in actors for lock in graph.locks(actor)}:
            for wait in self._lines.get(lock, (None, ()))[1]:
                if wait.actor in actors:
                    age = _age(lock, wait)
                    self._mains[wait.actor] = min(age, self._mains.get(wait.actor, age))
        after = {(actor, self._mains.get(actor)) for actor in actors}
        return {main[1] for _, main in before ^ after if main is not None}


def _age(lock: str, wait: Request) -> Age:
    return wait.czxid, lock, wait.node


def _concerned(before: Iterable[Request], after: Iterable[Request]) -> set[str]:
    """Name who has come, has gone, or has been made again with other values."""
    return {one.actor for one in set(before) ^ set(after)}
