"""The time from a key to its effect, through a pty: every screen, many locks.

Nothing else happens while keys are pressed, so all output is the effect of the last key; the
effect ends with the output before a pause. The first visit of a screen is measured only until its
first picture: fifty thousand sessions are read while the screen says so. So are the keys that
begin to read all locks: the finder, the locks by path, and a filter.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from bench.figure import Figure, processor_seconds
from bench.screen import drain, has_output, in_pty, read_until
from bench.sizes import size
from zktop.ui.screens import PAGES

COUNTS = size((10_000, 30_000, 100_000), (100,))  # locks
SETTLED_S = size(90.0, 3.0)  # at most, after the first locks are shown
FIRST_S = size(2.0, 0.5)
IDLE_SHARE = 0.05  # of a core
VERBOSE = "ZKTOP_BENCH_KEYS"  # in the environment: print the time of each key
PAUSE_S = 0.25
PATIENCE_S = size(5.0, 1.0)
MOST = 250.0  # ms
SLOWER = 50.0  # ms
PAGE_DOWN, PAGE_UP, ENTER, CLEAR, ESCAPE = b"\x1b[6~", b"\x1b[5~", b"\r", b"\x15", b"\x1b"
MOVES = (*(b"j",) * size(4, 1), *(PAGE_DOWN, PAGE_UP) * size(1, 0), b"G", b"g")
FILTER = (b"/", b"0", b"1", CLEAR, ENTER)
DIALOGS = (b"?", b"s", ENTER, b"w", b"w", ESCAPE, b":", b"l", b"9", ESCAPE)
SORT = (b"O", b"O", b"o", b"j", ENTER, ESCAPE)
BY_SCREEN = {
    "locks": (*MOVES, *SORT, *FILTER, b"f", b"f", b"n", ESCAPE, b"1", b"\t", b"\t", b"1"),
    "lock": (b"j", b"k", b"j", b"k", *FILTER),
    "findings": FILTER,
    "sessions": (b"f", *MOVES, *SORT, *FILTER, b"f", ENTER, ESCAPE),
    "timeline": (b"[", b"[", b"]", b"+", b"-"),
    "demo": (b"j", b"j", b"k"),
}
TABLE = """
from textual.app import App
from textual.widgets import DataTable
class Bare(App):
    def compose(self):
        yield DataTable(cursor_type="row")
    def on_mount(self):
        table = self.query_one(DataTable)
        for number in range(8):
            table.add_column(f"column {number}", width=12)
        table.add_rows([f"{row} {column}" for column in range(8)] for row in range(10_000))
Bare().run()
"""
TABLE_MOVES = ((b"\x1b[B",) * 8 + (PAGE_DOWN,) * 3 + (b"\x1b[B",) * 4) * size(2, 1)


def figures() -> Iterator[Figure]:
    """Press keys on a bare table, then on every screen of more and more locks."""
    with _shown((sys.executable, "-c", TABLE), b"column 1") as bare:
        floor = _p95([_time(bare, key) for key in TABLE_MOVES])
    for locks in COUNTS:
        yield from _among(locks, floor)


def _among(locks: int, floor: float) -> Iterator[Figure]:
    command = (sys.executable, "-m", "bench.keys_process", str(locks))
    with _shown(command, b"/locks/") as shown:
        taken = {page.name: [_first_picture(shown, page.key)] for page in PAGES[1:]}
        taken[PAGES[0].name] = []
        for page in PAGES:
            keys = (page.key.encode(), *BY_SCREEN[page.name], *DIALOGS)
            times = [_time(shown, key) for key in keys]
            taken[page.name] += times
            if VERBOSE in os.environ:
                one_by_one = (f"{key!r} {ms:.0f}" for key, ms in zip(keys, times, strict=True))
                print(page.name, *one_by_one, sep="  ", file=sys.stderr)
    for page in PAGES:
        times = taken[page.name]
        name = f"key to effect, screen {page.key}, {page.title.lower()}, {locks} locks"
        what = "ms bare table"
        yield Figure(f"{name}, p95", _p95(times), "ms", floor, what, floor + SLOWER)
        yield Figure(f"{name}, slowest", max(times), "ms", floor, what, MOST)


def _p95(times: list[float]) -> float:
    return sorted(times)[int(0.95 * len(times))]


class Shown(NamedTuple):
    """A program, and the terminal that it draws on."""

    screen: int
    pid: int


@contextmanager
def _shown(command: tuple[str, ...], ready: bytes) -> Iterator[Shown]:
    """Start a program, and wait until it shows what it will show and has no work left."""
    with in_pty(command) as (screen, process):
        read_until(screen, ready)
        shown, end = Shown(screen, process.pid), time.monotonic() + SETTLED_S
        drain(screen, FIRST_S)
        while time.monotonic() < end and not _is_idle(shown, FIRST_S):
            pass
        yield shown


def _is_idle(shown: Shown, seconds: float) -> bool:
    """Discard output for a while; true if the program did next to nothing meanwhile."""
    before = processor_seconds(shown.pid)
    drain(shown.screen, seconds)
    return processor_seconds(shown.pid) - before < IDLE_SHARE * seconds


def _time(shown: Shown, key: bytes) -> float:
    """Milliseconds until the last output after a key; 0 if the key has no effect."""
    begun = ended = time.perf_counter()
    before, end = processor_seconds(shown.pid), begun + PATIENCE_S
    os.write(shown.screen, key)
    while has_output(shown.screen, PAUSE_S) or (ended == begun and begun < end):
        if has_output(shown.screen, 0):
            os.read(shown.screen, 65536)
            ended = time.perf_counter()
        elif (used := processor_seconds(shown.pid)) - before < IDLE_SHARE * PAUSE_S:
            break
        else:
            before = used
    return (ended - begun) * 1000


def _first_picture(shown: Shown, key: str) -> float:
    """Milliseconds until the first output after the key of a screen; wait for all of it."""
    begun = time.perf_counter()
    os.write(shown.screen, key.encode())
    has_output(shown.screen, PATIENCE_S)
    ended = time.perf_counter()
    while not _is_idle(shown, FIRST_S):
        pass
    return (ended - begun) * 1000
