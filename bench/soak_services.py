"""A day of a busy ensemble in minutes: the exporter and the flight recorder, side by side.

`python -m bench.soak_services 1200` runs a real server, `zktop metrics --listen`, which is
scraped, and `zktop record --dir`, whose ring turns many times. Clients take locks as fast as they
can; now and then one is killed, so that its session expires, and the server restarts. At the end
they rest for a minute. The program exits with 1 and a line for each figure that grew or
broke a limit, and with 2 without a server.
"""

import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from bench.soak import CHURN, LOCKS, WORKERS

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from servers import (
    RunningServer,
    ask,
    free_port,
    has_real_zookeeper,
    real_zookeeper,
    started_again,
)
from soak.growth import grown, is_running, memory_mb, settled, sockets, threads
from waiting import eventually

DEFAULT_S = 1200.0
DAY_S = 86_400
SCRAPES = 240  # in one run: Prometheus' four a minute, if the run is an hour
EXPIRIES = 24  # clients that are killed
RESTARTS = 3  # of the server
ROOT = "/soak"
KEEP_S, MAX_SIZE_MB = 120, 1  # of the ring
MEGABYTE = 1 << 20  # as `--max-size` counts
PATIENCE_S = 60.0
REST_S = 60.0  # at the end, unless the run is shorter
AT_REST_PER_S = 1.0  # pings 0.3, checks of ACLs 0.4, and one read for each sample of the tables
ROWS = 12  # of each service, printed
SAMPLE = re.compile(r"^(\w+)(?:\{.*\})? (\S+)$", re.MULTILINE)


class Note(NamedTuple):
    """The figures of one service at one moment."""

    at: float
    memory_mb: float
    threads: int
    sockets: int


class Clients:
    """Processes that take and release locks."""

    def __init__(self, address: str) -> None:
        self._address, self._started = address, 0
        self._running = [self._start() for _ in range(WORKERS)]

    def _start(self) -> subprocess.Popen[bytes]:
        words = (self._address, ROOT, str(self._started), str(LOCKS))
        self._started += 1
        quiet = subprocess.DEVNULL  # they complain when the server restarts
        return subprocess.Popen([sys.executable, "-c", CHURN, *words], stdout=quiet, stderr=quiet)

    def replace_dead(self) -> None:
        """Start a client for each that has not survived a restart of the server."""
        self._running = [one if one.poll() is None else self._start() for one in self._running]

    def kill_one(self) -> None:
        """Kill the client that runs longest."""
        self._running[0].kill()
        self._running[0].wait()
        self._running = [*self._running[1:], self._start()]

    def end(self) -> None:
        """Kill them all."""
        for one in self._running:
            one.kill()
            one.wait()


class Services:
    """The server, the exporter and the recorder, and their figures."""

    def __init__(self, server: RunningServer, folder: Path, stack: ExitStack) -> None:
        self.server, self.ring, self._stack = server, folder / "ring", stack
        self._folder, self._port = folder, free_port()
        ring = ("--keep", f"{KEEP_S}s", "--max-size", f"{MAX_SIZE_MB}M")
        self.running = {
            "metrics": self._start("metrics", "--listen", f"127.0.0.1:{self._port}"),
            "record": self._start("record", "--dir", str(self.ring), *ring),
        }
        self.notes: dict[str, list[Note]] = {name: [] for name in self.running}
        self.ring_mb: list[float] = []
        self.scrape_s: list[float] = []

    def _start(self, command: str, *words: str) -> subprocess.Popen[bytes]:
        log = self._stack.enter_context((self._folder / f"{command}.log").open("wb"))
        ensemble = ("--hosts", self.server.address, "--admin-port", str(self.server.admin_port))
        program = (sys.executable, "-m", "zktop", command, *ensemble, "--root", f"{ROOT}/*")
        process = subprocess.Popen((*program, *words), stdout=log, stderr=log)
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        return process

    def scrape(self) -> dict[str, float]:
        """Return the metrics; those of one name are added up."""
        found: dict[str, float] = {}
        with urllib.request.urlopen(
            f"http://127.0.0.1:{self._port}/metrics", timeout=30
        ) as answer:
            text = answer.read().decode()
        for name, value in SAMPLE.findall(text):
            found[name] = found.get(name, 0.0) + float(value)
        return found

    def are_up(self) -> bool:
        """True if the exporter is connected, and the recorder has begun."""
        try:
            return self.scrape().get("zktop_up") == 1 and any(self.ring.glob("*"))
        except OSError:
            return False

    def note(self, at: float) -> None:
        """Scrape, and note the figures of both services."""
        begun = time.monotonic()
        self.scrape()
        self.scrape_s.append(time.monotonic() - begun)
        files = (one for one in self.ring.rglob("*") if one.is_file())
        self.ring_mb.append(sum(one.stat().st_size for one in files) / MEGABYTE)
        for name, process in self.running.items():
            pid = process.pid
            self.notes[name].append(Note(at, memory_mb(pid), threads(pid), sockets(pid)))

    def dead(self) -> list[str]:
        """Return the services that have ended."""
        return [name for name, one in self.running.items() if not is_running(one.pid)]

    def log(self, name: str) -> str:
        """Return the end of what a service has printed."""
        return (self._folder / f"{name}.log").read_text(errors="replace")[-500:]

    def restart_server(self) -> None:
        """Kill the server, and start it again with its data."""
        self.server.process.kill()
        self.server.process.wait()
        self.server = started_again(self.server)
        self._stack.callback(self.server.process.wait)
        self._stack.callback(self.server.process.kill)

    def serves(self) -> bool:
        """True once the server serves after a restart."""
        try:
            return bool(self.changes())
        except OSError:
            return False

    def watchers(self) -> int:
        """Count the sessions that watch everything below the root: the services alone."""
        _, _, below = ask(self.server.port, "wchp").partition(f"{ROOT}\n")
        return len([*takewhile(lambda line: line.startswith("\t"), below.splitlines())])

    def sessions(self) -> int:
        """Count the sessions, those of dead clients included."""
        found = re.search(r"zk_global_sessions\s(\d+)", ask(self.server.port, "mntr"))
        return int(found[1]) if found else 0

    def packets(self) -> int:
        """Count what the clients that are connected have sent."""
        rows = re.findall(r"recved=(\d+),.*sid=", ask(self.server.port, "cons"))
        return sum(map(int, rows))

    def changes(self) -> int:
        """Return the number of the newest transaction."""
        found = re.search(r"Zxid: (\w+)", ask(self.server.port, "srvr"))
        return int(found[1], 16) if found else 0


