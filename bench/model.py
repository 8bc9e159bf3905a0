"""The model at scale: a first report, a report after one change, and memory."""

import random
import time
from collections.abc import Iterator
from statistics import median, quantiles

from bench.ensemble import EACH, LOCKS, NOW, SEEN, contender, facts, kazoo_name, lock
from bench.figure import IMPORTED, IMPORTS, MEMORY_ROOM_MB, Figure, memory_after
from bench.sizes import size
from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Gone, join
from zktop.model.text import Text
from zktop.model.world.world import World

CHANGES = size(100, 10)
LARGE = size(10_000, 100)


def figures() -> Iterator[Figure]:
    """Measure all of it."""
    chance = random.Random(2)
    world = World().after(*facts(), *lock(Text("/locks/large"), LARGE, SEEN - LARGE - 1, chance))
    examiner = Examiner()
    started = time.perf_counter()
    examiner.look(world, NOW + 1000)
    nothing = (time.perf_counter() - started) * 1000
    locks = f"{LOCKS + 1} locks"
    yield Figure("report_from_nothing", nothing, "ms", nothing, f"itself, {locks}")
    for name, path in (("small", "/locks/l00077"), ("large", "/locks/large")):
        world, taken = _time_changes(examiner, world, Text(path), chance)
        members = EACH if name == "small" else LARGE
        most = nothing / 50
        yield Figure(
            f"report_after_a_change_{name}", median(taken), "ms", nothing, "from nothing", most
        )
        p99 = quantiles(taken, n=100)[98]
        yield Figure(f"report_after_a_change_{name}_p99", p99, "ms", nothing, f"{members} members")
    yield _memory()


def _time_changes(
    examiner: Examiner, world: World, path: Text, chance: random.Random
) -> tuple[World, list[float]]:
    """Delete and create contenders of one lock; time each new world and its report, in ms."""
    taken = []
    for step in range(CHANGES):
        at = NOW + 2000 + 50 * step
        fact = _change(world, path, step, at, chance)
        started = time.perf_counter()
        world = world.after(fact)
        examiner.look(world, at, thorough=False)
        taken.append((time.perf_counter() - started) * 1000)
    return world, taken


def _change(world: World, path: Text, step: int, at: int, chance: random.Random) -> AnyFact:
    zxid = world.zxid + 1
    if step % 2:
        return contender(join(path, kazoo_name(chance, 100_000 + step)), zxid, chance, at)
    holder = min(world.family(path), key=lambda znode: znode.name[-10:])
    return Gone(path=join(path, holder.name), zxid=zxid, at=at)


def _memory() -> Figure:
    floor, whole = memory_after(IMPORTS), memory_after(IMPORTS + _REPORT)
    return Figure(f"memory_of_{LOCKS}_locks", whole, "MB", floor, IMPORTED, floor + MEMORY_ROOM_MB)


_REPORT = """
from bench.ensemble import NOW, facts
from zktop.model.examiner import Examiner
from zktop.model.world.world import World
world = World()
batch = []
for fact in facts():  # in batches, as a source reads them
    batch.append(fact)
    if len(batch) == 5000:
        world, batch = world.after(*batch), []
world = world.after(*batch)
batch = []
examiner = Examiner()
report = examiner.look(world, NOW + 1000)
"""
