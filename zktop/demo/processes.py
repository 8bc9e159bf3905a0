"""The crew: contenders as processes, started, told what to do, listened to, and never orphaned.

One thread starts them, reads them and buries them. It must be the one that starts them: the kernel
takes the end of the thread that started a process for the death of its parent.

One hand of the crew: a contender's process, its pipes, and what becomes known of it.
"""

import contextlib
import os
import queue
import selectors
import signal
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from types import TracebackType
from typing import IO, Self, TypeVar

import msgspec

from zktop.demo.contender import check_order
from zktop.demo.messages import ContenderOrder, ContenderStep
from zktop.errors import UsageError
from zktop.model.text import Text, decode

READ_BYTES = 65536
MAX_STDERR_BYTES = 4096
EXIT_TIMEOUT_S = 1.0


class LiveContender(msgspec.Struct, frozen=True):
    """One living contender."""

    name: str
    pid: int
    order: ContenderOrder
    frozen: bool = False


class ContenderStarted(msgspec.Struct, frozen=True):
    """A contender's process was started."""

    name: str
    pid: int
    order: ContenderOrder


class StepReported(msgspec.Struct, frozen=True):
    """A contender told a step."""

    name: str
    step: ContenderStep


class ContenderFroze(msgspec.Struct, frozen=True):
    """A contender's process was stopped in the middle of what it did, or goes on."""

    name: str
    frozen: bool


class ContenderEnded(msgspec.Struct, frozen=True):
    """A contender's process is gone; a negative code is the signal that it died of."""

    name: str
    pid: int
    code: int
    last_words: Text  # the last line of its stderr


PoolEvent = ContenderStarted | StepReported | ContenderFroze | ContenderEnded


class ContenderProcess:
    """The process of one hand, used by the crew's thread alone."""

    def __init__(self, order: ContenderOrder, process: subprocess.Popen[bytes]) -> None:
        """Listen to a process that was started."""
        assert process.stdout  # noqa: S101  it was started with pipes
        assert process.stderr  # noqa: S101  it was started with pipes
        self.hand = LiveContender(order.name, process.pid, order)
        self.pipes: list[IO[bytes]] = [process.stdout, process.stderr]
        self._out, self._process = process.stdout, process
        self._heard = b""
        self._complaints = b""
        self._steps: deque[ContenderStep] = deque()
        for pipe in self.pipes:
            os.set_blocking(pipe.fileno(), False)

    @classmethod
    def start(cls, order: ContenderOrder) -> Self:
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

    def take_steps(self) -> list[ContenderStep]:
        """Give the steps that have come in since the last time."""
        *lines, self._heard = self._heard.split(b"\n")
        return [msgspec.json.decode(line, type=ContenderStep) for line in lines]

    def bury(self) -> int:
        """Wait for the process whose pipes have ended; gives its exit code."""
        try:
            self._process.wait(EXIT_TIMEOUT_S)
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
            while piece := os.read(pipe.fileno(), READ_BYTES):
                if pipe is self._out:
                    self._heard += piece
                else:
                    self._complaints = (self._complaints + piece)[-MAX_STDERR_BYTES:]
            return True
        return False


MAX_CONTENDERS = 64
CLOSE_TIMEOUT_S = 2.0  # what hands have for releasing their locks when the crew goes home

Result = TypeVar("Result")


