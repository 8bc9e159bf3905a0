"""Hours of a busy ensemble in minutes: zktop watches churn at full speed and must not grow.

`python -m bench.soak 600` runs a real server, contenders that take and release locks as fast as
they can, and zktop's own watch. Every few seconds it notes memory, threads, sockets, and the
server's count of our watches. It exits with 1 and a line for each figure that grew, and with 2
without a server.
"""

import gc
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from zktop.app.live_run import LiveRun
from zktop.model.root_entry import Root
from zktop.model.session_ids import session_text
from zktop.model.settings import Settings
from zktop.zk import Access, Plan, parse_hosts
from zktop.zk.connect.address import AdminAccess

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from servers import RunningServer, ask, has_real_zookeeper, real_zookeeper
from soak.growth import grown, memory_mb, settled, sockets

DEFAULT_S = 600.0
NOTES = 40  # the fewest rows of figures, whatever the length
AT_LEAST = 2  # notes on each side of the comparison
OUR_WATCHES = 2  # of the root, and of the mark of every zktop
LOCKS, WORKERS = 50, 4
CHURN = """
import sys, time
from kazoo.client import KazooClient
client = KazooClient(sys.argv[1]); client.start()
path, number, locks = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
while True:
    lock = client.Lock(f"{path}/lock-{number % locks:03}", sys.argv[3])
    with lock:
        number += 1
        if number % 100 == 0:
            print(number, flush=True)
"""


class Note(NamedTuple):
    """The figures at one moment."""

    at: float
    memory_mb: float
    threads: int
    sockets: int
    watches: int  # that the server keeps for our session
    connections: int  # of all clients to the server
    events: int


class Soak:
    """A watch, the thread that looks at its reports, and the notes."""

    def __init__(self, server: RunningServer, watch: LiveRun) -> None:
        self._server, self._watch = server, watch
        self.events = self.looks = self.seen = self.missed = 0
        self.notes: list[Note] = []

    def run(self, seconds: float) -> None:
        """Look for this long, and note the figures."""
        begin, every = time.monotonic(), min(5.0, seconds / NOTES)
        next_note = begin
        for report in self._watch.reports(seconds):
            self.looks += 1
            self.events += len(report.events)
            self.seen += sum(event.event == "queued" for event in report.events)
            self.missed += sum(event.creates or 0 for event in report.events)
            if time.monotonic() >= next_note:
                next_note += every
                self.notes.append(self._note(begin))

    def _note(self, begin: float) -> Note:
        gc.collect()
        return Note(
            time.monotonic() - begin,
            memory_mb(),
            threading.active_count(),
            sockets(),
            self._own_watches(),
            self._connections(),
            self.events,
        )

    def _own_watches(self) -> int:
        """Count our watches in the server's own table."""
        link = self._watch.world.link
        own = session_text(link.session) if link and link.session else "none"
        owned, count = False, 0
        for line in ask(self._server.port, "wchc").splitlines():
            owned = line.strip() == own if line[:1] != "\t" else owned
            count += owned and line[:1] == "\t"
        return count

    def _connections(self) -> int:
        return sum("sid=" in line for line in ask(self._server.port, "cons").splitlines())


def judged(notes: Sequence[Note], seconds: float) -> list[str]:
    """List what grew after warming up; nothing may."""
    early, late = settled(notes, seconds)
    if len(early) < AT_LEAST:
        return [f"only {len(early) + len(late)} notes after warming up: the watch hardly looked"]
    failures = list(grown(early, late, ("threads", "sockets", "watches", "connections")))
    if late[-1].watches != OUR_WATCHES:
        failures.append(f"the server keeps {late[-1].watches} watches for us, not {OUR_WATCHES}")
    if late[-1].events <= early[0].events:
        failures.append("nothing was seen: there was no churn")
    return failures


@contextmanager
def churn(hosts: str, path: str) -> Iterator[None]:
    """Contenders in processes of their own, until the block ends."""
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", CHURN, hosts, path, str(number), str(LOCKS)],
            stdout=subprocess.DEVNULL,
        )
        for number in range(WORKERS)
    ]
    try:
        yield
        dead = [worker.args for worker in workers if worker.poll() is not None]
        if dead:
            raise RuntimeError(f"{len(dead)} contenders died under way")
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


@contextmanager
def running_soak() -> Iterator[Soak | None]:
    """Yield a server with churn and a watch that has read everything; None without a server."""
    if not has_real_zookeeper():
        yield None
        return
    with ExitStack() as stack:
        server = stack.enter_context(real_zookeeper(admin=True, memory_mb=256))
        access = Access(parse_hosts(server.address))
        plan = Plan(
            roots=("/soak/*",), sample_every=1.0, admin=AdminAccess(server.admin_port or 0)
        )
        stack.enter_context(churn(server.address, "/soak"))
        watch = stack.enter_context(LiveRun(access, plan, Settings(roots=(Root("/soak/*"),))))
        watch.read()
        yield Soak(server, watch)


def main(seconds: float = DEFAULT_S) -> int:
    """Soak, print the figures, and return the exit code."""
    with running_soak() as soak:
        if soak is None:
            sys.stderr.write("soak: no ZooKeeper on this machine\n")
            return 2
        soak.run(seconds)
    for note in soak.notes[:: max(1, len(soak.notes) // 20)]:
        print(
            f"{note.at:6.0f} s  {note.memory_mb:7.1f} MB  {note.threads:2} threads  "
            f"{note.sockets:2} sockets  {note.watches} watches  {note.connections} connections  "
            f"{note.events} events"
        )
    seen = f"{soak.seen} arrivals seen, {soak.missed} counted as missed"
    print(f"{soak.looks} looks, {soak.events} events, {seen}")
    failures = judged(soak.notes, seconds)
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*map(float, sys.argv[1:2])))
