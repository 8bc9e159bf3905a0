"""One measured figure, and the floor that it is compared with."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from bench.sizes import size

TURNS = size(4, 1)


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


def shortest_in_turns(*works: Callable[[], float]) -> list[float]:
    """Let each of these time itself, in turns; return the shortest time of each.

    A machine's speed changes within a minute. Measured one after another, a floor and what is
    compared with it would not run under equal conditions.
    """
    rounds = [[work() for work in works] for _ in range(TURNS)]
    return [min(times) for times in zip(*rounds, strict=True)]
