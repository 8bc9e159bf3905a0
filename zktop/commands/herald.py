"""The user's own command, run when there is new trouble.

It is started without a shell, and what is told comes in an environment variable and on its
standard input: nothing that somebody wrote into a znode can become a part of the command.
"""

import os
import shlex
import signal
import subprocess
import threading
from collections.abc import Callable
from typing import Final

import msgspec

from zktop.headless.snapshot import finding_shape
from zktop.model.findings.finding import Finding

LONGEST_S: Final = 10.0
AT_ONCE: Final = 4  # commands that may run side by side
SENTENCE: Final = "ZKTOP_SENTENCE"


class Command:
    """Runs one command for each finding; says what went wrong with it."""

    def __init__(self, command: str, longest_s: float = LONGEST_S) -> None:
        """Take the command apart as a shell would; a ValueError says why that cannot be."""
        self._words = shlex.split(command)
        if not self._words:
            raise ValueError("names no command")
        self._longest_s = longest_s
        self._guard = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()

    def call(self, finding: Finding, complain: Callable[[str], None]) -> None:
        """Start it; `complain` is called from another thread."""
        with self._guard:
            if len(self._running) >= AT_ONCE:
                return complain(f"{self._words[0]} is still busy: it was not told of this one.")
            try:
                process = self._started(finding)
            except OSError as error:
                return complain(f"{self._words[0]} could not be started: {error.strerror}.")
            self._running.add(process)
        told = msgspec.json.encode(finding_shape(finding))
        threading.Thread(
            target=self._follow, args=(process, told, complain), name="herald", daemon=True
        ).start()
        return None

    def close(self) -> None:
        """End what still runs."""
        with self._guard:
            for process in self._running:
                _end(process)

    def _started(self, finding: Finding) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(  # noqa: S603  no shell; the words are the user's own
            self._words,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, SENTENCE: finding.sentence},
            start_new_session=True,  # so that all that it starts can be ended with it
        )

    def _follow(
        self, process: "subprocess.Popen[bytes]", told: bytes, complain: Callable[[str], None]
    ) -> None:
        try:
            process.communicate(told, timeout=self._longest_s)
        except subprocess.TimeoutExpired:
            _end(process)
            process.wait()
            complain(f"{self._words[0]} took longer than {self._longest_s:g}s and was ended.")
        else:
            if process.returncode > 0:
                complain(f"{self._words[0]} failed with exit code {process.returncode}.")
        finally:
            with self._guard:
                self._running.discard(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()
