"""The screen, through a real pty: first frame, from an event to the terminal, and what it costs.

What is on the screen is read by this process; the UI is another one. Both stamp with the same
monotonic clock. The UI's feed looks at a world of its own making, so that the figures are those of
the model, the bridge and the drawing, and no server is in them.
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
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import ioctl
from itertools import pairwise
from pathlib import Path
from statistics import median
from struct import pack
from termios import TIOCSWINSZ
from typing import Any

from bench.figure import Figure

TIMES = 7
REST_S = 8.0
TOKEN = re.compile(rb"w(\d{6})")
TICK = os.sysconf("SC_CLK_TCK")
BARE_APP = """
from textual.app import App
from textual.widgets import Static
class Bare(App):
    def compose(self):
        yield Static("ready")
Bare().run()
"""
NOBODY = "127.0.0.1:1"  # a port that nobody listens on: the first frame does not need one


def figures() -> Iterator[Figure]:
    """Measure all of it."""
    yield _first_frame()
    for rate, p50, p99 in ((10, 5.0, 40.0), (1000, 35.0, 110.0)):
        yield from _event_to_screen(rate, p50, p99)
    bare = _processor([sys.executable, "-c", BARE_APP], b"ready")
    ours = _processor([sys.executable, "-m", "bench.painted", "0"], b"/locks/")
    yield Figure("screen processor at rest", ours, "%", bare, "% bare Textual app", bare + 0.5)


def _first_frame() -> Figure:
    """In turns, so that both see the same machine."""
    bare, ours = [], []
    for _ in range(TIMES):
        bare.append(_until(b"ready", sys.executable, "-c", BARE_APP))
        ours.append(_until(b"Locks", sys.executable, "-m", "zktop", "--hosts", NOBODY))
    floor, value = median(bare), median(ours)
    return Figure("first frame", value, "ms", floor, "ms bare Textual app", 1.4 * floor)


def _until(words: bytes, *command: str) -> float:
    """Time from the start of a program until these words are on its screen."""
    begun = time.perf_counter()
    with _in_pty(command) as (screen, _process):
        seen = b""
        while words not in seen:
            seen += os.read(screen, 65536)
        return (time.perf_counter() - begun) * 1000


def _event_to_screen(rate: int, p50: float, p99: float) -> Iterator[Figure]:
    """Compare when a report had each event with when the terminal had it."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "told"
        command = (sys.executable, "-m", "bench.painted", str(rate), str(told))
        shown: dict[int, float] = {}
        with _in_pty(command) as (screen, process):
            for now, chunk in _chunks(screen, process):
                for number in map(int, TOKEN.findall(chunk)):
                    shown.setdefault(number, now)
        events: dict[str, Any] = json.loads(told.read_text())
    late = _lateness(shown, {int(number): at for number, at in events["reported"].items()})
    values = sorted(late)
    for name, percent, most in (("p50", 0.5, p50), ("p99", 0.99, p99)):
        value = values[min(len(values) - 1, int(percent * len(values)))]
        what = "ms event to report, of this run"
        floor = sorted(events["floor"])[int(percent * (len(events["floor"]) - 1))]
        yield Figure(f"event to screen at {rate}/s, {name}", value, "ms", floor, what, most)


def _lateness(shown: dict[int, float], reported: dict[int, float]) -> list[float]:
    """Compare: an event is on the screen when it, or a later one, is: a picture has them all."""
    late: list[float] = []
    newest = sorted(shown.items())
    for (before, _), (number, at) in pairwise([(0, 0.0), *newest]):
        fresh = range(before + 1, number + 1)
        late += [(at - reported[event]) * 1000 for event in fresh if event in reported]
    return late


def _processor(command: list[str], ready: bytes) -> float:
    """Measure what a program takes while nothing happens, in percent of a core."""
    with _in_pty(tuple(command)) as (screen, process):
        seen = b""
        while ready not in seen:
            seen += os.read(screen, 65536)
        _drain(screen, 5.0)
        before, begun = _used(process.pid), time.perf_counter()
        _drain(screen, REST_S)
        return 100 * (_used(process.pid) - before) / (time.perf_counter() - begun)


def _used(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def _drain(screen: int, seconds: float) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if select.select([screen], [], [], left)[0]:
            try:
                os.read(screen, 65536)
            except OSError:  # the terminal is gone with the program
                return


def _chunks(screen: int, process: "subprocess.Popen[bytes]") -> Iterator[tuple[float, bytes]]:
    """Give what is written to the terminal, and when, until the program ends."""
    while process.poll() is None:
        if select.select([screen], [], [], 0.2)[0]:
            try:
                chunk = os.read(screen, 65536)
            except OSError:  # the terminal is gone with the program
                return
            yield time.monotonic(), chunk


@contextmanager
def _in_pty(command: tuple[str, ...]) -> Iterator[tuple[int, "subprocess.Popen[bytes]"]]:
    ours, theirs = pty.openpty()
    ioctl(ours, TIOCSWINSZ, pack("HHHH", 36, 120, 0, 0))
    environment = os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    for name in ("NO_COLOR", "COLUMNS", "LINES"):
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
            _drain(ours, 0.05)
        process.kill()
        process.wait()
        os.close(ours)
