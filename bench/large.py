"""A hundred thousand locks of five sessions each on a real server, and two smaller numbers.

The shape is the same at each size, a client for each hundred locks, so that only the number grows:
what a lock costs at 100,000 is compared with what it costs at 10,000 in the same run.
"""

import time
from collections.abc import Iterator, Sequence

from kazoo.client import KazooClient

from bench.cost import Results, following, results_after, share_of_core
from bench.figure import (
    IMPORTED,
    IMPORTS,
    Figure,
    memory_after,
    processor_seconds,
    shortest_in_turns,
)
from bench.live import time_first_report
from bench.locks_at_rest import CONTENDERS, quiet
from bench.many_sessions import churn
from bench.reading import time_bare_reading
from bench.sizes import size

COUNTS = size((10_000, 30_000, 100_000), (20, 40, 60))
LOCKS_PER_CLIENT = size(100, 2)
ROOT = "/large/locks"
SERVER_MB = size(4_000, 512)
MEMORY_ROOM_MB = 700.0  # above the floor, at the largest size
FACTORS = size((4.0, 5.0, 5.0), (100.0, 100.0, 100.0))  # of the bare reading, at most
GROWTH = 1.3  # of the cost of a lock, at most
TURNS = size(2, 1)
SETTLED_S = size(60.0, 0.0)
REST_S = size(15.0, 1.5)  # in which zktop looks at least once
CHANGES_PER_S = size(5_000, 100)
CHURN_S = size(10.0, 0.5)
LAG_S = size(10.0, 0.5)


def figures() -> Iterator[Figure]:
    """Fill a new server for each size, and measure."""
    floor = memory_after(IMPORTS)
    smallest: Results | None = None
    for count, factor in zip(COUNTS, FACTORS, strict=True):
        locks = [f"{ROOT}/lock-of-{number}" for number in range(count)]
        memory_mb = max(1024, SERVER_MB * count // COUNTS[-1])
        with quiet(locks, max(count // LOCKS_PER_CLIENT, 10), memory_mb) as crowd:
            if crowd is None:
                return
            address, _ = crowd
            yield _first_report(address, count, factor)
            with following("ours", address, "*", root=ROOT) as (begin, follower):
                if count == COUNTS[-1]:
                    yield _at_rest(address, follower.pid, count)
                spent = begin | results_after(follower, 0.0)
            smallest = smallest or spent
            yield from _growth(spent, smallest, count)
            if count == COUNTS[-1]:
                name = f"large: memory of a watch, {count} locks"
                most = floor + MEMORY_ROOM_MB
                yield Figure(name, spent["memory_mb"], "MB", floor, IMPORTED, most)
                yield from _under_load(address, locks)


def _first_report(address: str, count: int, factor: float) -> Figure:
    client = KazooClient(address, timeout=30)
    client.start()
    try:
        bare, ours = shortest_in_turns(
            lambda: time_bare_reading(client, ROOT),
            lambda: time_first_report(address, ROOT, count),
            turns=TURNS,
        )
    finally:
        client.stop()
        client.close()
    name = f"large: first report {count}x{CONTENDERS}"
    return Figure(name, ours, "s", bare, "s bare MultiRead", factor * bare)


def _growth(spent: Results, smallest: Results, count: int) -> Iterator[Figure]:
    """What one lock costs, compared with one of the fewest locks."""
    costs = {
        "processor of the first report": (spent["first_cpu"], smallest["first_cpu"], 1e6, "us"),
        "memory": (_memory(spent), _memory(smallest), 1024.0, "kB"),
    }
    for name, (value, first, factor, unit) in costs.items():
        per_lock, of_few = factor * value / count, factor * first / COUNTS[0]
        yield Figure(
            f"large: {name} for each of {count} locks",
            per_lock,
            unit,
            of_few,
            f"{unit} for each of {COUNTS[0]}",
            size(GROWTH, 100.0) * of_few,
        )


def _memory(spent: Results) -> float:
    return float(spent["memory_mb"] - spent["imported_mb"])


def _at_rest(address: str, pid: int, count: int) -> Figure:
    """Measure when findings have been examined a few times, and are left alone for longer."""
    with following("bare", address, root=ROOT) as (_, follower):
        floor = share_of_core(results_after(follower, REST_S))
    time.sleep(SETTLED_S)
    before = processor_seconds(pid)
    time.sleep(REST_S)
    share = 100 * (processor_seconds(pid) - before) / REST_S
    name = f"large: processor at rest, {count} locks"
    return Figure(name, share, "%", floor, "% bare watch", floor + size(1, 100))


def _under_load(address: str, locks: Sequence[str]) -> Iterator[Figure]:
    """Count the changes that were not seen, and the processor that seeing them takes."""
    shares, made, seen = {}, 0, 0
    for who in ("bare", "ours"):
        with following(who, address, "*", root=ROOT) as (_, follower):
            with churn(address, locks, CHANGES_PER_S) as changes:
                time.sleep(CHURN_S)
            spent = results_after(follower, LAG_S)  # it may lag, but must not lose any
            shares[who] = 100 * spent["cpu"] / CHURN_S
            made, seen = changes[0], spent.get("changes", 0)
    where = f"{made / CHURN_S:.0f} changes/s in {len(locks)} locks"
    yield Figure(f"large: processor at {where}", shares["ours"], "%", shares["bare"], "% bare")
    name = f"large: changes unseen of {CHANGES_PER_S}/s"
    yield Figure(name, made - seen, "", made, "changes made", 0)
