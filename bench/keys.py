"""The time from a key to its effect, through a pty: every screen, many locks.

The effect of a key is the picture that answers it: all output up to a pause of a tenth of a
second, after which a user calls the picture finished. What is drawn after such a pause is filled
in later: the counts of a tree, the names in the finder, the rows that a filter leaves, a graph
whose second is over. Nobody waits for it with the hands off the keys, so the next key is pressed
as soon as the picture is there, not when all work is done, and its time includes what that work
costs it. A later picture of the key before it that runs into the next one counts as well. Only
between two screens is there a pause: messages in the corner that earlier keys have shown go away
by themselves, each with a new picture of the whole screen, and that is no effect of a key.

What a user would feel instead is a screen that answers nothing for a while. The program measures
that itself: the longest time in which its UI handled nothing, from the first of these keys to the
last. No key at all waits longer than that to be handled, whenever it is pressed.

After Escape, Textual waits for the rest of a sequence that may begin with it. The bare table does
too, so that wait is no part of a p95; it is a part of the slowest. The floor is the same time for
the same kind of picture: the cursor of a bare table moves by a line or by a page.
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from textual.app import App
from textual.constants import ESCAPE_DELAY

from bench.figure import Figure, processor_seconds
from bench.keys_process import changing_s
from bench.screen import drain, has_output, in_pty, read_until
from bench.sizes import size
from zktop.ui.screens import PAGES

COUNTS = size((10_000, 30_000, 100_000), (100,))  # locks
SETTLED_S = size(90.0, 3.0)  # at most, after the first locks are shown
LOOK_S = size(2.0, 0.5)
IDLE_SHARE = 0.05  # of a core
VERBOSE = "ZKTOP_BENCH_KEYS"  # in the environment: print the time of each key
PAUSE_S = 0.1
MESSAGES_S = size(App.NOTIFICATION_TIMEOUT + 0.5, 0.0)  # until those in the corner are gone
NOTHING_S = 0.25  # without output and work: the key has no effect
PATIENCE_S = size(5.0, 1.0)
ROUNDS = size(2, 1)  # on all screens
MOST = 250.0  # ms
SLOWER = 50.0  # ms
PAGE_DOWN, PAGE_UP, ENTER, CLEAR, ESCAPE = b"\x1b[6~", b"\x1b[5~", b"\r", b"\x15", b"\x1b"
WAITED_S = {ESCAPE: ESCAPE_DELAY}  # by Textual, before it handles the key
MOVES = (*(b"j",) * size(4, 1), *(PAGE_DOWN, PAGE_UP) * size(1, 0), b"G", b"g")
FILTER = (b"/", b"0", b"1", CLEAR, ENTER)
DIALOGS = (b"?", b"s", ENTER, b"w", b"w", ESCAPE, b":", b"l", b"9", ESCAPE)
SORT = (b"O", b"O", b"o", b"j", ENTER, ESCAPE)
BY_SCREEN = {
    "locks": (*MOVES, *SORT, *FILTER, b"f", b"f", b"n", b"1", b"\t", b"\t", b"1"),
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
TABLE_MOVES = ((b"\x1b[B",) * 8 + (PAGE_DOWN,) * 3 + (b"\x1b[B",) * 4) * size(6, 1)


def figures() -> Iterator[Figure]:
    """Press keys on a bare table, then on every screen of more and more locks."""
    with _shown((sys.executable, "-c", TABLE), b"column 1") as bare:
        floor = _p95(_pressed(bare, TABLE_MOVES))
    for locks in COUNTS:
        yield from _among(locks, floor)


def _among(locks: int, floor: float) -> Iterator[Figure]:
    taken: dict[str, list[Answer]] = {page.name: [] for page in PAGES}
    with tempfile.TemporaryDirectory() as folder:
        stops = Path(folder) / "stops"
        command = (sys.executable, "-m", "bench.keys_process", str(locks), str(stops))
        with _shown(command, b"/locks/", changing_s(locks)) as shown:
            begun = time.monotonic()
            for page in PAGES[1:]:
                taken[page.name] += _pressed(shown, [page.key.encode()])
            for page in PAGES * ROUNDS:
                drain(shown.screen, MESSAGES_S)
                keys = (page.key.encode(), *BY_SCREEN[page.name], *DIALOGS)
                taken[page.name] += _pressed(shown, keys)
        ended = [tuple(map(float, line.split())) for line in stops.read_text().splitlines()]
    what = "ms bare table"
    for page in PAGES:
        answers = taken[page.name]
        name = f"key to effect, screen {page.key}, {page.title.lower()}, {locks} locks"
        yield Figure(f"{name}, p95", _p95(answers), "ms", floor, what, floor + SLOWER)
        slowest = max(answer.ms for answer in answers)
        yield Figure(f"{name}, slowest", slowest, "ms", floor, what, MOST)
    longest = max(1000 * stop_s for at, stop_s in ended if at > begun)
    name = f"longest time without an answer to any key, {locks} locks"
    yield Figure(name, longest, "ms", floor, what, MOST)


class Answer(NamedTuple):
    """A key, and the milliseconds to the picture that answers it."""

    key: bytes
    ms: float


def _pressed(shown: "Shown", keys: Sequence[bytes]) -> list[Answer]:
    """Press one key after another; leave out those that have no effect."""
    answers = [Answer(key, _time(shown, key)) for key in keys]
    if VERBOSE in os.environ:
        one_by_one = (f"{answer.key!r} {answer.ms:.0f}" for answer in answers)
        print(*one_by_one, sep="  ", file=sys.stderr)
    return [answer for answer in answers if answer.ms]


def _p95(answers: Sequence[Answer]) -> float:
    times = sorted(answer.ms - 1000 * WAITED_S.get(answer.key, 0.0) for answer in answers)
    return times[int(0.95 * len(times))]


class Shown(NamedTuple):
    """A program, and the terminal that it draws on."""

    screen: int
    pid: int


@contextmanager
def _shown(command: tuple[str, ...], ready: bytes, changing_s: float = 0.0) -> Iterator[Shown]:
    """Start a program; wait until nothing changes any more and it has no work left."""
    with in_pty(command) as (screen, process):
        read_until(screen, ready)
        shown, end = Shown(screen, process.pid), time.monotonic() + SETTLED_S
        drain(screen, LOOK_S + changing_s)
        while time.monotonic() < end and not _is_idle(shown, LOOK_S):
            pass
        yield shown


def _is_idle(shown: Shown, seconds: float) -> bool:
    """Discard output for a while; true if the program did next to nothing meanwhile."""
    before = processor_seconds(shown.pid)
    drain(shown.screen, seconds)
    return processor_seconds(shown.pid) - before < IDLE_SHARE * seconds


def _time(shown: Shown, key: bytes) -> float:
    """Milliseconds until the picture that answers a key is there; 0 if it has no effect."""
    begun = ended = time.perf_counter()
    before, end = processor_seconds(shown.pid), begun + PATIENCE_S
    os.write(shown.screen, key)
    drain(shown.screen, WAITED_S.get(key, 0.0))  # until then there is no answer
    while time.perf_counter() < end:
        if has_output(shown.screen, NOTHING_S if ended == begun else PAUSE_S):
            os.read(shown.screen, 65536)
            ended = time.perf_counter()
            continue
        used = processor_seconds(shown.pid)
        if ended != begun or used - before < IDLE_SHARE * NOTHING_S:
            break
        before = used
    return (ended - begun) * 1000
