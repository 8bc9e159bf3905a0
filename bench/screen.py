"""The screen through a real pty: first frame, from an event to the terminal, and the cost.

This process reads the terminal; the UI is another process. Both use the same monotonic clock. For
most figures the UI's feed is a generated world, so that no server is involved. The whole program
on a busy real server is measured last.
"""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fcntl import ioctl
from itertools import pairwise
from pathlib import Path
from statistics import median
from struct import pack
from termios import TIOCSWINSZ
from typing import Any

from bench.cost import CHURN_S, LOCKS, following, results_after, share_of_core
from bench.figure import (
    IMPORTED,
    IMPORTS,
    MEMORY_ROOM_MB,
    Figure,
    memory_after,
    memory_mb,
    processor_seconds,
)
from bench.knot_process import SESSIONS
from bench.locks_at_rest import quiet
from bench.many_sessions import Contender, churn
from bench.sizes import size

TIMES = size(7, 1)
COUNTS = size((10_000, 30_000, 100_000), (100,))  # generated locks
# The generated locks, the events a second, and the most milliseconds from report to screen.
EVENTS = (
    (COUNTS[0], 10, 10.0, 60.0),
    (COUNTS[0], 1000, 50.0, 150.0),
    *((locks, 10, 20.0, 100.0) for locks in COUNTS[1:]),
)
REST_S = size(20.0, 0.5)
STARTED_S = size(5.0, 0.5)
STILL_S = size(62.0, 0.5)  # from then on a still screen is drawn less often
SETTLED_S = size(30.0, 0.5)  # the servers' tables have been read several times by then
CUT_OFF_S = size(45.0, 0.5)  # ... and the broken connections in them have been examined
TOKEN = re.compile(rb"w(\d{6})")
BARE_APP = """
from textual.app import App
from textual.widgets import Static
class Bare(App):
    def compose(self):
        yield Static("ready")
Bare().run()
"""
BUSY = LOCKS[:: len(LOCKS) // 10]
RATE = 1000
NO_SERVER = "127.0.0.1:1"  # the first frame needs no server


def figures() -> Iterator[Figure]:
    """Measure all of it."""
    yield _first_frame()
    for locks, rate, p50, p99 in EVENTS:
        yield from _event_to_screen(locks, rate, p50, p99)
    bare = processor_of([sys.executable, "-c", BARE_APP], b"ready")
    for locks in COUNTS:
        command = [sys.executable, "-m", "bench.screen_process", str(locks), "0"]
        ours = processor_of(command, b"/locks/", STILL_S)
        name = f"screen processor at rest, {locks} locks"
        yield Figure(name, ours, "%", bare, "% bare Textual app", bare + 1)
    for rate, most in ((0, 3), (40, 25)):
        command = [sys.executable, "-m", "bench.knot_process", str(rate)]
        ours = processor_of(command, b"/locks/", STARTED_S if rate else STILL_S)
        name = f"screen processor, {SESSIONS} sessions in one knot, {rate} releases/s"
        yield Figure(name, ours, "%", bare, "% bare Textual app", bare + most)
    yield from _on_a_server()


def _first_frame() -> Figure:
    """Measure in turns, so that both run under equal conditions."""
    bare, ours = [], []
    command = (sys.executable, "-m", "zktop", "--hosts", NO_SERVER)
    _until(b"Locks", *command)  # compiles edited modules; an installed program is compiled
    for _ in range(TIMES):
        bare.append(_until(b"ready", sys.executable, "-c", BARE_APP))
        ours.append(_until(b"Locks", *command))
    floor, value = median(bare), median(ours)
    return Figure("first frame", value, "ms", floor, "ms bare Textual app", 2 * floor)


def _until(words: bytes, *command: str) -> float:
    """Time from the start of a program until these words are on its screen."""
    begun = time.perf_counter()
    with in_pty(command) as (screen, _process):
        read_until(screen, words)
        return (time.perf_counter() - begun) * 1000


def _event_to_screen(locks: int, rate: int, p50: float, p99: float) -> Iterator[Figure]:
    """Compare the times at which each event was in a report and on the terminal."""
    with tempfile.TemporaryDirectory() as folder:
        times = Path(folder) / "times"
        module = "bench.screen_process"
        command = (sys.executable, "-m", module, str(locks), str(rate), str(times))
        shown: dict[int, float] = {}
        with in_pty(command) as (screen, process):
            for now, chunk in _chunks(screen, process):
                for number in map(int, TOKEN.findall(chunk)):
                    shown.setdefault(number, now)
        events: dict[str, Any] = json.loads(times.read_text())
    late = _lateness(shown, {int(number): at for number, at in events["reported"].items()})
    values = sorted(late)
    for name, percent, most in (("p50", 0.5, p50), ("p99", 0.99, p99)):
        value = values[min(len(values) - 1, int(percent * len(values)))]
        what = "ms event to report, of this run"
        floor = sorted(events["floor"])[int(percent * (len(events["floor"]) - 1))]
        title = f"event to screen at {rate}/s, {locks} locks, {name}"
        yield Figure(title, value, "ms", floor, what, most)


def _lateness(shown: dict[int, float], reported: dict[int, float]) -> list[float]:
    """Milliseconds from report to screen; an event is shown if it or a later one is."""
    late: list[float] = []
    newest = sorted(shown.items())
    for (before, _), (number, at) in pairwise([(0, 0.0), *newest]):
        fresh = range(before + 1, number + 1)
        late += [(at - reported[event]) * 1000 for event in fresh if event in reported]
    return late


def processor_of(command: list[str], ready: bytes, settles_s: float = STARTED_S) -> float:
    """The processor time of a program from some seconds after its start, in percent of a core."""
    with in_pty(tuple(command)) as (screen, process):
        read_until(screen, ready)
        drain(screen, settles_s)
        return _share_of(process.pid, screen, REST_S)


def _on_a_server() -> Iterator[Figure]:
    """Measure the program in normal use: its memory, and its cost under load."""
    with quiet(LOCKS) as crowd:
        if crowd is None:
            return
        address, clients = crowd
        with following("bare", address) as (_, follower), churn(address, BUSY, RATE):
            floor = share_of_core(results_after(follower, CHURN_S))
        at_rest, used, cut_off = _measure_watching(address, clients)
    bare = memory_after(IMPORTS)
    name = f"screen memory, {len(LOCKS)} locks"
    yield Figure(name, at_rest, "MB", bare, IMPORTED, bare + MEMORY_ROOM_MB)
    name = f"screen memory, {len(clients)} clients cut off"
    yield Figure(name, cut_off, "MB", bare, IMPORTED)
    name = f"screen processor at {RATE} changes/s in {len(BUSY)} locks"
    yield Figure(name, used, "%", floor, "% bare watch", floor + 35)


def _measure_watching(address: str, clients: Sequence[Contender]) -> tuple[float, float, float]:
    """Megabytes at rest, percent of a core while locks change, and megabytes again.

    The last figure is after the connections of all clients have broken at once.
    """
    roots = f"{LOCKS[0].rpartition('/')[0]}/*"
    command = (sys.executable, "-m", "zktop", "--hosts", address, "--root", roots)
    with in_pty(command) as (screen, process):
        read_until(screen, b"lock-of-")
        drain(screen, SETTLED_S)
        at_rest = memory_mb(process.pid)
        with churn(address, BUSY, RATE):
            drain(screen, 1.0)
            used = _share_of(process.pid, screen, CHURN_S)
        for client in clients:
            client.vanish()
        drain(screen, CUT_OFF_S)
        return at_rest, used, memory_mb(process.pid)


def read_until(screen: int, words: bytes) -> None:
    seen = b""
    while words not in seen:
        seen += os.read(screen, 65536)


def _share_of(pid: int, screen: int, seconds: float) -> float:
    """Measure the processor time of a program for a while, in percent of a core."""
    before, begun = processor_seconds(pid), time.perf_counter()
    drain(screen, seconds)
    return 100 * (processor_seconds(pid) - before) / (time.perf_counter() - begun)


def drain(screen: int, seconds: float) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if has_output(screen, left):
            try:
                os.read(screen, 65536)
            except OSError:  # the terminal is gone with the program
                return


def has_output(screen: int, seconds: float) -> bool:
    """Wait for output; with thousands of open sockets, `select` refuses the file number."""
    poll = select.poll()
    poll.register(screen, select.POLLIN)
    return bool(poll.poll(1000 * seconds))


def _chunks(screen: int, process: "subprocess.Popen[bytes]") -> Iterator[tuple[float, bytes]]:
    """Yield what is written to the terminal, each with its time, until the program ends."""
    while process.poll() is None:
        if has_output(screen, 0.2):
            try:
                chunk = os.read(screen, 65536)
            except OSError:  # the terminal is gone with the program
                return
            yield time.monotonic(), chunk


@contextmanager
def in_pty(command: tuple[str, ...]) -> Iterator[tuple[int, "subprocess.Popen[bytes]"]]:
    ours, theirs = pty.openpty()
    ioctl(ours, TIOCSWINSZ, pack("HHHH", 36, 120, 0, 0))
    environment = os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    for name in ("NO_COLOR", "COLUMNS", "LINES", "PYTHONDONTWRITEBYTECODE"):
        environment.pop(name, None)
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    try:
        yield ours, process
    finally:
        process.send_signal(signal.SIGTERM)
        end = time.monotonic() + 5
        while process.poll() is None and time.monotonic() < end:
            drain(ours, 0.05)
        process.kill()
        process.wait()
        os.close(ours)