class ProcessPool:
    """Contenders that run as processes; every method may be called from any thread.

    Most methods wait for the crew's thread. Who must not wait asks for the same with `soon`.
    """

    def __init__(self, tell: Callable[[PoolEvent], None], cap: int = MAX_CONTENDERS) -> None:
        """Start with nobody. `tell` is called in the crew's own thread and must not raise."""
        self._tell = tell
        self._cap = cap
        self._processes: dict[str, ContenderProcess] = {}
        self._hands: tuple[LiveContender, ...] = ()
        self._tasks: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._selector = selectors.DefaultSelector()
        self._waker, self._wakened = socket.socketpair()
        self._waker.settimeout(0)
        self._selector.register(self._wakened, selectors.EVENT_READ)
        self._closing = False
        self._door = threading.Lock()  # nothing is asked of a thread that will not see it
        self._gone = False
        self._thread = threading.Thread(target=self._run, name="crew", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        """Be closed at the end of a block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Send everybody home."""
        self.close()

    def hands(self) -> tuple[LiveContender, ...]:
        """Everybody who is alive, in the order of hiring; never waits."""
        return self._hands

    def soon(self, act: Callable[[], Result]) -> Future[Result]:
        """Have this done in the crew's thread, and do not wait for it.

        `crew.soon(partial(crew.kill, "ann"))`: a refusal is the exception of what is returned.
        """
        answer: Future[Result] = Future()
        try:
            self._submit(lambda: _fulfil(answer, act))
        except UsageError as refusal:
            answer.set_exception(refusal)
        return answer

    def hire(self, order: ContenderOrder) -> LiveContender:
        """Start a contender; refuses what cannot be, in a sentence."""
        check_order(order)
        return self._in_thread(lambda: self._hire(order))

    def go(self, name: str) -> None:
        """Let a hand that waits at a gate go on."""
        self._command(name, "go")

    def release(self, name: str) -> None:
        """Have a hand end its work and release its locks."""
        self._command(name, "release")

    def cancel(self, name: str) -> None:
        """Have a hand give up whatever it waits for or holds, cleanly, and end."""
        self._command(name, "stop")

    def cut(self, name: str, seconds: float) -> None:
        """Cut a hand's connection to the server for a while."""
        self._command(name, f"cut {seconds:g}")

    def freeze(self, name: str) -> None:
        """Stop a hand in the middle of whatever it does (SIGSTOP)."""
        self._signal(name, signal.SIGSTOP)

    def thaw(self, name: str) -> None:
        """Let a frozen hand go on (SIGCONT)."""
        self._signal(name, signal.SIGCONT)

    def kill(self, name: str) -> None:
        """Kill a hand (SIGKILL); its session lives on until it expires."""
        self._signal(name, signal.SIGKILL)

    def kill_all(self) -> None:
        """Kill every hand."""
        with contextlib.suppress(UsageError):
            self._in_thread(self._kill_all)

    def close(self) -> None:
        """Send everybody home: they release and end, and who does not is killed."""
        with contextlib.suppress(UsageError):
            self._submit(self._farewell)
            self._thread.join(CLOSE_TIMEOUT_S)
            self._submit(self._kill_all)
        self._thread.join()

    def _command(self, name: str, word: str) -> None:
        self._in_thread(lambda: self._one(name).command(word))

    def _signal(self, name: str, number: signal.Signals) -> None:
        self._in_thread(lambda: self._signalled(name, number))

    def _in_thread(self, act: Callable[[], Result]) -> Result:
        """Do it in the crew's thread, and give the result here."""
        if threading.current_thread() is self._thread:
            return act()
        return self.soon(act).result()

    def _submit(self, task: Callable[[], None]) -> None:
        with self._door:
            if self._gone:
                raise UsageError("the crew has gone home")
            self._tasks.put(task)
            with contextlib.suppress(BlockingIOError):  # it was woken often enough
                self._waker.send(b"!")

    # What follows runs in the crew's thread.

    def _run(self) -> None:
        try:
            while not self._closing or self._processes:
                ready = dict.fromkeys(key.data for key, _ in self._selector.select())
                if None in ready:
                    self._wakened.recv(4096)
                self._hear([process for process in ready if process is not None])
                self._work_off()
        finally:
            with self._door:
                self._gone = True
            self._work_off()
            self._kill_all()
            self._selector.close()
            self._waker.close()
            self._wakened.close()

    def _work_off(self) -> None:
        while not self._tasks.empty():
            self._tasks.get()()

    def _one(self, name: str) -> ContenderProcess:
        try:
            return self._processes[name]
        except KeyError:
            raise UsageError(f"nobody in the crew is called {name!r}") from None

    def _hire(self, order: ContenderOrder) -> LiveContender:
        if self._closing:
            raise UsageError("the crew is going home")
        if order.name in self._processes:
            raise UsageError(f"somebody in the crew is called {order.name!r} already")
        if len(self._processes) >= self._cap:
            raise UsageError(f"the crew is full: it has {self._cap} hands")
        process = ContenderProcess.start(order)
        self._processes[order.name] = process
        for pipe in process.pipes:
            self._selector.register(pipe, selectors.EVENT_READ, process)
        self._count_hands()
        self._tell(ContenderStarted(order.name, process.hand.pid, order))
        return process.hand

    def _signalled(self, name: str, number: signal.Signals) -> None:
        process = self._one(name)
        before = process.hand
        process.signal(number)
        if process.hand != before:
            self._count_hands()
            self._tell(ContenderFroze(name, process.hand.frozen))

    def _count_hands(self) -> None:
        self._hands = tuple(process.hand for process in self._processes.values())

    def _hear(self, speaking: list[ContenderProcess]) -> None:
        """Pass on what several have told, in the order in which it happened."""
        told: list[StepReported] = []
        for process in speaking:
            for pipe in process.drain():
                self._selector.unregister(pipe)
                pipe.close()
            told += [StepReported(process.hand.name, step) for step in process.take_steps()]
        for event in sorted(told, key=lambda one: one.step.at):
            self._tell(event)
        for process in speaking:
            if not process.pipes:
                self._bury(process)

    def _bury(self, process: ContenderProcess) -> None:
        del self._processes[process.hand.name]
        code = process.bury()
        self._count_hands()
        self._tell(ContenderEnded(process.hand.name, process.hand.pid, code, process.last_words))

    def _farewell(self) -> None:
        self._closing = True
        for process in self._processes.values():
            process.signal(signal.SIGCONT)
            process.hang_up()

    def _kill_all(self) -> None:
        for process in self._processes.values():
            process.signal(signal.SIGKILL)


def _fulfil(answer: "Future[Result]", act: Callable[[], Result]) -> None:
    try:
        answer.set_result(act())
    except Exception as problem:  # noqa: BLE001  it is raised again where the result is awaited
        answer.set_exception(problem)
