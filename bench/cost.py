"""The cost of watching for zktop, the server and other clients, at rest and under load.

The process that follows the locks is separate, so that its cost can be measured. The bystander is
separate too: it would otherwise wait for the process that makes the changes.

The bystander must be slowed by the load on the server, not by the small number of cores in the
bench. So it, the server and the process that makes the changes get a higher priority than zktop.
Two stand-ins for zktop show that this hides nothing: one is as busy but sends no requests, and one
sends as many requests, each of them large.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from statistics import median
from typing import Any

from kazoo.client import KazooClient

from bench.figure import IMPORTED, IMPORTS, MEMORY_ROOM_MB, Figure, memory_after
from bench.live import COUNTS, SIZES, crowded_server
from bench.many_sessions import churn
from bench.priority import high_priority
from bench.reading import percentile
from bench.sizes import size

ROOT = f"/bench-{COUNTS[-1]}"
LOCKS = tuple(f"{ROOT}/locks/lock-of-{number}" for number in range(COUNTS[-1]))
LARGE = (f"{ROOT}/sizes/of-{SIZES[-1]}",)
BUSY = size((10, 270), (10,))  # locks that change
REST_S = size(15.0, 1.5)  # in which zktop looks at least once
CHURN_S = size(10.0, 0.5)
LAG_S = size(8.0, 0.5)
TURNS = size(3, 1)
AUDITS_PER_S = 0.4  # two requests in ten seconds check for changed ACLs

Results = dict[str, Any]


def figures() -> Iterator[Figure]:
    with crowded_server((len(LOCKS),)) as crowd:
        if crowd is not None:
            client, address = crowd
            yield from _at_rest(client, address)
            for count in BUSY:
                yield from _under_load(address, LOCKS[:: len(LOCKS) // count])
            yield _unseen_changes(address)


def _at_rest(client: KazooClient, address: str) -> Iterator[Figure]:
    with following("bare", address) as (_, follower):
        floor = share_of_core(results_after(follower, REST_S))
    before = _watches(client)
    with following("ours", address, "locks/*") as (begin, follower):
        watches = _watches(client) - before
        spent = results_after(follower, REST_S)
    name = f"processor at rest, {len(LOCKS)} locks"
    yield Figure(name, share_of_core(spent), "%", floor, "% bare watch", floor + 1)
    yield Figure(
        "watches on the server",
        watches,
        "",
        begin["watches"],
        "of ours; 3.8 counts two, and the mark",
        3,
    )
    rate = spent["requests"] / spent["seconds"]
    yield Figure("requests at rest", rate, "/s", 0.0, "none; we audit ACLs", AUDITS_PER_S)
    bare = memory_after(IMPORTS)
    name = f"memory of a watch, {len(LOCKS)} locks"
    yield Figure(name, spent["memory_mb"], "MB", bare, IMPORTED, bare + MEMORY_ROOM_MB)


def _under_load(address: str, locks: tuple[str, ...]) -> Iterator[Figure]:
    where = f"1000 changes/s in {len(locks)} locks"
    floor, ours = _shares_under_load(address, locks)
    yield Figure(f"processor at {where}", ours, "%", floor, "% bare watch", floor + 35)
    yield from _bystander_figures(address, locks, where, ours / 100)


def _shares_under_load(address: str, locks: tuple[str, ...]) -> tuple[float, float]:
    """The shares of a core that the bare watch and zktop need: medians, taken in turns."""
    shares: dict[str, list[float]] = {"bare": [], "ours": []}
    for who in (*shares,) * TURNS:
        with following(who, address) as (_, follower):
            with churn(address, locks, 1000):
                time.sleep(CHURN_S)
            shares[who].append(share_of_core(results_after(follower, 0.0)))
    return median(shares["bare"]), median(shares["ours"])


def _bystander_figures(
    address: str, locks: tuple[str, ...], where: str, busy: float
) -> Iterator[Figure]:
    """Compare a bystander's times while zktop runs, or one of its stand-ins, or neither."""
    companions = ("none", "ours", "bare", "busy", "polls")
    with high_priority() as is_high:
        p99 = _bystander_p99(address, locks, companions, busy)
    name = f"bystander get+watch p99 at {where}" + ("" if is_high else ", on shared cores")
    alone = p99["none"]
    yield Figure(name, p99["ours"], "ms", alone, "ms without us", 1.3 * alone)
    for who in companions[2:]:
        yield Figure(f"{name}, {COMPANIONS[who]}", p99[who], "ms", alone, "ms without it")
    if is_high:
        p99 = _bystander_p99(address, locks, ("ours", "busy"), busy)
        floor = p99["busy"]
        yield Figure(
            f"{name}, on shared cores", p99["ours"], "ms", floor, f"ms {COMPANIONS['busy']}"
        )


COMPANIONS = {
    "bare": "bare watch",
    "busy": "as busy as we are and silent",
    "polls": "500 reads in each request",
}


def _bystander_p99(
    address: str, locks: tuple[str, ...], companions: tuple[str, ...], busy: float
) -> dict[str, float]:
    """The p99 while each companion runs, in turns, because the machine changes within a minute."""
    taken: dict[str, list[float]] = {who: [] for who in companions}
    for who in companions * TURNS:
        with ExitStack() as stack:
            if who != "none":
                stack.enter_context(following(who, address, busy=busy))
            stack.enter_context(churn(address, locks, 1000))
            taken[who] += _bystander(address, CHURN_S / TURNS)
    return {who: percentile(times, 99) for who, times in taken.items()}


def _unseen_changes(address: str) -> Figure:
    with following("ours", address) as (_, follower):
        with churn(address, LARGE, 2000) as changes:
            time.sleep(CHURN_S)
        seen = results_after(follower, LAG_S)["changes"]  # it may lag, but must not lose any
    name = f"changes unseen of 2000/s in {SIZES[-1]} members"
    return Figure(name, changes[0] - seen, "", changes[0], "changes made", 0)


@contextmanager
def following(
    who: str, address: str, below: str = "*/*", busy: float = 0.0, root: str = ROOT
) -> Iterator[tuple[Results, subprocess.Popen[str]]]:
    command = [
        sys.executable,
        "-m",
        "bench.follower_process",
        who,
        address,
        root,
        below,
        str(busy),
    ]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as follower:
        assert follower.stdin
        assert follower.stdout
        yield json.loads(follower.stdout.readline()), follower
        follower.stdin.close()
        follower.stdout.read()


def results_after(follower: subprocess.Popen[str], seconds: float) -> Results:
    """Let the follower run for a while; return its results."""
    time.sleep(seconds)
    assert follower.stdin
    assert follower.stdout
    follower.stdin.close()
    results: Results = json.loads(follower.stdout.readline())
    return results


def share_of_core(spent: Results) -> float:
    return float(100 * spent["cpu"] / spent["seconds"])


def _bystander(address: str, seconds: float) -> list[float]:
    """Let another client read and watch for a while; return its response times in ms."""
    with following("bystander", address) as (_, follower):
        taken: list[float] = results_after(follower, seconds)["taken"]
    return taken


def _watches(client: KazooClient) -> int:
    lines = client.command(b"mntr").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("zk_watch_count"))
