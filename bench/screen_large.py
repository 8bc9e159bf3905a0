"""The screen on a real server with many locks: its first locks, its whole picture, its memory.

The program draws in a terminal that this process reads. Times count from its start, which takes
half a second; the budget for the first locks has room for that.
"""

import os
import sys
import time
from collections.abc import Iterator

from kazoo.client import KazooClient

from bench.figure import (
    IMPORTED,
    IMPORTS,
    Figure,
    memory_after,
    memory_mb,
    processor_seconds,
)
from bench.locks_at_rest import quiet
from bench.reading import time_bare_reading
from bench.screen import BARE_APP, drain, in_pty, processor_of
from bench.sizes import size
from zktop.ui.screens.common.numbers_and_times import with_spaces

COUNTS = size((10_000, 30_000, 100_000), (60,))
FACTOR = size(7.0, 1000.0)  # of the bare reading, at most
FIRST_S = size(2.5, 60.0)  # from the start of the program
ROOM_MB = 700.0  # above the floor
CALM_S = size(130.0, 1.0)  # all is examined after a minute; then ages are drawn less often
REST_S = size(120.0, 0.5)  # in which every table is read once
SERVER_MB = 4_000
ROOT = "/bench/locks"


def figures() -> Iterator[Figure]:
    """Measure with more and more locks, each number on a server of its own."""
    bare = memory_after(IMPORTS)
    rest = processor_of([sys.executable, "-c", BARE_APP], b"ready")
    for count in COUNTS:
        with quiet([f"{ROOT}/lock-of-{n}" for n in range(count)], memory_mb=SERVER_MB) as crowd:
            if crowd is not None:
                yield from _started(crowd[0], count, bare, rest)


def _started(address: str, count: int, bare_mb: float, bare_rest: float) -> Iterator[Figure]:
    """Start the program on this server."""
    client = KazooClient(address, timeout=30)
    client.start()
    floor = min(time_bare_reading(client, ROOT) for _ in range(2))
    client.stop()
    client.close()
    begun = time.perf_counter()
    command = (sys.executable, "-m", "zktop", "--hosts", address, "--root", f"{ROOT}/*")
    with in_pty(command) as (screen, process):
        whole = f"{with_spaces(count)} · worst".encode()
        times = dict(_first_seen(screen, (b"lock-of-", whole)))
        drain(screen, CALM_S)
        used = processor_seconds(process.pid)
        drain(screen, REST_S)
        rest = 100 * (processor_seconds(process.pid) - used) / REST_S
        memory = memory_mb(process.pid)
    what = "s bare MultiRead"
    first = times[b"lock-of-"] - begun
    yield Figure(f"first of {count} locks on screen", first, "s", floor, what, FIRST_S)
    most = FACTOR * floor if count == COUNTS[-1] else None  # few are read before the first frame
    yield Figure(f"all of {count} locks on screen", times[whole] - begun, "s", floor, what, most)
    name = f"screen processor after {count} locks"
    yield Figure(name, rest, "%", bare_rest, "% bare Textual app", bare_rest + 1)
    name = f"screen memory with {count} real locks"
    yield Figure(name, memory, "MB", bare_mb, IMPORTED, bare_mb + ROOM_MB)


def _first_seen(screen: int, words: tuple[bytes, ...]) -> Iterator[tuple[bytes, float]]:
    """Read the terminal until all of these words have been on it; yield when each came."""
    seen, left = b"", set(words)
    while left:
        seen += os.read(screen, 65536)
        now = time.perf_counter()
        for one in [word for word in left if word in seen]:
            left.remove(one)
            yield one, now
