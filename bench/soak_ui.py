"""An hour at the screen: demo scenes in a loop, and random keys.

`python -m bench.soak_ui 3600 [SEED]` exits with 1 and a line for each failure or growing figure.
The test in `tests/soak` is the same for one minute.
"""

import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from soak.growth import grown, settled
from soak.random_keys import ANSWERS_S, RandomKeys, SoakError, random_keys

DEFAULT_S = 3600.0
NAMES = ("threads", "sockets", "processes")
MAX_GROWTH_MB = 30.0  # in an hour, above the peak of the first ten minutes
EARLY_S = 600.0


def main(seconds: float = DEFAULT_S, seed: float | None = None) -> int:
    """Press keys for this long, print the figures, and return the exit code."""
    number = int(seed) if seed is not None else random.randrange(1_000_000)
    print(f"seed {number}", flush=True)
    try:
        with tempfile.TemporaryDirectory() as folder, random_keys(number, Path(folder)) as one:
            one.run(seconds)
    except SoakError as lost:
        print(f"FAILED: {lost}")
        return 1
    failures = list(judged(one, seconds))
    for note in one.samples[:: max(1, len(one.samples) // 20)]:
        print(
            f"{note.at:6.0f} s  {note.memory_mb:7.1f} MB  {note.threads:2} threads  "
            f"{note.sockets:2} sockets  {note.processes} processes"
        )
    print(f"{one.pressed} keys, answers after {one.answers_after_s:.2f} s")
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0


def judged(one: RandomKeys, seconds: float) -> list[str]:
    """List what grew, and the slowest answer if it took too long."""
    early, late = settled(one.samples, seconds)
    if not early:
        return ["there were too few rounds to compare"]
    failures = list(grown(early, late, NAMES, MAX_GROWTH_MB))
    first = max(one.memory_mb for one in one.samples if one.at <= EARLY_S)
    most = max(one.memory_mb for one in late)
    if most - first > MAX_GROWTH_MB:
        failures.append(
            f"memory grew from {first:.1f} MB in the first ten minutes to {most:.1f} MB"
        )
    if one.answers_after_s > ANSWERS_S:
        failures.append(f"an answer took {one.answers_after_s:.1f} s")
    return failures


if __name__ == "__main__":
    sys.exit(main(*map(float, sys.argv[1:3])))
