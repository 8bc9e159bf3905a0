"""What watching costs: us, the server, and who else uses it; at rest and while much happens.

What follows the locks runs in a process of its own, so that what it takes is its own.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kazoo.client import KazooClient

from bench.crowd import churn
from bench.figure import Figure
from bench.live import crowded
from bench.reading import _percentile

ROOT = "/bench-10000"
LOCKS = tuple(f"{ROOT}/locks/lock-of-{number}" for number in range(10_000))
LARGE = (f"{ROOT}/sizes/of-10000",)
REST_S = 15.0
CHURN_S = 10.0
MEGABYTE = 1 << 20
ROOM = 60.0  # MB
AUDITS_PER_S = 0.4  # two requests every ten seconds look for what an ACL may have hidden

Told = dict[str, Any]


def figures() -> Iterator[Figure]:
    """Start a crowded server, follow it, and measure."""
    with crowded((len(LOCKS),)) as crowd:
        if crowd is not None:
            client, address = crowd
            yield from _at_rest(client, address)
            for count in (10, 270):
                yield from _under_load(address, LOCKS[:: len(LOCKS) // count])
            yield _all_seen(address)


def _at_rest(client: KazooClient, address: str) -> Iterator[Figure]:
    with _following("bare", address) as (_, follower):
        floor = _share(_after(follower, REST_S))
    before = _watches(client)
    with _following("ours", address) as (begin, follower):
        watches = _watches(client) - before
        spent = _after(follower, REST_S)
    name = f"processor at rest, {len(LOCKS)} locks"
    yield Figure(name, _share(spent), "%", floor, "% bare watch", floor + 0.5)
    yield Figure(
        "watches on the server", watches, "", begin["watches"], "of ours; 3.8 counts two", 2
    )
    rate = spent["requests"] / spent["seconds"]
    yield Figure("requests at rest", rate, "/s", 0.0, "none; we audit ACLs", AUDITS_PER_S)
    bare = _resident("import kazoo.client, textual.app")
    held = spent["resident"] / MEGABYTE
    name = f"memory of a watch, {len(LOCKS)} locks"
    yield Figure(name, held, "MB", bare, "MB python, kazoo and textual imported", bare + ROOM)


def _under_load(address: str, locks: tuple[str, ...]) -> Iterator[Figure]:
    where = f"1000 changes/s in {len(locks)} locks"
    with churn(address, locks, 1000):
        busy = _bystander(address, locks)
    spent = {}
    for who in ("bare", "ours"):
        with _following(who, address) as (_, follower):
            with churn(address, locks, 1000):
                latency = _bystander(address, locks)
            spent[who] = _share(_after(follower, 0.0))
    floor = spent["bare"]
    yield Figure(f"processor at {where}", spent["ours"], "%", floor, "% bare watch", floor + 20)
    name = f"bystander get+watch p99 at {where}"
    yield Figure(name, latency, "ms", busy, "ms without us", 1.3 * busy)


def _all_seen(address: str) -> Figure:
    with _following("ours", address) as (_, follower):
        with churn(address, LARGE, 2000) as changes:
            time.sleep(CHURN_S)
        told = _after(follower, 8.0)["told"]  # it may lag, and must not lose
    name = "changes unseen of 2000/s in 10000 members"
    return Figure(name, changes[0] - told, "", changes[0], "changes made", 0)


@contextmanager
def _following(who: str, address: str) -> Iterator[tuple[Told, subprocess.Popen[str]]]:
    command = [sys.executable, "-m", "bench.follower", who, address, ROOT]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as follower:
        assert follower.stdout
        yield json.loads(follower.stdout.readline()), follower


def _after(follower: subprocess.Popen[str], seconds: float) -> Told:
    """Let it go on for a while; give what it says of itself in the end."""
    time.sleep(seconds)
    assert follower.stdin
    assert follower.stdout
    follower.stdin.close()
    told: Told = json.loads(follower.stdout.readline())
    return told


def _share(spent: Told) -> float:
    return float(100 * spent["cpu"] / spent["seconds"])


def _bystander(address: str, locks: tuple[str, ...]) -> float:
    """Let another client read and watch for a while; give its p99 in milliseconds."""
    client = KazooClient(address, timeout=30)
    client.start()
    taken = []
    end = time.perf_counter() + CHURN_S
    try:
        while time.perf_counter() < end:
            began = time.perf_counter()
            client.get(locks[len(taken) % len(locks)], watch=lambda _event: None)
            taken.append((time.perf_counter() - began) * 1000)
            time.sleep(0.002)
    finally:
        client.stop()
        client.close()
    return _percentile(taken, 99)


def _watches(client: KazooClient) -> int:
    lines = client.command(b"mntr").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("zk_watch_count"))


def _resident(imports: str) -> float:
    tell = "print(next(int(l.split()[1]) for l in open('/proc/self/status') if 'VmRSS' in l))"
    command = [sys.executable, "-c", f"{imports}\n{tell}"]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(ran.stdout) / 1024
