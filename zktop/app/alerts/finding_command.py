"""Run the user's own command for each new finding (`ui.command`).

No shell is used. The finding is passed in an environment variable and on standard input, so text
from a znode cannot become part of the command.
"""

import os
import shlex
import subprocess
import threading
from collections.abc import Callable

import msgspec

from zktop.app.run_program import kill_group
from zktop.model.findings.finding import Finding
from zktop.output.snapshot_json import finding_json

TIMEOUT_S = 10.0
MAX_RUNNING = 4  # commands at the same time
SENTENCE_VARIABLE, CLUSTER_VARIABLE = "ZKTOP_SENTENCE", "ZKTOP_CLUSTER"  # set for the command


class FindingCommand:
    """Starts the command and reports its failures."""

    def __init__(self, command: str, timeout_s: float = TIMEOUT_S) -> None:
        """Split the command as a shell would. Raise ValueError if that is impossible."""
        self._words = shlex.split(command)
        if not self._words:
            raise ValueError("names no command")
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._is_closed = False

    def call(self, finding: Finding, cluster: str, complain: Callable[[str], None]) -> None:
        name = self._words[0]
        with self._lock:
            if len(self._running) >= MAX_RUNNING:
                complain(
                    f"{name} was skipped for a finding: {MAX_RUNNING} earlier runs have not ended."
                )
                return
            try:
                process = self._start(finding, cluster)
            except OSError as error:
                complain(f"{name} could not be started: {error.strerror}.")
                return
            self._running.add(process)
        stdin = msgspec.json.encode(finding_json(finding))
        threading.Thread(
            target=self._wait, args=(process, stdin, complain), name="on-finding", daemon=True
        ).start()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            for process in self._running:
                kill_group(process.pid)

    def _start(self, finding: Finding, cluster: str) -> "subprocess.Popen[bytes]":
        # As bytes, since the locale may not be able to encode them.
        variables = {
            SENTENCE_VARIABLE: finding.sentence.encode(),
            CLUSTER_VARIABLE: cluster.encode(),
        }
        environment: dict[str, str | bytes] = {**os.environ, **variables}
        return subprocess.Popen(  # noqa: S603  without a shell, and the words are the user's own
            self._words,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,  # so that its children can be killed with it
        )

    def _wait(
        self, process: "subprocess.Popen[bytes]", stdin: bytes, complain: Callable[[str], None]
    ) -> None:
        name = self._words[0]
        try:
            process.communicate(stdin, timeout=self._timeout_s)
        except subprocess.TimeoutExpired:
            kill_group(process.pid)
            process.wait()
            complain(f"{name} took longer than {self._timeout_s:g}s and was killed.")
        else:
            if process.returncode > 0:
                complain(f"{name} failed with exit code {process.returncode}.")
            elif process.returncode < 0 and not self._is_closed:
                complain(f"{name} was ended by signal {-process.returncode}.")
        finally:
            with self._lock:
                self._running.discard(process)
