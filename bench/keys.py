"""The time from a key to its effect, through a pty: every screen, ten thousand locks.

Nothing else happens while keys are pressed, so all output is the effect of the last key; the
effect ends with the output before a pause. The first visit of a screen is measured only until its
first picture: fifty thousand sessions are read while the screen says so.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from bench.figure import Figure
from bench.screen import drain, has_output, in_pty, read_until
from bench.sizes import size
from zktop.ui.screens import PAGES

SETTLED_S = size(20.0, 3.0)
FIRST_S = size(3.0, 0.5)  # the sessions are read by then
PAUSE_S = 0.25
PATIENCE_S = size(5.0, 1.0)
ROUNDS = size(2, 1)
MOST = 250.0  # ms
SLOWER = 50.0  # ms
PAGE_DOWN, ENTER, CLEAR = b"\x1b[6~", b"\r", b"\x15"
MOVES = (*(b"j",) * size(8, 1), *(PAGE_DOWN,) * size(3, 0), b"G", b"g")
FILTER = (b"/", b"0", b"1", CLEAR, ENTER)
HELP = (b"?", b"s", ENTER)
SORT = (b"O", b"O")
BY_SCREEN = {
    "locks": (*MOVES, *SORT, *FILTER, b"\t"),
    "lock": (b"j", b"k", b"j", b"k", *FILTER),
    "findings": FILTER,
    "sessions": (b"f", *MOVES, *SORT, *FILTER, b"f"),
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
TABLE_MOVES = (b"\x1b[B",) * 8 + (PAGE_DOWN,) * 3 + (b"\x1b[B",) * 4


def figures() -> Iterator[Figure]:
    """Press keys on every screen, and on a bare table."""
    with _shown((sys.executable, "-c", TABLE), b"column 1") as screen:
        bare = [_time(screen, key) for key in TABLE_MOVES * ROUNDS]
    floor = _p95(bare)
    with _shown((sys.executable, "-m", "bench.keys_process"), b"/locks/") as screen:
        taken = {page.name: [_first_picture(screen, page.key)] for page in PAGES[1:]}
        taken[PAGES[0].name] = []
        for _ in range(ROUNDS):
            for page in PAGES:
                keys = (page.key.encode(), *BY_SCREEN[page.name], *HELP)
                taken[page.name] += [_time(screen, key) for key in keys]
    for page in PAGES:
        times = taken[page.name]
        name = f"key to effect, screen {page.key}, {page.title.lower()}"
        what = "ms bare table"
        yield Figure(f"{name}, p95", _p95(times), "ms", floor, what, floor + SLOWER)
        yield Figure(f"{name}, slowest", max(times), "ms", floor, what, MOST)


def _p95(times: list[float]) -> float:
    return sorted(times)[int(0.95 * len(times))]


@contextmanager
def _shown(command: tuple[str, ...], ready: bytes) -> Iterator[int]:
    """Start a program, and wait until it shows what it will show."""
    with in_pty(command) as (screen, _process):
        read_until(screen, ready)
        drain(screen, SETTLED_S)
        yield screen


def _time(screen: int, key: bytes) -> float:
    """Milliseconds until the last output after a key; `PATIENCE_S` if there is none."""
    begun, pause = time.perf_counter(), PATIENCE_S
    ended = begun + pause
    os.write(screen, key)
    while has_output(screen, pause):
        os.read(screen, 65536)
        ended, pause = time.perf_counter(), PAUSE_S
    return (ended - begun) * 1000


def _first_picture(screen: int, key: str) -> float:
    """Milliseconds until the first output after the key of a screen; wait for all of it."""
    begun = time.perf_counter()
    os.write(screen, key.encode())
    has_output(screen, PATIENCE_S)
    ended = time.perf_counter()
    drain(screen, FIRST_S)
    return (ended - begun) * 1000
