"""Watch tables by four-letter words alone: how complete they are, and how they delay clients.

A server without an AdminServer, ten thousand waiters that each watch the waiter before them, and a
zktop that reads the tables as often as allowed. A bystander reads and watches while zktop runs,
and while ctrl-z has stopped it.
"""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

from kazoo.client import KazooClient

from bench.figure import Figure
from bench.locks_at_rest import CONTENDERS, quiet
from bench.sizes import size

LOCKS = tuple(f"/bench-tables/lock-of-{number}" for number in range(size(2_500, 20)))
WAITERS = len(LOCKS) * (CONTENDERS - 1)
EACH_S = size(20.0, 1.0)
STOPS = size(20, 2)
ZKTOP = (sys.executable, "-m", "zktop")


def figures() -> Iterator[Figure]:
    """Start a server, let sessions queue up, and measure."""
    with quiet(LOCKS) as crowd:
        if crowd is None:
            return
        address, _ = crowd
        where = ("--hosts", address, "--root", f"{LOCKS[0].rpartition('/')[0]}/*")
        unknown = WAITERS - _count_confirmed(*where)
        what = "waiters, by words alone"
        yield Figure("waiters without a known watch", unknown, "", WAITERS, what, 0)
        yield from _bystander_figures(address, *where)


def _count_confirmed(*where: str) -> int:
    """The number of waiters whose watch a snapshot confirms."""
    command = (*ZKTOP, "snapshot", *where)
    snapshot = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    waiters = [one for lock in snapshot["locks"] for one in lock["waiters"]]
    return sum(one["watch"]["verdict"] == "confirmed" for one in waiters)


def _bystander_figures(address: str, *where: str) -> Iterator[Figure]:
    """The slowest answer to a bystander: alone, while zktop runs, and while zktop is stopped."""
    client = KazooClient(address, timeout=30)
    client.start()
    alone = _slowest(client, EACH_S)
    nothing = subprocess.DEVNULL
    with subprocess.Popen((*ZKTOP, "events", *where), stdout=nothing, stderr=nothing) as zktop:
        watched = _slowest(client, EACH_S)
        stopped = 0.0
        for _ in range(STOPS):
            zktop.send_signal(signal.SIGSTOP)
            stopped = max(stopped, _slowest(client, EACH_S / STOPS))
            zktop.send_signal(signal.SIGCONT)
            _slowest(client, 0.1)
        zktop.terminate()
    client.stop()
    client.close()
    name = "slowest answer to a bystander"
    yield Figure(f"{name}, tables by words", watched, "ms", alone, "ms without zktop")
    yield Figure(f"{name}, zktop stopped", stopped, "ms", alone, "ms without zktop")


def _slowest(client: KazooClient, seconds: float) -> float:
    """Read and watch for a while; return the milliseconds of the slowest."""
    slowest = 0.0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begun = time.perf_counter()
        client.get(LOCKS[0], watch=lambda _event: None)
        slowest = max(slowest, time.perf_counter() - begun)
    return slowest * 1000
