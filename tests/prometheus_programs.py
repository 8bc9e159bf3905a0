"""The programs `prometheus` and `promtool`: installed, or from tests/get-prometheus."""

import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(sys.prefix) / "prometheus/usr/bin"  # where tests/get-prometheus puts them
MONITORING = Path(__file__).parents[1] / "docs/monitoring"
ALERTS = MONITORING / "zktop-alerts.yml"


def has_prometheus() -> bool:
    """True if both programs are here."""
    return all(_found(name) for name in ("prometheus", "promtool"))


def program(name: str) -> str:
    """The path of one of them."""
    found = _found(name)
    assert found, f"no {name} on this machine: is this test marked `prometheus`?"
    return found


def promtool(*words: str, text: str | None = None) -> None:
    """Run promtool; it must find nothing wrong."""
    ran = subprocess.run(
        [program("promtool"), *words],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout + ran.stderr


def _found(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path=str(FOLDER))
