"""One hand of the crew: a contender's process, its pipes, and what becomes known of it."""

import contextlib
import os
import signal
import subprocess
import sys
from collections import deque
from typing import IO, Self

import msgspec

from zktop.demo.narration import Step
from zktop.demo.order import Order
from zktop.model.text import Text, decode

CHUNK = 65536
LONGEST_LAST_WORDS = 4096
BURIED_WITHIN_S = 1.0


class Hand(msgspec.Struct, frozen=True):
    """One living contender."""

    name: str
    pid: int
    order: Order
    frozen: bool = False


class Hired(msgspec.Struct, frozen=True):
    """A contender's process was started."""

    name: str
    pid: int
    order: Order


class Told(msgspec.Struct, frozen=True):
    """A contender told a step."""

    name: str
    step: Step


class Froze(msgspec.Struct, frozen=True):
    """A contender's process was stopped in the middle of what it did, or goes on."""

    name: str
    frozen: bool


class Ended(msgspec.Struct, frozen=True):
    """A contender's process is gone; a negative code is the signal that it died of."""

    name: str
    pid: int
    code: int
    last_words: Text  # the last line of its stderr


Event = Hired | Told | Froze | Ended


class Process:
    """The process of one hand, used by the crew's thread alone."""

    def __init__(self, order: Order, process: subprocess.Popen[bytes]) -> None:
        """Listen to a process that was started."""
        assert process.stdout  # noqa: S101  it was started with pipes
        assert process.stderr  # noqa: S101  it was started with pipes
        self.hand = Hand(order.name, process.pid, order)
        self.pipes: list[IO[bytes]] = [process.stdout, process.stderr]
        self._out, self._process = process.stdout, process
        self._heard = b""
        self._complaints = b""
        self._steps: deque[Step] = deque()
        for pipe in self.pipes:
            os.set_blocking(pipe.fileno(), False)

    @classmethod
    def start(cls, order: Order) -> Self:
        """Start a contender in a process group of its own, which ctrl-c in a terminal spares."""
        command = [sys.executable, "-m", "zktop.demo", "--json", "--until-stdin-closes"]
        process = subprocess.Popen(  # noqa: S603  our own module
            [*command, "--parent", str(os.getpid()), "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,
        )
        hand = cls(order, process)
        hand.command(msgspec.json.encode(order).decode())
        return hand

    def command(self, line: str) -> None:
        """Write one line to the contender, if it still listens."""
        assert self._process.stdin  # noqa: S101  it was started with pipes
        with contextlib.suppress(BrokenPipeError, ValueError):
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()

    def hang_up(self) -> None:
        """Close the contender's stdin: it releases, and ends."""
        assert self._process.stdin  # noqa: S101  it was started with pipes
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal, if the process is still there."""
        self._process.send_signal(number)
        if number in {signal.SIGSTOP, signal.SIGCONT}:
            frozen = number == signal.SIGSTOP
            self.hand = msgspec.structs.replace(self.hand, frozen=frozen)

    def drain(self) -> list[IO[bytes]]:
        """Read what there is; gives the pipes that have ended."""
        ended = [pipe for pipe in self.pipes if self._read(pipe)]
        self.pipes = [pipe for pipe in self.pipes if pipe not in ended]
        return ended

    def take_steps(self) -> list[Step]:
        """Give the steps that have come in since the last time."""
        *lines, self._heard = self._heard.split(b"\n")
        return [msgspec.json.decode(line, type=Step) for line in lines]

    def bury(self) -> int:
        """Wait for the process whose pipes have ended; gives its exit code."""
        try:
            self._process.wait(BURIED_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self.hang_up()
        return self._process.returncode

    @property
    def last_words(self) -> Text:
        """The last line that it wrote to stderr."""
        lines = self._complaints.strip().splitlines()
        return decode(lines[-1]) if lines else Text("")

    def _read(self, pipe: IO[bytes]) -> bool:
        """Read until there is nothing, or nothing more will ever come: then True."""
        with contextlib.suppress(BlockingIOError):
            while piece := os.read(pipe.fileno(), CHUNK):
                if pipe is self._out:
                    self._heard += piece
                else:
                    self._complaints = (self._complaints + piece)[-LONGEST_LAST_WORDS:]
            return True
        return False