def soak(services: Services, seconds: float) -> None:
    """Let clients work, expire and lose the server; scrape meanwhile."""
    clients, begin = Clients(services.server.address), time.monotonic()
    try:
        for turn in range(1, SCRAPES + 1):
            time.sleep(max(0.0, begin + turn * seconds / SCRAPES - time.monotonic()))
            if services.dead():
                return
            services.note(time.monotonic() - begin)
            clients.replace_dead()
            if turn % (SCRAPES // EXPIRIES) == 0:
                clients.kill_one()
            if turn % (SCRAPES // (RESTARTS + 1)) == 0 and turn < SCRAPES:
                services.restart_server()
    finally:
        clients.end()


def judged(services: Services, seconds: float) -> Iterator[str]:
    """Say what grew, what broke a limit, and what was not seen."""
    for name, notes in services.notes.items():
        for one in grown(*settled(notes, seconds), ("threads", "sockets")):
            yield f"`zktop {name}`: {one}"
    if max(services.ring_mb) > MAX_SIZE_MB:
        yield f"the ring took {max(services.ring_mb):.3f} MB of {MAX_SIZE_MB}"
    dead = services.dead()
    for name in dead:
        yield f"`zktop {name}` has ended: {services.log(name)}"
    if not dead:
        yield from _load_at_rest(services, min(REST_S, seconds))
        yield from _unreadable(services.ring)


def _load_at_rest(services: Services, seconds: float) -> Iterator[str]:
    """Say what is wrong with the load on the server while nothing changes."""
    count = len(services.running)
    eventually(lambda: services.sessions() == count, PATIENCE_S)
    eventually(lambda: services.scrape()["zktop_lock_sessions"] == 0, PATIENCE_S)
    before, packets = services.scrape(), services.packets()
    time.sleep(seconds)
    after = services.scrape()
    rate = (services.packets() - packets) / seconds / count
    watches, watchers = after["zktop_own_watches"], services.watchers()
    tables = (after["zktop_requests_total"] - before["zktop_requests_total"]) / seconds
    print(f"at rest {rate:.2f} packets per second and service, {watches:.0f} watch each")
    print(f"{tables:.2f} requests per second of the exporter, for tables of the server included")
    if rate > AT_REST_PER_S:
        yield f"{rate:.2f} packets per second at rest"
    if watches != 1 or watchers != count:
        yield f"the exporter has {watches:.0f} watches, and {watchers} sessions watch {ROOT}"
    if not after["zktop_session_expiries_total"]:
        yield "no session has expired"


def _unreadable(ring: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "zktop", "events", "--from", str(ring)]
    read = subprocess.run(command, check=False, capture_output=True, text=True)
    if read.returncode or "acquired" not in read.stdout:
        yield f"the ring cannot be read: {read.returncode} {read.stderr[-200:]}"


def main(seconds: float = DEFAULT_S) -> int:
    """Soak, print the figures, and return the exit code."""
    if not has_real_zookeeper():
        sys.stderr.write("soak: no ZooKeeper on this machine\n")
        return 2
    with _running_services() as services:
        begin = services.changes()
        soak(services, seconds)
        eventually(services.serves, PATIENCE_S)  # the last restart may have been a moment ago
        _print(services, services.changes() - begin)
        failures = [*judged(services, seconds)]
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0


@contextmanager
def _running_services() -> Iterator[Services]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(real_zookeeper(admin=True, memory_mb=256, forceSync="no"))
        services = Services(server, folder, stack)
        eventually(services.are_up, PATIENCE_S)
        yield services


def _print(services: Services, changes: int) -> None:
    for name, notes in services.notes.items():
        for at, memory, count, open_sockets in notes[:: max(1, len(notes) // ROWS)]:
            print(
                f"{at:6.0f} s  zktop {name:8} {memory:7.1f} MB  {count:2} threads  "
                f"{open_sockets:2} sockets"
            )
    print(f"{changes} changes, as in a day of {changes / DAY_S:.1f} a second")
    slowest, ring = max(services.scrape_s), max(services.ring_mb)
    print(f"slowest scrape {slowest:.2f} s; ring at most {ring:.3f} of {MAX_SIZE_MB} MB")
    if not services.dead():
        found = services.scrape()
        seen = 100 * found["zktop_coverage_ratio"]
        print(f"{seen:.0f} % of the new clients seen, the others counted")
        print(f"{found['zktop_session_expiries_total']:.0f} sessions expired")


if __name__ == "__main__":
    sys.exit(main(*map(float, sys.argv[1:2])))
