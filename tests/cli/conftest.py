"""Fixtures that run a command line, in this process or in one of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from zktop.cli.main import main


class Ran(NamedTuple):
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str


@pytest.fixture
def zktop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ran]:
    """Run a command line in an empty folder, without the user's own config."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("ZKTOP_HOSTS", "ZKTOP_CONFIG"):
        monkeypatch.delenv(name, raising=False)

    def run(*args: str) -> Ran:
        with pytest.raises(SystemExit) as end:
            main(args)
        return Ran(int(end.value.code or 0), *capsys.readouterr())

    return run


@pytest.fixture
def process(tmp_path: Path) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Run Python in a process of its own."""
    environment = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path)}

    def run(*args: str, **options: object) -> "subprocess.CompletedProcess[str]":
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return subprocess.run(
            [sys.executable, *args], check=False, text=True, env=environment, **streams
        )

    return run
