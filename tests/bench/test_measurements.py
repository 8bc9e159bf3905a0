"""Every measurement of `make bench` runs to its last line, in sizes that take seconds."""

import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LAST = {  # what each measurement prints last
    "cost": "changes unseen",
    "finding": "locks found in a wide parent, ephemerals not listed: memory",
    "headless": "zktop --help",
    "import_log": "import and check",
    "keys": "longest time without an answer to any key, 100 locks",
    "large": "large: changes unseen",
    "live": "event to report p99",
    "model": "memory_of_",
    "past": "past memory",
    "reading": "event to fact p99",
    "screen": "screen processor at 1000 changes/s",
    "screen_large": "screen memory with 60 real locks",
    "stalls": "stalls: slowest look while holders wait again",
    "tables": "slowest answer to a bystander, zktop stopped",
    "waits": "waits root blockers",
}
MAY_BE_NONE = (
    "changes unseen",
    "large: changes unseen",
    "past minutes without a report",
    "past not reached",
    "requests at rest",
    "waiters without a known watch",
)
MAY_BE_EARLY = "event to "  # an event may come before the call that caused it returns
FIGURE = re.compile(
    r"(?P<name>.+) (?P<value>\S+) (?P<unit>\S*) \(floor (?P<floor>\S+) .+, ratio \S+\)"
)


def test_all_measurements_are_tried() -> None:
    """A new one needs a line here."""
    done = subprocess.run(
        [sys.executable, "-c", "import bench; print(*bench.MEASUREMENTS)"],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )

    assert done.stdout.split() == sorted(LAST)


@pytest.mark.zookeeper
@pytest.mark.parametrize("measurement", LAST)
def test_a_measurement_runs_to_its_last_line(measurement: str) -> None:
    """Each line is a figure that can be true; whether it is good needs the full sizes."""
    command = [sys.executable, "-m", "bench", "--short", measurement]
    environment = os.environ | {"TERM": "xterm-256color"}
    ended = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=ROOT, env=environment
    )

    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    assert [line for line in lines if not _is_plausible(line)] == []
    assert lines[-1].startswith(LAST[measurement])


def _is_plausible(line: str) -> bool:
    figure = FIGURE.match(line)
    if figure is None:
        return False
    value, floor = float(figure["value"]), float(figure["floor"])
    if line.startswith(MAY_BE_EARLY):
        return math.isfinite(value) and math.isfinite(floor)
    return 0 < value < math.inf or (value == 0 and line.startswith(MAY_BE_NONE))
