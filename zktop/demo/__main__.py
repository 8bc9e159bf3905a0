"""Run one contender of a process pool: `python -m zktop.demo PARENT_PID`.

The first line of stdin is the order as JSON: other users could read it on the command line. The
lines after it are commands. Each step is a line of JSON on stdout. The process ends on a signal,
on the command `stop`, or with its parent.

A thread waits for signals, because a signal handler could interrupt the main thread at any point,
even while it holds a `threading.Lock`.
"""

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import TextIO

from zktop.demo.contender import DemoContender
from zktop.demo.parse_order import read_order
from zktop.demo.step_reporter import OnStep
from zktop.demo_types.contender_order import ContenderOrder
from zktop.demo_types.contender_state import ContenderStep
from zktop.errors import ExitCode, ZktopError

STOPPING = frozenset({signal.SIGINT, signal.SIGTERM})
HANG_UP_AFTER_S = 0.7  # close the session of a contender that has not stopped by then
EXIT_AFTER_S = 1.5  # then exit the process, whatever it is doing
PR_SET_PDEATHSIG = 1


def run_contender(order: ContenderOrder, on_step: OnStep, commands: TextIO | None = None) -> int:
    """Run a contender in the main thread until it is done or stopped. Return its exit code.

    `commands` are lines: `go`, `release`, `stop`, `cut SECONDS`. End of file also means `stop`.
    """
    contender = DemoContender(order, on_step)
    with _stop_on_signals(contender):
        if commands is not None:
            threading.Thread(
                target=_read_commands, args=(contender, commands), daemon=True
            ).start()
        return contender.run()


def die_with_parent(parent: int) -> None:
    """Make the kernel kill this process when its parent ends (Linux only).

    It sends SIGKILL, because a suspended process reacts to nothing else. On other systems the
    process ends at the end of stdin or, if suspended, on the SIGHUP to an orphaned process group.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent ended before this call
        os._exit(ExitCode.INTERRUPTED)


@contextmanager
def _stop_on_signals(contender: DemoContender) -> Iterator[None]:
    previous_mask = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    over = threading.Event()
    listener = threading.Thread(target=_wait_for_signals, args=(contender, over), daemon=True)
    listener.start()
    try:
        yield
    finally:
        over.set()
        if listener.ident is not None and listener.is_alive():
            signal.pthread_kill(listener.ident, signal.SIGTERM)
        listener.join()
        signal.pthread_sigmask(signal.SIG_SETMASK, previous_mask)


def _wait_for_signals(contender: DemoContender, over: threading.Event) -> None:
    while not over.is_set():
        signal.sigwait(STOPPING)
        if not over.is_set():
            _stop(contender)


def _read_commands(contender: DemoContender, commands: TextIO) -> None:
    for line in commands:
        word, _, argument = line.strip().partition(" ")
        match word:
            case "go":
                contender.go()
            case "release":
                contender.release()
            case "cut":
                contender.cut(float(argument))
            case "stop":
                _stop(contender)
    _stop(contender)


def _stop(contender: DemoContender) -> None:
    """Stop the contender. If the server does not respond, close its session, then exit."""
    contender.stop()
    for seconds, action in (
        (HANG_UP_AFTER_S, contender.hang_up),
        (EXIT_AFTER_S, lambda: os._exit(ExitCode.INTERRUPTED)),
    ):
        timer = threading.Timer(seconds, action)
        timer.daemon = True
        timer.start()


def main() -> int:
    """Run a contender that takes its order from stdin and reports its steps on stdout."""
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8")  # like the parent, in any locale
    try:
        return run_contender(read_order(sys.stdin.readline()), _print, sys.stdin)
    except ZktopError as problem:
        sys.stderr.write(f"{problem}\n")
        return int(problem.exit_code)


def _print(step: ContenderStep) -> None:
    """Print a step. Ignore a broken pipe: the contender must still release its locks."""
    try:
        sys.stdout.write(step.json() + "\n")
        sys.stdout.flush()
    except (BrokenPipeError, ValueError):
        pass


if __name__ == "__main__":
    die_with_parent(int(sys.argv[1]))
    code = main()
    os._exit(code)  # kazoo's threads may still be trying to reach a server
