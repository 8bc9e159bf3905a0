"""zktop's commands in processes of their own, with a config of short waits."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from servers import RunningServer

NOWHERE = {"XDG_CONFIG_HOME": "/nonexistent", "PATH": os.environ["PATH"]}


class Ran(NamedTuple):
    """The exit code of a command, and what it printed."""

    code: int
    lines: list[str]
    err: str


Check = Callable[..., Ran]


def checking(server: RunningServer, root: str, folder: Path) -> Check:
    """`zktop check` with this config, extended by each test."""

    def run(*args: str, **config: object) -> Ran:
        file = folder / "config.yaml"
        settings = {
            "hosts": server.address,
            "admin": {"port": server.admin_port},
            "roots": [f"{root}/*"],
            "thresholds": {"settle": "400ms", "orphan": "300ms"},
        }
        file.write_text(json.dumps(settings | config))
        return zktop("check", "--config", str(file), *args)

    return run


def zktop(*args: str) -> Ran:
    """Run a command to its end."""
    command = [sys.executable, "-m", "zktop", *args]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=60, env=NOWHERE
    )
    return Ran(done.returncode, done.stdout.splitlines(), done.stderr)
