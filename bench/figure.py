"""One measured figure, the floor that it is compared with, and measures of time and memory."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.sizes import size

TURNS = size(4, 1)
NANOSECONDS = 1_000_000_000
PAGES_PER_MB = (1 << 20) / os.sysconf("SC_PAGE_SIZE")
IMPORTS = "import kazoo.client, textual.app, gc\n"  # the floor of every memory figure
IMPORTED = "MB python, kazoo and textual imported"
MEMORY_ROOM_MB = 150.0  # above the floor


@dataclass(frozen=True, slots=True)
class Figure:
    """A value, the floor of the same run, and the budget."""

    name: str
    value: float
    unit: str
    floor: float
    floor_is: str
    most: float | None = None  # the budget, in the unit of the value; None: reported only

    @property
    def ratio(self) -> float:
        """The value as a multiple of the floor."""
        return self.value / self.floor if self.floor else float("inf")

    @property
    def holds(self) -> bool:
        """True if the value is within the budget."""
        return self.most is None or self.value <= self.most

    def __str__(self) -> str:
        """One line, as `make bench` prints it."""
        verdict = "" if self.most is None else f" budget {self.most:.4g}"
        if not self.holds:
            verdict += " EXCEEDED"
        return (
            f"{self.name} {self.value:.4g} {self.unit} "
            f"(floor {self.floor:.4g} {self.floor_is}, ratio {self.ratio:.3g}){verdict}"
        )


def milliseconds(work: Callable[[], object], times: int = 5) -> float:
    """Time a piece of work; return the median of several runs."""
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        taken.append((time.perf_counter() - started) * 1000)
    return median(taken)


def memory_mb(pid: int | str = "self") -> float:
    """The resident memory of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) / PAGES_PER_MB


def processor_seconds(pid: int) -> float:
    """Add up the seconds of all threads; the ticks of `stat` are too coarse at rest."""
    texts = (file.read_text() for file in Path(f"/proc/{pid}/task").glob("*/schedstat"))
    return sum(int(text.split()[0]) for text in texts) / NANOSECONDS


def memory_after(code: str) -> float:
    """The resident memory of a new Python process after it has run this code, in MB."""
    report = "from bench.figure import memory_mb\ngc.collect()\nprint(memory_mb())"
    command = [sys.executable, "-c", f"{code}\n{report}"]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(ran.stdout)


def shortest_in_turns(*works: Callable[[], float], turns: int = TURNS) -> list[float]:
    """Let each of these time itself, in turns; return the shortest time of each.

    A machine's speed changes within a minute. Measured one after another, a floor and what is
    compared with it would not run under equal conditions.
    """
    rounds = [[work() for work in works] for _ in range(turns)]
    return [min(times) for times in zip(*rounds, strict=True)]
