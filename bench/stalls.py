"""The slowest look at large worlds of several shapes, once the first report is there.

A screen shows nothing new during a look, so none may take longer than a tenth of a second. Times
are those of the processor. The first look is compared with that at the smallest size; sessions
have equally many places at each size, so that only the number of locks grows.
"""

import random
import time
from collections.abc import Callable, Iterator
from operator import attrgetter

from bench.figure import Figure
from bench.shapes import (
    Shape,
    crowd,
    nobody_watches,
    one_waits_everywhere,
    release,
    rings,
    services,
)
from bench.sizes import size
from zktop.app.garbage_collection import no_collections
from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact
from zktop.model.text import Text
from zktop.model.world.world import World

COUNTS = size((10_000, 30_000, 100_000), (20, 40, 60))
NEWCOMERS = 0x9000000  # the ids of new sessions
BATCH = 5_000  # facts, as a source reads them
BEGIN_MS = 1_700_000_000_000
WAITED_MS = 60_000  # before the first look: all holds are long
SETTLING = size(200, 5)  # looks at most, 50 ms apart
STILL = size(60, 3)  # looks, a second apart
CHANGES = size(100, 5)  # looks, 50 ms apart
TABLES = size(5, 1)  # new tables, each five seconds
SLOWEST_MS = 100.0
GROWTH = size(1.3, 100.0)
TURNS = size(2, 1)


def figures() -> Iterator[Figure]:
    """Look at one world after another."""
    smallest = 0.0
    for count in COUNTS:
        looks = min((_Looks(services(count)) for _ in range(TURNS)), key=attrgetter("first_s"))
        per_lock = 1e6 * looks.first_s / count
        smallest = smallest or per_lock
        name, of = f"first look, each of {count} locks", f"us for each of {COUNTS[0]}"
        yield Figure(f"stalls: {name}", per_lock, "us", smallest, of, GROWTH * smallest)
        yield from looks.figures(f"{count} locks of services")
    for name, shape in _shapes():
        yield from _Looks(shape).figures(name)
    number, actors = size((1_000, 100), (3, 5))
    rings_of = f"{number} rings of {actors} actors"
    yield from _Looks(rings(number, actors), changes=size(3, 3)).figures(rings_of)


def _shapes() -> Iterator[tuple[str, Shape]]:
    sessions = size(10_000, 50)
    yield f"one lock of {sessions} sessions", crowd(sessions)
    watches = size(40_000, 50)
    yield f"one session with {watches} watches", one_waits_everywhere(watches)
    locks = size(100_000, 20)
    yield f"{locks} locks whose waiters watch nothing", nobody_watches(locks)


class _Looks:
    """Looks at one world as a watch does, and times them."""

    def __init__(self, shape: Shape, changes: int = CHANGES) -> None:
        self._shape, self._chance, self._changes = shape, random.Random(3), changes
        self._now = BEGIN_MS + WAITED_MS
        self._newcomer = NEWCOMERS
        self._examiner = Examiner()
        with no_collections():  # as in a live run
            self._world = _read(shape.facts(BEGIN_MS))
            begun = time.process_time()
            self._examiner.look(self._world, self._now, thorough=False)
            self.first_s = time.process_time() - begun

    def figures(self, name: str) -> Iterator[Figure]:
        """The slowest look while nothing changes, after single changes, and after new tables."""
        settling = self._slowest(SETTLING, 50, is_over=lambda: not self._examiner.is_behind)
        found = {
            "nothing changes": max(settling, self._slowest(STILL, 1_000)),
            "a lock changes": self._slowest(self._changes, 50, self._release),
            "holders wait again": self._slowest(self._changes, 50, self._queue_again),
        }
        if self._shape.watched is not None:
            found["tables are new"] = self._slowest(TABLES, 5_000, self._tables)
        for when, slowest in found.items():
            first = 1_000 * self.first_s
            title = f"stalls: slowest look while {when}, {name}"
            yield Figure(title, slowest, "ms", first, "ms first look", SLOWEST_MS)

    def _slowest(
        self,
        looks: int,
        step_ms: int,
        changes: Callable[[], Iterator[AnyFact]] = lambda: iter(()),
        is_over: Callable[[], bool] = lambda: False,
    ) -> float:
        slowest = 0.0
        for _ in range(looks):
            if is_over():
                break
            self._now += step_ms
            facts = tuple(changes())
            begun = time.process_time()
            self._world = self._world.after(*facts)
            self._examiner.look(self._world, self._now, thorough=False)
            slowest = max(slowest, 1_000 * (time.process_time() - begun))
        return slowest

    def _release(self) -> Iterator[AnyFact]:
        """A holder leaves its lock, and a new session comes."""
        self._newcomer += 1
        return release(self._world, self._lock(), self._now, self._newcomer)

    def _queue_again(self) -> Iterator[AnyFact]:
        """A holder leaves its lock and waits for it; with its other locks, a deadlock may form."""
        return release(self._world, self._lock(), self._now)

    def _lock(self) -> Text:
        return self._chance.choice(self._shape.queues).lock

    def _tables(self) -> Iterator[AnyFact]:
        return self._shape.tables(self._now)


def _read(facts: Iterator[AnyFact]) -> World:
    world, batch = World(), []
    for fact in facts:
        batch.append(fact)
        if len(batch) == BATCH:
            world, batch = world.after(*batch), []
    return world.after(*batch)
