"""Pool of contender processes: start them, send them commands, read their steps, end them.

One thread starts the processes, reads their output and waits for them to end. It must outlive
them: the kernel treats a process as orphaned when the thread that started it ends.
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
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import IO, Self, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from zktop.demo.contender import checked_order
from zktop.demo_types.contender_order import ContenderOrder
from zktop.demo_types.contender_state import ContenderState, ContenderStep
from zktop.errors import UsageError
from zktop.model.text import Text, decode

CONTENDER_MODULE = "zktop.demo"
READ_BYTES = 65536
MAX_STDERR_BYTES = 4096
EXIT_TIMEOUT_S = 1.0
MAX_CONTENDERS = 64
CLOSE_TIMEOUT_S = 2.0  # for contenders to release their locks when the pool closes

Result = TypeVar("Result")


class ContenderChange(Struct, frozen=True):
    """The state of a contender after it started, reported a step, froze, thawed or ended."""

    state: ContenderState
    step: ContenderStep | None = None


class ContenderProcess:
    """One contender's process, its pipes and its state, used by the pool's thread alone."""

    def __init__(self, order: ContenderOrder, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin  # noqa: S101  it was started with pipes
        assert process.stdout  # noqa: S101  likewise
        assert process.stderr  # noqa: S101  likewise
        self.state = ContenderState(order)
        self.pipes: list[IO[bytes]] = [process.stdout, process.stderr]
        self._process, self._stdin, self._stdout = process, process.stdin, process.stdout
        self._unread = b""  # the beginning of a line of stdout
        self._errors = b""
        for pipe in self.pipes:
            os.set_blocking(pipe.fileno(), False)

    @classmethod
    def start(cls, order: ContenderOrder) -> Self:
        """Start a contender in its own process group, out of reach of ctrl-c in a terminal."""
        process = subprocess.Popen(  # noqa: S603  our own module
            # -P: import nothing from the current folder. PYTHONPATH: import the same zktop.
            [sys.executable, "-P", "-m", CONTENDER_MODULE, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
        started = cls(order, process)
        started.send(msgspec.json.encode(order).decode())
        return started

    def send(self, line: str) -> None:
        """Write one line to the contender's stdin, if that is still open."""
        with contextlib.suppress(BrokenPipeError, ValueError):
            self._stdin.write(f"{line}\n".encode())
            self._stdin.flush()

    def close_stdin(self) -> None:
        """Close the contender's stdin: it releases its locks and ends."""
        with contextlib.suppress(BrokenPipeError):
            self._stdin.close()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal, if the process still runs."""
        self._process.send_signal(number)
        if number in {signal.SIGSTOP, signal.SIGCONT}:
            self.state = replace(self.state, frozen=number == signal.SIGSTOP)

    def read(self) -> list[IO[bytes]]:
        """Read all available output and return the pipes that have ended."""
        ended = [pipe for pipe in self.pipes if self._read(pipe)]
        self.pipes = [pipe for pipe in self.pipes if pipe not in ended]
        return ended

    def take_changes(self) -> list[ContenderChange]:
        """Return the steps read since the last call, each with the state after it."""
        *lines, self._unread = self._unread.split(b"\n")
        changes = []
        for line in lines:
            step = msgspec.json.decode(line, type=ContenderStep)
            self.state = self.state.after(step)
            changes.append(ContenderChange(self.state, step))
        return changes

    def wait(self) -> None:
        """Wait for the process to end. Its pipes have already ended."""
        try:
            self._process.wait(EXIT_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self.close_stdin()
        lines = self._errors.strip().splitlines()
        last_words = decode(lines[-1]) if lines else Text("")
        self.state = self.state.after_exit(self._process.returncode, last_words)

    def _read(self, pipe: IO[bytes]) -> bool:
        """Read all that is available. Return True at the end of the pipe."""
        with contextlib.suppress(BlockingIOError):
            while piece := os.read(pipe.fileno(), READ_BYTES):
                if pipe is self._stdout:
                    self._unread += piece
                else:
                    self._errors = (self._errors + piece)[-MAX_STDERR_BYTES:]
            return True
        return False


class ProcessPool:
    """Contenders that run as processes. Every method may be called from any thread.

    Most methods wait for the pool's thread. `soon` does not.
    """

    def __init__(
        self, on_change: Callable[[ContenderChange], None], cap: int = MAX_CONTENDERS
    ) -> None:
        """`on_change` is called in the pool's own thread and must not raise."""
        self._on_change = on_change
        self._cap = cap
        self._processes: dict[str, ContenderProcess] = {}
        self._states: tuple[ContenderState, ...] = ()
        self._tasks: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._selector = selectors.DefaultSelector()
        self._wake_sender, self._wake_receiver = socket.socketpair()
        self._wake_sender.settimeout(0)
        self._selector.register(self._wake_receiver, selectors.EVENT_READ)
        self._closing = False
        self._lock = threading.Lock()  # no task is queued after the thread has ended
        self._ended = False
        self._thread = threading.Thread(target=self._run, name="process pool", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def states(self) -> tuple[ContenderState, ...]:
        """Return the states of all running contenders, in starting order, without waiting."""
        return self._states

    def soon(self, act: Callable[[], Result]) -> Future[Result]:
        """Run a function in the pool's thread without waiting for it.

        `pool.soon(partial(pool.kill, "ann"))`: the future raises any error of the call.
        """
        answer: Future[Result] = Future()
        try:
            self._submit(partial(_run_for, answer, act))
        except UsageError as refusal:
            answer.set_exception(refusal)
        return answer

    def start(self, order: ContenderOrder) -> ContenderState:
        """Start a contender. Raise UsageError for an invalid order."""
        order = checked_order(order)
        return self._in_thread(lambda: self._start(order))

    def go(self, name: str) -> None:
        """Let a contender that waits at a gate continue."""
        self._send(name, "go")

    def release(self, name: str) -> None:
        """Make a contender end its work and release its locks."""
        self._send(name, "release")

    def cancel(self, name: str) -> None:
        """Make a contender release its locks, leave its queues, and end."""
        self._send(name, "stop")

    def cut(self, name: str, seconds: float) -> None:
        """Cut a contender's connection to the server for a while."""
        self._send(name, f"cut {seconds:g}")

    def freeze(self, name: str) -> None:
        """Suspend a contender, wherever it is (SIGSTOP)."""
        self._signal(name, signal.SIGSTOP)

    def thaw(self, name: str) -> None:
        """Let a frozen contender continue (SIGCONT)."""
        self._signal(name, signal.SIGCONT)

    def kill(self, name: str) -> None:
        """Kill a contender (SIGKILL). Its session remains until it expires."""
        self._signal(name, signal.SIGKILL)

    def close(self) -> None:
        """End all contenders, which release their locks. After a timeout, kill them."""
        with contextlib.suppress(UsageError):
            self._submit(self._hang_up)
            self._thread.join(CLOSE_TIMEOUT_S)
            self._submit(self._kill_all)
        self._thread.join()

    def _send(self, name: str, line: str) -> None:
        self._in_thread(lambda: self._process(name).send(line))

    def _signal(self, name: str, number: signal.Signals) -> None:
        self._in_thread(lambda: self._send_signal(name, number))

    def _in_thread(self, act: Callable[[], Result]) -> Result:
        """Run a function in the pool's thread and return its result here."""
        if threading.current_thread() is self._thread:
            return act()
        return self.soon(act).result()

    def _submit(self, task: Callable[[], None]) -> None:
        with self._lock:
            if self._ended:
                raise UsageError("the process pool is closed")
            self._tasks.put(task)
            with contextlib.suppress(BlockingIOError):  # the pipe is full, so the thread will wake
                self._wake_sender.send(b"!")

    # The methods below run in the pool's thread.

    def _run(self) -> None:
        try:
            while not self._closing or self._processes:
                ready = dict.fromkeys(key.data for key, _ in self._selector.select())
                if None in ready:
                    self._wake_receiver.recv(4096)
                self._read([process for process in ready if process is not None])
                self._run_tasks()
        finally:
            with self._lock:
                self._ended = True
            self._run_tasks()
            self._kill_all()
            self._selector.close()
            self._wake_sender.close()
            self._wake_receiver.close()

    def _run_tasks(self) -> None:
        while not self._tasks.empty():
            self._tasks.get()()

    def _process(self, name: str) -> ContenderProcess:
        try:
            return self._processes[name]
        except KeyError:
            raise UsageError(f"there is no demo client {name!r}") from None

    def _start(self, order: ContenderOrder) -> ContenderState:
        if self._closing:
            raise UsageError("the process pool is closing")
        if order.name in self._processes:
            raise UsageError(f"there is already a demo client {order.name!r}")
        if len(self._processes) >= self._cap:
            raise UsageError(f"at most {self._cap} demo clients may run at a time")
        process = ContenderProcess.start(order)
        self._processes[order.name] = process
        for pipe in process.pipes:
            self._selector.register(pipe, selectors.EVENT_READ, process)
        self._publish(ContenderChange(process.state))
        return process.state

    def _send_signal(self, name: str, number: signal.Signals) -> None:
        process = self._process(name)
        previous_state = process.state
        process.signal(number)
        if process.state != previous_state:
            self._publish(ContenderChange(process.state))

    def _publish(self, *changes: ContenderChange) -> None:
        self._states = tuple(process.state for process in self._processes.values())
        for change in changes:
            self._on_change(change)

    def _read(self, ready: list[ContenderProcess]) -> None:
        """Publish the steps of several contenders in chronological order."""
        changes: list[tuple[str, ContenderChange]] = []
        for process in ready:
            for pipe in process.read():
                self._selector.unregister(pipe)
                pipe.close()
            changes += [
                (change.step.at, change) for change in process.take_changes() if change.step
            ]
        self._publish(*(change for _, change in sorted(changes, key=lambda pair: pair[0])))
        for process in ready:
            if not process.pipes:
                process.wait()
                del self._processes[process.state.name]
                self._publish(ContenderChange(process.state))

    def _hang_up(self) -> None:
        self._closing = True
        for process in self._processes.values():
            process.signal(signal.SIGCONT)
            process.close_stdin()

    def _kill_all(self) -> None:
        for process in self._processes.values():
            process.signal(signal.SIGKILL)


def _run_for(answer: "Future[Result]", act: Callable[[], Result]) -> None:
    try:
        answer.set_result(act())
    except Exception as problem:  # noqa: BLE001  raised again where the result is awaited
        answer.set_exception(problem)
