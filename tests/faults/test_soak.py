"""A short soak, and a check that the soak detects growth."""

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
SECONDS = 20.0


@pytest.fixture
def soak(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The soak's module, which is outside of the package."""
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("bench.soak")


@pytest.mark.zookeeper
def test_twenty_seconds_of_churn() -> None:
    """It exits with 0: nothing grew."""
    command = [sys.executable, "-m", "bench.soak", f"{SECONDS:g}"]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)

    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize(
    ("grows", "said"),
    [
        ({"memory_mb": 1.0}, "memory grew"),
        ({"threads": 1}, "threads grew"),
        ({"sockets": 1}, "sockets grew"),
        ({"watches": 1}, "watches grew"),
        ({"connections": 1}, "connections grew"),
    ],
    ids=lambda one: str(*one) if isinstance(one, dict) else "",
)
def test_growth_is_reported(soak: ModuleType, grows: dict[str, float], said: str) -> None:
    """It names what grew, and only that."""
    notes = [_note(soak, at, grows) for at in range(int(SECONDS))]

    (failure, *_) = soak.judged(notes, SECONDS)
    assert failure.startswith(said)
    assert soak.judged([_note(soak, at, {}) for at in range(int(SECONDS))], SECONDS) == []


def _note(soak: ModuleType, at: int, grows: dict[str, float]) -> object:
    steady = {"memory_mb": 30.0, "threads": 4, "sockets": 3, "watches": 2, "connections": 5}
    now = {name: one + at * grows.get(name, 0) for name, one in steady.items()}
    return soak.Note(at=at, events=at, **now)
