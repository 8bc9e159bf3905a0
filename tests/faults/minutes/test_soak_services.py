"""A short day of the exporter and the recorder; `make soak` has a longer one."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SECONDS = 15.0


@pytest.mark.zookeeper
def test_metrics_and_recorder_survive_churn_expiries_and_restarts() -> None:
    """Nothing grows, the ring can be read, and the server has little to do at rest."""
    command = [sys.executable, "-m", "bench.soak_services", f"{SECONDS:g}"]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)

    assert ended.returncode == 0, ended.stdout + ended.stderr
