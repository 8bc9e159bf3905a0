"""Watching a real server: the time to the first report, and from an event to a report.

Ten thousand locks of five sessions each, and two more of ten and of ten thousand members. Needs a
quiet machine.
"""

import random
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kazoo.client import KazooClient

from bench.figure import Figure
from bench.many_sessions import member, queue_up
from bench.reading import (
    bare_events,
    compare_readings,
    create_nodes,
    note_ready,
    percentile,
    read_without_batches,
)
from bench.sizes import size
from zktop.app.live_run import LiveRun
from zktop.model.locks.lock import Lock
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.zk import Access, Plan, parse_hosts

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from servers import has_real_zookeeper, real_zookeeper

COUNTS = size((2_000, 10_000), (20, 50))
CONTENDERS = 5
SIZES = size((10, 10_000), (5, 50))
RELEASES = size(200, 3)


def figures() -> Iterator[Figure]:
    """Start a server, let sessions queue up, and measure."""
    with crowded_server(COUNTS) as crowd:
        if crowd is None:
            return
        client, address = crowd
        for count in COUNTS:
            yield from _first_report(client, address, count)
        for members in SIZES:
            yield from _event_to_report(client, address, members)


@contextmanager
def crowded_server(counts: tuple[int, ...]) -> Iterator[tuple[KazooClient, str] | None]:
    """A real server with this many locks; the largest folder has two more of other sizes."""
    if not has_real_zookeeper():
        yield None
        return
    with real_zookeeper(
        memory_mb=1024, maxSessionTimeout=3_600_000, maxClientCnxns=0, forceSync="no"
    ) as server:
        client = KazooClient(server.address, timeout=30)
        client.start()
        try:
            for count in counts:
                _fill(client, server.address, count)
            for members in SIZES:
                lock = f"/bench-{counts[-1]}/sizes/of-{members}"
                client.ensure_path(lock)
                queue_up(server.address, (f"{lock}/{member(number)}" for number in range(members)))
            yield client, server.address
        finally:
            client.stop()
            client.close()


def _fill(client: KazooClient, address: str, count: int) -> None:
    """Queue sessions up in each lock, in the order of their numbers."""
    client.ensure_path(f"/bench-{count}/locks")
    locks = [f"/bench-{count}/locks/lock-of-{number}" for number in range(count)]
    create_nodes(client, locks, b"")
    queue_up(
        address, (f"{lock}/{member(number)}" for number in range(CONTENDERS) for lock in locks)
    )


# The first report


def _first_report(client: KazooClient, address: str, count: int) -> Iterator[Figure]:
    root = f"/bench-{count}/locks"

    def ours(*, is_old: bool) -> float:
        return time_first_report(address, root, count, is_old=is_old)

    yield from compare_readings(f"first report {count}x{CONTENDERS}", client, root, ours)


def time_first_report(address: str, root: str, count: int, *, is_old: bool = False) -> float:
    """Time from the session to the first complete report; connecting is measured elsewhere."""
    watch = _watch(address, f"{root}/*", is_old=is_old)
    begun = note_ready(watch._source)  # noqa: SLF001
    with watch:
        assert watch.read()
        report = next(watch.reports())
        taken = time.perf_counter() - begun[0]
        assert len(report.paths) == count, len(report.paths)
        return taken


def _watch(address: str, root: str, *, is_old: bool = False) -> LiveRun:
    plan = Plan(roots=(root,), persistent=not is_old, introspect=False)
    watch = LiveRun(
        Access(parse_hosts(address), session_timeout=30), plan, Settings((Root(root),))
    )
    if is_old:
        read_without_batches(watch._source)  # noqa: SLF001
    return watch


# From an event to a report


def _event_to_report(client: KazooClient, address: str, members: int) -> Iterator[Figure]:
    root = f"/bench-{COUNTS[-1]}"
    bare = bare_events(client, address, root)
    with _watch(address, f"{root}/*/*") as watch:
        assert watch.read()
        holders = _Holders(watch, f"{root}/sizes/of-{members}")
        holders.start()
        ours = []
        for number in range(RELEASES):
            ours.append(holders.time_release(client, member(number)))
            queue_up(address, [f"{holders.path}/{member(members + number)}"])
        holders.over.set()
        holders.join()
    for percent, most in ((50, 5.0), (99, 30.0)):
        floor, value = (percentile(taken, percent) for taken in (bare, ours))
        name = f"event to report p{percent}, {members} members"
        yield Figure(name, value, "ms", floor, "ms bare recursive watch", floor + most)


class _Holders(threading.Thread):
    """Looks as the UI does, and notes when a report no longer shows a holder."""

    def __init__(self, watch: LiveRun, path: str) -> None:
        super().__init__(daemon=True)
        self.watch, self.path, self.node = watch, Text(path), ""
        self.at = 0.0
        self.came, self.ready, self.over = (threading.Event() for _ in range(3))

    def run(self) -> None:
        """Follow the reports."""
        for number, report in enumerate(self.watch.reports()):
            record = report.records.get(self.path)
            if self.node and record is not None and not self._holds(record.lock):
                self.at, self.node = time.perf_counter(), ""
                self.came.set()
            if number > SETTLED and not self.watch._examiner.is_behind:  # noqa: SLF001
                self.ready.set()
            if self.over.is_set():
                return

    def _holds(self, lock: Lock) -> bool:
        return any(holder.node == self.node for holder in lock.holders)

    def time_release(self, client: KazooClient, node: str) -> float:
        """Delete the holder after a quiet moment; return the milliseconds until a report."""
        assert self.ready.wait(60)
        time.sleep(random.uniform(0.08, 0.3))  # out of step with the looks
        self.came.clear()
        self.node = node
        client.delete(f"{self.path}/{node}")
        deleted = time.perf_counter()
        assert self.came.wait(10)
        return (self.at - deleted) * 1000


SETTLED = size(5, 1)  # reports; the first ones still examine what was there before
