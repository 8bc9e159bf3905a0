"""Processes for tests of live commands: contenders, and zktop itself."""

import contextlib
import itertools
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from waiting import source_of

PATIENCE_S = 40.0
WORKER = str(Path(__file__).parents[1] / "clients/worker.py")

Line = dict[str, Any]


class Worker:
    """A contender in its own process; each call returns after the ensemble has answered."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.session = int(self._answer())

    def acquire(self, path: str) -> None:
        """Acquire a lock."""
        self._run("acquire", path)

    def ask(self, path: str) -> None:
        """Queue for a lock that another client has."""
        self._run("ask", path)

    def release(self, path: str) -> None:
        """Release a lock."""
        self._run("release", path)

    def _run(self, word: str, path: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(f"{word} {path}\n")
        self._process.stdin.flush()
        assert self._answer() == "done"

    def _answer(self) -> str:
        assert self._process.stdout
        return self._process.stdout.readline().strip()


@contextlib.contextmanager
def worker(hosts: str, name: str) -> Iterator[Worker]:
    """A contender with its own session."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, WORKER, hosts, name], **pipes) as process:  # type: ignore[call-overload]  # keywords in a dict
        try:
            yield Worker(process)
        finally:
            process.kill()


class Zktop:
    """A running command; its lines of JSON are read as they are printed."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.lines: list[Line] = []
        self._came: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def until(self, condition: Callable[[Line], object]) -> list[Line]:
        """Wait for a line for which the condition is true; return all lines up to it."""
        deadline = time.monotonic() + PATIENCE_S
        while not (self.lines and condition(self.lines[-1])):
            try:
                line = self._came.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                wanted = source_of(condition)
                raise AssertionError(f"no line for which {wanted}\n{self.lines}") from None
            assert line is not None, f"zktop ended: {self.lines}, {self.ended()}"
            self.lines.append(json.loads(line))
        return self.lines

    def ended(self) -> tuple[int, str]:
        """Wait for its end; return the exit code and its stderr."""
        assert self.process.stderr
        err = self.process.stderr.read()
        return self.process.wait(PATIENCE_S), err

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._came.put(line)
        self._came.put(None)


@contextlib.contextmanager
def zktop_process(*args: str) -> Iterator[Zktop]:
    """Run a command in its own process, without the user's config."""
    nowhere = {"XDG_CONFIG_HOME": "/nonexistent", "PATH": os.environ["PATH"]}
    command = [sys.executable, "-m", "zktop", *args]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": nowhere}
    with subprocess.Popen(command, **pipes) as process:  # type: ignore[call-overload]  # keywords in a dict
        zktop = Zktop(process)
        try:
            yield zktop
        finally:
            process.kill()
            zktop.reader.join()  # else the pipe is closed while it reads


_numbers = itertools.count()


def new_root() -> str:
    """A path that no other test uses."""
    return f"/live-{os.getpid()}-{next(_numbers)}"
